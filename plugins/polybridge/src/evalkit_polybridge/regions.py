"""Do members touch forbidden regions? Exact predicates on a grid of whole tenths of a millimetre.

Coordinates have 4 decimals, so as integers they make every orientation test exact: no tolerance decides
whether a member that grazes a corner touches it. Regions are closed sets: touching the boundary counts.
"""

from __future__ import annotations

import math

from evalkit_polybridge.constants import COORDINATE_DECIMALS
from evalkit_polybridge.graph import Point

#: Grid steps per metre.
STEPS_PER_M: int = 10**COORDINATE_DECIMALS

GridPoint = tuple[int, int]
GridTriangle = tuple[GridPoint, GridPoint, GridPoint]
Triangle = tuple[Point, Point, Point]


def grid_point(point: Point) -> GridPoint:
    """The grid point nearest to `point` (finite, metres): exact for coordinates with 4 decimals."""
    x, y = point
    return _steps(x), _steps(y)


def grid_triangle(triangle: Triangle) -> GridTriangle:
    """A triangle's corners on the grid."""
    a, b, c = triangle
    return grid_point(a), grid_point(b), grid_point(c)


def grown_triangle(triangle: Triangle, offset_m: float) -> Triangle | None:
    """The triangle with every side moved outwards by `offset_m` (inwards if negative), to 4 decimals.

    Sides keep their directions, so this is a scaling about the incentre by (r + offset) / r, with the
    inradius r = 2 · area / perimeter. None when nothing is left of a shrunk triangle.
    Raises `ValueError` for a triangle without area.
    """
    a, b, c = triangle
    sides = (math.dist(b, c), math.dist(c, a), math.dist(a, b))
    perimeter = math.fsum(sides)
    double_area = abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    if double_area == 0.0:
        raise ValueError(f"the region {triangle} has no area")
    scale = 1.0 + offset_m * perimeter / double_area
    if scale <= 0.0:
        return None
    centre_x = math.fsum(s * p[0] for s, p in zip(sides, triangle, strict=True)) / perimeter
    centre_y = math.fsum(s * p[1] for s, p in zip(sides, triangle, strict=True)) / perimeter

    def moved(point: Point) -> Point:
        x = centre_x + scale * (point[0] - centre_x)
        y = centre_y + scale * (point[1] - centre_y)
        return round(x, COORDINATE_DECIMALS), round(y, COORDINATE_DECIMALS)

    return moved(a), moved(b), moved(c)


def touches(a: GridPoint, b: GridPoint, triangle: GridTriangle) -> bool:
    """Whether the closed segment a–b and the closed triangle share a point; exact, also if a = b.

    Two convex sets are disjoint if and only if a line separates them, and in the plane it is enough to try
    the directions of their sides; the axes decide the cases where one of them has no direction.
    """
    for axis in (0, 1):
        low, high = sorted((a[axis], b[axis]))
        corners = [corner[axis] for corner in triangle]
        if high < min(corners) or low > max(corners):
            return False
    for p, q, opposite in _sides(triangle):
        side_a, side_b, inner = cross(p, q, a), cross(p, q, b), cross(p, q, opposite)
        if max(side_a, side_b) < min(0, inner) or min(side_a, side_b) > max(0, inner):
            return False
    beside = [cross(a, b, corner) for corner in triangle]
    return not (min(beside) > 0 or max(beside) < 0)


def length_inside_m(a: GridPoint, b: GridPoint, triangle: GridTriangle) -> float:
    """How much of the segment a–b lies in the triangle, in metres (0 where it only touches a corner)."""
    start, end = 0.0, 1.0
    turn = 1 if cross(*triangle) >= 0 else -1
    for p, q, _ in _sides(triangle):
        at_a, at_b = turn * cross(p, q, a), turn * cross(p, q, b)
        if at_a < 0 and at_b < 0:
            return 0.0
        if at_a < 0:
            start = max(start, at_a / (at_a - at_b))
        elif at_b < 0:
            end = min(end, at_a / (at_a - at_b))
    return max(0.0, end - start) * math.dist(a, b) / STEPS_PER_M


def depth_inside_m(point: GridPoint, triangle: GridTriangle) -> float:
    """Distance in metres from a point inside the triangle (which has area) to the nearest side's line."""
    return min(abs(cross(p, q, point)) / math.dist(p, q) for p, q, _ in _sides(triangle)) / STEPS_PER_M


def cross(p: GridPoint, q: GridPoint, r: GridPoint) -> int:
    """Twice the signed area of p, q, r: positive if they turn left, 0 if they are on one line."""
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def _sides(triangle: GridTriangle) -> tuple[GridTriangle, GridTriangle, GridTriangle]:
    """Each side's two ends followed by the corner opposite."""
    a, b, c = triangle
    return (a, b, c), (b, c, a), (c, a, b)


def _steps(value_m: float) -> int:
    # In two parts, so that no finite coordinate overflows when it is multiplied.
    whole = int(value_m)
    return whole * STEPS_PER_M + round((value_m - whole) * STEPS_PER_M)
