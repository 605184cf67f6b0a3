"""Runs that are missing, foreign, damaged or malicious: one clear line each."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evalkit.types import EpisodeKey

#: Every verb that reads a run, given its folder.
READERS: tuple[tuple[str, ...], ...] = (
    ("report", "RUN"),
    ("report", "RUN", "--format", "json"),
    ("show", "RUN"),
    ("show", "RUN", "--json"),
    ("show", "RUN", "truss/T1B_Basic_08m/strict/1"),
    ("show", "RUN", "truss/T1B_Basic_08m/strict/1", "--json"),
    ("rescore", "RUN"),
    ("verify", "RUN"),
    ("replay", "RUN"),
    ("compare", "RUN", "RUN"),
)

Change = Callable[[Path], object]


@pytest.fixture
def read(polite: Any) -> Callable[[Path], Iterator[Any]]:
    """Gives what every reading verb says of a run folder."""

    def run(folder: Path) -> Iterator[Any]:
        for verb in READERS:
            yield polite(*(word.replace("RUN", str(folder)) for word in verb))

    return run


def log_of(run: Path) -> Path:
    """The log of the first level played by truss."""
    return run / "episodes" / f"{EpisodeKey('truss', 'T1B_Basic_08m', 'strict', 1).file_stem()}.jsonl"


def edit_json(path: Path, *where: str | int, value: Any) -> None:
    """Change one value in a JSON file; in a file of lines the first step is the line."""
    several = path.suffix == ".jsonl"
    document = [json.loads(line) for line in path.read_text().splitlines()] if several else None
    root = target = document if document is not None else json.loads(path.read_text())
    for step in where[:-1]:
        target = target[step]
    target[where[-1]] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in root) if several else json.dumps(root))


def replace(path: Path, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a file or folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    make(path)


# What is no run


def test_what_is_no_run_is_named_by_every_verb(read: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name, says in (
        ("missing", "there is no run"),
        ("empty", "is not a run: it has no run.json"),
        ("file", "is not a folder"),
        ("n" * 5000, "File name too long"),
    ):
        for said in read(tmp_path / name):
            assert said.code == 2
            assert says in said.error


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (b"", "not JSON"),
        (b'{"record_version": 1, "run"', "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"record_version": NaN}', "NaN is not a JSON number"),
        (b'{"record_version": 1e999}', "is too large"),
        (b'{"name": "npm", "version": "1.0.0"}', "was not written by evalkit"),
        (b"[1]", "was not written by evalkit"),
        (b'{"record_version": true}', "was not written by evalkit"),
        (b'{"record_version": 99}', "has record version 99; this evalkit reads up to 1"),
        (b'{"record_version": 1}', "run is missing"),
    ],
)
def test_what_is_no_manifest_is_explained(read: Any, tmp_path: Path, manifest: bytes, says: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_bytes(manifest)
    for said in read(tmp_path / "run"):
        assert said.code in (1, 2)
        assert says in (said.error if said.code == 2 else said.out)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("{}")])
def test_a_recording_that_is_no_run_is_found_before_anything_is_played(
    polite: Any, run_copy: Path, damage: Change
) -> None:
    damage(run_copy / "run.json")
    said = polite("run", "polybridge.smoke", "--agent", f"replay:{run_copy}#truss", "-o", "out", allowed=(2,))
    assert "run.json" in said.error
    assert not Path("out").exists()


# Damaged runs

WRONG = (None, 7, -1.5, True, "x", [], {}, [1], {"a": 1}, 10**30)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something can be changed in a JSON value; of lists only in the first item."""
    if path:
        yield path
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value[:1] if isinstance(value, list) else ())
    )
    for key, item in inner:
        yield from places(item, (*path, key))


