"""Points spread evenly over a surface."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats, Mesh


def surface_area(mesh: Mesh) -> float:
    """Area of all triangles, m²."""
    return float(_areas(mesh).sum())


def surface_points(mesh: Mesh, n: int, seed: int) -> Floats:
    """`n` points on the mesh, as dense everywhere, m [n, 3]; the same for the same seed."""
    areas = _areas(mesh)
    heap = np.cumsum(areas)
    if not heap[-1] > 0:
        return np.repeat(mesh.vertices[:1], n, axis=0)
    random = np.random.default_rng(seed).random((n, 3))
    chosen = np.minimum(np.searchsorted(heap, random[:, 0] * heap[-1], side="right"), len(areas) - 1)
    a, b, c = (mesh.vertices[mesh.faces[chosen, i]] for i in range(3))
    root, share = np.sqrt(random[:, 1:2]), random[:, 2:3]
    return np.asarray((1 - root) * a + root * (1 - share) * b + root * share * c)


def _areas(mesh: Mesh) -> Floats:
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2)
