"""How far a body can be tilted before it falls over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evalkit_lmbuild.design import Floats, Ints, Mesh
from evalkit_lmbuild.kernel._jit import arrays_of, compiled
from evalkit_lmbuild.kernel.voxels import PITCH

AZIMUTHS = 720
BAND = 0.005
BAND_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Tilt:
    """Angles in degrees, negative where the centre of mass is outside the support; lengths in m.

    `angle_deg` and `margin_m` (distance from the centre of mass to the edge of the support, seen from
    above) come from voxel masses; `exact_angle_deg` from the volumes the meshes enclose, None where
    one isn't closed.
    """

    angle_deg: float
    margin_m: float
    centre: Floats
    height_m: float
    z_min: float
    exact_angle_deg: float | None


def support_band(height_m: float, pitch: float = PITCH) -> float:
    """Height above the lowest point within which a surface counts as support, m."""
    return max(BAND * pitch / PITCH, BAND_SHARE * height_m)


@compiled
def low_points(vertices: Floats, faces: Ints, level: float) -> Floats:
    """Corners [n, 2] (x, y) of the surface's part with z ≤ level: vertices, and edges where they cross it."""
    found = np.empty((vertices.shape[0] + 3 * faces.shape[0], 2))
    size = 0
    for i in range(vertices.shape[0]):
        if vertices[i, 2] <= level:
            found[size, 0], found[size, 1] = vertices[i, 0], vertices[i, 1]
            size += 1
    for face in range(faces.shape[0]):
        for i in range(3):
            a, b = faces[face, i], faces[face, (i + 1) % 3]
            if (vertices[a, 2] <= level) != (vertices[b, 2] <= level):
                part = (level - vertices[a, 2]) / (vertices[b, 2] - vertices[a, 2])
                found[size, 0] = vertices[a, 0] + part * (vertices[b, 0] - vertices[a, 0])
                found[size, 1] = vertices[a, 1] + part * (vertices[b, 1] - vertices[a, 1])
                size += 1
    return found[:size].copy()


@compiled
def _chain(points: Floats, order: npt.NDArray[np.int64], hull: Floats, size: int) -> int:
    """Append one side of the convex hull of sorted points to `hull`, its last point left out; the
    new size.
    """
    start = size
    for index in order:
        x, y = points[index, 0], points[index, 1]
        while size - start > 1:
            ahead_x, ahead_y = (
                hull[size - 1, 0] - hull[size - 2, 0],
                hull[size - 1, 1] - hull[size - 2, 1],
            )
            if ahead_x * (y - hull[size - 2, 1]) - ahead_y * (x - hull[size - 2, 0]) > 0:
                break
            size -= 1
        hull[size, 0], hull[size, 1] = x, y
        size += 1
    return size - 1


def _extreme(points: Floats) -> Floats:
    """The points that can be the furthest in some direction: the convex hull by a monotone chain [k, 2]."""
    order = np.lexsort((points[:, 1], points[:, 0])).astype(np.int64)
    hull = np.empty((2 * len(points), 2))
    size = _chain(points, order, hull, 0)
    size = _chain(points, order[::-1].copy(), hull, size)
    return hull[:size] if size else points[:1]


@compiled
def _least_margin(points: Floats, centre: Floats, directions: Floats) -> float:
    """Least over directions u of max over points p of u · (p − centre); points on a line or alone
    included.
    """
    least = np.inf
    for u in range(directions.shape[0]):
        most = -np.inf
        for i in range(points.shape[0]):
            reach = directions[u, 0] * (points[i, 0] - centre[0]) + directions[u, 1] * (
                points[i, 1] - centre[1]
            )
            most = max(most, reach)
        least = min(least, most)
    return least


def _directions() -> Floats:
    turns = 2 * np.pi * np.arange(AZIMUTHS) / AZIMUTHS
    return np.stack([np.cos(turns), np.sin(turns)], axis=1)


DIRECTIONS = _directions()


def is_closed(mesh: Mesh) -> bool:
    """Whether triangles run along every edge of the mesh as often in one direction as in the other."""
    edges = np.concatenate([mesh.faces[:, [0, 1]], mesh.faces[:, [1, 2]], mesh.faces[:, [2, 0]]])
    edges = edges.astype(np.int64)
    forwards = np.sort(edges[:, 0] * len(mesh.vertices) + edges[:, 1])
    backwards = np.sort(edges[:, 1] * len(mesh.vertices) + edges[:, 0])
    return len(edges) > 0 and bool(np.array_equal(forwards, backwards))


@lru_cache(maxsize=256)
def solid_centre(mesh: Mesh) -> tuple[float, Floats] | None:
    """Enclosed volume, m³, and its centre [3] of a closed mesh; None of an open one."""
    if not is_closed(mesh):
        return None
    origin = mesh.vertices.mean(axis=0)
    a, b, c = ((mesh.vertices - origin)[mesh.faces[:, i]] for i in range(3))
    sixth = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(sixth.sum())
    if volume <= 0:
        return None
    return volume, origin + (sixth[:, None] * (a + b + c) / 4).sum(axis=0) / volume


def _angle(margin: float, height: float) -> float:
    return float(np.degrees(np.arctan2(margin, height)))


def tilt(
    meshes: Sequence[Mesh],
    masses: Sequence[float],
    centres: Sequence[Floats],
    solids: Sequence[tuple[float, Floats] | None],
    pitch: float,
) -> Tilt:
    """Tilt of a rigid body of meshes in world coordinates; `solids` are enclosed
    volumes and their centres, None of open meshes."""
    z_min = min(float(mesh.bounds[0][2]) for mesh in meshes)
    z_max = max(float(mesh.bounds[1][2]) for mesh in meshes)
    level = z_min + support_band(z_max - z_min, pitch)
    low = [low_points(*arrays_of(m), level) for m in meshes if m.bounds[0][2] <= level]
    points = _extreme(np.concatenate(low))
    centre = np.average(np.array(centres), axis=0, weights=np.array(masses))
    margin = _least_margin(points, centre, DIRECTIONS)
    exact = None
    known = [solid for solid in solids if solid is not None]
    if len(known) == len(solids):
        solid = np.average([at for _, at in known], axis=0, weights=[volume for volume, _ in known])
        exact = _angle(_least_margin(points, solid, DIRECTIONS), float(solid[2]) - z_min)
    return Tilt(_angle(margin, float(centre[2]) - z_min), margin, centre, z_max - z_min, z_min, exact)
