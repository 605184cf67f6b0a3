"""One writer at a time: `run.lock` in a run folder names the process that writes there.

The lock holds the process's id, its start time and its host: an id alone could belong to a process that
came later. A lock whose process is gone is taken over.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from evalkit.errors import RecordError, StorageError

FILE_NAME = "run.lock"
#: Start times of one process may differ by this much when the system's clock is set.
CLOCK_TOLERANCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that writes, or wrote, to a run folder; `started` in seconds since the epoch."""

    pid: int
    started: float
    host: str

    def alive(self) -> bool | None:
        """Whether the process still runs; None if it is another host's and can't be asked."""
        import psutil

        if self.host != socket.gethostname():
            return None
        try:
            process = psutil.Process(self.pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return bool(abs(process.create_time() - self.started) <= CLOCK_TOLERANCE_S)
        except psutil.NoSuchProcess:
            return False


class RunLock:
    """The lock of a run folder, held from construction to `release`.

    `note` says what was taken over from a process that had died, or is empty.
    """

    def __init__(self, folder: Path) -> None:
        """RecordError if another process holds the lock, StorageError if it can't be written."""
        self.path = folder / FILE_NAME
        self.note = ""
        while not self._create():
            self._remove_stale()

    def release(self) -> None:
        """Give the lock back; safe to call twice."""
        holder = _read(self.path)
        if holder is not None and (holder.pid, holder.host) == (os.getpid(), socket.gethostname()):
            self.path.unlink()

    def _create(self) -> bool:
        """Whether the lock is ours; False if there was one already."""
        try:
            descriptor = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            return False
        except OSError as error:
            raise StorageError(f"can't write {self.path}: {error.strerror}") from error
        try:
            os.write(descriptor, json.dumps(asdict(_this_process())).encode("ascii"))
        except OSError as error:
            self.path.unlink()
            raise StorageError(f"can't write {self.path}: {error.strerror}") from error
        finally:
            os.close(descriptor)
        return True

    def _remove_stale(self) -> None:
        """Move a dead process's lock away; RecordError if its process lives or can't be asked."""
        holder = _read(self.path)
        refuse_if_held(self.path, holder)
        aside = self.path.with_name(f"{FILE_NAME}.{os.getpid()}")
        try:
            os.rename(self.path, aside)
        except FileNotFoundError:
            return  # another process was quicker to take it over
        except OSError as error:
            raise StorageError(f"can't replace {self.path}: {error.strerror}") from error
        if _read(aside) != holder:  # what was moved is the lock of that quicker process
            os.rename(aside, self.path)
            return
        aside.unlink()
        if holder is not None:
            self.note = f"process {holder.pid}, which wrote to this run, is gone; its lock was taken over"


def refuse_if_held(path: Path, holder: Holder | None) -> None:
    """RecordError if the lock at `path` belongs to a process that may still write."""
    if holder is None:
        if path.exists():
            raise RecordError(f"{path} is not readable; delete it if no evalkit writes to this run")
        return
    alive = holder.alive()
    if alive:
        raise RecordError(f"{path.parent} is being written by process {holder.pid}; wait for it or stop it")
    if alive is None:
        raise RecordError(
            f"{path.parent} is being written on host {holder.host} (process {holder.pid}); "
            f"if that process is gone, delete {path}"
        )


def refuse_if_written(folder: Path) -> None:
    """RecordError if a process writes to the run folder."""
    path = folder / FILE_NAME
    refuse_if_held(path, _read(path))


def _this_process() -> Holder:
    import psutil

    return Holder(os.getpid(), psutil.Process().create_time(), socket.gethostname())


def _read(path: Path) -> Holder | None:
    """Who holds the lock; None if nobody does or the file can't be read."""
    try:
        fields = json.loads(path.read_bytes())
        return Holder(int(fields["pid"]), float(fields["started"]), str(fields["host"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
