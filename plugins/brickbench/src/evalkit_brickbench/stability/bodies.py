"""Connected components as rigid bodies of uniform density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability.constants import DENSITY_KG_PER_LDU3
from evalkit_brickbench.stability.solids import Solid


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """One component: `label` as given, `parts` (indices into the scene), `mass_kg`, `centre` [3] LDU,
    `inertia` [3, 3] kg·LDU² about the centre, `hull` [h, 3] LDU and the part `hull_parts` [h] of each corner,
    `size_ldu` the largest distance of a corner from the centre.
    """

    label: int
    parts: NDArray[np.int64]
    mass_kg: float
    centre: Floats
    inertia: Floats
    hull: Floats
    hull_parts: NDArray[np.int64]
    size_ldu: float

    @property
    def lowest_ldu(self) -> float:
        """y of the lowest corner (+y is down)."""
        return float(self.hull[:, 1].max())

    @property
    def lowest_part(self) -> int:
        """The part that reaches down furthest."""
        return int(self.hull_parts[int(self.hull[:, 1].argmax())])


def make_bodies(
    labels: NDArray[np.int64], solids: list[Solid | None], rotations: Floats, positions: Floats
) -> list[Body]:
    """Bodies in order of label, from the parts with a label ≥ 0 and a solid."""
    usable = (labels >= 0) & np.array([solid is not None for solid in solids], dtype=bool)
    bodies = []
    for label in np.unique(labels[usable]):
        parts = np.flatnonzero(usable & (labels == label))
        bodies.append(
            _body(int(label), parts, [solids[i] for i in parts], rotations[parts], positions[parts])
        )
    return bodies


def _body(
    label: int, parts: NDArray[np.int64], solids: list[Solid | None], rotations: Floats, positions: Floats
) -> Body:
    known = [solid for solid in solids if solid is not None]
    volumes = np.array([solid.mass.volume for solid in known])
    local = np.array([solid.mass.centre for solid in known])
    centres = np.einsum("nij,nj->ni", rotations, local) + positions
    centre = (volumes[:, None] * centres).sum(axis=0) / volumes.sum()
    second = rotations @ np.array([solid.mass.second for solid in known]) @ np.swapaxes(rotations, 1, 2)
    away = centres - centre
    total = second.sum(axis=0) + np.einsum("n,ni,nj->ij", volumes, away, away)
    inertia = DENSITY_KG_PER_LDU3 * (np.trace(total) * np.eye(3) - total)
    hull, owners = _hull(parts, known, rotations, positions)
    size = float(np.linalg.norm(hull - centre, axis=1).max())
    return Body(label, parts, DENSITY_KG_PER_LDU3 * float(volumes.sum()), centre, inertia, hull, owners, size)


def _hull(
    parts: NDArray[np.int64], solids: list[Solid], rotations: Floats, positions: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    points = np.concatenate([s.hull @ r.T + p for s, r, p in zip(solids, rotations, positions, strict=True)])
    owners = np.repeat(parts, [len(s.hull) for s in solids])
    try:
        chosen = np.sort(ConvexHull(points).vertices)
    except QhullError:  # flat or too few points: every point is a corner
        return points, owners
    return points[chosen], owners[chosen]
