"""Assemblies: parts and other assemblies, placed by pose or joined by connectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

from evalkit_brickbench.build._connectors import (
    Connected,
    Connector,
    ConnectorList,
    family_of,
    listed_connectors,
    parse_name,
)
from evalkit_brickbench.build._errors import BuildError, listed
from evalkit_brickbench.build._knowledge import INHERITED, color, title_of
from evalkit_brickbench.build._mate import mate
from evalkit_brickbench.build._pose import Axis, Pose
from evalkit_brickbench.build._search import lookup, resolve

MAX_PARTS = 100_000
"""Sub-assemblies multiply: more parts than this are a mistake."""

HERE = Pose()


class Part(Connected):
    """A part of the catalogue by id or by words; `Part("brick 2x4").stud[0]` is in the part's own frame."""

    __slots__ = ("stem",)

    def __init__(self, part: str) -> None:
        self.stem = resolve(part)

    @property
    def connectors(self) -> ConnectorList:
        """All its connectors."""
        return listed_connectors(str(self), [(self.stem, HERE)], None)

    def __str__(self) -> str:
        return f"{self.stem} {title_of(self.stem)}"

    __repr__ = __str__


class Member(Connected):
    """Something placed in an assembly: a part (`stem`) or another assembly (`assembly`).

    `pose` (in the frame of the assembly `root` that it was placed in) and `color` (LDraw code; 16 for that of
    whatever the root is placed in) may be changed; connectors and parts that were taken before stay where
    they were.
    """

    __slots__ = ("assembly", "color", "pose", "root", "stem")

    def __init__(
        self, root: Assembly, stem: str | None, assembly: Assembly | None, pose: Pose, color: int
    ) -> None:
        self.root, self.stem, self.assembly = root, stem, assembly
        self.pose, self.color = pose, color

    @property
    def name(self) -> str:
        """The stem of the part, or the name of the assembly."""
        return self.stem if self.assembly is None else self.assembly.name  # type: ignore[return-value]

    @property
    def parts(self) -> tuple[PlacedPart, ...]:
        """Its parts, depth first, in the frame of the root."""
        return tuple(_flattened(self.root, [self]))

    def part(self, which: int | Member) -> PlacedPart:
        """One of these parts: by number, or the first that is a given member of the assembly within."""
        if isinstance(which, int):
            return self.parts[which]
        found = next((part for part in self.parts if part.chain[-1] is which), None)
        if found is None:
            raise BuildError(f"{which} isn't in {self}")
        return found

    @property
    def connectors(self) -> ConnectorList:
        """All connectors of its parts, in the frame of the root."""
        return listed_connectors(str(self), [(p.stem, p.pose) for p in self.parts], self.root)

    def __str__(self) -> str:
        return f"{self.name} in {self.root.name}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlacedPart(Connected):
    """A part of an assembly, found in whatever sub-assembly it is.

    `index`: its number, depth first, as in reports and in the file. `color`: with inherited colours resolved.
    `pose`: in the frame of `root`. `chain`: the members that lead to it; `chain[-1]` is the one to change.
    """

    index: int
    stem: str
    color: int
    pose: Pose
    chain: tuple[Member, ...]
    root: Assembly

    @property
    def path(self) -> str:
        """The sub-assemblies that it is in."""
        return "/".join(member.name for member in self.chain[:-1])

    @property
    def connectors(self) -> ConnectorList:
        """All its connectors, in the frame of the root."""
        return listed_connectors(str(self), [(self.stem, self.pose)], self.root)

    def __str__(self) -> str:
        where = ", ".join(f"{x:.4g}" for x in self.pose.position + 0.0)
        inside = f" in {self.path}" if self.path else ""
        return f"#{self.index} {self.stem} ({title_of(self.stem)}){inside} at ({where})"

    __repr__ = __str__


