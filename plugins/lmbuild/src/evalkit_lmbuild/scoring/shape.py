"""A.1: does the design have the reference's shape, as a whole and part by part?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Part
from evalkit_lmbuild.scoring.aligned import Aligned
from evalkit_lmbuild.scoring.result import Result, not_applicable
from evalkit_lmbuild.scoring.samples import Cloud, f_score

PART_THRESHOLD = 0.05
MIN_POINTS = 20
SHAPE_WEIGHT = 0.6
TOLD = 0.5
"""Share of parts with a telling role from which parts are compared one by one."""


def shape(
    design: Design,
    aligned: Aligned | None,
    component: Callable[[Part], str | None],
    telling: Callable[[Part], bool],
) -> Result:
    """A.1 = 0.6 · shape + 0.4 · parts.

    Shape is the F-score at 2.5 % of the diagonal; parts the mean, over the reference's components with at
    least 20 of its points, of the F-score at 5 % between what the design declares as that component and what
    the reference has. Parts are left out if fewer than half of the design's parts have a role that is
    `telling`.
    """
    if not design.parts:
        return Result("A.1", 0.0, "the design has no parts")
    if aligned is None:
        return not_applicable("A.1", "there is no reference to compare with")
    whole = aligned.shape
    evidence: dict[str, object] = {"shape": whole, "yaw_deg": 90 * aligned.quarters}
    told = sum(telling(part) for part in design.parts) / len(design.parts)
    scores = _by_component(aligned, component) if told >= TOLD else {}
    if not scores:
        why = (
            "fewer than half of the parts have a role" if told < TOLD else "the reference names no component"
        )
        return Result("A.1", whole, evidence={**evidence, "parts": None, "parts_left_out": why})
    parts = sum(scores.values()) / len(scores)
    evidence |= {"parts": parts, "components": scores}
    return Result("A.1", SHAPE_WEIGHT * whole + (1 - SHAPE_WEIGHT) * parts, evidence=evidence)


def _by_component(aligned: Aligned, component: Callable[[Part], str | None]) -> dict[str, float]:
    wanted = _points(aligned.reference_cloud, aligned.reference, component)
    have = _points(aligned.design_cloud, aligned.design, component)
    nothing = np.empty((0, 3))
    return {
        name: f_score(have.get(name, nothing), points, PART_THRESHOLD)
        for name, points in wanted.items()
        if len(points) >= MIN_POINTS
    }


def _points(cloud: Cloud, design: Design, component: Callable[[Part], str | None]) -> dict[str, Floats]:
    names = [component(part) for part in design.parts]
    found: dict[str, Floats] = {}
    for name in sorted({name for name in names if name is not None}):
        owners = [index for index, other in enumerate(names) if other == name]
        found[name] = cloud.points[np.isin(cloud.owners, owners)]
    return found
