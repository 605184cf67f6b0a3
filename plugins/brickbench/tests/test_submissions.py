"""Builds that were made elsewhere: folders and archives that are what they should be, and hostile ones."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evalkit import Brief, StepContext, UsageError
from evalkit_brickbench import submissions
from evalkit_brickbench.agents.submission import SubmissionAgent
from evalkit_brickbench.submissions import SubmissionError, read_submission

MODEL = b"1 4 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat\r\n"
SOURCE = b"def build(): ...\n"


def archive(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip archive with these entries."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in entries.items():
            file.writestr(zipfile.ZipInfo(name), content, compression)
    return path


def folder(path: Path, entries: dict[str, bytes]) -> Path:
    """A folder with these files."""
    for name, content in entries.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return path


GOOD = {
    "t-1/build.py": SOURCE,
    "t-1/model.mpd": MODEL,
    "t-2/model.mpd": MODEL,
    "t-2/notes.txt": b"-",
    "README": b"",
}


@pytest.mark.parametrize("outer", ["", "mine/"])
@pytest.mark.parametrize("make", [archive, folder])
def test_a_folder_for_each_task(make, outer: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    found = read_submission(make(tmp_path / "given.zip", {outer + n: content for n, content in GOOD.items()}))
    assert found.of("t-1") == {"build.py": SOURCE, "model.mpd": MODEL}
    assert found.of("t-2") == {"model.mpd": MODEL}
    assert found.of("t-3") == {}


@pytest.mark.parametrize(
    ("name", "taken"), [("x.py", "build.py"), ("x.ldr", "model.mpd"), ("x.mpd", "model.mpd")]
)
def test_one_file_for_all_tasks(name: str, taken: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(MODEL)
    assert read_submission(tmp_path / name).of("any") == {taken: MODEL}


def refused(path: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        read_submission(path)
    return str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("../t/model.mpd", "/t/model.mpd", "t/../../model.mpd", "t/./model.mpd", "t//model.mpd"),
        *("C:/t/model.mpd", "t\\model.mpd", "..\\t\\model.mpd", "../../evil.txt"),
    ],
)
def test_paths_out_of_an_archive(name: str, tmp_path: Path) -> None:
    assert "not a path inside" in refused(archive(tmp_path / "a.zip", {"t/model.mpd": MODEL, name: MODEL}))


def test_links_and_devices_in_an_archive(tmp_path: Path) -> None:
    for kind in (0o120777, 0o010644, 0o020644):
        path = tmp_path / f"{kind}.zip"
        with zipfile.ZipFile(path, "w") as file:
            entry = zipfile.ZipInfo("t/model.mpd")
            entry.create_system, entry.external_attr = 3, kind << 16
            file.writestr(entry, "/etc/passwd")
        assert "a link or a device" in refused(path)


def test_links_in_a_folder(tmp_path: Path) -> None:
    given = folder(tmp_path / "given", {"t/model.mpd": MODEL})
    (given / "u").mkdir()
    (given / "u" / "model.mpd").symlink_to("/etc/passwd")
    assert "is a link" in refused(given)
    outside = folder(tmp_path / "outside", {"model.mpd": MODEL})
    given = folder(tmp_path / "again", {"t/model.mpd": MODEL})
    (given / "v").symlink_to(outside)
    assert "is a link" in refused(given)


def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    large = archive(tmp_path / "large.zip", {"t/model.mpd": bytes(submissions.MAX_FILE_BYTES + 1)})
    assert large.stat().st_size < 1 << 20
    assert "is larger than 10 MB" in refused(large)
    many = {f"t{n}/model.mpd": bytes(submissions.MAX_FILE_BYTES) for n in range(7)}
    assert "more than 64 MB" in refused(archive(tmp_path / "many.zip", many))
    small = {f"t{n}/x": b"" for n in range(submissions.MAX_ENTRIES + 1)}
    assert "entries" in refused(archive(tmp_path / "entries.zip", small))
    stored = archive(tmp_path / "stored.zip", {"t/x": bytes(10 << 20)}, zipfile.ZIP_STORED)
    assert "larger than 10 MB" in refused(stored)
    nested = archive(tmp_path / "nested.zip", {"t/model.mpd": large.read_bytes()})
    assert len(read_submission(nested).of("t")["model.mpd"]) == large.stat().st_size


def test_archive_that_lies_about_sizes(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "a.zip", {"t/model.mpd": bytes(1 << 20)}).read_bytes())
    true = struct.pack("<I", 1 << 20)
    assert data.count(true) == 2  # in the entry and in the directory
    (tmp_path / "lie.zip").write_bytes(data.replace(true, struct.pack("<I", 100)))
    assert "can be read" in refused(tmp_path / "lie.zip")  # the checksum is of more than it says


def test_files_that_are_no_archives(tmp_path: Path) -> None:
    good = archive(tmp_path / "good.zip", GOOD).read_bytes()
    for number, content in enumerate((b"", b"PK\x05\x06", bytes(1000), good[:-30], good[30:60])):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(content)
        refused(path)
    broken = bytearray(good)
    broken[60:64] = b"\xff\xff\xff\xff"
    (tmp_path / "broken.zip").write_bytes(broken)
    refused(tmp_path / "broken.zip")
    assert "there is no file" in refused(tmp_path / "nothing")


def test_encrypted_doubled_empty_and_uneven_archives(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "a.zip", {"t/model.mpd": MODEL}).read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "secret.zip").write_bytes(data)
    assert "encrypted" in refused(tmp_path / "secret.zip")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("t/model.mpd", MODEL)
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("t/model.mpd", b"another")
    (tmp_path / "twice.zip").write_bytes(buffer.getvalue())
    assert "twice" in refused(tmp_path / "twice.zip")
    exotic = archive(tmp_path / "exotic.zip", {"t/model.mpd": MODEL}, zipfile.ZIP_LZMA)
    assert "neither stored nor deflated" in refused(exotic)
    assert "holds no TASK" in refused(archive(tmp_path / "none.zip", {"model.mpd": MODEL, "a/b/c/d": b""}))
    uneven = {"t/model.mpd": MODEL, "mine/u/model.mpd": MODEL}
    assert "same depth" in refused(archive(tmp_path / "uneven.zip", uneven))


def test_agent_says_what_is_wrong_before_anything_is_played(tmp_path: Path) -> None:
    for argument in ("", str(tmp_path / "none.zip")):
        with pytest.raises(UsageError):
            SubmissionAgent(argument, {})


def handed_in(tmp_path: Path, *names: str) -> str:
    return str(folder(tmp_path / "given", {f"{name}/model.mpd": MODEL for name in names}))


def test_a_submission_for_no_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        SubmissionAgent(handed_in(tmp_path, "ek-smoke-modl", "notes"), {})
    assert "unknown task 'ek-smoke-modl'; did you mean ek-smoke-model" in str(caught.value)
    assert "none of the 2 folders" in str(caught.value)


def test_folders_that_are_no_tasks_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    given = handed_in(tmp_path, "ek-smoke-model", "ek-smoke-sett", "val-1")
    SubmissionAgent(given, {})
    assert "given: 1 folder is no task: 'ek-smoke-sett' (did you mean ek-smoke-set" in caplog.text


def test_a_submission_for_other_prompts_is_no_result(tmp_path: Path) -> None:
    """What a submission lacks among its own prompts is missing; other prompts it can't answer at all."""
    agent = SubmissionAgent(handed_in(tmp_path, "ek-smoke-model"), {})
    brief, ctx = Brief("", ("model.mpd",)), StepContext({}, {})
    agent.use_task("ek-smoke-set")
    assert agent.work(tmp_path, brief, ctx, None).files == {}
    agent.use_task("ek-set-castle-1")
    with pytest.raises(SubmissionError, match=r"nothing for ek-set-castle-1 .* 'ek-smoke-model'"):
        agent.work(tmp_path, brief, ctx, None)


def test_a_submission_becomes_a_run(tmp_path: Path) -> None:
    archive(tmp_path / "given.zip", {"ek-smoke-model/model.mpd": MODEL, "unknown/model.mpd": MODEL})
    done = subprocess.run(
        [
            *(sys.executable, "-m", "evalkit", "run", "brickbench.smoke", "--agent", "submission:given.zip"),
            *("-o", "runs", "-j", "1"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found = {}
    for log in tmp_path.glob("runs/*/episodes/*.jsonl"):
        events = [json.loads(line) for line in log.read_text().splitlines()]
        codes = [v["code"] for e in events if e["kind"] == "violation" for v in e["violations"]]
        found[events[0]["key"]["task"]] = (events[-1]["reason"], codes)
    assert found == {
        "ek-smoke-model": ("done", []),
        "ek-smoke-set": ("done", ["missing"]),
        "ek-smoke-alt": ("done", ["missing"]),
    }
