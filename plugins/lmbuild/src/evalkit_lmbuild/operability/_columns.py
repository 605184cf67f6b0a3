"""Heights of a surface over a grid of the ground plan, compiled."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats, Ints
from evalkit_lmbuild.kernel._jit import compiled

EDGE = 1e-9
"""Centres of cells this near to an edge of a triangle, in shares of its height, count as inside."""


@compiled
def raise_to(heights: Floats, vertices: Floats, faces: Ints, corner: Floats, pitch: float) -> None:
    """Raise `heights` [x, y] to the highest point of the triangles over the centre of each cell.

    `corner` is the low corner of the grid's first cell; lengths in m.
    """
    for face in range(faces.shape[0]):
        a, b, c = vertices[faces[face, 0]], vertices[faces[face, 1]], vertices[faces[face, 2]]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        if area == 0.0:
            continue
        x0 = max(0, int(np.floor((min(a[0], b[0], c[0]) - corner[0]) / pitch - 0.5)))
        x1 = min(heights.shape[0] - 1, int(np.ceil((max(a[0], b[0], c[0]) - corner[0]) / pitch - 0.5)))
        y0 = max(0, int(np.floor((min(a[1], b[1], c[1]) - corner[1]) / pitch - 0.5)))
        y1 = min(heights.shape[1] - 1, int(np.ceil((max(a[1], b[1], c[1]) - corner[1]) / pitch - 0.5)))
        for ix in range(x0, x1 + 1):
            x = corner[0] + (ix + 0.5) * pitch
            for iy in range(y0, y1 + 1):
                y = corner[1] + (iy + 0.5) * pitch
                wb = ((x - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (y - a[1])) / area
                wc = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / area
                if wb >= -EDGE and wc >= -EDGE and wb + wc <= 1.0 + EDGE:
                    z = a[2] + wb * (b[2] - a[2]) + wc * (c[2] - a[2])
                    if z > heights[ix, iy]:
                        heights[ix, iy] = z
