"""Convex shapes that stand for parts in collisions. World coordinates at rest, metres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from evalkit_lmbuild.design import Floats

MAX_HULL_POINTS = 512
FLAT_THICKNESS_M = 0.0005
"""A shape thinner than this is thickened to it: engines refuse flat hulls."""

WHEEL_OFF_CENTRE = 0.2
"""Largest distance of axle and centre, in radii, of a body that rolls as a cylinder."""
WHEEL_ROUNDNESS = 0.75
"""Least ratio of smallest and largest width of such a body."""


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of `points` [n ≥ 4, 3]."""

    points: Floats

    def inset(self, depth_m: float) -> Hull:
        """Every face moved inward by `depth_m`, or by 0.4 of the hull's inner radius if that is less."""
        planes = np.unique(np.round(ConvexHull(self.points).equations, 9), axis=0)
        middle = self.points.mean(axis=0)
        inner = float(np.min(-(planes[:, :3] @ middle + planes[:, 3])))
        planes[:, 3] += min(depth_m, 0.4 * inner)
        corners = HalfspaceIntersection(planes, middle).intersections
        return Hull(corners[ConvexHull(corners).vertices])


@dataclass(frozen=True, eq=False)
class Cylinder:
    """A cylinder about `axis` (unit) through `centre`."""

    centre: Floats
    axis: Floats
    radius: float
    half_width: float

    def inset(self, depth_m: float) -> Cylinder:
        """Radius and half width less `depth_m`, at most 0.4 of each."""
        return Cylinder(
            self.centre,
            self.axis,
            self.radius - min(depth_m, 0.4 * self.radius),
            self.half_width - min(depth_m, 0.4 * self.half_width),
        )


Shape = Hull | Cylinder


def hull_of(points: Floats) -> Hull:
    """Convex hull of points [n, 3], at most 512 corners; flat and straight sets get a thickness."""
    points = _thickened(np.unique(points, axis=0))
    corners = points[np.sort(ConvexHull(points).vertices)]
    if len(corners) > MAX_HULL_POINTS:
        outermost = np.unique(np.argmax(corners @ _directions(MAX_HULL_POINTS).T, axis=0))
        corners = corners[outermost]
    return Hull(corners)


def wheel_of(points: Floats, axis: Floats, origin: Floats) -> Cylinder | None:
    """The cylinder about a hinge that a round, centred body rolls on; None for any other body.

    `points` [n, 3] are the body's, `axis` (unit) and `origin` the hinge's.
    """
    side = np.eye(3)[int(np.argmin(np.abs(axis)))]
    across = np.cross(axis, side)
    across /= np.linalg.norm(across)
    flat = (points - origin) @ np.stack([across, np.cross(axis, across)], axis=1)
    turns = np.radians(np.arange(0.0, 180.0, 7.5))
    spread = flat @ np.stack([np.cos(turns), np.sin(turns)])
    widths = np.ptp(spread, axis=0)
    radius = float(widths.max()) / 2
    centre = (flat.max(axis=0) + flat.min(axis=0)) / 2
    if radius <= 0 or widths.min() < WHEEL_ROUNDNESS * widths.max():
        return None
    if np.linalg.norm(centre) > WHEEL_OFF_CENTRE * radius:
        return None
    along = (points - origin) @ axis
    middle = origin + axis * float(along.max() + along.min()) / 2
    return Cylinder(middle, axis, radius, max(float(np.ptp(along)), FLAT_THICKNESS_M) / 2)


def _thickened(points: Floats) -> Floats:
    """The points, pushed apart along every direction in which they span less than the least thickness."""
    middle = points.mean(axis=0)
    _, _, directions = np.linalg.svd(points - middle, full_matrices=len(points) < 3)
    for direction in directions:
        if np.ptp((points - middle) @ direction) < FLAT_THICKNESS_M:
            shift = direction * FLAT_THICKNESS_M / 2
            points = np.concatenate([points - shift, points + shift])
    try:
        ConvexHull(points)
    except QhullError:  # nearly flat, in a direction that the decomposition doesn't show
        lowest, highest = points.min(axis=0), points.max(axis=0)
        grown = np.stack([lowest - FLAT_THICKNESS_M / 2, highest + FLAT_THICKNESS_M / 2])
        return np.array(
            [[grown[i, 0], grown[j, 1], grown[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        )
    return points


def _directions(count: int) -> Floats:
    """Unit vectors [count, 3], spread evenly over the sphere by the golden angle."""
    index = np.arange(count) + 0.5
    height = 1 - 2 * index / count
    turn = np.pi * (1 + 5**0.5) * index
    radius = np.sqrt(1 - height**2)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=1)
