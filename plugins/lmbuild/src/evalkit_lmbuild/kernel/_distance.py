"""Closest points of points, segments and triangles, compiled. Points are float64 [3], triangles [3, 3]."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats, Ints
from evalkit_lmbuild.kernel._jit import compiled

_EDGES = ((0, 1), (1, 2), (2, 0))


@compiled
def dot(a: Floats, b: Floats) -> float:
    """Scalar product."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@compiled
def on_segment(point: Floats, a: Floats, b: Floats) -> Floats:
    """The point of the segment a–b next to `point`."""
    along = b - a
    length2 = dot(along, along)
    if length2 <= 0:
        return a.copy()
    return a + min(1.0, max(0.0, dot(point - a, along) / length2)) * along


@compiled
def on_triangle(point: Floats, corners: Floats) -> Floats:
    """The point of a triangle, degenerate ones included, next to `point`."""
    ab, ac, ap = corners[1] - corners[0], corners[2] - corners[0], point - corners[0]
    aa, bb, mixed = dot(ab, ab), dot(ac, ac), dot(ab, ac)
    area = aa * bb - mixed * mixed
    if area > 1e-14 * aa * bb:
        v = (bb * dot(ap, ab) - mixed * dot(ap, ac)) / area
        w = (aa * dot(ap, ac) - mixed * dot(ap, ab)) / area
        if v >= 0 and w >= 0 and v + w <= 1:
            inside: Floats = corners[0] + v * ab + w * ac
            return inside
    best = on_segment(point, corners[0], corners[1])
    for i in range(1, 3):
        other = on_segment(point, corners[i], corners[(i + 1) % 3])
        if dot(other - point, other - point) < dot(best - point, best - point):
            best = other
    return best


@compiled
def between_segments(p: Floats, q: Floats, r: Floats, s: Floats) -> tuple[Floats, Floats]:
    """The two nearest points of the segments p–q and r–s."""
    u, v, w = q - p, s - r, p - r
    uu, vv, uv, uw, vw = dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)
    parallel = uu * vv - uv * uv
    along = 0.0
    if parallel > 1e-14 * uu * vv:
        along = min(1.0, max(0.0, (uv * vw - vv * uw) / parallel))
    other = on_segment(p + along * u, r, s)
    return on_segment(other, p, q), other


@compiled
def _piercing(a: Floats, b: Floats, corners: Floats) -> tuple[bool, Floats]:
    """Whether the segment a–b passes through the triangle, and where."""
    u, v = corners[1] - corners[0], corners[2] - corners[0]
    normal = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    above, below = dot(a - corners[0], normal), dot(b - corners[0], normal)
    if above * below > 0 or above == below:
        return False, a
    point = a + above / (above - below) * (b - a)
    nearest = on_triangle(point, corners)
    return dot(nearest - point, nearest - point) <= 1e-24 * (1 + dot(point, point)), point


@compiled
def between_triangles(one: Floats, two: Floats, least2: float) -> tuple[float, Floats, Floats]:
    """Squared distance of two triangles and the points where it is; pairs not below `least2` may be
    skipped.
    """
    best2, best_one, best_two = least2, one[0], two[0]
    for i in range(3):
        pierced, point = _piercing(one[i], one[(i + 1) % 3], two)
        if pierced:
            return 0.0, point, point
        pierced, point = _piercing(two[i], two[(i + 1) % 3], one)
        if pierced:
            return 0.0, point, point
    for i in range(3):
        near = on_triangle(one[i], two)
        distance2 = dot(near - one[i], near - one[i])
        if distance2 < best2:
            best2, best_one, best_two = distance2, one[i], near
        near = on_triangle(two[i], one)
        distance2 = dot(near - two[i], near - two[i])
        if distance2 < best2:
            best2, best_one, best_two = distance2, near, two[i]
        for j in range(3):
            a, b = between_segments(one[i], one[(i + 1) % 3], two[j], two[(j + 1) % 3])
            distance2 = dot(a - b, a - b)
            if distance2 < best2:
                best2, best_one, best_two = distance2, a, b
    return best2, best_one.copy(), best_two.copy()


@compiled
def boxes_apart2(low_a: Floats, high_a: Floats, low_b: Floats, high_b: Floats) -> float:
    """Squared distance of two boxes."""
    total = 0.0
    for axis in range(3):
        apart = max(0.0, low_a[axis] - high_b[axis], low_b[axis] - high_a[axis])
        total += apart * apart
    return total


@compiled
def nearest_on_mesh(point: Floats, vertices: Floats, faces: Ints) -> tuple[float, Floats]:
    """Distance of a point to a surface and the surface's point there."""
    best2, best = np.inf, point
    corners = np.empty((3, 3))
    for face in range(faces.shape[0]):
        bound2 = 0.0
        for axis in range(3):
            a, b, c = (
                vertices[faces[face, 0], axis],
                vertices[faces[face, 1], axis],
                vertices[faces[face, 2], axis],
            )
            corners[0, axis], corners[1, axis], corners[2, axis] = a, b, c
            apart = max(0.0, min(a, b, c) - point[axis], point[axis] - max(a, b, c))
            bound2 += apart * apart
        if bound2 >= best2:
            continue
        near = on_triangle(point, corners)
        distance2 = dot(near - point, near - point)
        if distance2 < best2:
            best2, best = distance2, near
    return np.sqrt(best2), best


@compiled
def nearest_in_groups(
    one: Floats, starts_one: Ints, two: Floats, starts_two: Ints, order: Ints, bounds2: Floats
) -> tuple[float, Floats, Floats]:
    """Least distance of the triangles `one` [n, 3, 3] and `two` [m, 3, 3], and its points.

    Triangles come in groups that begin at `starts` (the end included); `order` [k, 2] lists pairs of
    groups by their `bounds2`, the squared distance of their boxes.
    """
    best2, best_one, best_two = np.inf, one[0, 0].copy(), two[0, 0].copy()
    for k in range(order.shape[0]):
        if bounds2[k] >= best2:
            break
        for i in range(starts_one[order[k, 0]], starts_one[order[k, 0] + 1]):
            for j in range(starts_two[order[k, 1]], starts_two[order[k, 1] + 1]):
                apart2 = 0.0
                for axis in range(3):
                    a0, a1, a2 = one[i, 0, axis], one[i, 1, axis], one[i, 2, axis]
                    b0, b1, b2 = two[j, 0, axis], two[j, 1, axis], two[j, 2, axis]
                    apart = max(0.0, min(a0, a1, a2) - max(b0, b1, b2), min(b0, b1, b2) - max(a0, a1, a2))
                    apart2 += apart * apart
                if apart2 < best2:
                    found2, point_one, point_two = between_triangles(one[i], two[j], best2)
                    if found2 < best2:
                        best2, best_one, best_two = found2, point_one, point_two
                    if best2 <= 0:
                        return 0.0, best_one, best_two
    return np.sqrt(best2), best_one, best_two
