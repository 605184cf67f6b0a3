"""Shapes and scenes that the tests of the renderer share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evalkit.render3d import Mesh

Floats = NDArray[np.float64]

_QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def cube(side: float = 1.0, edges: bool = False) -> Mesh:
    """A cube around the origin, outward."""
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * side / 2.0
    triangles = [t for a, b, c, d in _QUADS for t in ((a, b, c), (a, c, d))]
    pairs = [(a, b) for a in range(8) for b in range(a) if bin(a ^ b).count("1") == 1]
    return Mesh(corners, triangles, edges=pairs if edges else None)


def sphere(radius: float = 1.0, rings: int = 48) -> Mesh:
    """A sphere of `rings` × 2·`rings` quads around the origin, outward."""
    polar = np.linspace(0.0, np.pi, rings + 1)
    turn = np.arange(2 * rings) * np.pi / rings
    p, t = np.meshgrid(polar, turn, indexing="ij")
    points = np.stack([np.sin(p) * np.cos(t), np.sin(p) * np.sin(t), np.cos(p)], axis=-1).reshape(-1, 3)
    triangles = []
    for i in range(rings):
        for j in range(2 * rings):
            a, b = i * 2 * rings + j, i * 2 * rings + (j + 1) % (2 * rings)
            c, d = a + 2 * rings, b + 2 * rings
            triangles += [(a, c, d), (a, d, b)]
    return Mesh(points * radius, triangles)


def moved(x: float, y: float = 0.0, z: float = 0.0, scale: float = 1.0) -> Floats:
    """The matrix of a shift after a scaling."""
    matrix = np.diag([scale, scale, scale, 1.0])
    matrix[:3, 3] = x, y, z
    return matrix


def turned(rng: np.random.Generator) -> Floats:
    """A random rotation [3, 3]."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q
