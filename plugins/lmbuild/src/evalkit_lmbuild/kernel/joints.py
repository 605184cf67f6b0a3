"""What a joint does: how near it is to its parts, and which parts it moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.kernel.distance import distance_to_surface, gap
from evalkit_lmbuild.kernel.field import Pair

ORIGIN_LIMIT = 0.02
"""How far a joint may be from the surfaces of its parts, m."""


@dataclass(frozen=True)
class MovingSet:
    """Parts that a joint moves, in the design's order. `loop`: other joints tie the child to the
    parent too.
    """

    ids: tuple[str, ...]
    loop: bool


def origin_distances(design: Design, joint: Joint) -> tuple[float, float]:
    """Distances of the joint's origin to the surfaces of parent and child, m; of a joint without an origin
    half the gap between them, which the best origin would have."""
    parent, child = design.by_id[joint.parent], design.by_id[joint.child]
    if joint.origin is None:
        half = gap(parent, child).gap_m / 2
        return half, half
    return distance_to_surface(parent, joint.origin), distance_to_surface(child, joint.origin)


def origin_ok(design: Design, joint: Joint, limit: float = ORIGIN_LIMIT) -> bool:
    """Whether the origin is within `limit`, m, of the surfaces of both parts."""
    return max(origin_distances(design, joint)) <= limit


def moving_set(design: Design, joint: Joint, touching: Iterable[Pair]) -> MovingSet:
    """Parts that move with the joint's child while its parent rests.

    Other joints are followed from the child, never through the parent; reaching it is a loop. Parts
    without any joint follow by contact, except those that the parts with joints on the resting side
    reach by contact too.
    """
    declared: dict[str, set[str]] = {part.id: set() for part in design.parts}
    for other in design.joints:
        if other.id != joint.id:
            declared[other.parent].add(other.child)
            declared[other.child].add(other.parent)
    moving = _reached({joint.child}, declared, stop=joint.parent)
    loop = joint.parent in moving
    moving.discard(joint.parent)
    named = {part_id for other in design.joints for part_id in (other.parent, other.child)}
    named |= {joint.parent, joint.child}
    loose: dict[str, set[str]] = {part.id: set() for part in design.parts}
    for a, b in touching:
        loose[a] |= {b} - named
        loose[b] |= {a} - named
    carried = _reached(moving, loose) - _reached(named - moving, loose)
    return MovingSet(tuple(part.id for part in design.parts if part.id in moving | carried), loop)


def _reached(start: set[str], near: dict[str, set[str]], stop: str | None = None) -> set[str]:
    """Ids reached from `start`, these included; `stop` is entered but not passed."""
    found, waiting = set(start), list(start)
    while waiting:
        current = waiting.pop()
        if current == stop:
            continue
        for other in near[current]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found
