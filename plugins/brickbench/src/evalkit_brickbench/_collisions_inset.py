"""Moving the surfaces of a mesh inwards, vertex by vertex."""

from __future__ import annotations

import numpy as np

from evalkit_brickbench.scene import Floats, Ints

WELD_LDU = 2e-3
"""Vertices on the same grid point of this width are one."""
FLAT = 0.01
"""Directions that the planes around a vertex fix by less than this share of the strongest are left alone."""
MITRE = 3.0
"""A vertex moves at most this many times the inset: sharp edges would be cut off otherwise."""
SLIVER_LDU = 0.05
"""Triangles lower than this have the less say the lower they are."""
OUTWARDS = 0.05
"""Share of the inset by which a plane may move outwards before its vertex is moved in a simpler way."""
ROUNDS = 8


def inset(vertices: Floats, triangles: Ints, distance_ldu: float) -> tuple[Floats, Ints]:
    """Move each surface inwards by a distance; vertices [n, 3] are welded first, triangles [m, 3] follow.

    Each vertex goes where it is the distance behind all planes that meet in it, by least squares weighted
    with their angles. Where a part is thinner than twice the distance, triangles would turn over: their
    vertices stay, and if nothing of the inside is left the whole mesh stays as it was.
    """
    vertices, triangles = weld(vertices, triangles)
    if not len(triangles):
        return vertices, triangles
    moves = _moves(vertices, triangles) * distance_ldu
    before = _normals(vertices, triangles)
    for _ in range(ROUNDS):
        moved: Floats = vertices + moves
        turned = np.einsum("ij,ij->i", before, _normals(moved, triangles)) < 0
        if not turned.any():
            break
        moves[triangles[turned]] = 0.0
    if volume(vertices, triangles) > 0 >= volume(moved, triangles):
        return vertices, triangles
    return moved, triangles


def weld(vertices: Floats, triangles: Ints) -> tuple[Floats, Ints]:
    """Vertices on the same grid point become one (the first); triangles without area there are left out."""
    grid = np.round(vertices / WELD_LDU).astype(np.int64)
    order = np.lexsort(grid.T)
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(grid[order], axis=0) != 0).any(axis=1)
    group = np.empty(len(order), dtype=np.int32)
    group[order] = np.cumsum(new) - 1
    welded = group[triangles]
    a, b, c = welded.T
    # lexsort is stable, so the first of each group is its first vertex.
    return vertices[order[new]], welded[(a != b) & (b != c) & (c != a)]


def volume(vertices: Floats, triangles: Ints) -> float:
    """The signed volume within triangles that wind outwards, LDU³."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def _normals(vertices: Floats, triangles: Ints) -> Floats:
    """Normals [m, 3], twice as long as the triangles are large."""
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    normals: Floats = np.cross(b - a, c - a)
    return normals


def _moves(vertices: Floats, triangles: Ints) -> Floats:
    """The move [n, 3] of each vertex for an inset of one: the best of three that takes none of the planes
    around it outwards, by all of its planes, along the direction most of them face, or none at all."""
    normals = _normals(vertices, triangles)
    lengths = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    normals /= np.maximum(lengths, 1e-30)[:, None]
    corners = vertices[triangles]
    longest = np.sqrt(((np.roll(corners, -1, axis=1) - corners) ** 2).sum(axis=2).max(axis=1))
    # The normal of a sliver as thin as the grid of the vertices is noise.
    trust = np.minimum(1.0, lengths / np.maximum(longest, 1e-30) / SLIVER_LDU)
    values, axes, sums = _planes(triangles, normals, _angles(corners) * trust[:, None], len(vertices))
    along = np.einsum("nij,ni->nj", axes, sums)
    strong = values > FLAT * np.maximum(values[:, -1:], 1e-30)
    along = np.where(strong, along / np.where(strong, values, 1.0), 0.0)
    moves: Floats = -np.einsum("nij,nj->ni", axes, along)
    reach = np.sqrt(np.einsum("ij,ij->i", moves, moves))
    moves *= np.minimum(1.0, MITRE / np.maximum(reach, 1e-30))[:, None]
    simple = -axes[:, :, -1] * along[:, -1:]
    sure = trust == 1.0
    for instead in (simple, np.zeros_like(moves)):
        outwards = np.einsum("mi,mki->mk", normals, moves[triangles]) > OUTWARDS
        wrong = np.unique(triangles[outwards & sure[:, None]])
        moves[wrong] = instead[wrong]
    return moves


def _planes(triangles: Ints, normals: Floats, weights: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """The planes around each of n vertices, by weights [m, 3] of the corners: eigenvalues [n, 3] (ascending)
    and eigenvectors [n, 3, 3] (columns) of the sum of w·n·nᵀ, and the sum [n, 3] of w·n."""
    corners, flat = triangles.ravel(), weights.ravel()
    outer = np.repeat(normals[:, :, None] * normals[:, None, :], 3, axis=0).reshape(-1, 9) * flat[:, None]
    pulls = np.repeat(normals, 3, axis=0) * flat[:, None]
    matrices = np.stack([np.bincount(corners, column, count) for column in outer.T], axis=1)
    sums: Floats = np.stack(
        [np.bincount(corners, column, count) for column in pulls.T], axis=1, dtype=np.float64
    )
    values, axes = np.linalg.eigh(matrices.reshape(-1, 3, 3))
    return values, axes, sums


def _angles(corners: Floats) -> Floats:
    """The angles [m, 3] of triangles [m, 3, 3] at their corners, radians."""
    forward = np.roll(corners, -1, axis=1) - corners
    backward = np.roll(corners, 1, axis=1) - corners
    cosines = np.einsum("mki,mki->mk", forward, backward)
    sines = np.linalg.norm(np.cross(forward, backward), axis=2)
    angles: Floats = np.arctan2(sines, cosines)
    return angles
