"""Distances of surfaces, exact to rounding: from a point to a part, and between two parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalkit_lmbuild.design import Floats, Ints, Mesh, Part
from evalkit_lmbuild.kernel._distance import nearest_in_groups, nearest_on_mesh
from evalkit_lmbuild.kernel._jit import arrays_of

GROUP = 16
"""Triangles whose boxes are compared at once, at least."""

MOST_GROUPS = 512


@dataclass(frozen=True, eq=False)
class Gap:
    """Distance of two surfaces and where it is; lengths in m, points in the world."""

    gap_m: float
    point_a: Floats
    point_b: Floats

    @property
    def midpoint(self) -> Floats:
        """Halfway between the two points [3]."""
        return np.asarray((self.point_a + self.point_b) / 2)


def distance_to_surface(part: Part, point: Floats | tuple[float, float, float]) -> float:
    """Distance of a world point to the part's surface, m, from inside as from outside."""
    vertices, faces = arrays_of(part.world)
    x, y, z = (float(value) for value in point)
    return float(nearest_on_mesh((x, y, z), vertices, faces)[0])


def gap(part_a: Part, part_b: Part) -> Gap:
    """Where the surfaces of two parts are nearest; 0 where they meet or cross.

    A part wholly inside the solid of another has a gap to its surface: overlap is the lattice's business.
    """
    one, two = _groups(part_a.world), _groups(part_b.world)
    low, high = one.group_boxes[:, None], two.group_boxes[None]
    apart = np.maximum(low[:, :, 0] - high[:, :, 1], high[:, :, 0] - low[:, :, 1])
    bounds2 = (np.maximum(apart, 0.0) ** 2).sum(axis=2)
    ranks = np.argsort(bounds2, axis=None, kind="stable")
    order = np.stack(np.unravel_index(ranks, bounds2.shape), axis=1).astype(np.int32)
    distance, point_a, point_b = nearest_in_groups(
        one.triangles,
        one.boxes,
        one.starts,
        two.triangles,
        two.boxes,
        two.starts,
        order,
        bounds2.ravel()[ranks],
    )
    return Gap(float(distance), np.array(point_a), np.array(point_b))


@dataclass(frozen=True, eq=False)
class _Groups:
    """Triangles [n, 3, 3] in neighbourhoods, their boxes [n, 2, 3]; starts of the groups and boxes
    [k, 2, 3].
    """

    triangles: Floats
    boxes: Floats
    starts: Ints
    group_boxes: Floats


def _groups(mesh: Mesh) -> _Groups:
    vertices, faces = arrays_of(mesh)
    triangles = vertices[faces]
    size = max(GROUP, -(-len(triangles) // MOST_GROUPS))
    order = _by_place(triangles.mean(axis=1), np.arange(len(triangles), dtype=np.int32), size)
    triangles = np.ascontiguousarray(triangles[order])
    starts = np.append(np.arange(0, len(triangles), size), len(triangles)).astype(np.int32)
    boxes = np.stack([triangles.min(axis=1), triangles.max(axis=1)], axis=1)
    low = np.minimum.reduceat(boxes[:, 0], starts[:-1])
    high = np.maximum.reduceat(boxes[:, 1], starts[:-1])
    return _Groups(triangles, boxes, starts, np.stack([low, high], axis=1))


def _by_place(centres: Floats, chosen: Ints, size: int) -> Ints:
    """`chosen` in an order whose runs of `size` are close together: halved along the longest axis."""
    if len(chosen) <= size:
        return chosen
    points = centres[chosen]
    axis = int(np.argmax(np.ptp(points, axis=0)))
    ranked = chosen[np.argsort(points[:, axis], kind="stable")]
    half = -(-len(chosen) // (2 * size)) * size
    return np.concatenate([_by_place(centres, ranked[:half], size), _by_place(centres, ranked[half:], size)])
