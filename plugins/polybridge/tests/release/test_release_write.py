"""`release write`: the same bytes twice, no secrets, pictures where they are wanted, nothing half-written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evalkit import UsageError
from evalkit.cli.main import main
from evalkit_polybridge.release import write as writing
from evalkit_polybridge.release.check import check_release
from evalkit_polybridge.release.findings import texts_in
from evalkit_polybridge.release.gather import gather
from evalkit_polybridge.release.scrub import is_secret_file, scrubbed, scrubbed_text, secrets_in
from evalkit_polybridge.settings import BridgeSettings


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_equal_records_give_equal_bytes(bridge_run: str, honest: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copytree(bridge_run, tmp_path / "elsewhere" / Path(bridge_run).name))
    archives = []
    for name in ("one", "two"):
        archive = tmp_path / name / "pictures.zip"
        archive.parent.mkdir()
        options = ["-o", str(tmp_path / name / "release"), "--images", str(archive)]
        assert main(["polybridge", "release", "write", str(moved), *options]) == 0
        archives.append(archive.read_bytes())
    assert content(tmp_path / "one") == content(tmp_path / "two")
    in_place = content(honest)
    for name, data in content(tmp_path / "one" / "release").items():
        if name != "manifest.json":  # which says where the pictures are
            assert in_place[name] == data
    assert archives[0] == archives[1]


def test_the_manifest_says_what_is_in_the_release(honest: Path, bridge_run: str) -> None:
    manifest = json.loads((honest / "manifest.json").read_text())
    assert manifest["counts"] == {"runs": 1, "sessions": 2, "episodes": 4, "rounds": 8}
    assert manifest["conditions"]["strict"]["expected_levels"] == 2
    assert manifest["conditions"]["strict"]["budgets"] == {
        "T1B_Basic_08m": 6500.0,
        "T2D_Platform_4-4-4": 6500.0,
    }
    inclusion = manifest["inclusion"]
    assert inclusion["limits"] == {"calls": 3, "tool_calls": 3, "executions": 3}
    assert inclusion["settings"] == BridgeSettings().model_dump(mode="json")
    assert inclusion["deviations"] == []
    assert manifest["packages"]["evalkit-polybridge"]
    assert manifest["runs"][0]["name"] == Path(bridge_run).name
    written = content(honest)
    listed = {**manifest["files"], **manifest["images"]["files"]}
    assert listed.keys() == written.keys() - {"manifest.json"}
    assert all(hashlib.sha256(written[name]).hexdigest() == entry["sha256"] for name, entry in listed.items())


def test_nothing_secret_is_written(honest: Path, bridge_run: str) -> None:
    text = b"\n".join(data for name, data in content(honest).items() if not name.endswith(".png"))
    recorded = b"\n".join(content(Path(bridge_run)).values())
    for secret in (b"sk-a1B2", b"/home/ann", b"Users", b"script.json", str(Path(bridge_run).parent).encode()):
        assert secret not in text
        assert secret in recorded or secret == str(Path(bridge_run).parent).encode()
    assert b"[removed: API key]" in text


def test_pictures_are_packed_or_left_out(bridge_run: str, honest: Path, tmp_path: Path) -> None:
    archive = tmp_path / "pictures.zip"
    gathered = gather([bridge_run])
    manifest = writing.write_release(gathered, tmp_path / "packed", str(archive))
    pictures = {name: data for name, data in content(honest).items() if name.endswith(".png")}
    with zipfile.ZipFile(archive) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == pictures
    assert manifest["images"]["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    assert not list((tmp_path / "packed").rglob("*.png"))
    assert check_release(tmp_path / "packed").findings == []

    manifest = writing.write_release(gathered, tmp_path / "bare", "none")
    assert manifest["images"] == {"where": "left out", "files": {}}
    assert not list((tmp_path / "bare").rglob("*.png"))
    assert check_release(tmp_path / "bare").findings == []


def test_a_changed_archive_is_found_and_a_missing_one_noted(bridge_run: str, tmp_path: Path) -> None:
    archive = tmp_path / "pictures.zip"
    writing.write_release(gather([bridge_run]), tmp_path / "release", str(archive))
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("more.png", b"")
    assert {f.kind for f in check_release(tmp_path / "release").findings} == {"changed file", "extra file"}
    archive.write_bytes(b"no archive")
    assert {f.kind for f in check_release(tmp_path / "release").findings} == {"changed file", "form"}
    archive.unlink()
    report = check_release(tmp_path / "release")
    assert report.findings == []
    assert report.notes[0] == "pictures.zip isn't here: its pictures are not checked"


def test_a_writer_that_fails_leaves_nothing(
    bridge_run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise KeyboardInterrupt

    gathered = gather([bridge_run])
    monkeypatch.setattr(writing, "manifest", fail)
    with pytest.raises(KeyboardInterrupt):
        writing.write_release(gathered, tmp_path / "release", str(tmp_path / "pictures.zip"))
    assert list(tmp_path.iterdir()) == []


def test_folder_and_archive_are_both_there_or_neither(
    bridge_run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered = gather([bridge_run])
    with pytest.raises(UsageError, match="can't be both the folder and the file of pictures"):
        writing.write_release(gathered, tmp_path / "same", str(tmp_path / "x" / ".." / "same"))
    assert list(tmp_path.iterdir()) == []
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        replace(source, target.parent / "no" / "such" / "folder")

    monkeypatch.setattr(writing.os, "replace", failing)
    with pytest.raises(UsageError, match="can't write"):
        writing.write_release(gathered, tmp_path / "release", str(tmp_path / "pictures.zip"))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(writing.os, "rename", lambda *paths: failing(*paths))
    with pytest.raises(UsageError, match="can't write"):
        writing.write_release(gathered, tmp_path / "release", str(tmp_path / "pictures.zip"))
    assert list(tmp_path.iterdir()) == []


_SLOW_WRITER = """
import sys, time
from pathlib import Path
from evalkit_polybridge.release import write as writing
from evalkit_polybridge.release.gather import gather

