"""The cells that a surface enters, exactly.

A triangle is cut into layers (z), each layer into rows (y); in a row the cells between the lowest and
the highest x are set. Coordinates are in cells, cell i covers [i, i + 1). A bit grid is uint64 [z, y,
word], bit b of word w is the cell x = 64·w + b; `corner` is (z, y, word) of its first word.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from evalkit_lmbuild.design import Floats, Ints
from evalkit_lmbuild.kernel._bits import Bits, Corner
from evalkit_lmbuild.kernel._jit import compiled

Point: TypeAlias = tuple[float, float, float]

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
def _at(a: Point, b: Point, height: float) -> Point:
    """Where the rising edge a–b is at this height."""
    part = (height - a[2]) / (b[2] - a[2])
    return (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), height)


@compiled
def _by_height(a: Point, b: Point, c: Point) -> tuple[Point, Point, Point]:
    """The three corners from the lowest to the highest."""
    if b[2] < a[2]:
        a, b = b, a
    if c[2] < b[2]:
        b, c = c, b
    if b[2] < a[2]:
        a, b = b, a
    return a, b, c


@compiled
def _mark_layer(
    low: Floats, high: Floats, row0: int, corners: tuple[Point, Point, Point], bottom: float, top: float
) -> None:
    """Mark the outline of the part of a triangle with bottom ≤ z ≤ top; its corners are sorted by height."""
    a, b, c = corners
    if a[2] == c[2]:
        _mark(low, high, row0, a[1], a[0], b[1], b[0])
        _mark(low, high, row0, b[1], b[0], c[1], c[0])
        _mark(low, high, row0, c[1], c[0], a[1], a[0])
        return
    long_low, long_high = _at(a, c, bottom), _at(a, c, top)
    bent_low = _at(a, b, bottom) if bottom < b[2] else (_at(b, c, bottom) if b[2] < c[2] else b)
    bent_high = _at(a, b, top) if top < b[2] else (_at(b, c, top) if b[2] < c[2] else b)
    _mark(low, high, row0, long_low[1], long_low[0], long_high[1], long_high[0])
    _mark(low, high, row0, long_low[1], long_low[0], bent_low[1], bent_low[0])
    _mark(low, high, row0, long_high[1], long_high[0], bent_high[1], bent_high[0])
    if bottom < b[2] < top:
        _mark(low, high, row0, bent_low[1], bent_low[0], b[1], b[0])
        _mark(low, high, row0, b[1], b[0], bent_high[1], bent_high[0])
    else:
        _mark(low, high, row0, bent_low[1], bent_low[0], bent_high[1], bent_high[0])


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
    for face in range(faces.shape[0]):
        i, j, k = faces[face, 0], faces[face, 1], faces[face, 2]
        corners = _by_height(
            (vertices[i, 0], vertices[i, 1], vertices[i, 2]),
            (vertices[j, 0], vertices[j, 1], vertices[j, 2]),
            (vertices[k, 0], vertices[k, 1], vertices[k, 2]),
        )
        a, b, c = corners
        first_row, last_row = _cell(min(a[1], b[1], c[1])), _cell(max(a[1], b[1], c[1]))
        for layer in range(_cell(a[2]), _cell(c[2]) + 1):
            bottom = max(a[2], float(layer))
            top = max(bottom, min(c[2], layer + 1 - OPEN_END))
            _mark_layer(low, high, row0, corners, bottom, top)
            for row in range(first_row - row0, last_row - row0 + 1):
                if low[row] <= high[row]:
                    _set_range(bits[layer - layer0, row], _cell(low[row]) - x0, _cell(high[row]) - x0)
                    low[row], high[row] = np.inf, -np.inf


@compiled
def set_cells(points: Floats, bits: Bits, corner: Corner) -> None:
    """Set in `bits` the cells of points [n, 3], in cells; the grid must hold them all."""
    for i in range(points.shape[0]):
        x = int(np.floor(points[i, 0])) - corner[2] * 64
        z, y = int(np.floor(points[i, 2])) - corner[0], int(np.floor(points[i, 1])) - corner[1]
        bits[z, y, x >> 6] |= np.uint64(1) << np.uint64(x & 63)