def test_no_type_of_any_field_of_a_manifest_breaks_a_verb(polite: Any, run_copy: Path) -> None:
    path = run_copy / "run.json"
    whole = path.read_text()
    document = json.loads(whole)
    document["executors"]["polybridge.embedded"]["constants"] = {}
    path.write_text(json.dumps(document))
    refused = 0
    for number, place in enumerate(places(document)):
        verb = READERS[number % 3 * 2 : number % 3 * 2 + 2]
        for wrong in (WRONG[number % len(WRONG)], WRONG[(number + 3) % len(WRONG)]):
            edit_json(path, *place, value=wrong)
            for words in verb:
                refused += polite(*(word.replace("RUN", str(run_copy)) for word in words)).code == 2
            path.write_text(json.dumps(document))
    assert refused > 100


def test_no_type_of_any_field_of_an_event_breaks_a_verb(polite: Any, run_copy: Path) -> None:
    path = log_of(run_copy)
    whole = path.read_text()
    lines = [json.loads(line) for line in whole.splitlines()]
    key = "truss/T1B_Basic_08m/strict/1"
    verbs = (
        ("show", run_copy, key),
        ("show", run_copy, key, "--json"),
        ("report", run_copy, "--format", "csv"),
    )
    number = 0
    for line, event in enumerate(lines):
        for place in places({name: value for name, value in event.items() if name != "arguments"}):
            if len(place) <= 3:
                number += 1
                edit_json(path, line, *place, value=WRONG[number % len(WRONG)])
                polite(*verbs[number % 3])
                path.write_text(whole)
    assert number > 80


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    "place", [("key",), ("key", "agent"), ("key", "epoch"), ("end",), ("end", "counters")]
)
def test_an_index_with_an_odd_line_is_refused(
    polite: Any, run_copy: Path, place: tuple[str, ...], wrong: Any
) -> None:
    edit_json(run_copy / "episodes.jsonl", 0, *place, value=wrong)
    said = polite("report", run_copy)
    # a key of other fields, and an end with other counters, may be an entry all the same
    assert said.code == (0 if (place, wrong) in ODD_BUT_POSSIBLE else 2)


ODD_BUT_POSSIBLE = (
    (("key", "agent"), "x"),
    (("key", "epoch"), 7),
    (("key", "epoch"), 10**30),
    (("end", "counters"), {}),
    (("end", "counters"), {"a": 1}),
)


@pytest.mark.parametrize(
    "damage",
    [
        lambda run: replace(run / "run.json", os.mkfifo),
        lambda run: replace(run / "run.json", lambda path: path.symlink_to("/dev/zero")),
        lambda run: replace(log_of(run), os.mkfifo),
        lambda run: replace(log_of(run), Path.mkdir),
        lambda run: replace(log_of(run), lambda path: path.write_bytes(bytes(range(256)) * 100)),
        lambda run: replace(log_of(run), lambda path: path.write_bytes(b'{"a":"' + b"x" * 20_000_000)),
        lambda run: replace(run / "episodes.jsonl", os.mkfifo),
        lambda run: replace(run / "episodes.jsonl", lambda path: path.write_bytes(b"[" * 100_000)),
        lambda run: replace(run / "episodes", lambda path: path.write_text("x")),
        lambda run: replace(run / "blobs", lambda path: path.write_text("x")),
        lambda run: edit_json(run / "run.json", "epochs", value=10**15),
        lambda run: edit_json(run / "run.json", "tasks", value=["nope"]),
        lambda run: edit_json(run / "run.json", "protocol", "benchmark", value={"nope": "1"}),
        lambda run: edit_json(run / "run.json", "protocol", "metrics", value={"nope": "1"}),
        lambda run: edit_json(run / "run.json", "protocol", "settings", value={}),
        lambda run: edit_json(run / "run.json", "shard", value={"number": 3, "count": 0}),
        lambda run: edit_json(log_of(run), 1, "kind", value="from_the_future"),
        lambda run: edit_json(
            log_of(run), 1, "data", "prompt", value={"blob": 5, "size": 1, "media_type": ""}
        ),
        lambda run: (run / "run.lock").write_text("{"),
    ],
)
def test_damage_of_every_kind_is_survived(read: Any, run_copy: Path, damage: Change) -> None:
    damage(run_copy)
    for said in read(run_copy):
        assert said.code in (0, 1, 2)