def slow(*arguments):
    print("writing", flush=True)
    time.sleep(60)

gathered = gather([sys.argv[1]])
writing.manifest = slow
writing.write_release(gathered, Path(sys.argv[2]), sys.argv[3])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no process is asked to end there")
def test_a_writer_that_is_asked_to_end_leaves_nothing(bridge_run: str, tmp_path: Path) -> None:
    words = [bridge_run, str(tmp_path / "release"), str(tmp_path / "pictures.zip")]
    writer = subprocess.Popen(
        [sys.executable, "-c", _SLOW_WRITER, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        assert len(list(tmp_path.iterdir())) == 2
        writer.terminate()
        assert writer.wait(60) != 0
    finally:
        writer.kill()
        writer.communicate()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_writer_left_is_in_nobodys_way(bridge_run: str, tmp_path: Path, capsys: Any) -> None:
    left = tmp_path / ".release.0a1b2c3d.tmp"
    (left / "sessions").mkdir(parents=True)
    assert main(["polybridge", "release", "write", bridge_run, "-o", str(tmp_path / "release")]) == 0
    assert f"{left} is left from a writing that broke off" in capsys.readouterr().err
    assert check_release(tmp_path / "release").findings == []


def test_what_is_there_is_not_replaced(bridge_run: str, honest: Path, tmp_path: Path, capsys: Any) -> None:
    before = content(honest)
    assert main(["polybridge", "release", "write", bridge_run, "-o", str(honest)]) == 2
    assert "already there" in capsys.readouterr().err
    assert content(honest) == before


def test_runs_that_hold_the_same_episode_are_refused(bridge_run: str, tmp_path: Path, capsys: Any) -> None:
    again = Path(shutil.copytree(bridge_run, tmp_path / "again"))
    assert main(["polybridge", "release", "write", bridge_run, str(again), "-o", str(tmp_path / "r")]) == 2
    assert "both hold" in capsys.readouterr().err


def test_runs_of_other_protocols_are_refused(
    bridge_run: str, fallen: Any, tmp_path: Path, capsys: Any
) -> None:
    other = fallen("-T", "feedback_frames=0")
    assert main(["polybridge", "release", "write", bridge_run, other, "-o", str(tmp_path / "r")]) == 2
    assert "they differ in settings.feedback_frames" in capsys.readouterr().err


def test_another_agent_of_the_same_name_is_refused(fallen: Any, tmp_path: Path, capsys: Any) -> None:
    loose = fallen("-T", "condition=loose", "-T", "tasks.budget=loose")
    other = Path(shutil.copytree(loose, tmp_path / "other"))
    manifest = json.loads((other / "run.json").read_text())
    manifest["agents"][0]["version"] = "0"
    (other / "run.json").write_text(json.dumps(manifest))
    assert main(["polybridge", "release", "write", fallen(), str(other), "-o", str(tmp_path / "r")]) == 2
    assert "flat is another one in each (version)" in capsys.readouterr().err


def test_an_incomplete_run_is_refused(play: Any, tmp_path: Path, capsys: Any) -> None:
    run = Path(shutil.copytree(play("--agent", "flat", "-n", "1"), tmp_path / "run"))
    assert main(["polybridge", "release", "write", str(run), "-o", str(tmp_path / "r")]) == 2
    assert "flat played 1 of the 6 levels of strict" in capsys.readouterr().err
    (run / "episodes.jsonl").write_text("")
    assert main(["polybridge", "release", "write", str(run), "-o", str(tmp_path / "r")]) == 2
    assert "evalkit resume" in capsys.readouterr().err


def test_budgets_may_differ_between_the_runs_of_a_release(fallen: Any, tmp_path: Path) -> None:
    runs = [fallen(), fallen("-T", "condition=loose", "-T", "tasks.budget=loose")]
    manifest = writing.write_release(gather(runs), tmp_path / "release", "none")
    budgets = {name: entry["budgets"]["T1B_Basic_08m"] for name, entry in manifest["conditions"].items()}
    assert budgets == {"strict": 6500.0, "loose": 50_000.0}
    assert check_release(tmp_path / "release").findings == []


@pytest.mark.parametrize(
    "settings", [["feedback_frames=0"], ["feedback_choice=last", "feedback_topology=false"]]
)
def test_a_run_with_other_feedback_is_a_release_that_says_so(
    fallen: Any, tmp_path: Path, settings: list[str]
) -> None:
    run = fallen(*(word for setting in settings for word in ("-T", setting)))
    manifest = writing.write_release(gather([run]), tmp_path / "release", "none")
    deviations = manifest["inclusion"]["deviations"]
    assert {setting.partition("=")[0] for setting in settings} <= set(deviations)
    assert check_release(tmp_path / "release").findings == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "private key"),
        ("Authorization: Bearer abcdef", "authentication header"),
        ('{"x-api-key": "abcdef"}', "authentication header"),
        ("bearer abcdefghijklmnop", "authentication header"),
        ("sk-ant-api03-abcdefghijklmnop", "API key"),
        ("AKIAABCDEFGHIJKLMNOP", "API key"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVkanVua2p1bms", "API key"),
        ("key_gsk_abcdefghijklmnopqrstuvwx", "API key"),
        ("glpat-abcdefghijklmnopqrst", "API key"),
        ("npm_abcdefghijklmnopqrstuvwxyz0123456789", "API key"),
        ("ya29.abcdefghijklmnopqrstuvwxyz", "API key"),
        ("OPENAI_API_KEY=annabc", "environment variable"),
        ("OPENAI_API_KEY: annabc", "environment variable"),
        ('{"OPENAI_API_KEY": "annabc"}', "environment variable"),
        (r"{\"OPENAI_API_KEY\": \"annabc\"}", "environment variable"),
        ("openai_api_key=annabc", "named secret"),
        ("apikey: annabc", "named secret"),
        ("password=annabc", "named secret"),
        ("see /opt/ann/x", "local path"),
        ("see /srv/ann/x", "local path"),
        ("see /data/ann/x", "local path"),
        ("see /Volumes/ann/x", "local path"),
        ("see /var/lib/ann/x", "local path"),
        (r"D:\games\ann\a.layout", "local path"),
        ("d:/games/ann/a.layout", "local path"),
        (r"%USERPROFILE%\AppData\LocalLow\ann\a.layout", "local path"),
        ("http://ann:secret@host/v1", "address with a password"),
        ("see /home/ann/x.txt", "local path"),
        (r"C:\Users\ann\AppData\LocalLow\Dry Cactus\Poly Bridge\a.layout", "local path"),
        (r"C:\\Users\\ann\\a.layout", "local path"),
    ],
)
def test_secrets_are_known_and_taken_out(text: str, kind: str) -> None:
    assert kind in secrets_in(text)
    assert secrets_in(scrubbed_text(text)) == []
    assert "ann" not in scrubbed_text(text).replace("Cactus", "")