class Assembly(Connected):
    """A model, or a piece of one: `members` placed in its own frame.

    An assembly may be placed in others any number of times; what is added to it later is there too.
    """

    def __init__(self, name: str) -> None:
        if len(name.splitlines()) != 1 or not name.strip() or set(name) & set('/\\\0"'):
            raise BuildError(f"{name[:40]!r} can't be a name: give one line without slashes and quotes")
        self.name = name.strip()
        self._members: list[Member] = []

    @property
    def members(self) -> tuple[Member, ...]:
        """What was placed, in order."""
        return tuple(self._members)

    @property
    def parts(self) -> tuple[PlacedPart, ...]:
        """All parts, depth first."""
        return tuple(_flattened(self, self._members))

    @property
    def connectors(self) -> ConnectorList:
        """All connectors of all parts, in its own frame."""
        return listed_connectors(self.name, [(p.stem, p.pose) for p in self.parts], self)

    def add(self, item: str | Part | Assembly, pose: Pose = HERE, color: str | int | None = None) -> Member:
        """Place a part or an assembly so that its origin and axes are at `pose`.

        The origin of most parts is the middle of their top, below the studs. Without a colour it has that of
        whatever this assembly is placed in.
        """
        stem, assembly, own = self._thing(item)
        return self._place(stem, assembly, pose @ own, color)

    def attach(
        self,
        item: str | Part | Assembly,
        to: Connector,
        by: str | Connector | None = None,
        *,
        flip: bool = False,
        slide: float = 0.0,
        yaw: float = 0.0,
        pitch: float = 0.0,
        roll: float = 0.0,
        color: str | int | None = None,
        seat: bool = True,
    ) -> Member:
        """Place a part or an assembly so that its connector `by` joins `to`, exactly.

        `to` is a connector of something in this assembly; `by` one of the item: by name (`"hole[0]"`), or
        taken from the part or the assembly itself. It may be left out if only one fits. `flip` turns axles
        and hinges end to end, `slide` shifts axles along their axis (LDU), `yaw` turns about the axis (°), a
        ball also by `pitch` and `roll`. Pins go in up to their collar; unless `seat`, middles meet.

        BuildError if the connectors don't fit, or a freedom is asked for that they don't have.
        """
        if to.root is not self:
            raise BuildError(
                f"{to.name} of {to.stem} isn't in {self.name}: take the connector from what "
                f"{self.name}.add(…) or {self.name}.attach(…) returned"
            )
        stem, assembly, _ = self._thing(item)
        thing: Part | Assembly = assembly if assembly is not None else Part(stem or "")
        own = _own_connector(thing, by, to)
        pose = mate(to, own, flip=flip, slide=slide, yaw=yaw, pitch=pitch, roll=roll, seat=seat)
        return self._place(stem, assembly, pose, color)

    def remove(self, member: Member) -> None:
        """Take out what was placed here; BuildError if it isn't here."""
        for place, own in enumerate(self._members):
            if own is member:
                del self._members[place]
                return
        raise BuildError(f"{member} isn't a member of {self.name}")

    def mirror(self, axis: Axis = "x", at: float = 0.0, name: str | None = None) -> Assembly:
        """A new assembly that is this one in a mirror across the plane `axis` = `at` (LDU).

        Each part is replaced by the one that looks like its reflection: left-hand parts by right-hand ones,
        symmetric ones by themselves. BuildError, naming them, for parts of which none is known.
        """
        from evalkit_brickbench.build._mirror import mirrored

        return mirrored(self, axis, at, name)

    def write(self, path: str | Path) -> Path:
        """Write an LDraw file: `.ldr` flat, `.mpd` with a sub-model for each assembly. Returns the path."""
        from evalkit_brickbench.build._files import write

        return write(self, Path(path))

    def __repr__(self) -> str:
        return f"Assembly({self.name!r}, {len(self._members)} members)"

    def _thing(self, item: str | Part | Assembly) -> tuple[str | None, Assembly | None, Pose]:
        """(stem, None, pose of the part in the frame of the id) or (None, assembly, identity)."""
        if isinstance(item, Assembly):
            if _holds(item, self):
                raise BuildError(f"{item.name} can't be in {self.name}: that is in {item.name} or the same")
            return None, item, HERE
        if isinstance(item, Part):
            return item.stem, None, HERE
        found = lookup(item)
        return found.stem, None, Pose(found.pose)

    def _place(
        self, stem: str | None, assembly: Assembly | None, pose: Pose, wanted: str | int | None
    ) -> Member:
        code = INHERITED if wanted is None else color(wanted)
        member = Member(self, stem, assembly, pose, code)
        self._members.append(member)
        return member


@overload
def parts(model: Assembly) -> tuple[PlacedPart, ...]: ...
@overload
def parts(model: Member) -> tuple[PlacedPart, ...]: ...
def parts(model: Assembly | Member) -> tuple[PlacedPart, ...]:
    """All parts of an assembly, or of a member in the frame of its root, depth first."""
    return model.parts


def compatible(to: Connector, item: str | Part | Assembly) -> list[Connector]:
    """Connectors of a part or an assembly that fit a connector; each will do as `by` of `attach`."""
    thing = Part(item) if isinstance(item, str) else item
    return [own for own in thing.connectors if family_of(to, own) is not None]


def _own_connector(thing: Part | Assembly, by: str | Connector | None, to: Connector) -> Connector:
    """The connector of a thing that is meant by `by`."""
    if isinstance(by, str):
        name, index = parse_name(by)
        return thing.connectors.of(name)[index]
    if by is not None:
        owned = (
            by.root is thing if isinstance(thing, Assembly) else (by.root is None and by.stem == thing.stem)
        )
        if not owned:
            raise BuildError(f"{by.name} of {by.stem} isn't a connector of {thing} in its own frame")
        return by
    fitting = compatible(to, thing)
    if len(fitting) != 1:
        names = listed([own.name for own in fitting]) or "none"
        raise BuildError(
            f"{len(fitting)} connectors of {thing} fit {to.name} of {to.stem}: {names}; give by=…"
        )
    return fitting[0]


def _holds(outer: Assembly, inner: Assembly) -> bool:
    """Whether an assembly is another one or has it somewhere inside."""
    seen: set[int] = set()
    open_ = [outer]
    while open_:
        assembly = open_.pop()
        if assembly is inner:
            return True
        if id(assembly) not in seen:
            seen.add(id(assembly))
            open_ += [m.assembly for m in assembly.members if m.assembly is not None]
    return False


def _flattened(root: Assembly, members: Sequence[Member]) -> list[PlacedPart]:
    found: list[PlacedPart] = []

    def visit(member: Member, above: Pose, inherited: int, chain: tuple[Member, ...]) -> None:
        pose = above @ member.pose
        code = inherited if member.color == INHERITED else member.color
        chain = (*chain, member)
        if member.assembly is not None:
            for inner in member.assembly.members:
                visit(inner, pose, code, chain)
        elif member.stem is not None:
            if len(found) >= MAX_PARTS:
                raise BuildError(f"{root.name} has more than {MAX_PARTS:,} parts")
            found.append(PlacedPart(len(found), member.stem, code, pose, chain, root))

    for member in members:
        visit(member, HERE, INHERITED, ())
    return found