def test_a_log_of_brackets_is_named_with_its_line(polite: Any, run_copy: Path) -> None:
    path = log_of(run_copy)
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace('"data":{', '"data":{"deep":' + "[" * 5000 + "]" * 5000 + ",", 1)
    path.write_text("\n".join(lines) + "\n")
    said = polite("show", run_copy, "truss/T1B_Basic_08m/strict/1")
    assert said.error == f"evalkit: error: {path}:2: not JSON: nested deeper than 100 levels"


def test_a_damaged_run_does_not_hide_the_others(polite: Any, run_copy: Path) -> None:
    shutil.copytree(run_copy, run_copy.with_name("other"))
    (run_copy / "run.json").write_text("{")
    replace(run_copy.with_name("other") / "episodes.jsonl", Path.mkdir)
    shutil.copytree(run_copy.with_name("other"), run_copy.with_name("third"))
    (run_copy.with_name("third") / "episodes.jsonl").rmdir()
    said = polite("runs", "--json")
    assert {run["folder"] for run in json.loads(said.out)["runs"]} == {"runs/third"}
    assert len(said.err.splitlines()) == 2


# Blobs


@pytest.mark.parametrize("reference", ["../../../../etc/passwd", "/etc/passwd", "", "AB" * 32])
def test_a_blob_is_named_by_a_hash_and_nothing_else(polite: Any, run_copy: Path, reference: str) -> None:
    edit_json(log_of(run_copy), 1, "images", value=[{"name": "x.png", "blob": reference}])
    said = polite("show", run_copy, "truss/T1B_Basic_08m/strict/1", "-o", "out")
    assert said.code == 2
    assert "is no hash of a blob" in said.error
    assert not Path("out").exists()


@pytest.mark.parametrize("target", ["secret", "/dev/zero", "."])
def test_a_link_in_the_place_of_a_blob_gives_nothing_away(polite: Any, run_copy: Path, target: str) -> None:
    Path("secret").write_text("a key of the person who looks at the run")
    fake = "ab" * 32
    (run_copy / "blobs" / "ab").mkdir(exist_ok=True)
    (run_copy / "blobs" / "ab" / fake).symlink_to(Path(target).resolve())
    edit_json(log_of(run_copy), 1, "images", value=[{"name": "x.png", "blob": fake}])
    said = polite("show", run_copy, "truss/T1B_Basic_08m/strict/1", "-o", "out")
    assert said.code == 2
    assert "another hash" in said.error or "no regular file" in said.error
    assert not Path("out").exists()
    assert "a key of" not in said.out + said.err


def test_names_of_files_stay_in_the_folder(polite: Any, run_copy: Path) -> None:
    blob = next((run_copy / "blobs").glob("*/*")).name
    names = ["../../evil.png", "/tmp/evil.png", "..\\evil.png", "\x1b[31m.png", "n" * 5000, ".."]
    images = [{"name": name, "blob": blob} for name in names]
    edit_json(log_of(run_copy), 1, "images", value=images)
    polite("show", run_copy, "truss/T1B_Basic_08m/strict/1", "-o", "a/b/out", allowed=(0,))
    written = list(Path("a/b/out").iterdir())
    assert len(written) >= len(names)
    assert [path for path in Path().rglob("*evil*") if path.parent != Path("a/b/out")] == []


# Text that wants to be more than text

EVIL = "=1+1\x1b[31m\x07\u202e|`<b>x</b>\r\n![p](http://x)"


