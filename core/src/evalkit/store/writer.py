"""Writing a run folder: one process, completed writes, never half a manifest.

Lines are handed to the operating system whole, so that a killed process loses at most a torn last line.
The index is synchronised to disk in batches.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from evalkit.errors import StorageError
from evalkit.types import EpisodeKey

SYNC_INTERVAL_S = 1.0


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn failures to write into one line that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            f"can't write {path}: {reason}; what was finished is kept, `evalkit resume` goes on"
        ) from error


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace a file in one step; afterwards it is either the old one or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)


def pretty_json(value: Any) -> bytes:
    """JSON for files that people read: indented, in the order given, with a line end."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


class EpisodeLog:
    """The growing log of one episode."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.chain = ""
        self.events = 0
        with storage_errors(path):
            self._file: IO[bytes] = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by close()

    def append(self, bodies: list[str]) -> None:
        """Append events, given as JSON objects without `prev`, in one write."""
        lines = []
        for body in bodies:
            line = f'{{"prev":"{self.chain}",{body[1:]}'.encode("ascii")
            self.chain = hashlib.sha256(line).hexdigest()
            lines.append(line + b"\n")
        self.events += len(lines)
        with storage_errors(self.path):
            _write_all(self._file, b"".join(lines))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class RunWriter:
    """The one writer of a run folder."""

    def __init__(self, folder: Path) -> None:
        """Open an existing run folder for writing."""
        self.folder = folder
        self._blobs: set[str] = set()
        self._last_sync = time.monotonic()
        path = folder / "episodes.jsonl"
        with storage_errors(path):
            (folder / "episodes").mkdir(exist_ok=True)
            (folder / "blobs").mkdir(exist_ok=True)
            _end_torn_line(path)
            self._index: IO[bytes] = open(path, "ab", buffering=0)  # noqa: SIM115 - closed by close()

    @classmethod
    def create(cls, folder: Path, manifest: Mapping[str, Any]) -> RunWriter:
        """A new run folder with its manifest; StorageError if it exists or can't be made."""
        with storage_errors(folder):
            folder.mkdir(parents=True)
        write_atomically(folder / "run.json", [pretty_json(manifest)])
        return cls(folder)

    def begin(self, key: EpisodeKey) -> tuple[EpisodeLog, int]:
        """The log of a new attempt at an episode, and the attempt's number (from 1).

        An earlier log is kept as `.attemptN.jsonl`.
        """
        path = self.folder / "episodes" / f"{key.file_stem()}.jsonl"
        attempt = 1
        with storage_errors(path):
            if path.exists():
                while (earlier := path.with_suffix(f".attempt{attempt}.jsonl")).exists():
                    attempt += 1
                os.replace(path, earlier)
                attempt += 1
        return EpisodeLog(path), attempt

    def finish(self, key: EpisodeKey, log: EpisodeLog, attempt: int, end: Mapping[str, Any]) -> None:
        """Close an episode's log and enter it in the index."""
        log.close()
        line = {
            "key": key.as_dict(),
            "end": end,
            "attempt": attempt,
            "events": log.events,
            "chain": log.chain,
        }
        with storage_errors(self.folder / "episodes.jsonl"):
            _write_all(self._index, json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
        if time.monotonic() - self._last_sync > SYNC_INTERVAL_S:
            self.sync()

    def blob(self, sha256: str, data: bytes) -> None:
        """Keep bytes under their hash, once."""
        if sha256 in self._blobs:
            return
        path = self.folder / "blobs" / sha256[:2] / sha256
        if not path.exists():
            temporary = path.with_name(f".{sha256}.tmp")
            with storage_errors(path):
                path.parent.mkdir(exist_ok=True)
                temporary.write_bytes(data)
                os.replace(temporary, path)
        self._blobs.add(sha256)

    def evidence(self, fields: Mapping[str, Any]) -> None:
        """Append what an executor found about a final design, after play."""
        path = self.folder / "evidence.jsonl"
        with storage_errors(path):
            _end_torn_line(path)
            with open(path, "ab", buffering=0) as file:
                _write_all(file, json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n")

    def sync(self) -> None:
        """Make the index durable."""
        with storage_errors(self.folder / "episodes.jsonl"):
            os.fsync(self._index.fileno())
        self._last_sync = time.monotonic()

    def close(self) -> None:
        """Synchronise and close; safe to call twice."""
        if not self._index.closed:
            self.sync()
            self._index.close()


def _write_all(file: IO[bytes], data: bytes) -> None:
    """Write everything or raise OSError; a raw file may take only a part."""
    view = memoryview(data)
    while view:
        written = file.write(view)
        view = view[written or 0 :]


def _end_torn_line(path: Path) -> None:
    """Put a line end behind a line that a killed process left torn, so that the next one stands alone."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with open(path, "rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
