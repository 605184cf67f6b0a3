"""Whatever happened to a run folder: every verb that reads it says what it can, in its manner."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

VERBS = (
    ("report",), ("report", "--format", "json"), ("report", "--format", "csv"), ("rescore",),
    ("report", "--format", "markdown"), ("show",), ("show", "--json"), ("show", "KEY"),
    ("show", "KEY", "--json"), ("show", "KEY", "-o", "OUT"), ("verify",), ("verify", "--json"), ("replay",),
)  # fmt: skip
KINDS = ("run.json", "episodes.jsonl", "episodes/", "blobs/")
KEY = "flat/T1B_Basic_08m/strict/1"


@pytest.fixture(scope="module")
def victim(played_run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A copy of the run, and its files as they were."""
    folder = tmp_path_factory.mktemp("victim") / "run"
    shutil.copytree(played_run, folder)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return folder, files


def read(polite: Any, data: st.DataObject, folder: Path) -> None:
    verb, *options = data.draw(st.sampled_from(VERBS))
    words = {"KEY": KEY, "OUT": str(folder.with_name("out"))}
    polite(verb, folder, *(words.get(option, option) for option in options))


def put_back(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        if (folder / name).read_bytes() != content:
            (folder / name).write_bytes(content)


def a_file(data: st.DataObject, files: dict[str, bytes], kinds: tuple[str, ...] = KINDS) -> str:
    """One of the files of a kind, each kind as often as the others."""
    kind = data.draw(st.sampled_from(kinds))
    return data.draw(st.sampled_from(sorted(name for name in files if name.startswith(kind))))


@given(data=st.data())
def test_changed_bytes(polite: Any, victim: Any, data: st.DataObject) -> None:
    folder, files = victim
    name = a_file(data, files)
    content = bytearray(files[name])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        piece = data.draw(
            st.sampled_from((b"", b"\n", b"\0", b"\xff", b'"', b"{", b"[" * 2000, b"9" * 400, b"-"))
        )
        content[at : at + data.draw(st.integers(0, 40))] = piece
    (folder / name).write_bytes(content)
    try:
        read(polite, data, folder)
    finally:
        put_back(folder, files)


@given(data=st.data())
def test_changed_values(
    polite: Any, victim: Any, hostile_values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    folder, files = victim
    name = a_file(data, files, KINDS[:3])
    lines = [json.loads(line) for line in ([files[name]] if name == "run.json" else files[name].splitlines())]
    for _ in range(data.draw(st.integers(1, 2))):
        target = lines[data.draw(st.integers(0, len(lines) - 1))]
        while isinstance(target, dict) and target:
            key = data.draw(st.sampled_from(sorted(target)))
            if not isinstance(target[key], dict) or data.draw(st.booleans()):
                target[key] = data.draw(hostile_values)
                break
            target = target[key]
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    try:
        read(polite, data, folder)
    finally:
        put_back(folder, files)


@given(data=st.data())
def test_shuffled_lines(polite: Any, victim: Any, data: st.DataObject) -> None:
    folder, files = victim
    names = sorted(name for name in files if name.endswith(".jsonl"))
    name = data.draw(st.sampled_from(names))
    pool = [line for other in names for line in files[other].splitlines()]
    own = files[name].splitlines()
    lines = data.draw(st.lists(st.sampled_from(own) | st.sampled_from(pool), max_size=len(own) + 2))
    (folder / name).write_bytes(b"\n".join(lines) + data.draw(st.sampled_from((b"", b"\n", b"\n\n"))))
    try:
        read(polite, data, folder)
    finally:
        put_back(folder, files)
