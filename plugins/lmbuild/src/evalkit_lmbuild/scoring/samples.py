"""Points on the surface of a design, and how two clouds of points agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from evalkit_lmbuild.design import Design, Floats

SAMPLES = 20_000


@dataclass(frozen=True, eq=False)
class Cloud:
    """Surface points [n, 3] and, for each, the index of its part in the design's order [n]."""

    points: Floats
    owners: npt.NDArray[np.int32]


def surface_cloud(design: Design, count: int, seed: int) -> Cloud:
    """Area-weighted points on all parts in world coordinates, metres; equal seeds give equal points.

    A design without area gives an empty cloud.
    """
    corners = [part.world.vertices[part.world.faces] for part in design.parts]
    if not corners:
        return Cloud(np.empty((0, 3)), np.empty(0, dtype=np.int32))
    triangles = np.concatenate(corners)
    owners = np.repeat(np.arange(len(corners), dtype=np.int32), [len(faces) for faces in corners])
    spans = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    heaps = np.cumsum(np.linalg.norm(spans, axis=1))
    if not len(heaps) or heaps[-1] <= 0:
        return Cloud(np.empty((0, 3)), np.empty(0, dtype=np.int32))
    draws = np.random.default_rng(seed).random((count, 3))
    chosen = np.minimum(np.searchsorted(heaps, draws[:, 0] * heaps[-1], side="right"), len(heaps) - 1)
    root = np.sqrt(draws[:, 1])[:, None]
    along = draws[:, 2][:, None]
    a, b, c = (triangles[chosen, corner] for corner in range(3))
    return Cloud((1 - root) * a + root * (1 - along) * b + root * along * c, owners[chosen])


@dataclass(frozen=True, eq=False)
class Frame:
    """How a design is brought to unit size: centred in x and y, floor at 0, divided by its diagonal."""

    centre: Floats
    diagonal: float

    @classmethod
    def of(cls, design: Design) -> Frame:
        """The frame of a design's bounding box; one without extent keeps its size."""
        lowest, highest = design.bounds
        middle = (lowest + highest) / 2
        return cls(np.array([middle[0], middle[1], lowest[2]]), design.diagonal or 1.0)

    def normalised(self, points: Floats) -> Floats:
        """World points [n, 3] in units of the diagonal."""
        return np.asarray((points - self.centre) / self.diagonal)


def quarter_turned(points: Floats, quarters: int) -> Floats:
    """Points [n, 3] turned about z by a number of quarter turns, exactly."""
    x, y, z = points[:, 0], points[:, 1], points[:, 2]
    turned = ((x, y), (-y, x), (-x, -y), (y, -x))[quarters % 4]
    return np.column_stack([*turned, z])


def f_score(points: Floats, others: Floats, threshold: float) -> float:
    """Harmonic mean of the shares of either cloud that are near the other; 0 if one is empty."""
    if not len(points) or not len(others):
        return 0.0
    precision = share_near(points, cKDTree(others), threshold)
    recall = share_near(others, cKDTree(points), threshold)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def share_near(points: Floats, tree: cKDTree, threshold: float) -> float:
    """Share of `points` [n, 3] that have a point of the tree within `threshold`."""
    distances, _ = tree.query(points, distance_upper_bound=threshold * (1 + 1e-12))
    return float(np.mean(distances <= threshold))
