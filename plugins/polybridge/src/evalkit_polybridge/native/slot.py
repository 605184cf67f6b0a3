"""The layout file that the game opens, replaced for one run and put back whatever happens.

Before the file is touched, a journal with its original bytes is written and synced. The journal goes when
the original is back, so one that is found belongs to a process that died; whoever comes next, with the lock
held, puts the file back first. A journal that isn't whole puts nothing back.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evalkit_polybridge.native.calibration import first_fault
from evalkit_polybridge.native.desktop import Arrangement, GameError

_PATIENCE_S = 3.0
_POLL_S = 0.1
_JOURNAL_VERSION: Literal[2] = 2

_log = logging.getLogger("evalkit.polybridge")
_T = TypeVar("_T")


class _Entry(BaseModel):
    """What the journal keeps: the file, its bytes in Base64 (None: no file), attributes, the desktop."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: Literal[2]
    slot: str
    original: str | None
    original_sha256: str | None
    mode: int = Field(ge=0, le=0o7777)
    mtime_ns: int
    written_sha256: str
    pointer: tuple[int, int]
    active: int

    @field_validator("slot")
    @classmethod
    def _absolute(cls, path: str) -> str:
        if not os.path.isabs(path):
            raise ValueError("it has to be an absolute path")
        return path

    @model_validator(mode="after")
    def _whole(self) -> Self:
        data = self.data  # ValueError if it isn't Base64
        if (None if data is None else _sha256(data)) != self.original_sha256:
            raise ValueError("the layout in it isn't the one that was kept")
        return self

    @property
    def data(self) -> bytes | None:
        """The original's bytes; None if there was no file."""
        return None if self.original is None else base64.b64decode(self.original, validate=True)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What `recover` did, in a sentence, and how the desktop was before the run that broke off."""

    said: str
    arrangement: Arrangement


@contextmanager
def replaced(slot: Path, data: bytes, journal: Path, arrangement: Arrangement) -> Iterator[None]:
    """Put `data` in place of the file `slot` and, at the end, the file as it was.

    The lock has to be held, and `recover` called, before. `arrangement` is noted for whoever has to recover.
    GameError if the file can't be replaced, or not put back: then the journal stays.
    """
    slot = slot.resolve()  # what a link leads to is replaced, not the link
    entry = _entry(slot, data, arrangement)
    try:
        replace_file(journal, entry.model_dump_json().encode())
    except OSError as error:
        raise GameError(f"can't write {journal}, which keeps {slot.name} safe: {error.strerror}") from error
    try:
        _patiently(lambda: replace_file(slot, data), slot, "replaced")
        yield
    finally:
        _put_back(entry, journal)


def recover(journal: Path) -> Recovered | None:
    """Put back what a process that died had replaced, if anything; the lock has to be held.

    A file that was changed since is kept beside it. GameError if the file can't be put back, or if the
    journal isn't whole: then nothing is touched.
    """
    entry = _read(journal)
    if entry is None:
        return None
    kept = _keep_foreign(entry)
    _put_back(entry, journal)
    also = f"; what somebody saved there since is {kept.name}" if kept is not None else ""
    said = f"{entry.slot} is again what it was before a run that broke off{also}"
    return Recovered(said, Arrangement(entry.pointer, entry.active))


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step, so that a reader finds the old one or the new one, also after a crash."""
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


def _entry(slot: Path, data: bytes, arrangement: Arrangement) -> _Entry:
    """The file as it is; GameError if it can't be read or isn't to be written."""
    original = _patiently(lambda: _content(slot), slot, "read")
    mode, mtime_ns = 0, 0
    if original is not None:
        state = _patiently(slot.stat, slot, "read")
        if not state.st_mode & stat.S_IWUSR:
            raise GameError(f"the layout {slot} is read-only: make it writable, or name another slot")
        mode, mtime_ns = stat.S_IMODE(state.st_mode), state.st_mtime_ns
    return _Entry(
        version=_JOURNAL_VERSION,
        slot=str(slot),
        original=None if original is None else base64.b64encode(original).decode("ascii"),
        original_sha256=None if original is None else _sha256(original),
        mode=mode,
        mtime_ns=mtime_ns,
        written_sha256=_sha256(data),
        pointer=arrangement.pointer,
        active=arrangement.active,
    )


def _read(journal: Path) -> _Entry | None:
    """What a journal keeps; None if there is none, GameError if it isn't whole."""
    try:
        return _Entry.model_validate_json(journal.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GameError(f"can't read {journal}, which keeps a layout safe: {error.strerror}") from error
    except ValidationError as error:
        fault = first_fault(error, "all of it")
        raise GameError(
            f"{journal} is damaged or of another version of evalkit ({fault}), so nothing is put back: "
            "look at the game's layouts yourself, then delete it"
        ) from error


def _put_back(entry: _Entry, journal: Path) -> None:
    slot, original = Path(entry.slot), entry.data
    how = f"put back (it is kept in {journal})"
    _patiently(lambda: _partial(slot).unlink(missing_ok=True), slot, how)
    if _patiently(lambda: _content(slot), slot, how) != original:
        if original is None:
            _patiently(lambda: slot.unlink(missing_ok=True), slot, "removed (it wasn't there before)")
        else:
            _patiently(lambda: replace_file(slot, original), slot, how)
    if original is not None:
        _put_attributes_back(entry)
    _patiently(lambda: journal.unlink(missing_ok=True), journal, "deleted, though the layout is back")


def _put_attributes_back(entry: _Entry) -> None:
    """Permissions and date; what the system refuses is said, for the content is back in any case."""

    def put() -> None:
        os.chmod(entry.slot, entry.mode)
        os.utime(entry.slot, ns=(entry.mtime_ns, entry.mtime_ns))

    try:
        _patiently(put, Path(entry.slot), "given its date and permissions again, its content is back")
    except (GameError, OverflowError) as error:
        _log.warning("%s", error)


def _keep_foreign(entry: _Entry) -> Path | None:
    """A copy of the file if it is neither what was written nor the original: somebody's work."""
    slot = Path(entry.slot)
    found = _patiently(lambda: _content(slot), slot, "read")
    if found is None or found == entry.data or _sha256(found) == entry.written_sha256:
        return None
    kept = slot.with_name(f"{slot.stem}.found-{_sha256(found)[:8]}{slot.suffix}")
    _patiently(lambda: replace_file(kept, found), kept, "written")
    return kept


def _content(path: Path) -> bytes | None:
    """The file's bytes, or None if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _patiently(act: Callable[[], _T], path: Path, done: str) -> _T:
    """Do something to a file, waiting a little while the game has it open; GameError if it stays locked."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return act()
        except PermissionError as error:
            if time.monotonic() > deadline:
                raise GameError(
                    f"{path} can't be {done}: {error.strerror}; close what has it open"
                ) from error
            time.sleep(_POLL_S)
        except OSError as error:
            raise GameError(f"{path} can't be {done}: {error.strerror}") from error


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.evalkit-part")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
