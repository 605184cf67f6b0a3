"""Looking at parts and assemblies in words and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from evalkit_brickbench._connections_match import AXLE_PAIRS, STUD_PAIRS
from evalkit_brickbench.build._assembly import HERE, Assembly, Member, Part, PlacedPart
from evalkit_brickbench.build._connectors import FREEDOMS, LISTS, Connector, ConnectorList
from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.build._knowledge import box_of, catalogue, title_of
from evalkit_brickbench.build._pose import PLATE_LDU, STUD_LDU, Pose
from evalkit_brickbench.build._search import resolve
from evalkit_brickbench.scene import Floats

Thing = str | Part | Member | PlacedPart | Assembly

Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright box in LDU (y down); for turned parts it is a little too large."""

    low: Triple
    high: Triple

    @property
    def size(self) -> Triple:
        """Extent along x, y, z in LDU, studs on top included."""
        return _triple(np.subtract(self.high, self.low))

    @property
    def middle(self) -> Triple:
        """The centre in LDU."""
        return _triple(np.add(self.low, self.high) / 2.0)

    def __str__(self) -> str:
        x, y, z = self.size
        return (
            f"{x:g} x {y:g} x {z:g} LDU ({x / STUD_LDU:.3g} x {z / STUD_LDU:.3g} studs, "
            f"{y / PLATE_LDU:.3g} plates high with its studs)"
        )


@dataclass(frozen=True, slots=True)
class Distance:
    """How two things stand to each other, in LDU.

    `offset`: from the origin of the first to that of the second. `gap`: between their boxes along x, y, z,
    negative where they overlap; boxes that overlap along all three may collide. `angle_deg`: between the axes
    of two connectors, None for other things.
    """

    offset: Triple
    gap: Triple
    angle_deg: float | None

    @property
    def length(self) -> float:
        """The distance between the origins."""
        return float(np.linalg.norm(self.offset))


@overload
def measure(thing: Thing | Connector) -> Box: ...
@overload
def measure(thing: Thing | Connector, other: Thing | Connector) -> Distance: ...
def measure(thing: Thing | Connector, other: Thing | Connector | None = None) -> Box | Distance:
    """The box around something, or how two things stand to each other; both in the same frame.

    BuildError where the size of a part isn't known, or for an assembly without parts.
    """
    box = _box(thing)
    if other is None:
        return Box(_triple(box[0]), _triple(box[1]))
    others = _box(other)
    gap = np.maximum(others[0] - box[1], box[0] - others[1])
    angle = (
        _angle_deg(thing, other) if isinstance(thing, Connector) and isinstance(other, Connector) else None
    )
    return Distance(_triple(_origin(other) - _origin(thing)), _triple(gap), angle)


def name(part: str | Part | Member | PlacedPart) -> str:
    """The title of a part, or the name of an assembly."""
    if isinstance(part, Member) and part.assembly is not None:
        return part.assembly.name
    return title_of(resolve(part) if isinstance(part, str) else part.stem or "")


def connectors(thing: Thing) -> ConnectorList:
    """All connectors of something: of an id or a `Part` in the part's frame, else in that of the assembly."""
    return (Part(thing) if isinstance(thing, str) else thing).connectors


def describe(thing: Thing | Connector) -> str:
    """Something in a few lines: what it is, how large, what it connects by."""
    if isinstance(thing, Connector):
        return f"{thing}\nfits {_partners(thing)}; {_freedoms(thing)}"
    if isinstance(thing, Assembly):
        return _of_assembly(thing)
    shown = Part(thing) if isinstance(thing, str) else thing
    counts = Counter(connector.list_name for connector in shown.connectors)
    lists = ", ".join(f"{counts[kind]} {kind}" for kind in LISTS if counts[kind]) or "none"
    lines = [str(shown), f"size: {_size(shown)}", f"connectors: {lists}"]
    if isinstance(shown, Part):
        words = ", ".join(catalogue().keywords.get(shown.stem, ()))
        lines += [f"keywords: {words}"] if words else []
    return "\n".join(lines)


def _of_assembly(model: Assembly) -> str:
    rows = model.parts
    kinds = Counter((part.stem, part.color) for part in rows)
    lines = [f"{model.name}: {len(rows)} parts in {len(model.members)} members"]
    if rows:
        lines.append(f"size: {_size(model)}")
    lines += [
        f"  {count} x {stem} {title_of(stem)}, colour {code}" for (stem, code), count in sorted(kinds.items())
    ]
    return "\n".join(lines)


def _size(thing: Thing) -> str:
    try:
        return str(measure(thing))
    except BuildError as error:
        return str(error)


def _partners(connector: Connector) -> str:
    if connector.kind in ("stud", "hole", "axle"):
        pairs = STUD_PAIRS if connector.kind != "axle" else AXLE_PAIRS
        own = connector.subtype
        fitting = [b if a == own else a for a, b in pairs if own in (a, b)]
        return ", ".join(dict.fromkeys(fitting)) or "nothing"
    other = "on" if connector.polarity == "in" else "in"
    return f"{connector.kind}_{other} of type {connector.subtype}"


def _freedoms(connector: Connector) -> str:
    free = FREEDOMS["stud" if connector.kind == "hole" else connector.kind]
    return f"free to choose: {', '.join(free) or 'nothing'}"


def _box(thing: Thing | Connector) -> Floats:
    """Corners [2, 3] in LDU."""
    if isinstance(thing, Connector):
        return np.stack([thing.pose.position] * 2)
    if isinstance(thing, str):
        thing = Part(thing)
    if isinstance(thing, Part):
        placed: Sequence[tuple[str, Pose]] = [(thing.stem, HERE)]
    elif isinstance(thing, PlacedPart):
        placed = [(thing.stem, thing.pose)]
    else:
        placed = [(part.stem, part.pose) for part in thing.parts]
    if not placed:
        raise BuildError(f"{thing} has no parts to measure")
    boxes = [_known_box(stem, pose) for stem, pose in placed]
    return np.stack([np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)])


def _known_box(stem: str, pose: Pose) -> Floats:
    box = box_of(stem, pose)
    if box is None:
        raise BuildError(f"the size of {stem} ({title_of(stem)}) isn't known")
    return box


def _origin(thing: Thing | Connector) -> Floats:
    return thing.pose.position if isinstance(thing, Connector | Member | PlacedPart) else np.zeros(3)


def _angle_deg(one: Connector, other: Connector) -> float:
    u, v = np.array(one.axis), np.array(other.axis)
    return float(np.degrees(2.0 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v))))


def _triple(values: Floats) -> Triple:
    x, y, z = (float(v) + 0.0 for v in values)
    return (x, y, z)
