"""What the simulation needs of the geometry kernel: masses, contacts, overlaps, moving sets, sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.kernel import Field, MovingSet, moving_set, sweep_free

Pair = tuple[str, str]
Sweep = Callable[[Joint, str, str, float], float | None]
"""Share of free poses of a joint for one moving and one resting part; None if more cells than the last
argument would have to be looked at."""

BURIED_SHARE = 0.2
"""A part of which more lies inside the other at rest isn't free in any pose."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """Facts of a design's geometry, by ids.

    `volume` of parts in m³: what they weigh, at uniform density; `touching` pairs of parts; `deep` m³ of two
    parts' interpenetration; `moving` parts by moving joint; `sweep` free share by joint and pair of parts.
    """

    volume: Mapping[str, float]
    touching: tuple[Pair, ...]
    deep: Callable[[str, str], float]
    moving: Mapping[str, frozenset[str]]
    sweep: Sweep | None = None


def contacts_of(design: Design, field: Field) -> Contacts:
    """Contacts of a design from the kernel's field of its parts.

    Raises `KernelError` for parts that can't be put on the lattice.
    """
    touching = field.touching()

    def sweep(joint: Joint, moving: str, resting: str, limit: float) -> float | None:
        pair = Design((design.by_id[moving], design.by_id[resting]))
        alone = replace(joint, parent=resting, child=moving)
        swept = sweep_free(field, pair, alone, MovingSet((moving,), loop=False), limit)
        if swept.reason:
            return None
        return swept.free_share if swept.buried_share <= BURIED_SHARE else 0.0

    return Contacts(
        volume={part.id: field.mass(part.id) for part in design.parts},
        touching=touching,
        deep=field.deep,
        moving={
            joint.id: frozenset(moving_set(design, joint, touching).ids)
            for joint in design.joints
            if joint.moves
        },
        sweep=sweep,
    )
