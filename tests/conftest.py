"""The command in this process, watched for manners: what tests of hostile input share."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evalkit.cli.main import main
from evalkit.errors import ExitCode

#: What a terminal would act upon: control characters but line breaks and tabs, and marks of direction.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LONGEST_LINE = 2200


@dataclass(frozen=True, slots=True)
class Said:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The last line on stderr."""
        return self.err.splitlines()[-1] if self.err else ""


Command = Callable[..., Said]


def call(*words: str | os.PathLike[str], allowed: tuple[int, ...] = (0, 1, 2, 3, 5)) -> Said:
    """Run the command; whatever it was given, it keeps its manners.

    One line per message, no traceback, nothing that steers a terminal, and one of the allowed exit codes
    (4, an internal error, is none of them).
    """
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors=e) for e in ("strict", "backslashreplace")]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            code = main([os.fspath(word) for word in words])
        except SystemExit as stop:
            code = int(stop.code or 0)
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "replace"))
    said = Said(code, *texts)
    assert said.code in allowed, said
    assert "Traceback" not in said.err
    assert not STEERING.search(said.out + said.err), said
    assert max(map(len, said.err.splitlines()), default=0) <= LONGEST_LINE
    if said.code == ExitCode.USAGE:
        assert said.err.count("evalkit: error: ") == 1, said.err
        assert said.error.startswith("evalkit: error: "), said.err
    return said


@pytest.fixture(scope="session")
def polite() -> Command:
    """Runs the command and checks its manners."""
    return call


@pytest.fixture(scope="session")
def played_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two bridge levels by two agents; copy it before you damage it."""
    root = tmp_path_factory.mktemp("played")
    words = ["-n", "2", "-j", "1", "--agent", "flat", "--agent", "truss", "--format", "plain"]
    assert call("run", "polybridge.smoke", *words, "-o", root).code == 0
    (folder,) = root.iterdir()
    return folder


@pytest.fixture
def run_copy(played_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the run in `runs/` of the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / played_run.name
    shutil.copytree(played_run, folder)
    yield folder
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700)
