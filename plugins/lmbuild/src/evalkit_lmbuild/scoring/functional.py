"""A.2: are the parts there that the object needs, in their places and held?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from scipy.spatial import cKDTree

from evalkit_lmbuild.design import Design, Floats, Part
from evalkit_lmbuild.scoring.aligned import Aligned
from evalkit_lmbuild.scoring.result import Result, not_applicable
from evalkit_lmbuild.scoring.samples import share_near

NEAR = 0.05
LYING_ON = 0.5
"""Share of a part that has to be near a component to lie on it."""

UNVERIFIED = 0.5
FLOATING = 0.5
VISIBLE_WEIGHT = 2 / 3


class Places:
    """Where the reference has each component, and whether a part of the design lies there."""

    def __init__(self, aligned: Aligned, component: Callable[[Part], str | None]) -> None:
        self._aligned = aligned
        points: dict[str, list[Floats]] = {}
        self.counts: dict[str, int] = {}
        for part in aligned.reference.parts:
            if (name := component(part)) is not None:
                points.setdefault(name, []).append(aligned.reference_part_points[part.id])
                self.counts[name] = self.counts.get(name, 0) + 1
        self._trees = {name: cKDTree(np.concatenate(found)) for name, found in points.items()}

    def visible(self, component: str) -> bool:
        """Whether the reference has the component."""
        return component in self._trees

    def share_on(self, part: str, component: str) -> float:
        """Share of a part's surface within 5 % of the diagonal of the reference's parts of a component."""
        points = self._aligned.part_points[part]
        return share_near(points, self._trees[component], NEAR) if len(points) else 0.0

    def place(self, part: str, declared: str) -> tuple[str, float]:
        """The component a part counts for, and how sure that is.

        1 if at least half of it lies on the declared component or, failing that, on another, which it then
        counts for; else ½ for the declared one.
        """
        if self.share_on(part, declared) >= LYING_ON:
            return declared, 1.0
        shares = {name: self.share_on(part, name) for name in sorted(self._trees) if name != declared}
        best = max(shares, key=lambda name: shares[name], default=None)
        if best is not None and shares[best] >= LYING_ON:
            return best, 1.0
        return declared, UNVERIFIED


def verified_parts(
    design: Design,
    component: Callable[[Part], str | None],
    places: Places | None,
    enclosed: Collection[str],
) -> dict[str, dict[str, float]]:
    """Parts by the component they count for, each with its verification (1 or ½).

    A component that the reference doesn't show is internal: a part counts fully if it is enclosed.
    """
    found: dict[str, dict[str, float]] = {}
    for part in design.parts:
        declared = component(part)
        if declared is None:
            continue
        if places is not None and places.visible(declared):
            name, sure = places.place(part.id, declared)
        else:
            name, sure = declared, 1.0 if part.id in enclosed else UNVERIFIED
        found.setdefault(name, {})[part.id] = sure
    return found


def functional_parts(
    components: Mapping[str, int],
    verified: Mapping[str, Mapping[str, float]],
    places: Places | None,
    floating: Collection[str],
) -> Result:
    """A.2 = ⅔ · mean over visible components + ⅓ · mean over internal ones, renormalised.

    `components` are the object's, with how many instances each needs; `verified` comes from `verified_parts`,
    `floating` are the parts that hang together with nothing else of weight.
    """
    if not components:
        return not_applicable("A.2", "the object names no component")
    rows: dict[str, dict[str, object]] = {}
    groups: dict[bool, list[float]] = {True: [], False: []}
    for name, needed in components.items():
        visible = places is not None and places.visible(name)
        parts = verified.get(name, {})
        attachment = FLOATING if parts and all(part in floating for part in parts) else 1.0
        wanted = max(1, needed)
        best = sorted(parts.values(), reverse=True)[:wanted]
        score = attachment * sum(best) / wanted
        groups[visible].append(score)
        rows[name] = {
            "score": score,
            "visible": visible,
            "needed": wanted,
            "attachment": attachment,
            "parts": dict(parts),
        }
    return Result("A.2", _weighted(groups), evidence={"components": rows})


def _weighted(groups: Mapping[bool, Sequence[float]]) -> float:
    halves = [
        (weight, sum(groups[visible]) / len(groups[visible]))
        for visible, weight in ((True, VISIBLE_WEIGHT), (False, 1 - VISIBLE_WEIGHT))
        if groups[visible]
    ]
    return sum(weight * mean for weight, mean in halves) / sum(weight for weight, _ in halves)
