"""Connectors of parts: named, typed and counted lists of them, and which ones fit each other.

A connector is named by its list and its place in it: `stud[0]`, `hole[3]`, `hinge_on[0]`. The order is that
of the catalogue.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import overload

import numpy as np

from evalkit_brickbench._connections_match import AXLE_PAIRS, STUD_PAIRS
from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.build._knowledge import catalogue
from evalkit_brickbench.build._pose import Pose
from evalkit_brickbench.parts.catalogue import KINDS, POLARITIES

LISTS = {
    "stud": "studs, solid and open",
    "hole": "holes that take a stud, one below each stud position",
    "tube": "tubes between four studs underneath, which take a stud",
    "post": "posts between two studs underneath, which go into an open stud",
    "pin": "technic pins and other round ends",
    "axle": "cross axles",
    "bar": "bars, 8 LDU thick",
    "socket": "round holes for pins and axles",
    "cross": "cross-shaped holes for axles and bars",
    "clip": "clips and holes for bars",
    "axle_hole": "other holes, which hold nothing",
    "hinge_in": "inner halves of hinges",
    "hinge_on": "outer halves of hinges",
    "ball_in": "inner halves of ball joints",
    "ball_on": "outer halves of ball joints",
    "fixed_in": "inner halves of fixed joints",
    "fixed_on": "outer halves of fixed joints",
}
"""The typed lists, and what is in them."""

FREEDOMS = {
    "stud": ("yaw",),
    "axle": ("flip", "yaw", "slide"),
    "hinge": ("flip", "yaw"),
    "ball": ("yaw", "pitch", "roll"),
    "fixed": (),
}
"""What may be chosen when two connectors of a family are joined."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Connector:
    """One connector: `list_name` and `index` are its name, `kind`, `subtype` and `polarity` its type.

    `pose` is its frame in LDU, the mating axis is −y of it: in the frame of the part for connectors of a
    `Part`, in that of the assembly `root` for those of placed parts, as they stood when it was taken.
    `half_length` in LDU for axles and what takes them, else 0. `stem` and `number`: its part, and its place
    among all connectors of the part.
    """

    list_name: str
    index: int
    kind: str
    subtype: str
    polarity: str
    half_length: float
    stem: str
    number: int
    pose: Pose
    root: object | None = None

    @property
    def name(self) -> str:
        """Such as `stud[0]`."""
        return f"{self.list_name}[{self.index}]"

    @property
    def position(self) -> tuple[float, float, float]:
        """Where it is, in LDU."""
        x, y, z = (float(v) for v in self.pose.position)
        return (x, y, z)

    @property
    def axis(self) -> tuple[float, float, float]:
        """Its mating axis, of length 1."""
        x, y, z = (float(-v) + 0.0 for v in self.pose.rotation[:, 1])
        return (x, y, z)

    def __str__(self) -> str:
        numbers = [", ".join(f"{v:.4g}" for v in values) for values in (self.position, self.axis)]
        kind = self.kind if self.subtype == self.list_name else f"{self.kind} {self.subtype}"
        long = f", {2 * self.half_length:g} LDU long" if self.half_length else ""
        return f"{self.name} of {self.stem}: {kind} at ({numbers[0]}), axis ({numbers[1]}){long}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """A connector in the frame of its part, where that part is, and the place in its typed list."""

    local: Connector
    pose: Pose
    index: int


class ConnectorList(Sequence[Connector]):
    """Connectors in order; one is taken by its index, or by where it is (`near`)."""

    def __init__(self, name: str, entries: Sequence[_Entry], root: object | None) -> None:
        self._name, self._entries, self._root = name, entries, root

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Connector: ...
    @overload
    def __getitem__(self, index: slice) -> list[Connector]: ...
    def __getitem__(self, index: int | slice) -> Connector | list[Connector]:
        places = range(len(self._entries))
        if isinstance(index, slice):
            return [self._at(place) for place in places[index]]
        if not -len(places) <= index < len(places):
            has = f"0 … {len(places) - 1}" if len(places) else "none at all"
            raise IndexError(f"there is no {self._name}[{index}]: there are {has}")
        return self._at(places[index])

    def __iter__(self) -> Iterator[Connector]:
        return (self._at(place) for place in range(len(self._entries)))

    def near(self, x: float, y: float, z: float) -> Connector:
        """The one nearest to a point in LDU, in the frame that `position` is in; the first of equal ones."""
        if not self._entries:
            raise BuildError(f"there is no {self._name} to be near ({x}, {y}, {z})")
        places = np.array([entry.pose.apply(entry.local.pose.position) for entry in self._entries])
        distances = np.linalg.norm(places - np.array([x, y, z]), axis=1)
        return self._at(int(np.argmin(np.round(distances, 6))))

    def of(self, name: str) -> ConnectorList:
        """Those of one of the typed lists (see `LISTS`)."""
        if name not in LISTS:
            raise BuildError(f"there is no list of connectors {name!r}: there are {', '.join(LISTS)}")
        return ConnectorList(name, [e for e in self._entries if e.local.list_name == name], self._root)

    def _at(self, place: int) -> Connector:
        entry = self._entries[place]
        local = entry.local
        return Connector(
            local.list_name,
            entry.index,
            local.kind,
            local.subtype,
            local.polarity,
            local.half_length,
            local.stem,
            local.number,
            entry.pose @ local.pose,
            self._root,
        )

    def __str__(self) -> str:
        return "\n".join(str(connector) for connector in self) or "no connectors"

    __repr__ = __str__


class _Typed:
    """A typed list as an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.__doc__ = f"{LISTS[name].capitalize()}."

    def __get__(self, owner: Connected, kind: type | None = None) -> ConnectorList:
        return owner.connectors.of(self._name)


