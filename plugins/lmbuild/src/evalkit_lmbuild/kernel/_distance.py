"""Closest points of points, segments and triangles, compiled. Points are (x, y, z): arrays would be
allocated.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from evalkit_lmbuild.design import Floats, Ints
from evalkit_lmbuild.kernel._jit import compiled

Point: TypeAlias = tuple[float, float, float]
Triangle: TypeAlias = tuple[Point, Point, Point]


@compiled
def _minus(a: Point, b: Point) -> Point:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled
def _along(a: Point, direction: Point, share: float) -> Point:
    return (a[0] + share * direction[0], a[1] + share * direction[1], a[2] + share * direction[2])


@compiled
def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def _cross(a: Point, b: Point) -> Point:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled
def _apart2(a: Point, b: Point) -> float:
    """Squared distance."""
    between = _minus(a, b)
    return _dot(between, between)


@compiled
def on_segment(point: Point, a: Point, b: Point) -> Point:
    """The point of the segment a–b next to `point`."""
    along = _minus(b, a)
    length2 = _dot(along, along)
    if length2 <= 0:
        return a
    return _along(a, along, min(1.0, max(0.0, _dot(_minus(point, a), along) / length2)))


@compiled
def on_triangle(point: Point, corners: Triangle) -> Point:
    """The point of a triangle, degenerate ones included, next to `point`."""
    a, b, c = corners
    ab, ac, ap = _minus(b, a), _minus(c, a), _minus(point, a)
    aa, bb, mixed = _dot(ab, ab), _dot(ac, ac), _dot(ab, ac)
    area = aa * bb - mixed * mixed
    if area > 1e-14 * aa * bb:
        v = (bb * _dot(ap, ab) - mixed * _dot(ap, ac)) / area
        w = (aa * _dot(ap, ac) - mixed * _dot(ap, ab)) / area
        if v >= 0 and w >= 0 and v + w <= 1:
            return _along(_along(a, ab, v), ac, w)
    best = on_segment(point, a, b)
    for other in (on_segment(point, b, c), on_segment(point, c, a)):
        if _apart2(other, point) < _apart2(best, point):
            best = other
    return best


@compiled
def between_segments(p: Point, q: Point, r: Point, s: Point) -> tuple[Point, Point]:
    """The two nearest points of the segments p–q and r–s."""
    u, v, w = _minus(q, p), _minus(s, r), _minus(p, r)
    uu, vv, uv = _dot(u, u), _dot(v, v), _dot(u, v)
    parallel = uu * vv - uv * uv
    along = 0.0
    if parallel > 1e-14 * uu * vv:
        along = min(1.0, max(0.0, (uv * _dot(v, w) - vv * _dot(u, w)) / parallel))
    other = on_segment(_along(p, u, along), r, s)
    return on_segment(other, p, q), other


@compiled
def _piercing(a: Point, b: Point, corners: Triangle) -> tuple[bool, Point]:
    """Whether the segment a–b passes through the triangle, and where."""
    normal = _cross(_minus(corners[1], corners[0]), _minus(corners[2], corners[0]))
    above, below = _dot(_minus(a, corners[0]), normal), _dot(_minus(b, corners[0]), normal)
    if above * below > 0 or above == below:
        return False, a
    point = _along(a, _minus(b, a), above / (above - below))
    return _apart2(on_triangle(point, corners), point) <= 1e-24 * (1 + _dot(point, point)), point


@compiled
def between_triangles(one: Triangle, two: Triangle) -> tuple[float, Point, Point]:
    """Squared distance of two triangles and the points where it is."""
    best2, best_one, best_two = np.inf, one[0], two[0]
    edges_one = ((one[0], one[1]), (one[1], one[2]), (one[2], one[0]))
    edges_two = ((two[0], two[1]), (two[1], two[2]), (two[2], two[0]))
    for a, b in edges_one:
        pierced, point = _piercing(a, b, two)
        if pierced:
            return 0.0, point, point
        near = on_triangle(a, two)
        if _apart2(near, a) < best2:
            best2, best_one, best_two = _apart2(near, a), a, near
        for c, d in edges_two:
            mine, other = between_segments(a, b, c, d)
            if _apart2(mine, other) < best2:
                best2, best_one, best_two = _apart2(mine, other), mine, other
    for c, d in edges_two:
        pierced, point = _piercing(c, d, one)
        if pierced:
            return 0.0, point, point
        near = on_triangle(c, one)
        if _apart2(near, c) < best2:
            best2, best_one, best_two = _apart2(near, c), near, c
    return best2, best_one, best_two


@compiled
def _corner(row: Floats) -> Point:
    return (row[0], row[1], row[2])


@compiled
def _triangle(corners: Floats) -> Triangle:
    return (_corner(corners[0]), _corner(corners[1]), _corner(corners[2]))


@compiled
def nearest_on_mesh(point: Point, vertices: Floats, faces: Ints) -> tuple[float, Point]:
    """Distance of a point to a surface and the surface's point there."""
    best2, best = np.inf, point
    for face in range(faces.shape[0]):
        a = _corner(vertices[faces[face, 0]])
        b = _corner(vertices[faces[face, 1]])
        c = _corner(vertices[faces[face, 2]])
        bound2 = 0.0
        for axis in range(3):
            low, high = min(a[axis], b[axis], c[axis]), max(a[axis], b[axis], c[axis])
            apart = max(0.0, low - point[axis], point[axis] - high)
            bound2 += apart * apart
        if bound2 < best2:
            near = on_triangle(point, (a, b, c))
            distance2 = _apart2(near, point)
            if distance2 < best2:
                best2, best = distance2, near
    return np.sqrt(best2), best


@compiled
def nearest_in_groups(
    one: Floats,
    boxes_one: Floats,
    starts_one: Ints,
    two: Floats,
    boxes_two: Floats,
    starts_two: Ints,
    order: Ints,
    bounds2: Floats,
) -> tuple[float, Point, Point]:
    """Least distance of the triangles `one` [n, 3, 3] and `two` [m, 3, 3], and its points.

    `boxes` [n, 2, 3] hold the triangles' lowest and highest corners. Triangles come in groups that begin at
    `starts` (the end included); `order` [k, 2] lists pairs of groups by `bounds2`, the squared distance of
    their boxes.
    """
    best2, best_one, best_two = np.inf, _corner(one[0, 0]), _corner(two[0, 0])
    for k in range(order.shape[0]):
        if bounds2[k] >= best2:
            break
        for i in range(starts_one[order[k, 0]], starts_one[order[k, 0] + 1]):
            for j in range(starts_two[order[k, 1]], starts_two[order[k, 1] + 1]):
                bound2 = 0.0
                for axis in range(3):
                    apart = max(
                        0.0,
                        boxes_one[i, 0, axis] - boxes_two[j, 1, axis],
                        boxes_two[j, 0, axis] - boxes_one[i, 1, axis],
                    )
                    bound2 += apart * apart
                if bound2 < best2:
                    found2, mine, other = between_triangles(_triangle(one[i]), _triangle(two[j]))
                    if found2 < best2:
                        best2, best_one, best_two = found2, mine, other
                    if best2 <= 0:
                        return 0.0, best_one, best_two
    return np.sqrt(best2), best_one, best_two
