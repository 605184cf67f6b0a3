"""Parts as solids: true surfaces, mass, centre of mass, hull. One for each part name and stretch.

Meshes come inset by `Mesh.inset_ldu`; here the surfaces are moved back out, so that verdicts depend as
little as possible on where a mesh comes from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import ConvexHull, QhullError

from evalkit_brickbench.parts.catalogue import Catalogue, resolved_scene
from evalkit_brickbench.scene import Floats, MeshSource, Scene

WELD_LDU = 0.005
"""Vertices closer than this are one; meshes are quantised to about 0.001 LDU."""
RIGID = 2e-3
"""Matrices this close to a rotation are one: files round to three digits."""
RECESS_LDU = 0.02
"""One side of each pair is this much smaller, so that flush sides don't count as resting on each other."""
SHARP_COS = np.cos(np.radians(5.0))
OPEN_EDGES, MISSING_AREA = 0.02, 0.005
"""Shares of a mesh's edges without an opposite one, and of its area that isn't balanced, up to which its
signed volume is near enough: many meshes lack a triangle or two."""
SAMPLES_AT_ONCE = 2_000_000
VOXELS = 64
"""Voxels along the longest side of a part whose mesh is more open than that."""


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """Uniform density 1: `volume` LDU³, `centre` [3] LDU, `second` [3, 3] = ∫ (x−c)(x−c)ᵀ dV, LDU⁵."""

    volume: float
    centre: Floats
    second: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A part in its own frame: `triangles` [m, 3, 3] in LDU with outward unit `normals` [m, 3]; `sharp`
    [m, 3] says which edges (vertex k to k+1) are convex; `hull` [h, 3] the corners of the convex hull.
    `recessed` [m, 3, 3] are the triangles `RECESS_LDU` inside the true surface; `planes` [f, 4] the planes
    of the hull, n·x + d ≤ 0 inside.

    `fallback` names how the mass was found where the mesh isn't watertight ("" = signed volume).
    """

    key: tuple[str, tuple[float, ...]]
    triangles: Floats
    recessed: Floats
    normals: Floats
    sharp: NDArray[np.bool_]
    hull: Floats
    planes: Floats
    mass: Mass
    fallback: str


@dataclass(slots=True)
class Solids:
    """Solids of a mesh source, made when first asked for and kept."""

    meshes: MeshSource
    _made: dict[tuple[str, tuple[float, ...]], Solid | None] = field(default_factory=dict)

    def solid(self, stem: str, stretch: Floats | None = None) -> Solid | None:
        """The solid of a resolved stem, stretched by a matrix [3, 3] first; None without a mesh."""
        shape = np.eye(3) if stretch is None else np.round(stretch, 4)
        key = (stem, tuple(shape.ravel().tolist()))
        if key not in self._made:
            mesh = self.meshes.mesh(stem)
            self._made[key] = (
                None
                if mesh is None or not len(mesh.triangles)
                else make_solid(key, mesh.vertices, mesh.triangles, mesh.inset_ldu, shape)
            )
        return self._made[key]


def placed_solids(
    scene: Scene, solids: Solids, catalogue: Catalogue | None, labels: NDArray[np.int64] | None = None
) -> tuple[list[Solid | None], Floats, Floats]:
    """The solid of each part of a scene, with rotations [n, 3, 3] (determinant +1) and positions [n, 3].

    The catalogue follows aliases. Scale, shear and reflection go into the solid. Parts with a negative label
    have none.
    """
    placed = scene if catalogue is None else resolved_scene(scene, catalogue)
    rotations, stretches = split_matrices(placed.matrices)
    wanted = np.ones(len(placed), bool) if labels is None else labels >= 0
    found = [
        solids.solid(stem, stretch) if there else None
        for stem, stretch, there in zip(placed.stems, stretches, wanted, strict=True)
    ]
    return found, rotations, placed.positions


def split_matrices(matrices: Floats) -> tuple[Floats, list[Floats | None]]:
    """Polar decomposition M = R·S: rotations [n, 3, 3], and S where it isn't the identity.

    A reflection is part of S.
    """
    u, _, vt = np.linalg.svd(matrices)
    sign = np.sign(np.linalg.det(u @ vt))
    u[:, :, 2] *= sign[:, None]
    rotations = u @ vt
    stretches = np.swapaxes(rotations, 1, 2) @ matrices
    rigid = np.abs(stretches - np.eye(3)).max(axis=(1, 2)) < RIGID
    return rotations, [None if ok else stretch for ok, stretch in zip(rigid, stretches, strict=True)]


def make_solid(
    key: tuple[str, tuple[float, ...]],
    vertices: Floats,
    faces: NDArray[np.int32],
    inset: float,
    stretch: Floats,
) -> Solid:
    """A solid from an inset mesh; see `Solid`."""
    welded, faces = _weld(vertices, faces)
    points = outset(welded, faces, inset) @ stretch.T
    inner = outset(welded, faces, inset - RECESS_LDU) @ stretch.T
    if np.linalg.det(stretch) < 0:
        faces = faces[:, ::-1]
    triangles = points[faces]
    cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(cross, axis=1)
    normals = cross / np.maximum(area, 1e-12)[:, None]
    corners, planes = _hull(points)
    sharp, open_share = _edges(faces, points, normals)
    mass, fallback = signed_mass(triangles), ""
    missing = float(np.linalg.norm(cross.sum(axis=0)) / np.maximum(area.sum(), 1e-12))
    if (
        open_share > OPEN_EDGES
        or missing > MISSING_AREA
        or not mass.volume > 1e-3 * np.ptp(points, axis=0).prod()
    ):
        mass, fallback = voxel_mass(triangles), "voxels"
    keep = area > 1e-6
    return Solid(
        key=key,
        triangles=triangles[keep],
        recessed=inner[faces[keep]],
        normals=normals[keep],
        sharp=sharp[keep],
        hull=corners,
        planes=planes,
        mass=mass,
        fallback=fallback,
    )


def _weld(vertices: Floats, faces: NDArray[np.int32]) -> tuple[Floats, NDArray[np.int32]]:
    _, first, inverse = np.unique(
        np.round(vertices / WELD_LDU).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    merged = inverse.ravel()[faces].astype(np.int32)
    distinct = (
        (merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])
    )
    return vertices[first].astype(float), merged[distinct]


def outset(points: Floats, faces: NDArray[np.int32], distance: float) -> Floats:
    """Points [n, 3] moved so that the planes of the faces around each lie `distance` further out.

    The least-squares solution of n_k·δ = distance over the faces k, weighted by their angle at the point;
    exact at corners of up to three planes, near enough on round surfaces.
    """
    if not distance:
        return points
    corners = points[faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = cross / np.maximum(np.linalg.norm(cross, axis=1), 1e-12)[:, None]
    ahead = np.roll(corners, -1, axis=1) - corners
    behind = np.roll(corners, 1, axis=1) - corners
    cosine = (ahead * behind).sum(-1) / np.maximum(
        np.linalg.norm(ahead, axis=-1) * np.linalg.norm(behind, axis=-1), 1e-12
    )
    angle = np.arccos(np.clip(cosine, -1, 1))
    square = np.zeros((len(points), 3, 3))
    right = np.zeros((len(points), 3))
    outer = normals[:, :, None] * normals[:, None, :]
    for k in range(3):
        np.add.at(square, faces[:, k], angle[:, k, None, None] * outer)
        np.add.at(right, faces[:, k], angle[:, k, None] * normals)
    values, vectors = np.linalg.eigh(square)
    usable = values > 0.02 * np.maximum(values[:, 2:], 1e-12)
    inverse = np.where(usable, 1.0 / np.where(usable, values, 1.0), 0.0)
    along = np.einsum("nji,nj->ni", vectors, right) * inverse
    shift = np.einsum("nij,nj->ni", vectors, along)
    length = np.linalg.norm(shift, axis=1)
    shift *= np.minimum(1.0, 3.0 / np.maximum(length, 1e-12))[:, None]
    moved: Floats = points + distance * shift
    return moved


def _edges(faces: NDArray[np.int32], points: Floats, normals: Floats) -> tuple[NDArray[np.bool_], float]:
    """Which edges [m, 3] are convex and sharp, and the share of edges without an opposite one."""
    a = faces.ravel().astype(np.int64)
    b = np.roll(faces, -1, axis=1).ravel().astype(np.int64)
    n = len(points)
    order = np.argsort(a * n + b, kind="stable")
    forward, backward = (a * n + b)[order], b * n + a
    at = np.minimum(np.searchsorted(forward, backward), len(forward) - 1)
    paired = forward[at] == backward
    other = order[at]
    mine, theirs = np.repeat(normals, 3, axis=0), normals[other // 3]
    opposite = points[faces[other // 3, (other % 3 + 2) % 3]] - points[a]
    flat = (mine * theirs).sum(1) > SHARP_COS
    convex = (mine * opposite).sum(1) < 0
    return (~paired | (convex & ~flat)).reshape(-1, 3), float(1.0 - paired.mean())


def signed_mass(triangles: Floats) -> Mass:
    """Volume integrals over the tetrahedra from the middle of a closed mesh to its triangles [m, 3, 3]."""
    origin = triangles.reshape(-1, 3).mean(axis=0)
    t = triangles - origin
    volumes = np.einsum("ij,ij->i", t[:, 0], np.cross(t[:, 1], t[:, 2])) / 6.0
    volume = float(volumes.sum())
    total = t.sum(axis=1)
    safe = volume if abs(volume) > 1e-12 else 1.0
    centre = (volumes[:, None] * total).sum(axis=0) / 4.0 / safe
    # ∫ x xᵀ over a tetrahedron with one corner at 0: V/20 · (Σ vᵢvᵢᵀ + s sᵀ), s = Σ vᵢ
    second = np.einsum("m,mki,mkj->ij", volumes, t, t) + np.einsum("m,mi,mj->ij", volumes, total, total)
    return Mass(volume, centre + origin, second / 20.0 - volume * np.outer(centre, centre))


def voxel_mass(triangles: Floats) -> Mass:
    """Mass of the region that can't be reached from outside, on a grid of about `VOXELS` along the part."""
    low, high = triangles.reshape(-1, 3).min(axis=0), triangles.reshape(-1, 3).max(axis=0)
    pitch = max(float((high - low).max()) / VOXELS, 0.5)
    grid = np.zeros(np.ceil((high - low) / pitch).astype(np.int64) + 3, dtype=bool)
    for samples in _samples(triangles, pitch / 2):
        index = np.floor((samples - low) / pitch).astype(np.int64) + 1
        grid[tuple(index.T)] = True
    cells = np.argwhere(ndimage.binary_fill_holes(grid))
    centres = low + (cells - 0.5) * pitch
    centre = centres.mean(axis=0)
    away = centres - centre
    second = (away.T @ away + len(cells) * np.eye(3) * pitch**2 / 12.0) * pitch**3
    return Mass(len(cells) * pitch**3, centre, second)


def _samples(triangles: Floats, spacing: float) -> Iterator[Floats]:
    """Points [k, 3] on triangles [m, 3, 3], neighbours no further apart than `spacing`, some at a time."""
    sides = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    # Powers of two, so that there are few sizes of grid and triangles of one size are done at once.
    steps = 2 ** np.ceil(np.log2(np.maximum(sides / spacing, 1.0))).astype(np.int64)
    for n in np.unique(steps):
        i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        weights = np.stack([n - i - j, i, j], axis=-1)[i + j <= n] / n
        alike = triangles[steps == n]
        at_once = max(1, SAMPLES_AT_ONCE // len(weights))
        for start in range(0, len(alike), at_once):
            yield (weights @ alike[start : start + at_once]).reshape(-1, 3)


def _hull(points: Floats) -> tuple[Floats, Floats]:
    """Corners of the convex hull of points [n, 3], in order of index, and its planes [f, 4]; all points and
    no planes if they're flat."""
    try:
        hull = ConvexHull(points)
    except QhullError:
        return points, np.zeros((0, 4))
    return points[np.sort(hull.vertices)], np.asarray(hull.equations)
