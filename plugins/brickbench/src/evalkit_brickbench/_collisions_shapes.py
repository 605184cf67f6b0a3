"""The shape of a part as collisions see it: inset, stretched, with points that lie inside it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench._collisions_inset import inset
from evalkit_brickbench.scene import Floats, Ints, Mesh

MATCH_LDU = 0.1
"""Two shapes coincide if each vertex of one has one of the other this near."""
PROBES = 8
"""Points inside a shape that are looked up in the other one, besides one for each of its shells."""
MAX_SHELLS = 64
SAME_INSET_LDU = 1e-6
INSIDE = 0.75
"""Winding number from which a point is inside. Closed meshes have 0 and 1; hollows of meshes with holes in
them come out at up to 0.6."""

# Rays run along x of a frame turned by angles that no part is built with, so that none grazes an edge.
_TURN = np.linalg.qr(
    np.array([[0.8193, 0.3717, 0.4371], [-0.2911, 0.9203, -0.2611], [-0.4943, 0.0877, 0.8649]])
)[0]


@dataclass(slots=True, eq=False)
class Surface:
    """Triangles in LDU and their `fcl.BVHModel`, made when first asked for."""

    vertices: Floats
    triangles: Ints
    _bvh: Any = None

    def bvh(self) -> Any:
        """The bounding volumes of the triangles, for any number of collision objects."""
        if self._bvh is None:
            import fcl

            self._bvh = fcl.BVHModel()
            self._bvh.beginModel(len(self.triangles), len(self.vertices))
            self._bvh.addSubModel(self.vertices, self.triangles)
            self._bvh.endModel()
        return self._bvh


@dataclass(slots=True, eq=False)
class Shape:
    """A part, stretched: `given` is its surface as the source has it, `given_inset_ldu` inside the true one;
    `surface` lies `further_ldu` deeper. `low`, `high` [3] are the box of the given one, which decides first.

    `digest` (16 bytes) names the content. What costs time is made when first asked for.
    """

    given: Surface
    given_inset_ldu: float
    further_ldu: float
    digest: bytes
    low: Floats = field(init=False)
    high: Floats = field(init=False)
    _surface: Surface | None = None
    _rays: _Rays | None = None
    _probes: Floats | None = None
    _tree: Any = None

    def __post_init__(self) -> None:
        self.low, self.high = self.given.vertices.min(axis=0), self.given.vertices.max(axis=0)

    @property
    def surface(self) -> Surface:
        """The given surface, moved inwards as far as the profile wants."""
        if self._surface is None:
            given = self.given
            deeper = self.further_ldu > SAME_INSET_LDU
            self._surface = (
                Surface(*inset(given.vertices, given.triangles, self.further_ldu)) if deeper else given
            )
        return self._surface

    def contains(self, points: Floats) -> bool:
        """Whether any of the points [n, 3] lies inside, holes in the surface notwithstanding."""
        boxed = points[((points > self.low) & (points < self.high)).all(axis=1)]
        return any(self._lines().inside(point) for point in boxed)

    def probes(self) -> Floats:
        """Points [p, 3] inside the shape, spread out and at least one in each shell; where a shell has no
        inside (a sheet), points on it."""
        if self._probes is None:
            self._probes = _probes(self.surface, self._lines())
        return self._probes

    def coincides(self, other: Shape, rotation: Floats, translation: Floats) -> bool:
        """Whether `other`, placed by p ↦ rotation·p + translation, has the same vertices (to 0.1 LDU)."""
        placed = other.given.vertices @ rotation.T + translation
        if max(np.abs(placed.min(0) - self.low).max(), np.abs(placed.max(0) - self.high).max()) > MATCH_LDU:
            return False
        back = (self.given.vertices - translation) @ rotation
        away = max(self._kd_tree().query(placed)[0].max(), other._kd_tree().query(back)[0].max())
        return bool(away <= MATCH_LDU)

    def _kd_tree(self) -> Any:
        if self._tree is None:
            from scipy.spatial import cKDTree

            self._tree = cKDTree(self.given.vertices)
        return self._tree

    def _lines(self) -> _Rays:
        if self._rays is None:
            self._rays = _Rays(self.surface)
        return self._rays


def make_shape(mesh: Mesh, stretch: Floats, inset_ldu: float) -> Shape:
    """The shape of a part stretched by a matrix [3, 3], each surface `inset_ldu` inside the true one.

    A mesh that is inset further already stays as it is. Reflections turn the triangles round.
    """
    vertices, triangles = mesh.vertices, mesh.triangles
    if not np.array_equal(stretch, np.eye(3)):
        vertices = vertices @ stretch.T
        if np.linalg.det(stretch) < 0:
            triangles = triangles[:, ::-1]
    given = Surface(np.ascontiguousarray(vertices), np.ascontiguousarray(triangles))
    digest = shape_digest(mesh, stretch, inset_ldu)
    return Shape(given, mesh.inset_ldu, inset_ldu - mesh.inset_ldu, digest)


def shape_digest(mesh: Mesh, stretch: Floats, inset_ldu: float) -> bytes:
    """The name of what `make_shape` makes of the same arguments."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(np.array([len(mesh.vertices), mesh.inset_ldu, inset_ldu]).tobytes())
    digest.update(np.ascontiguousarray(stretch).tobytes())
    digest.update(np.ascontiguousarray(mesh.vertices).tobytes())
    digest.update(np.ascontiguousarray(mesh.triangles).tobytes())
    return digest.digest()


