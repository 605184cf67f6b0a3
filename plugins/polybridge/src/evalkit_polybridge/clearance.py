"""Which trusses keep clear of triangles: separating axes, many geometries at once.

Conservative on purpose (a margin is kept), so that rounding coordinates never turns a clear design into a
touching one; the validator's exact predicates are in `regions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalkit_polybridge.graph import Platform, Point, Region
from evalkit_polybridge.statics import Bools, Floats, Ints

MARGIN_M = 0.02


def obstacle_triangles(regions: Sequence[Region], platforms: Sequence[Platform]) -> Floats:
    """The corners of every forbidden triangle and of platforms to be passed over (two each): (t, 3, 2)."""
    corners: list[tuple[Point, Point, Point]] = [region.vertices for region in regions]
    for p in platforms:
        low_left, low_right = (p.x_start, p.bottom_y), (p.x_end, p.bottom_y)
        high_left, high_right = (p.x_start, p.surface_y), (p.x_end, p.surface_y)
        corners += [(low_left, low_right, high_left), (low_right, high_right, high_left)]
    return np.array(corners, dtype=np.float64).reshape(-1, 3, 2)


def keeps_clear(xy: Floats, members: Ints, triangles: Floats, margin_m: float = MARGIN_M) -> Bools:
    """For each geometry of `xy` (G, n, 2): do all members stay `margin_m` away from every triangle? (G,)

    Two convex shapes are apart exactly if the normal of one of their sides separates them.
    """
    clear = np.ones(len(xy), dtype=np.bool_)
    ends = xy[:, members]
    along = ends[:, :, 1] - ends[:, :, 0]
    across = _unit(np.stack([-along[..., 1], along[..., 0]], axis=-1))
    at_member = np.einsum("gmi,gmi->gm", across, ends[:, :, 0])
    for triangle in triangles:
        corners = np.einsum("gmi,ti->gmt", across, triangle) - at_member[:, :, None]
        apart = np.maximum(corners.min(axis=2), -corners.max(axis=2)) > margin_m
        for side in range(3):
            edge = triangle[(side + 1) % 3] - triangle[side]
            normal = _unit(np.array([-edge[1], edge[0]]))
            low, high = (triangle @ normal).min(), (triangle @ normal).max()
            reach = ends @ normal
            apart |= np.maximum(reach.min(axis=2) - high, low - reach.max(axis=2)) > margin_m
        clear &= apart.all(axis=1)
    return clear


def _unit(vector: Floats) -> Floats:
    unit: Floats = vector / np.linalg.norm(vector, axis=-1, keepdims=True)
    return unit
