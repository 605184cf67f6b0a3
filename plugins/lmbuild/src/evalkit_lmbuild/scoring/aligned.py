"""A design laid over the reference: both at unit size, the design turned to the yaw that fits best.

Every metric that compares with the reference (A.1, A.2, D.3, R.2) does so in this frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Mesh, Part
from evalkit_lmbuild.kernel import Field
from evalkit_lmbuild.scoring.samples import SAMPLES, Cloud, Frame, f_score, quarter_turned, surface_cloud

SHAPE_THRESHOLD = 0.025
CELL = 0.01
"""Cells in which parts are compared, in units of the diagonal."""


PART_SAMPLES = 500
"""Points on each part, where parts are compared one by one: a small one has as many as a large one."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """A design and its reference in a common frame; what is expensive is computed when it is asked for."""

    design: Design
    reference: Design

    @cached_property
    def design_cloud(self) -> Cloud:
        """Surface points of the design, turned to the best yaw, at unit size."""
        return Cloud(quarter_turned(self._upright.points, self.quarters), self._upright.owners)

    @cached_property
    def reference_cloud(self) -> Cloud:
        """Surface points of the reference at unit size."""
        return _unit_cloud(self.reference, seed=1)

    @cached_property
    def _upright(self) -> Cloud:
        return _unit_cloud(self.design, seed=0)

    @cached_property
    def scores_by_yaw(self) -> tuple[float, ...]:
        """F-score of the shape at 2.5 % of the diagonal, with the design turned by 0, 90, 180 and 270°."""
        points, others = self._upright.points, self.reference_cloud.points
        return tuple(f_score(quarter_turned(points, turn), others, SHAPE_THRESHOLD) for turn in range(4))

    @cached_property
    def quarters(self) -> int:
        """Quarter turns about z that lay the design best over the reference; the smallest of equals."""
        return int(np.argmax(self.scores_by_yaw))

    @property
    def shape(self) -> float:
        """F-score of the whole shape at the best yaw."""
        return self.scores_by_yaw[self.quarters]

    @cached_property
    def part_points(self) -> dict[str, Floats]:
        """For each part of the design the same number of points on its surface, in the common frame."""
        frame = Frame.of(self.design)
        return {
            part.id: quarter_turned(frame.normalised(_part_points(part)), self.quarters)
            for part in self.design.parts
        }

    @cached_property
    def reference_part_points(self) -> dict[str, Floats]:
        """The same for each part of the reference."""
        frame = Frame.of(self.reference)
        return {part.id: frame.normalised(_part_points(part)) for part in self.reference.parts}

    @cached_property
    def _cells(self) -> Field:
        parts = [
            _unit_part(part, Frame.of(self.design), self.quarters, "design") for part in self.design.parts
        ]
        parts += [_unit_part(part, Frame.of(self.reference), 0, "reference") for part in self.reference.parts]
        return Field(parts, pitch=CELL)

    def overlap(self, part: str, reference_part: str) -> float:
        """Volume that a part of the design shares with one of the reference, in cubed diagonals."""
        return self._cells.overlap(f"design {part}", f"reference {reference_part}")

    def volume(self, part: str) -> float:
        """Volume of a part of the design in cubed diagonals."""
        return self._cells.volume(f"design {part}")

    def reference_volume(self, part: str) -> float:
        """Volume of a part of the reference in cubed diagonals."""
        return self._cells.volume(f"reference {part}")

    def iou(self, part: str, reference_part: str) -> float:
        """Volume shared by two parts over the volume of both together."""
        shared = self.overlap(part, reference_part)
        union = self.volume(part) + self.reference_volume(reference_part) - shared
        return shared / union if union > 0 else 0.0


def _unit_cloud(design: Design, seed: int) -> Cloud:
    cloud = surface_cloud(design, SAMPLES, seed)
    return Cloud(Frame.of(design).normalised(cloud.points), cloud.owners)


def _part_points(part: Part) -> Floats:
    return surface_cloud(Design((part,)), PART_SAMPLES, seed=0).points


def _unit_part(part: Part, frame: Frame, quarters: int, side: str) -> Part:
    points: Floats = quarter_turned(frame.normalised(part.world.vertices), quarters)
    return Part(f"{side} {part.id}", Mesh(points, part.world.faces))
