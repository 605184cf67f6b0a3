"""A boxy, possibly concave part as a few boxes: `collision="boxes"`.

A grid is fitted to the part's bounding box, cells are inside by the parity of crossings of a ray along z, and
inside cells are merged greedily into boxes. Where a part's corners share few coordinates (furniture usually
does), the grid runs through them and the boxes are exact. A convex part is its own hull.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull

from evalkit_lmbuild.design import Floats, Mesh, Part, rotation_matrix
from evalkit_lmbuild.simulation.shapes import FLAT_THICKNESS_M, Hull, hull_of

MAX_LINES = 25
"""Most grid lines per axis that follow the corners of a part; beyond, the grid is even."""
EVEN_CELLS = 24
MAX_BOXES = 64
"""Parts that need more are curved: their hull serves better."""
CONVEX_SHARE = 0.99
"""A part that fills this much of its hull is convex."""
VOLUME_ERROR = 0.02
"""Boxes that miss the part's volume by more don't describe it."""
MAX_FACES = 20_000
SAME_M = 1e-5
"""Corners closer than this lie on one grid line."""
OFF_CENTRE = (0.5113, 0.4871)
"""Where in a cell its ray passes: off the middle, where the diagonals of rectangular faces cross."""

Bools = npt.NDArray[np.bool_]


def boxes_of(part: Part) -> tuple[Hull, ...] | None:
    """Convex pieces that fill a part, in world coordinates; None where its hull is as good as it gets."""
    mesh = part.mesh
    if len(mesh.faces) > MAX_FACES or float(mesh.size.min()) < FLAT_THICKNESS_M:
        return None
    volume = _volume(mesh)
    if volume > CONVEX_SHARE * float(ConvexHull(mesh.vertices).volume):
        return (hull_of(part.world.vertices),)
    lines = [_lines(mesh.vertices[:, axis]) for axis in range(3)]
    boxes = _merged(_inside(mesh, lines))
    if not boxes or len(boxes) > MAX_BOXES:
        return None
    widths = [
        np.array([lines[axis][high[axis]] - lines[axis][low[axis]] for axis in range(3)])
        for low, high in boxes
    ]
    if abs(sum(float(width.prod()) for width in widths) - volume) > VOLUME_ERROR * volume:
        return None
    turn = rotation_matrix(part.rotation)
    hulls = []
    for low, high in boxes:
        ends = [(lines[axis][low[axis]], lines[axis][high[axis]]) for axis in range(3)]
        corners = np.array([[x, y, z] for x in ends[0] for y in ends[1] for z in ends[2]])
        hulls.append(Hull(corners @ turn.T + np.asarray(part.position)))
    return tuple(hulls)


def _volume(mesh: Mesh) -> float:
    """Volume of a closed mesh, m³."""
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6


def _lines(coordinates: Floats) -> Floats:
    """Grid lines along one axis."""
    ordered = np.unique(coordinates)
    lines: Floats = ordered[np.concatenate([[True], np.diff(ordered) > SAME_M])]
    if len(lines) <= MAX_LINES:
        return lines
    return np.linspace(ordered[0], ordered[-1], EVEN_CELLS + 1)


def _inside(mesh: Mesh, lines: list[Floats]) -> Bools:
    """Which cells [nx, ny, nz] have their centre inside, by the parity of crossings above it."""
    x, y, z = lines
    px = x[:-1] + OFF_CENTRE[0] * np.diff(x)
    py = y[:-1] + OFF_CENTRE[1] * np.diff(y)
    middles = (z[:-1] + z[1:]) / 2
    inside = np.zeros((len(px), len(py), len(middles)), dtype=bool)
    for a, b, c in mesh.vertices[mesh.faces]:
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if area == 0:
            continue
        columns = np.flatnonzero((px >= min(a[0], b[0], c[0])) & (px <= max(a[0], b[0], c[0])))
        rows = np.flatnonzero((py >= min(a[1], b[1], c[1])) & (py <= max(a[1], b[1], c[1])))
        if not len(columns) or not len(rows):
            continue
        gx, gy = px[columns][:, None], py[rows][None, :]
        u = ((gx - a[0]) * (c[1] - a[1]) - (gy - a[1]) * (c[0] - a[0])) / area
        v = ((b[0] - a[0]) * (gy - a[1]) - (b[1] - a[1]) * (gx - a[0])) / area
        height = a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2])
        crossed = (u >= 0) & (v >= 0) & (u + v <= 1)
        inside[np.ix_(columns, rows)] ^= crossed[:, :, None] & (middles < height[:, :, None])
    return inside


def _merged(inside: Bools) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Boxes of cells as (first, one past the last) that cover the inside, grown along x, then y, then z."""
    left = inside.copy()
    boxes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    while left.any() and len(boxes) <= MAX_BOXES:
        low = tuple(int(i) for i in np.unravel_index(int(np.argmax(left)), left.shape))
        high = [i + 1 for i in low]
        for axis in range(3):
            while high[axis] < left.shape[axis]:
                window = [slice(a, b) for a, b in zip(low, high, strict=True)]
                window[axis] = slice(high[axis], high[axis] + 1)
                if not left[tuple(window)].all():
                    break
                high[axis] += 1
        left[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = False
        boxes.append((low, tuple(high)))
    return boxes
