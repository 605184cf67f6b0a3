"""Where two solids face each other: contact points, normals and gaps, found by clipping triangles.

Seen along a direction, two triangles overlap in a convex polygon, and the gap between them is linear on
it: the corners of these polygons (corners of one inside the other, crossings of edges) say everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability.constants import OVERLAP_LDU, REACH_LDU
from evalkit_brickbench.stability.solids import RECESS_LDU, Solid

FACING = 0.05
"""Least |cosine| between a face and the direction it is seen from."""
WALL = 0.6
"""Least |cosine| of a contact normal in the passes along horizontal directions."""
PARALLEL = 0.999
CHUNK = 2_000_000
_ANGLES = 2 * np.pi * (np.arange(32) + 0.137) / 32
_SPREAD = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])


@dataclass(frozen=True, slots=True, eq=False)
class Facing:
    """k contacts of a solid A with a solid B: `points` [k, 3] on B, unit `normals` [k, 3] from B to A,
    `gaps` [k] along the normal and `falls` [k] along the vertical, LDU (inf where not found vertically).
    """

    points: Floats
    normals: Floats
    gaps: Floats
    falls: Floats
    near: bool


def facing(a: Solid, b: Solid, rotation: Floats, position: Floats, down: Floats) -> Facing:
    """Contacts of A, posed at (rotation, position) in B's frame, with B; `down` [3] is a unit vector."""
    tri_a = a.recessed @ rotation.T + position
    normal_a = a.normals @ rotation.T
    close_a = _within(tri_a, b.triangles)
    close_b = _within(b.triangles, tri_a)
    if not (close_a.any() and close_b.any()):
        return Facing(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), near=False)
    first = (tri_a[close_a], normal_a[close_a], a.sharp[close_a])
    second = (b.triangles[close_b], b.normals[close_b], b.sharp[close_b])
    found = [_along(first, second, direction, vertical=True) for direction in (down, -down)]
    axes = [axis for axis in np.concatenate([np.eye(3), -np.eye(3)]) if abs(axis @ down) < 0.99]
    found += [_along(first, second, axis, vertical=False) for axis in axes]
    points, normals, gaps, falls = (np.concatenate(rows) for rows in zip(*found, strict=True))
    keep = reduce_points(points, normals, gaps)
    return Facing(points[keep], normals[keep], gaps[keep], falls[keep], near=True)


def _within(triangles: Floats, others: Floats) -> NDArray[np.bool_]:
    """Which triangles come within reach of the box around the others."""
    low, high = others.min(axis=(0, 1)) - REACH_LDU, others.max(axis=(0, 1)) + REACH_LDU
    inside: NDArray[np.bool_] = ((triangles.max(axis=1) >= low) & (triangles.min(axis=1) <= high)).all(axis=1)
    return inside


_Faces = tuple[Floats, Floats, NDArray[np.bool_]]


def _along(
    a: _Faces, b: _Faces, direction: Floats, *, vertical: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """Points, normals, gaps and falls of A moving along a direction towards B."""
    ahead, behind = a[1] @ direction > FACING, b[1] @ direction < -FACING
    basis = _basis(direction)
    tri_a, tri_b = a[0][ahead] @ basis.T, b[0][behind] @ basis.T
    parts = []
    step = max(1, CHUNK // max(1, len(tri_b)))
    for start in range(0, len(tri_a), step):
        i, j = _overlapping(tri_a[start : start + step], tri_b)
        i += start
        parts.append(
            _clip(
                tri_a[i],
                a[1][ahead][i] @ basis.T,
                a[2][ahead][i],
                tri_b[j],
                b[1][behind][j] @ basis.T,
                b[2][behind][j],
            )
        )
    if not parts:
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
    points, normals, falls = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    slope = -normals[:, 2]
    gaps = falls * slope - RECESS_LDU
    limit = FACING if vertical else WALL
    reach = falls if vertical else gaps
    keep = (slope > limit) & (reach <= REACH_LDU + RECESS_LDU) & (gaps >= -OVERLAP_LDU)
    points, normals, gaps, falls = points[keep] @ basis, normals[keep] @ basis, gaps[keep], falls[keep]
    return points, normals, gaps, gaps / slope[keep] if vertical else np.full(len(gaps), np.inf)


def _basis(direction: Floats) -> Floats:
    """Rows u, v, d: an orthonormal basis whose last vector is the direction."""
    helper = np.eye(3)[int(np.abs(direction).argmin())]
    u = np.cross(helper, direction)
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(direction, u), direction])