@pytest.fixture
def evil_run(run_copy: Path) -> Path:
    """A run in which every name steers terminals, breaks tables or is a formula."""
    path = run_copy / "run.json"
    for place in (
        ("run",),
        ("suite", "name"),
        ("agents", 0, "version"),
        ("platform", "system"),
        ("created",),
    ):
        if place != ("created",):
            edit_json(path, *place, value=EVIL)
    edit_json(path, "suite", "notices", value=[EVIL])
    edit_json(path, "agents", 1, "id", value=EVIL)
    log = log_of(run_copy)
    edit_json(log, 2, "tool", value=EVIL)
    edit_json(log, 2, "arguments", value={EVIL: EVIL})
    edit_json(log, -1, "detail", value=EVIL)
    return run_copy


def test_records_do_not_steer_the_terminal(read: Any, evil_run: Path) -> None:
    assert [said.code for said in read(evil_run) if said.code == 0]
    # the fixture `polite` looks for control characters in whatever is printed


def test_markdown_stays_a_table(polite: Any, evil_run: Path) -> None:
    out = polite("report", evil_run, "--format", "markdown", allowed=(0,)).out
    assert "http://x" in out
    assert "](http" not in out
    assert "<b>" not in out
    for block in out.split("\n\n"):
        rows = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_csv_holds_no_formula(polite: Any, evil_run: Path) -> None:
    out = polite("report", evil_run, "--format", "csv", allowed=(0,)).out
    header, *rows = csv.reader(out.splitlines())
    assert any("'=1+1" in field for row in rows for field in row)
    for row in rows:
        assert len(row) == len(header)
        for field in row:
            assert not field.startswith(("=", "@", "+"))
            assert not field.startswith("-") or float(field) < 0


def test_what_a_script_may_send_is_played_and_read(
    polite: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deep: Any = "x"
    for _ in range(95):
        deep = [deep]
    texts: list[Any] = ["\ud800\x1b[31m", deep, 5, None, {"blob": "ab" * 32, "size": 1, "media_type": ""}]
    calls = [[{"tool": "propose", "arguments": {"text": text}}] for text in texts]
    calls.append(
        [{"tool": "\x1b[31m\ud800", "arguments": {}}, {"tool": "propose", "arguments": {EVIL: EVIL}}]
    )
    Path("script.json").write_text(json.dumps(calls))
    limits = ["-T", "limits.calls=20", "-T", "limits.tool_calls=20"]
    words = ["-n", "1", "-j", "1", "--agent", "scripted:script.json", *limits]
    assert polite("run", "polybridge.smoke", *words).code == 0
    said = polite("show", "latest", "T1B_Basic_08m")
    assert said.out.count("refused: a mistake of the agent") == 6
    assert polite("verify").code == 0


# Rights


AS_NOBODY = """
import contextlib, io, os, sys
from evalkit.cli.main import main
words, damage = sys.argv[2:], sys.argv[1]
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for preparation in (words, ["report", "nothing"]):  # what is imported later may be out of reach then
        main(preparation)
os.chmod(damage, 0)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
sys.exit(main(words))
"""


@pytest.fixture
def open_to_all(run_copy: Path) -> Path:
    """The run in a place where a user without rights may read it."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can become a user without rights")
    for path in (run_copy, *run_copy.rglob("*"), *run_copy.parents[:-2]):
        path.chmod(path.stat().st_mode | 0o055)
    return run_copy


@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "episodes", "blobs", "."])
def test_what_may_not_be_read_is_one_line(open_to_all: Path, name: str) -> None:
    path = open_to_all / name
    mode = path.stat().st_mode
    for verb in ("report", "show", "verify"):
        path.chmod(mode)
        words = [sys.executable, "-c", AS_NOBODY, str(path), verb, str(open_to_all)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=open_to_all)
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        if name in ("run.json", "episodes.jsonl", "."):
            damaged = verb == "verify" and name == "episodes.jsonl"
            assert done.returncode == (1 if damaged else 2), done
            assert "Permission denied" in (done.stdout if damaged else done.stderr)
