"""Where official files come from: an LDraw library as a folder or a zip archive."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

from evalkit_brickbench.ldraw.lines import Header, parse_block
from evalkit_brickbench.ldraw.names import is_safe, normalise, stem
from evalkit_brickbench.ldraw.notes import LDrawError, NoteList

FOLDERS = (
    "parts",
    "p",
    "unofficial/parts",
    "unofficial/p",
    "models",
)
"""Where names are looked up, the first hit counts; `s/`, `48/` and `8/` are part of the names."""
HEADER_BYTES = 8192
"""Headers of official files end well before this."""
FILE_LIMIT_BYTES = 16 * 1024 * 1024
_MOVED = re.compile(r"~\s*moved to\s+(\S.*)", re.IGNORECASE)
_LONGEST_MOVE = 32


@runtime_checkable
class Library(Protocol):
    """Official files by the names that references use; `id` (with version and hash) is recorded."""

    @property
    def id(self) -> str: ...

    def find(self, name: str) -> bytes | None:
        """Content of the file a reference means (any case, both slashes, `s\\…`, `48\\…`), or None."""
        ...


class _Indexed:
    """Look-ups shared by folders and archives: an index from lower-case paths to what's really there."""

    kind = ""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _index(self) -> dict[str, str]:
        """Lower-case paths relative to the library's root, and the paths as stored."""
        stored = sorted(self._list())
        root = _root(stored)
        index: dict[str, str] = {}
        for path in stored:
            if path.startswith(root):
                index.setdefault(normalise(path[len(root) :]), path)
        if not any(key.startswith(("parts/", "p/")) for key in index):
            raise LDrawError(f"{self.path.name}: no LDraw library (no parts folder in it); point to its root")
        return index

    @cached_property
    def id(self) -> str:
        """Kind, number of files and a hash of their names and sizes."""
        digest = hashlib.sha256()
        for key, stored in sorted(self._index.items()):
            digest.update(f"{key} {self._size(stored)}\n".encode())
        return f"ldraw-{self.kind}:{len(self._index)}:sha256:{digest.hexdigest()[:16]}"

    def find(self, name: str) -> bytes | None:
        """Content of the file of this name, or None. Names that would leave the library find nothing."""
        key = normalise(name)
        if not is_safe(key):
            return None
        for folder in FOLDERS:
            stored = self._index.get(f"{folder}/{key}")
            if stored is not None:
                return self._read(stored)
        stored = self._index.get(key) if key == "ldconfig.ldr" else None
        return self._read(stored) if stored is not None else None

    def names(self) -> tuple[str, ...]:
        """Stems of the official parts (files in `parts`), sorted."""
        keys = (key for key in self._index if key.startswith("parts/") and key.count("/") == 1)
        return tuple(sorted(stem(key.removeprefix("parts/")) for key in keys if key.endswith(".dat")))

    def _list(self) -> list[str]:
        raise NotImplementedError

    def _size(self, stored: str) -> int:
        raise NotImplementedError

    def _read(self, stored: str) -> bytes:
        raise NotImplementedError


class FolderLibrary(_Indexed):
    """A library as LDRAWDIR has it: `parts`, `parts/s`, `p`, `p/48`, `p/8`, `models`, `UnOfficial`."""

    kind = "folder"

    def _list(self) -> list[str]:
        if not self.path.is_dir():
            raise LDrawError(f"{self.path}: no such folder; point to an LDraw library")
        found = []
        for folder, _, files in os.walk(self.path):
            relative = Path(folder).relative_to(self.path)
            found += [
                (relative / file).as_posix()
                for file in files
                if file.lower().endswith((".dat", ".ldr", ".mpd"))
            ]
        return found

    def _size(self, stored: str) -> int:
        return (self.path / stored).stat().st_size

    def _read(self, stored: str) -> bytes:
        with (self.path / stored).open("rb") as stream:
            return stream.read(FILE_LIMIT_BYTES)


class ZipLibrary(_Indexed):
    """A library as it's distributed, such as complete.zip; nothing is unpacked to disk."""

    kind = "zip"

    @cached_property
    def _archive(self) -> zipfile.ZipFile:
        try:
            return zipfile.ZipFile(self.path)
        except (OSError, zipfile.BadZipFile) as error:
            raise LDrawError(
                f"{self.path.name}: not a readable zip archive; download the library again"
            ) from error

    def _list(self) -> list[str]:
        return [n for n in self._archive.namelist() if n.lower().endswith((".dat", ".ldr", ".mpd"))]

    def _size(self, stored: str) -> int:
        return self._archive.getinfo(stored).file_size

    def _read(self, stored: str) -> bytes:
        with self._archive.open(stored) as stream:
            return stream.read(FILE_LIMIT_BYTES)


def open_library(path: str | Path) -> FolderLibrary | ZipLibrary:
    """The library in a folder or zip archive; LDrawError if there's none."""
    place = Path(path)
    library = FolderLibrary(place) if place.is_dir() else ZipLibrary(place)
    library.names()
    return library


def read_header(content: bytes, name: str) -> Header:
    """Header of the content of a library file."""
    text = content.decode("utf-8", errors="replace").lstrip("\ufeff")
    lines = [line for line in text.splitlines() if line.lstrip()[:1] == "0"]
    return parse_block(lines, name, 1, NoteList())[0]


def part_type(library: Library, name: str) -> str | None:
    """What the header of a library file says it is: "part", "subpart", "primitive", "shortcut", "model", ""
    if it says nothing; None if there's no such file."""
    content = library.find(name)
    return None if content is None else read_header(content[:HEADER_BYTES], name).kind


def resolve_moved(library: Library, name: str) -> str:
    """The stem of a part after following `~Moved to`; the last one where the trail ends or is a circle."""
    current = stem(name)
    seen = {current}
    for _ in range(_LONGEST_MOVE):
        content = library.find(f"{current}.dat")
        found = (
            _MOVED.match(read_header(content[:HEADER_BYTES], current).title) if content is not None else None
        )
        if found is None or stem(found[1]) in seen:
            return current
        current = stem(found[1])
        seen.add(current)
    return current


def _root(paths: list[str]) -> str:
    """The folder, as a prefix, that holds `parts` and `p`."""
    prefixes = {path[: -len(rest)] for path in paths for rest in [_inside(path)] if rest}
    return min(prefixes, key=lambda prefix: (len(prefix), prefix), default="")


def _inside(path: str) -> str:
    """The part of a path from its first `parts/` or `p/` folder on."""
    pieces = path.split("/")
    for index, piece in enumerate(pieces[:-1]):
        if piece.lower() in ("parts", "p"):
            return "/".join(pieces[index:])
    return ""