class Connected:
    """Whatever has connectors, all of them in `connectors`, those of a type in the typed lists."""

    __slots__ = ()

    @property
    def connectors(self) -> ConnectorList:
        """All connectors."""
        raise NotImplementedError

    stud = _Typed("stud")
    hole = _Typed("hole")
    tube = _Typed("tube")
    post = _Typed("post")
    pin = _Typed("pin")
    axle = _Typed("axle")
    bar = _Typed("bar")
    socket = _Typed("socket")
    cross = _Typed("cross")
    clip = _Typed("clip")
    axle_hole = _Typed("axle_hole")
    hinge_in = _Typed("hinge_in")
    hinge_on = _Typed("hinge_on")
    ball_in = _Typed("ball_in")
    ball_on = _Typed("ball_on")
    fixed_in = _Typed("fixed_in")
    fixed_on = _Typed("fixed_on")


@lru_cache(maxsize=4096)
def connectors_of_part(stem: str) -> tuple[Connector, ...]:
    """The connectors of a part in its own frame, in the order of the catalogue."""
    rows = catalogue().connectors(stem)
    counts: dict[str, int] = {}
    found = []
    for number in range(len(rows)):
        kind, polarity = KINDS[rows.kinds[number]], POLARITIES[rows.polarities[number]]
        name = _list_name(kind, rows.subtypes[number], polarity)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rows.frames[number], rows.origins[number]
        half_length = float(rows.extras[number]) if kind == "axle" else 0.0
        index = counts.get(name, 0)
        counts[name] = index + 1
        found.append(
            Connector(
                name, index, kind, rows.subtypes[number], polarity, half_length, stem, number, Pose(matrix)
            )
        )
    return tuple(found)


def _list_name(kind: str, subtype: str, polarity: str) -> str:
    if kind == "stud":
        return kind
    if polarity:
        return f"{kind}_{polarity}"
    return "axle_hole" if (kind, subtype) == ("axle", "hole") else subtype


def listed_connectors(name: str, parts: Sequence[tuple[str, Pose]], root: object | None) -> ConnectorList:
    """The connectors of parts at poses, one part after the other, counted through by type."""
    counts: Counter[str] = Counter()
    entries = []
    for stem, pose in parts:
        for local in connectors_of_part(stem):
            entries.append(_Entry(local, pose, counts[local.list_name]))
            counts[local.list_name] += 1
    return ConnectorList(name, entries, root)


def family_of(one: Connector, other: Connector) -> str | None:
    """How two connectors join: "axle", "ball", "fixed", "hinge" or "stud"; None if they don't."""
    for a, b in ((one, other), (other, one)):
        pair = (a.subtype, b.subtype)
        if a.kind == "stud" and b.kind == "hole" and pair in STUD_PAIRS:
            return "stud"
        if a.kind == b.kind == "axle" and pair in AXLE_PAIRS:
            return "axle"
    polar = one.kind == other.kind and one.subtype == other.subtype
    return one.kind if polar and {one.polarity, other.polarity} == {"in", "on"} else None


def parse_name(text: str) -> tuple[str, int]:
    """List and index of a name such as `hole[3]`; BuildError if it isn't one."""
    match = re.fullmatch(r"([a-z_]+)\[(-?\d+)\]", text.replace(" ", ""))
    if match is None:
        raise BuildError(f"{text!r} names no connector: write it like 'hole[0]'")
    return match[1], int(match[2])