@pytest.mark.parametrize(
    "text", ["A token of load", "x/home", "n:\\nfirst", "road/wood", "budget: 6500", "key 4"]
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert scrubbed_text(text) == text


def test_a_scrubbed_json_text_stays_json() -> None:
    text = json.dumps({"a": 'Authorization: Bearer abc"', "b": 'in C:\\Users\\ann\\"x"', "c": "KEY=v\\"})
    assert json.loads(scrubbed_text(text)).keys() == {"a", "b", "c"}
    named = json.dumps({"authorization": "Bearer abc", "OPENAI_API_KEY": "x", "password": 5})
    assert json.loads(scrubbed_text(named)).keys() == {"authorization", "OPENAI_API_KEY", "password"}
    assert scrubbed([{"/home/ann/x": 1}]) == [{"[removed: local path]": 1}]


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "authorization", "api_key", "X-Api-Key"])
def test_a_field_s_name_makes_its_text_a_secret(name: str) -> None:
    """What the writer leaves is what the checker accepts."""
    document = scrubbed({"inner": [{name: "abc def"}]})
    assert "abc" not in str(document)
    assert name in str(document)
    written = json.dumps(document).encode()
    assert [kind for text in texts_in("x.json", written) for kind in secrets_in(text)] == []


@pytest.mark.parametrize("part", ["eyJ-", "a.", "a-", "A_", "a:/", "/tmp", "key=", "-----BEGIN ", "x://y:"])
def test_a_hostile_text_is_scrubbed_in_linear_time(part: str) -> None:
    """Bounded by a process that is killed: a pattern that runs away can't be interrupted."""
    program = (
        "from evalkit_polybridge.release.scrub import scrubbed_text, secrets_in\n"
        f"text = {part!r} * (600_000 // {len(part)})\n"
        "secrets_in(text), scrubbed_text(text)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "secret"), [("a/.env", True), ("x.pem", True), ("id_rsa", True), ("a.json", False)]
)
def test_files_that_hold_secrets_are_known_by_their_names(name: str, secret: bool) -> None:
    assert is_secret_file(name) is secret
