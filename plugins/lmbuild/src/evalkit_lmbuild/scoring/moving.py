"""How the joints of a design move its parts: each is swept once, whatever it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.kernel import Field, MovingSet, SweepResult, moving_set, sweep_free
from evalkit_lmbuild.kernel.sweeps import SWEEP_LIMIT


class Motions:
    """Moving sets and sweeps of a design's moving joints, by joint.

    Every joint may look at an equal part of the cells that a design's sweeps may cost, so that no result
    depends on the order of the joints. `touching` are the pairs of parts in contact.
    """

    def __init__(self, design: Design, field: Field, touching: Sequence[tuple[str, str]]) -> None:
        self.design = design
        self.field = field
        self._touching = touching
        self._limit = SWEEP_LIMIT / max(1, sum(joint.moves for joint in design.joints))
        self._moving: dict[str, MovingSet] = {}
        self._sweeps: dict[str, SweepResult] = {}

    @cached_property
    def volume(self) -> float:
        """Volume of all parts, m³."""
        return sum(self.field.volume(part.id) for part in self.design.parts)

    def moving(self, joint: Joint) -> MovingSet:
        """Parts that the joint moves."""
        if joint.id not in self._moving:
            self._moving[joint.id] = moving_set(self.design, joint, self._touching)
        return self._moving[joint.id]

    def sweep(self, joint: Joint) -> SweepResult:
        """How freely it moves them."""
        if joint.id not in self._sweeps:
            self._sweeps[joint.id] = sweep_free(
                self.field, self.design, joint, self.moving(joint), self._limit
            )
        return self._sweeps[joint.id]
