"""The cells that a surface enters, exactly.

A triangle is cut into layers (z), each layer into rows (y); in a row the cells between the lowest and
the highest x are set. Coordinates are in cells, cell i covers [i, i + 1). A bit grid is uint64 [z, y,
word], bit b of word w is the cell x = 64·w + b; `corner` is (z, y, word) of its first word.
"""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats, Ints
from evalkit_lmbuild.kernel._bits import Bits, Corner
from evalkit_lmbuild.kernel._jit import compiled

OPEN_END = 1e-6
"""How far below its upper face a cell ends: a surface that only reaches that face belongs to the
next cell.
"""

SLACK = 1e-7
"""What rounding may take from an interpolated coordinate that is a whole number of cells."""


@compiled
def _cell(value: float) -> int:
    return int(np.floor(value + SLACK))


@compiled
def _mark(low: Floats, high: Floats, row0: int, ya: float, xa: float, yb: float, xb: float) -> None:
    """Widen the x ranges of the rows that the segment (xa, ya)–(xb, yb) passes."""
    if yb < ya:
        ya, xa, yb, xb = yb, xb, ya, xa
    least, most = min(xa, xb), max(xa, xb)
    first, last = _cell(ya), _cell(yb)
    if first == last:
        low[first - row0] = min(low[first - row0], least)
        high[first - row0] = max(high[first - row0], most)
        return
    slope = (xb - xa) / (yb - ya)
    for row in range(first, last + 1):
        start = max(ya, float(row))
        stop = max(start, min(yb, row + 1 - OPEN_END))
        # A nearly horizontal segment has a steep slope: its ends bound what rounding makes of it.
        x_start = min(max(xa + (start - ya) * slope, least), most)
        x_stop = min(max(xa + (stop - ya) * slope, least), most)
        low[row - row0] = min(low[row - row0], x_start, x_stop)
        high[row - row0] = max(high[row - row0], x_start, x_stop)


@compiled
def _mark_edge(low: Floats, high: Floats, row0: int, a: Floats, b: Floats, bottom: float, top: float) -> None:
    """Mark the part of the edge a–b with bottom ≤ z ≤ top."""
    if b[2] < a[2]:
        a, b = b, a
    if b[2] < bottom or a[2] > top:
        return
    rise = b[2] - a[2]
    ya, xa, yb, xb = a[1], a[0], b[1], b[0]
    if a[2] < bottom:
        part = (bottom - a[2]) / rise
        ya, xa = a[1] + part * (b[1] - a[1]), a[0] + part * (b[0] - a[0])
    if b[2] > top:
        part = (top - a[2]) / rise
        yb, xb = a[1] + part * (b[1] - a[1]), a[0] + part * (b[0] - a[0])
    _mark(low, high, row0, ya, xa, yb, xb)


@compiled
def _mark_section(low: Floats, high: Floats, row0: int, corners: Floats, height: float) -> None:
    """Mark the segment in which the triangle meets the plane z = height."""
    found = 0
    y_last, x_last = 0.0, 0.0
    for i in range(3):
        a, b = corners[i], corners[(i + 1) % 3]
        if b[2] < a[2]:  # the same point on a shared edge, whichever triangle asks
            a, b = b, a
        if a[2] <= height <= b[2] and a[2] < b[2]:
            part = (height - a[2]) / (b[2] - a[2])
            y, x = a[1] + part * (b[1] - a[1]), a[0] + part * (b[0] - a[0])
            if found:
                _mark(low, high, row0, y_last, x_last, y, x)
            y_last, x_last = y, x
            found += 1


@compiled
def _set_range(row: Bits, first: int, last: int) -> None:
    """Set the bits first … last of a row of words."""
    full = np.uint64(0xFFFFFFFFFFFFFFFF)
    start, stop = first >> 6, last >> 6
    head = full << np.uint64(first & 63)
    tail = full >> np.uint64(63 - (last & 63))
    if start == stop:
        row[start] |= head & tail
        return
    row[start] |= head
    for word in range(start + 1, stop):
        row[word] = full
    row[stop] |= tail


@compiled
def raster(vertices: Floats, faces: Ints, bits: Bits, corner: Corner) -> None:
    """Set in `bits` every cell that a triangle enters. `vertices` [n, 3] in cells; the grid must
    hold them all.
    """
    layer0, row0, word0 = corner
    x0 = word0 * 64
    low = np.full(bits.shape[1], np.inf)
    high = np.full(bits.shape[1], -np.inf)
    corners = np.empty((3, 3))
    for face in range(faces.shape[0]):
        for i in range(3):
            for axis in range(3):
                corners[i, axis] = vertices[faces[face, i], axis]
        z_low = min(corners[0, 2], corners[1, 2], corners[2, 2])
        z_high = max(corners[0, 2], corners[1, 2], corners[2, 2])
        first_row = _cell(min(corners[0, 1], corners[1, 1], corners[2, 1]))
        last_row = _cell(max(corners[0, 1], corners[1, 1], corners[2, 1]))
        for layer in range(_cell(z_low), _cell(z_high) + 1):
            bottom = max(z_low, float(layer))
            top = max(bottom, min(z_high, layer + 1 - OPEN_END))
            for i in range(3):
                _mark_edge(low, high, row0, corners[i], corners[(i + 1) % 3], bottom, top)
            if bottom > z_low:
                _mark_section(low, high, row0, corners, bottom)
            if top < z_high:
                _mark_section(low, high, row0, corners, top)
            for row in range(first_row - row0, last_row - row0 + 1):
                if low[row] <= high[row]:
                    _set_range(bits[layer - layer0, row], _cell(low[row]) - x0, _cell(high[row]) - x0)
                    low[row], high[row] = np.inf, -np.inf
