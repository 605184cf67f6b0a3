"""The layout file that the game opens, replaced for one run and put back whatever happens.

Before the file is touched, a journal with its original bytes is written and synced. The journal goes when
the original is back, so one that is found belongs to a process that died; whoever comes next, with the lock
held, puts the file back first.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from evalkit_polybridge.native.desktop import GameError

_PATIENCE_S = 3.0
_POLL_S = 0.1
_JOURNAL_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Entry:
    """What the journal keeps: the file, its bytes in Base64 (None: there was none) and its attributes."""

    version: int
    slot: str
    original: str | None
    mode: int
    mtime_ns: int
    written_sha256: str

    @property
    def data(self) -> bytes | None:
        return None if self.original is None else base64.b64decode(self.original)


@contextmanager
def replaced(slot: Path, data: bytes, journal: Path) -> Iterator[None]:
    """Put `data` in place of the file `slot` and, at the end, the file as it was.

    The lock has to be held, and `recover` called, before. GameError if the file can't be replaced, or not
    put back: then the journal stays.
    """
    slot = slot.resolve()  # what a link leads to is replaced, not the link
    entry = _entry(slot, data)
    try:
        _replace(journal, json.dumps(asdict(entry)).encode())
    except OSError as error:
        raise GameError(f"can't write {journal}, which keeps {slot.name} safe: {error.strerror}") from error
    try:
        _patiently(slot, data, "replaced")
        yield
    finally:
        _put_back(entry, journal)


def recover(journal: Path) -> str | None:
    """Put back what a process that died had replaced; the lock has to be held.

    Returns a sentence about what was done, or None if there was nothing. A file that was changed since is
    kept beside it. GameError if the file can't be put back.
    """
    try:
        entry = _Entry(**json.loads(journal.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise GameError(
            f"can't read {journal}: {error}; look at the game's layouts, then delete it"
        ) from error
    if entry.version != _JOURNAL_VERSION:
        raise GameError(f"{journal} is of another version of evalkit: start that one once")
    kept = _keep_foreign(entry)
    _put_back(entry, journal)
    also = f"; what somebody saved there since is {kept.name}" if kept is not None else ""
    return f"{entry.slot} is again what it was before a run that broke off{also}"


def _entry(slot: Path, data: bytes) -> _Entry:
    """The file as it is; GameError if it can't be read or isn't to be written."""
    written = hashlib.sha256(data).hexdigest()
    try:
        state = slot.stat()
        original = slot.read_bytes()
    except FileNotFoundError:
        return _Entry(_JOURNAL_VERSION, str(slot), None, 0, 0, written)
    except OSError as error:
        raise GameError(f"can't read the layout {slot}: {error.strerror}") from error
    if not state.st_mode & stat.S_IWUSR:
        raise GameError(f"the layout {slot} is read-only: make it writable, or name another slot")
    text = base64.b64encode(original).decode("ascii")
    return _Entry(_JOURNAL_VERSION, str(slot), text, stat.S_IMODE(state.st_mode), state.st_mtime_ns, written)


def _put_back(entry: _Entry, journal: Path) -> None:
    slot, original = Path(entry.slot), entry.data
    _partial(slot).unlink(missing_ok=True)
    if original is None:
        with contextlib.suppress(FileNotFoundError):
            slot.unlink()
    else:
        if not slot.is_file() or slot.read_bytes() != original:
            _patiently(slot, original, f"put back (it is kept in {journal})")
        os.chmod(slot, entry.mode)
        os.utime(slot, ns=(entry.mtime_ns, entry.mtime_ns))
    journal.unlink(missing_ok=True)


def _keep_foreign(entry: _Entry) -> Path | None:
    """A copy of the file if it is neither what was written nor the original: somebody's work."""
    slot = Path(entry.slot)
    try:
        found = slot.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GameError(f"can't read the layout {slot}: {error.strerror}") from error
    sha256 = hashlib.sha256(found).hexdigest()
    if sha256 == entry.written_sha256 or found == entry.data:
        return None
    kept = slot.with_name(f"{slot.stem}.found-{sha256[:8]}{slot.suffix}")
    _patiently(kept, found, "written")
    return kept


def _patiently(path: Path, data: bytes, what: str) -> None:
    """Replace a file, waiting a little while the game has it open; GameError if it stays locked."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return _replace(path, data)
        except PermissionError as error:
            if time.monotonic() > deadline:
                raise GameError(
                    f"{path} can't be {what}: {error.strerror}; close what has it open"
                ) from error
            time.sleep(_POLL_S)
        except OSError as error:
            raise GameError(f"{path} can't be {what}: {error.strerror}") from error


def _replace(path: Path, data: bytes) -> None:
    """Write a file in one step, so that the game finds the old one or the new one, also after a crash."""
    partial = _partial(path)
    try:
        with open(partial, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.evalkit-part")