def _overlapping(a: Floats, b: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of triangles whose boxes overlap across the direction and are within reach along it."""
    low_a, high_a, low_b, high_b = a.min(axis=1), a.max(axis=1), b.min(axis=1), b.max(axis=1)
    pairs: NDArray[np.bool_] = np.ones((len(a), len(b)), dtype=bool)
    for k in range(2):
        pairs &= (low_a[:, None, k] <= high_b[None, :, k]) & (low_b[None, :, k] <= high_a[:, None, k])
    pairs &= low_b[None, :, 2] - high_a[:, None, 2] <= REACH_LDU + RECESS_LDU
    pairs &= high_b[None, :, 2] - low_a[:, None, 2] >= -OVERLAP_LDU
    i, j = np.nonzero(pairs)
    return i, j


def _clip(
    a: Floats,
    normal_a: Floats,
    sharp_a: NDArray[np.bool_],
    b: Floats,
    normal_b: Floats,
    sharp_b: NDArray[np.bool_],
) -> tuple[Floats, Floats, Floats]:
    """Corners of the overlaps of k pairs of triangles along the third axis: points on B, normals, gaps."""
    found = []
    for corner in range(3):
        inside = _inside(a[:, corner, :2], b)
        at = a[inside, corner]
        depth = _height(at, b[inside, 0], normal_b[inside])
        found.append(_points(at[:, :2], depth, depth - at[:, 2], normal_b[inside]))
        inside = _inside(b[:, corner, :2], a)
        at = b[inside, corner]
        depth = _height(at, a[inside, 0], normal_a[inside])
        found.append(_points(at[:, :2], at[:, 2], at[:, 2] - depth, -normal_a[inside]))
    parallel = (normal_a * normal_b).sum(axis=1) < -PARALLEL
    for i in range(3):
        for j in range(3):
            usable = parallel | (sharp_a[:, i] & sharp_b[:, j])
            found.append(
                _crossings(
                    a[usable, i], a[usable, (i + 1) % 3], b[usable, j], b[usable, (j + 1) % 3],
                    normal_b[usable], parallel[usable],
                )
            )  # fmt: skip
    points, normals, gaps = (np.concatenate(rows) for rows in zip(*found, strict=True))
    return points, normals, gaps


def _points(across: Floats, depth: Floats, gap: Floats, normal: Floats) -> tuple[Floats, Floats, Floats]:
    return np.column_stack([across, depth]), normal, gap


def _height(at: Floats, corner: Floats, normal: Floats) -> Floats:
    """Third coordinate, above `at`, of the planes through `corner` with the given normals."""
    height: Floats = corner[:, 2] - ((at[:, :2] - corner[:, :2]) * normal[:, :2]).sum(axis=1) / normal[:, 2]
    return height


def _inside(points: Floats, triangles: Floats) -> NDArray[np.bool_]:
    """Which points [k, 2] lie in the triangles [k, 3, ≥2], seen along the third axis, edges included."""
    signs = np.stack(
        [
            _cross(triangles[:, (k + 1) % 3, :2] - triangles[:, k, :2], points - triangles[:, k, :2])
            for k in range(3)
        ]
    )
    return np.asarray((signs >= 0).all(axis=0) | (signs <= 0).all(axis=0))


def _crossings(
    a0: Floats, a1: Floats, b0: Floats, b1: Floats, normal_b: Floats, parallel: NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats]:
    """Crossings of edges a0–a1 and b0–b1 [k, 3] seen along the third axis."""
    along_a, along_b, between = a1 - a0, b1 - b0, b0 - a0
    denominator = _cross(along_a[:, :2], along_b[:, :2])
    safe = np.where(np.abs(denominator) > 1e-9, denominator, np.nan)
    s = _cross(between[:, :2], along_b[:, :2]) / safe
    t = _cross(between[:, :2], along_a[:, :2]) / safe
    hit = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    on_a = a0[hit] + s[hit, None] * along_a[hit]
    on_b = b0[hit] + t[hit, None] * along_b[hit]
    normal = np.cross(along_a[hit], along_b[hit])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-12)[:, None]
    normal *= np.where(normal[:, 2] > 0, -1.0, 1.0)[:, None]
    normal = np.where(parallel[hit, None], normal_b[hit], normal)
    return on_b, normal, on_b[:, 2] - on_a[:, 2]


def _cross(a: Floats, b: Floats) -> Floats:
    cross: Floats = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return cross


def reduce_points(
    points: Floats, normals: Floats, gaps: Floats, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Indices of the contacts that matter: of those in one plane (and group) with one gap, the corners of
    their hull, in 32 directions. Forces inside the hull are sums of forces at its corners."""
    if not len(points):
        return np.zeros(0, dtype=np.int64)
    columns = [normals * 50, (normals * points).sum(axis=1)[:, None] * 20, gaps[:, None] * 50]
    if groups is not None:
        columns.append(groups.reshape(len(points), -1).astype(float))
    _, group = np.unique(
        np.rint(np.concatenate(columns, axis=1)).astype(np.int64), axis=0, return_inverse=True
    )
    order = np.argsort(group.ravel(), kind="stable")
    chosen = []
    for members in np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1):
        if len(members) <= 4:
            chosen.append(members)
            continue
        u, v, _ = _basis(normals[members[0]])
        flat = np.stack([points[members] @ u, points[members] @ v], axis=1)
        chosen.append(members[np.unique((flat @ _SPREAD).argmax(axis=0))])
    return np.sort(np.concatenate(chosen))
