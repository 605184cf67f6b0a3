"""A mesh in one agreed order, and its pieces: the same solid gives the same bits in any process."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evalkit_lmbuild.design import Floats, Ints, Mesh


def canonical_mesh(vertices: Floats, faces: np.ndarray) -> Mesh:
    """Vertices [n, 3] sorted by x, y, z, no zero negative; faces [m, 3] from their smallest index, sorted."""
    vertices = np.asarray(vertices, dtype=np.float64) + 0.0
    order = np.lexsort(vertices.T[::-1])
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    renamed = place[np.asarray(faces, dtype=np.int64)]
    turn = (renamed.argmin(axis=1)[:, None] + np.arange(3)) % 3
    turned = np.take_along_axis(renamed, turn, axis=1)
    return Mesh(
        np.ascontiguousarray(vertices[order]), np.ascontiguousarray(turned[np.lexsort(turned.T[::-1])])
    )


def signed_volumes(mesh: Mesh) -> Floats:
    """Volume between each face and the origin [m], m³: of a closed mesh they add up to its volume."""
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    return np.asarray(np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0)


def piece_labels(mesh: Mesh) -> tuple[int, Ints]:
    """Number of surfaces that share no vertex, and the surface of each vertex [n]."""
    links = mesh.faces[:, [0, 1, 1, 2]].reshape(-1, 2)
    graph = coo_array((np.ones(len(links), dtype=np.int8), links.T), shape=(len(mesh.vertices),) * 2)
    count, labels = connected_components(graph, directed=False)
    return int(count), labels


def piece_volumes(mesh: Mesh) -> tuple[float, ...]:
    """Volumes of the separate pieces, m³, largest first.

    The surface of an internal void is a component too, with a negative volume (manifold3d's `decompose` lists
    it as a solid): it is no piece, and is taken off the smallest piece whose bounding box holds it.
    """
    count, labels = piece_labels(mesh)
    of_face = labels[mesh.faces[:, 0]]
    volumes = np.bincount(of_face, weights=signed_volumes(mesh), minlength=count)
    voids = np.flatnonzero(volumes < 0)
    solids = np.flatnonzero(volumes >= 0)
    if len(voids):
        low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        np.minimum.at(low, labels, mesh.vertices)
        np.maximum.at(high, labels, mesh.vertices)
        extents = np.prod(high[solids] - low[solids], axis=1)
        outer = volumes.copy()
        for void in voids:
            holds = np.all((low[solids] <= low[void]) & (high[solids] >= high[void]), axis=1)
            holder = solids[np.argmin(np.where(holds, extents, np.inf))]
            volumes[holder] += outer[void]
    return tuple(sorted((float(volumes[solid]) for solid in solids), reverse=True))
