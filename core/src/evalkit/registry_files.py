"""Registry files and plugins' suite files, read into blocks that know where each value was written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit.errors import RegistryError
from evalkit.registry_schema import FORMAT, GroupBlock, RegistryFile, validate
from evalkit.registry_yaml import MAX_BYTES, Document, Place, read_yaml

FILE_NAME = "registry.yaml"
VARIABLE = "EVALKIT_REGISTRY"

_HEADER = re.compile(rb"^\xef?\xbb?\xbf?evalkit[ ]*:", re.MULTILINE)
_MERGED_KEYS = ("tasks", "limits", "settings")


@dataclass(frozen=True, slots=True)
class Block:
    """A suite (or changes of one) as written: `places` says where, "file:line" or "-T key=value"."""

    data: dict[str, Any]
    places: dict[Place, str]
    origin: str

    def where(self, place: Place = ()) -> str:
        """Where a value was written, or the nearest thing around it."""
        while place and place not in self.places:
            place = place[:-1]
        return self.places.get(place, self.origin)

    def changed(self, patch: Block) -> Block:
        """This block with the changes of another: mappings merged, everything else replaced."""
        data = dict(self.data)
        for key, value in patch.data.items():
            data[key] = {**data.get(key, {}), **value} if key in _MERGED_KEYS else value
        replaced = {key for key in patch.data if key not in _MERGED_KEYS}
        kept = {place: w for place, w in self.places.items() if not place or place[0] not in replaced}
        return Block(data, {**kept, **{p: w for p, w in patch.places.items() if p}}, self.origin)


@dataclass(frozen=True, slots=True)
class Group:
    """A group as one file defines it."""

    block: GroupBlock
    where: str


@dataclass(slots=True)
class Content:
    """What one file, with everything that it includes, defines."""

    suites: dict[str, Block] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    overrides: list[tuple[str, Block]] = field(default_factory=list)


def read_suites(path: Path, origin: str) -> Content:
    """Read the suite file of a plugin, which holds suites only: installing it changes nobody else's.

    RegistryError with file and line.
    """
    document, file = _read(path)
    for key in ("include", "groups", "overrides"):
        if key in file.model_fields_set:
            raise RegistryError(f"{key!r} is for registry files", path, document.line((key,)))
    return _content(path, document, file, origin)


def read_registry(path: Path) -> Content:
    """Read a registry file with everything it includes. RegistryError with file and line."""
    content = Content()
    for part in _with_includes(path.absolute(), (), set()):
        for name, block in part.suites.items():
            if name in content.suites:
                other = content.suites[name].where()
                raise RegistryError(f"the suite {name!r} is also defined in {other}", block.where())
            content.suites[name] = block
        for name, group in part.groups.items():
            if name in content.groups:
                other = content.groups[name].where
                raise RegistryError(f"the group {name!r} is also defined in {other}", group.where)
            content.groups[name] = group
        content.overrides += part.overrides
    return content


def find_registry(folder: Path) -> Path | None:
    """The nearest `registry.yaml` from a folder upward that begins an evalkit registry, or None."""
    for parent in (folder, *folder.parents):
        path = parent / FILE_NAME
        if path.is_file() and os.access(path, os.R_OK):
            with path.open("rb") as file:
                if _HEADER.search(file.read(MAX_BYTES)):
                    return path
    return None


def _with_includes(path: Path, chain: tuple[Path, ...], done: set[Path]) -> Iterator[Content]:
    """A file's content after that of the files it includes; a file included twice counts once."""
    real = path.resolve()
    if real in done:
        return
    document, file = _read(path)
    for number, name in enumerate(file.include):
        included = path.parent / name
        line = document.line(("include", number))
        if included.resolve() in (*chain, real):
            raise RegistryError(f"{name} includes this file again", path, line)
        if not included.is_file():
            raise RegistryError(f"there is no file {name} to include", path, line)
        yield from _with_includes(included, (*chain, real), done)
    done.add(real)
    yield _content(path, document, file, str(path))


def _read(path: Path) -> tuple[Document, RegistryFile]:
    document = read_yaml(path)
    header = f"a registry file is a mapping that begins with `evalkit: {FORMAT}`"
    if not isinstance(document.value, dict) or "evalkit" not in document.value:
        raise RegistryError(header, path, 1)
    if document.value["evalkit"] != FORMAT:
        found = document.value["evalkit"]
        raise RegistryError(
            f"the format is {found!r}, this evalkit reads {FORMAT}", path, document.line(("evalkit",))
        )
    return document, validate(RegistryFile, document.value, _in_file(path, document))


def _in_file(path: Path, document: Document) -> Callable[[Place], str]:
    return lambda place: f"{path}:{document.line(place)}"


def _content(path: Path, document: Document, file: RegistryFile, origin: str) -> Content:
    where = _in_file(path, document)

    def block(section: str, name: str) -> Block:
        place = (section, name)
        places = {p[2:]: where(p) for p in document.lines if p[:2] == place}
        return Block(document.value[section][name], places, origin)

    return Content(
        suites={name: block("suites", name) for name in file.suites},
        groups={name: Group(group, where(("groups", name))) for name, group in file.groups.items()},
        overrides=[(name, block("overrides", name)) for name in file.overrides],
    )
