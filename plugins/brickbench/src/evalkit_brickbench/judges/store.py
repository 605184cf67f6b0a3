"""The folder of an arena: judgements and calls, appended line by line, and the pictures that were shown.

`judgements.jsonl` is all that counts. A line is written whole and synced before the next question is counted
as answered; what a crash left of a line is taken away when the folder is opened again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evalkit import UsageError, canonical_json

JUDGEMENTS = "judgements.jsonl"
CALLS = "calls.jsonl"
LOCK = "lock"


class ArenaStore:
    """Judgements by key; open it as a context manager, which keeps other processes out."""

    def __init__(self, folder: Path) -> None:
        """UsageError if the folder can't be used, is in use, or holds lines that are no judgements."""
        self.folder = folder
        try:
            (folder / "pictures").mkdir(parents=True, exist_ok=True)
            self._lock_file = open(folder / LOCK, "ab")  # noqa: SIM115 - closed by close()
            self._claim()
            for name in (JUDGEMENTS, CALLS):
                _mend_last_line(folder / name)
            self.judgements = _read(folder / JUDGEMENTS)
            self._file = open(folder / JUDGEMENTS, "ab", buffering=0)  # noqa: SIM115 - closed by close()
            self._calls = open(folder / CALLS, "ab", buffering=0)  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise UsageError(f"can't use the folder {folder}: {error.strerror}") from error
        self._writing = threading.Lock()

    def _claim(self) -> None:
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock_file.close()
            raise UsageError(f"another arena is at work in {self.folder}") from None

    def add(self, key: str, judgement: Mapping[str, Any]) -> None:
        """Append a judgement and make it durable."""
        record = {"key": key, **judgement}
        self._append(self._file, record)
        os.fsync(self._file.fileno())
        self.judgements[key] = record

    def keep_picture(self, name: str, draw: Callable[[], bytes | None]) -> bool:
        """Draw the picture of that name if it isn't kept yet; False if there is nothing to draw."""
        path = self._picture_path(name)
        if path.exists():
            return True
        data = draw()
        if data is None:
            return False
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(data)
        os.replace(temporary, path)
        return True

    def keep_results(self, name: str, text: str) -> None:
        """Write a file of results, in place of the one before."""
        temporary = self.folder / f"{name}.tmp"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, self.folder / name)

    def picture(self, name: str) -> bytes:
        """A picture that was kept, as a PNG file."""
        return self._picture_path(name).read_bytes()

    def _picture_path(self, name: str) -> Path:
        return self.folder / "pictures" / f"{name}.png"

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append what happened in a call (`asking.Recorder`)."""
        self._append(self._calls, {"kind": kind, "time": round(time.time(), 3), **fields})

    def blob(self, data: bytes) -> str:
        """The hash of a body. Bodies aren't kept: the pictures are here, and texts follow from the task."""
        return hashlib.sha256(data).hexdigest()

    def flush(self) -> None:
        """Nothing waits: lines are written at once."""

    def close(self) -> None:
        """Close the files and let others in."""
        for file in (self._file, self._calls, self._lock_file):
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, file: Any, record: Mapping[str, Any]) -> None:
        line = memoryview(canonical_json(record) + b"\n")
        with self._writing:
            while line:
                line = line[file.write(line) :]


def _mend_last_line(path: Path) -> None:
    """Take away what a crash left of a line: nobody was told of it."""
    if not path.exists():
        return
    with open(path, "r+b") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            file.truncate(whole)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            record = json.loads(line)
            usable = isinstance(record["key"], str) and record["choice"] in (1, 2, None)
        except (ValueError, KeyError, TypeError, RecursionError):
            usable = False
        if not usable:
            raise UsageError(f"{path}: line {number} is no judgement; take it away to have it judged again")
        found.setdefault(record["key"], record)
    return found
