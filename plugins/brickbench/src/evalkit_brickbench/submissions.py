"""Builds that were made elsewhere: a folder or zip archive with a folder for each task, or one file for all.

Whoever made it isn't trusted: nothing is unpacked to disk, no link is followed, and sizes and numbers are
bounded before anything is read.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAX_ZIP_BYTES = 10 << 20
MAX_FILE_BYTES = 10 << 20
MAX_TOTAL_BYTES = 64 << 20
MAX_ENTRIES = 5_000
FILES = ("build.py", "model.mpd")
"""What is taken of a task's folder; other files are left where they are."""

_SINGLE = {".py": "build.py", ".mpd": "model.mpd", ".ldr": "model.mpd"}


class SubmissionError(ValueError):
    """A submission that can't be taken; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Submission:
    """Files by task and name. `others`: what every task gets that isn't among them (a single file)."""

    tasks: Mapping[str, Mapping[str, bytes]]
    others: Mapping[str, bytes] = field(default_factory=dict)

    def of(self, task: str) -> Mapping[str, bytes]:
        """The files for a task; none if it is missing."""
        return self.tasks.get(task, self.others)


def read_submission(path: Path) -> Submission:
    """Read a folder, a zip archive or a single build.py, .ldr or .mpd; SubmissionError says what is wrong."""
    if path.is_dir():
        return _collected(path, _from_folder(path))
    if not path.is_file():
        raise SubmissionError(f"there is no file or folder {path}")
    if path.suffix.lower() in _SINGLE:
        return Submission({}, {_SINGLE[path.suffix.lower()]: _bounded(path, MAX_FILE_BYTES)})
    if path.stat().st_size > MAX_ZIP_BYTES:
        raise SubmissionError(f"{path} is larger than {MAX_ZIP_BYTES >> 20} MB")
    try:
        with zipfile.ZipFile(path) as archive:
            return _collected(path, _from_zip(archive))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise SubmissionError(f"{path} is no zip archive that can be read: {error}") from error


_Entry = tuple[tuple[str, ...], bytes]


def _collected(path: Path, entries: Iterator[_Entry]) -> Submission:
    """Entries `(TASK, FILE)`, or `(ANYTHING, TASK, FILE)` if all lie in one folder, as a submission."""
    tasks: dict[str, dict[str, bytes]] = {}
    outer: set[str] = set()
    total = 0
    for names, content in entries:
        total += len(content)
        if total > MAX_TOTAL_BYTES:
            raise SubmissionError(f"{path} holds more than {MAX_TOTAL_BYTES >> 20} MB")
        outer.add(names[0] if len(names) == 3 else "")
        files = tasks.setdefault(names[-2], {})
        if names[-1] in files:
            raise SubmissionError(f"{path} holds {names[-2]}/{names[-1]} twice")
        files[names[-1]] = content
    if len(outer) > 1:
        raise SubmissionError(f"{path} has to hold a folder for each task, all at the same depth")
    if not tasks:
        raise SubmissionError(f"{path} holds no TASK/{' and no TASK/'.join(FILES)}")
    return Submission(tasks)


def _wanted(names: tuple[str, ...]) -> bool:
    return len(names) in (2, 3) and names[-1] in FILES


def _from_zip(archive: zipfile.ZipFile) -> Iterator[_Entry]:
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise SubmissionError(f"{archive.filename} has more than {MAX_ENTRIES} entries")
    for entry in entries:
        names = _names(entry.filename)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise SubmissionError(f"{entry.filename!r} is a link or a device; hand in plain files")
        if entry.is_dir() or not _wanted(names):
            continue
        if entry.flag_bits & 1:
            raise SubmissionError(f"{entry.filename!r} is encrypted")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise SubmissionError(f"{entry.filename!r} is neither stored nor deflated")
        if entry.file_size > MAX_FILE_BYTES:
            raise SubmissionError(f"{entry.filename!r} is larger than {MAX_FILE_BYTES >> 20} MB")
        with archive.open(entry) as file:
            yield names, file.read(MAX_FILE_BYTES + 1)  # zipfile stops at the size that the entry states


def _names(path: str) -> tuple[str, ...]:
    """The parts of a path in an archive; SubmissionError for one that leads out of it."""
    names = path.rstrip("/").split("/")
    if "\\" in path or "\0" in path or ":" in names[0] or any(name in ("", ".", "..") for name in names):
        raise SubmissionError(f"{path!r} is not a path inside the archive; write it like TASK/{FILES[0]}")
    return tuple(names)


def _from_folder(folder: Path) -> Iterator[_Entry]:
    """As from a zip archive; a folder of the user's own, in which links are refused all the same."""
    found = 0
    for depth in ("*", "*/*", "*/*/*"):
        for path in sorted(folder.glob(depth)):
            found += 1
            if found > MAX_ENTRIES:
                raise SubmissionError(f"{folder} has more than {MAX_ENTRIES} entries")
            names = path.relative_to(folder).parts
            if path.is_symlink():
                raise SubmissionError(f"{path} is a link; hand in plain files")
            if _wanted(names) and path.is_file():
                yield names, _bounded(path, MAX_FILE_BYTES)


def _bounded(path: Path, most: int) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise SubmissionError(f"can't read {path}: {error.strerror}") from error
    if len(data) > most:
        raise SubmissionError(f"{path} is larger than {most >> 20} MB")
    return data
