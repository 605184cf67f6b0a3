"""The parts that agents retrieve: names at once, meshes when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evalkit_lmbuild.design import Mesh
from evalkit_lmbuild.facts import PoolPart
from evalkit_lmbuild.objects import DataPath, no_data, pool_mesh_of


@dataclass(frozen=True)
class Entry:
    """A part on offer; `program` where it is made by one."""

    id: str
    name: str
    load: Callable[[], Mesh]
    program: Mapping[str, Any] | None = None


class Catalogue(Mapping[str, Mesh]):
    """Meshes of parts by id, in a fixed order; each is made when it is asked for."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = {entry.id: entry for entry in entries}

    @classmethod
    def of(cls, pool: Sequence[PoolPart]) -> Catalogue:
        """A catalogue of parts that have their meshes."""
        return cls(Entry(part.id, part.name, lambda mesh=part.mesh: mesh) for part in pool)  # type: ignore[misc]

    @classmethod
    def of_entries(cls, parts: Sequence[Mapping[str, Any]], data: DataPath = no_data) -> Catalogue:
        """A catalogue of `pool_part_id`, `name` and `program` or `mesh`, compiled or read on demand.

        `data` says where files of pulled data are.
        """

        def entry(part: Mapping[str, Any]) -> Entry:
            load = partial(pool_mesh_of, part, data)
            return Entry(part["pool_part_id"], part["name"], load, part.get("program"))

        return cls(entry(part) for part in parts)

    def __getitem__(self, part: str) -> Mesh:
        return self._entries[part].load()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def name(self, part: str) -> str:
        """What the part is called; KeyError if there is none of this id."""
        return self._entries[part].name

    def program(self, part: str) -> Mapping[str, Any] | None:
        """The program that makes it, if one does; KeyError if there is none of this id."""
        return self._entries[part].program
