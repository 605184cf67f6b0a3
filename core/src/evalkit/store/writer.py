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
from typing import IO, Any, Self

from evalkit.errors import StorageError
from evalkit.store.lock import RunLock
from evalkit.store.logs import added, attempt_path, counted, earlier_attempts, episode_path, read_log
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
    """The growing log of one episode; `spent_before` is what earlier attempts at it spent."""

    def __init__(self, path: Path, spent_before: Mapping[str, float]) -> None:
        self.path = path
        self.spent_before = spent_before
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
    """The one writer of a run folder, whose lock it holds until `close`."""

    def __init__(self, folder: Path) -> None:
        """Open an existing run folder for writing; RecordError if another process writes there."""
        self.folder = folder
        self._new = False
        self._blobs: set[str] = set()
        self._last_sync = time.monotonic()
        self.lock = RunLock(folder)
        path = folder / "episodes.jsonl"
        try:
            with storage_errors(path):
                (folder / "episodes").mkdir(exist_ok=True)
                (folder / "blobs").mkdir(exist_ok=True)
                _mend_last_line(path)
                self._index: IO[bytes] = open(path, "ab", buffering=0)  # noqa: SIM115 - closed by close()
        except StorageError:
            self.lock.release()
            raise

    @classmethod
    def create(cls, folder: Path, manifest: Mapping[str, Any]) -> RunWriter:
        """A new run folder with its manifest; StorageError if it exists or can't be made."""
        text = pretty_json(manifest)
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise StorageError(
                f"can't make the run folder {folder}: {error.strerror}; choose another with -o"
            ) from error
        write_atomically(folder / "run.json", [text])
        writer = cls(folder)
        writer._new = True  # nothing was tried before, so nothing has to be looked for
        return writer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def begin(self, key: EpisodeKey) -> tuple[EpisodeLog, int]:
        """The log of a new attempt at an episode, and the attempt's number (from 1).

        An earlier log is kept as `.attemptN.jsonl`.
        """
        path = episode_path(self.folder, key)
        if self._new:
            return EpisodeLog(path, {}), 1
        earlier = earlier_attempts(path)
        with storage_errors(path):
            if path.exists():
                earlier.append(attempt_path(path, len(earlier) + 1))
                os.replace(path, earlier[-1])
        return EpisodeLog(path, spent_in(earlier)), len(earlier) + 1

    def finish(self, key: EpisodeKey, log: EpisodeLog, attempt: int, end: Mapping[str, Any]) -> None:
        """Close an episode's log and enter it in the index."""
        log.close()
        self.enter(key, end, attempt, log.events, log.chain, log.spent_before)

    def recover(self, key: EpisodeKey) -> bool:
        """Enter an episode that ended just before its writer died; False if its log isn't complete."""
        path = episode_path(self.folder, key)
        if not path.exists():
            return False
        reading = read_log(path)
        start, end = (reading.events or [{}])[0], reading.end
        if not reading.complete or end is None or start.get("key") != key.as_dict():
            return False
        earlier = earlier_attempts(path)
        summary = {name: end[name] for name in ("reason", "counters", "detail") if name in end}
        self.enter(key, summary, len(earlier) + 1, len(reading.events), reading.chain, spent_in(earlier))
        return True

    def enter(
        self,
        key: EpisodeKey,
        end: Mapping[str, Any],
        attempt: int,
        events: int,
        chain: str,
        spent_before: Mapping[str, float],
    ) -> None:
        """Append a line to the index."""
        line = {"key": key.as_dict(), "end": end, "attempt": attempt, "events": events, "chain": chain}
        if spent_before:
            line["spent_before"] = spent_before
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
                try:
                    temporary.write_bytes(data)
                    os.replace(temporary, path)
                except OSError:
                    temporary.unlink(missing_ok=True)
                    raise
        self._blobs.add(sha256)

    def evidence(self, fields: Mapping[str, Any]) -> None:
        """Append what an executor found about a final design, after play."""
        path = self.folder / "evidence.jsonl"
        with storage_errors(path):
            _mend_last_line(path)
            with open(path, "ab", buffering=0) as file:
                _write_all(file, json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n")

    def sync(self) -> None:
        """Make the index durable."""
        with storage_errors(self.folder / "episodes.jsonl"):
            os.fsync(self._index.fileno())
        self._last_sync = time.monotonic()

    def close(self) -> None:
        """Synchronise, close and give the lock back; safe to call twice."""
        if not self._index.closed:
            try:
                self.sync()
            finally:
                self._index.close()
                self.lock.release()


def spent_in(logs: Iterable[Path]) -> dict[str, float]:
    """The counters of several attempts together; empty if there was none."""
    spent: dict[str, float] = {}
    for log in logs:
        spent = added(spent, counted(read_log(log).events))
    return spent


def _write_all(file: IO[bytes], data: bytes) -> None:
    """Write everything or raise OSError; a raw file may take only a part."""
    view = memoryview(data)
    while view:
        written = file.write(view)
        view = view[written or 0 :]


def _mend_last_line(path: Path) -> None:
    """Drop a last line that a killed process left torn; end one that lacks nothing but its line end."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with open(path, "rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) == b"\n":
            return
        file.seek(0)
        last = file.read().rpartition(b"\n")[2]
        if _is_json(last):
            file.write(b"\n")
        else:
            file.truncate(file.seek(-len(last), os.SEEK_END))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