class _Rays:
    """Crossings of lines with the triangles of a mesh; `closed` if each edge runs once either way."""

    def __init__(self, surface: Surface) -> None:
        self.triangles = surface.vertices[surface.triangles]
        self.closed = _is_closed(surface.triangles)
        turned = self.triangles @ _TURN
        self._turned = turned
        flat = turned[:, :, 1:]
        self._low_y, self._low_z = np.ascontiguousarray(flat.min(axis=1).T)
        self._high_y, self._high_z = np.ascontiguousarray(flat.max(axis=1).T)

    def crossings(self, point: Floats) -> tuple[Floats, Ints]:
        """Signed distances [h] of the triangles that a line through the point crosses, along the line, and
        the side [h] from which: +1 for leaving the inside, −1 for entering it."""
        x, y, z = point @ _TURN
        near = np.flatnonzero(
            (self._low_y <= y) & (self._high_y >= y) & (self._low_z <= z) & (self._high_z >= z)
        )
        corners = self._turned[near]
        following = corners[:, [1, 2, 0]]
        # Twice the areas of the point with each edge: all of one sign if the line meets the triangle.
        areas = (corners[:, :, 1] - y) * (following[:, :, 2] - z) - (corners[:, :, 2] - z) * (
            following[:, :, 1] - y
        )
        total = areas.sum(axis=1)
        hit = ((areas > 0).all(axis=1) | (areas < 0).all(axis=1)) & (total != 0)
        # areas[k] belongs to the edge k → k+1, opposite to the corner k+2.
        opposite = corners[hit][:, [2, 0, 1], 0]
        distances = (areas[hit] * opposite).sum(axis=1) / total[hit] - x
        return distances, np.sign(total[hit]).astype(np.int32)

    def inside(self, point: Floats) -> bool:
        """Whether a point lies inside. A line that leaves the surface on neither side settles most cases;
        lines slip through the holes of open meshes, so there the solid angle decides the others."""
        distances, sides = self.crossings(point)
        ahead, behind = sides[distances > 0].sum(), -sides[distances < 0].sum()
        if max(ahead, behind) <= 0:
            return False
        if self.closed and ahead == behind:
            return True
        return winding_number(self.triangles, point) > INSIDE


def _is_closed(triangles: Ints) -> bool:
    starts = triangles.ravel().astype(np.int64)
    ends = triangles[:, [1, 2, 0]].ravel().astype(np.int64)
    size = int(triangles.max(initial=0)) + 1
    return np.array_equal(np.sort(starts * size + ends), np.sort(ends * size + starts))


def winding_number(triangles: Floats, point: Floats) -> float:
    """How often triangles [m, 3, 3] wind around a point: the sum of their solid angles over 4π.

    Solid angles by A. van Oosterom and J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125.
    """
    a, b, c = np.moveaxis(triangles - point, 1, 0)
    la, lb, lc = (np.sqrt(np.einsum("ij,ij->i", corner, corner)) for corner in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = (
        la * lb * lc
        + np.einsum("ij,ij->i", a, b) * lc
        + np.einsum("ij,ij->i", b, c) * la
        + np.einsum("ij,ij->i", c, a) * lb
    )
    return float(np.arctan2(above, below).sum() / (2 * np.pi))


def _probes(surface: Surface, rays: _Rays) -> Floats:
    """One point for each shell (the largest 64) and further ones, each as far as can be from those before."""
    corners = surface.vertices[surface.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    centres = corners.mean(axis=1)
    order = np.argsort(-sizes, kind="stable")
    shells = _shells(surface)[order]
    starts = order[np.sort(np.unique(shells, return_index=True)[1])[:MAX_SHELLS]]
    chosen = list(starts)
    large = order[: max(len(order) // 2, 1)]
    distances = np.min([np.linalg.norm(centres[large] - centres[k], axis=1) for k in chosen], axis=0)
    for _ in range(PROBES):
        further = large[int(np.argmax(distances))]
        chosen.append(further)
        distances = np.minimum(distances, np.linalg.norm(centres[large] - centres[further], axis=1))
    points = [_middle(rays, centres[k], normals[k] / max(sizes[k], 1e-30)) for k in chosen]
    # A shell whose triangle has no inside behind it is represented by a point on itself.
    return np.array(
        [
            centres[k] if point is None else point
            for k, point in zip(chosen, points, strict=True)
            if point is not None or k in starts
        ]
    )


def _middle(rays: _Rays, centre: Floats, normal: Floats) -> Floats | None:
    """A point inside, half-way from the middle of a triangle to the next surface on the line through it
    (along the ray that enters there), or None if there's nothing behind it."""
    direction = _TURN[:, 0]
    if abs(direction @ normal) < 1e-9:
        return None
    distances, _ = rays.crossings(centre)
    inwards = -np.sign(direction @ normal)
    behind = distances * inwards
    behind = behind[behind > 1e-4]
    if not len(behind):
        return None
    point: Floats = centre + direction * inwards * behind.min() / 2
    return point if rays.inside(point) else None


def _shells(surface: Surface) -> NDArray[np.int32]:
    """The number of the connected piece each triangle [m] belongs to."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, c = surface.triangles.T
    rows, columns = np.concatenate([a, b]), np.concatenate([b, c])
    size = len(surface.vertices)
    links = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(size, size))
    labels = connected_components(links, directed=False)[1]
    return np.asarray(labels[a], dtype=np.int32)
