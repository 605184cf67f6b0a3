"""Bit grids that were moved: by whole cells along a path, or by any rigid motion."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.kernel._bits import Bits, Corner, popcount
from evalkit_lmbuild.kernel._jit import compiled

ALL_BITS = np.uint64(2**64 - 1)


@compiled
def merge(target: Bits, corner: Corner, bits: Bits, bits_corner: Corner) -> None:
    """Set in `target` the cells of `bits` that lie in its window."""
    z0, z1 = max(corner[0], bits_corner[0]), min(corner[0] + target.shape[0], bits_corner[0] + bits.shape[0])
    y0, y1 = max(corner[1], bits_corner[1]), min(corner[1] + target.shape[1], bits_corner[1] + bits.shape[1])
    w0, w1 = max(corner[2], bits_corner[2]), min(corner[2] + target.shape[2], bits_corner[2] + bits.shape[2])
    for z in range(z0, z1):
        for y in range(y0, y1):
            for w in range(w0, w1):
                target[z - corner[0], y - corner[1], w - corner[2]] |= bits[
                    z - bits_corner[0], y - bits_corner[1], w - bits_corner[2]
                ]


@compiled
def common_shifted(
    a: Bits, a_corner: Corner, b: Bits, b_corner: Corner, shift: tuple[int, int, int], stop: int
) -> int:
    """Cells of `a`, moved by `shift` cells (x, y, z), that are set in `b`; counting ends once there
    are `stop`.
    """
    whole = shift[0] >> 6
    up = np.uint64(shift[0] & 63)
    down = np.uint64(64) - up
    z_a, y_a, w_a = a_corner[0] + shift[2], a_corner[1] + shift[1], a_corner[2] + whole
    words = a.shape[2]
    z0, z1 = max(z_a, b_corner[0]), min(z_a + a.shape[0], b_corner[0] + b.shape[0])
    y0, y1 = max(y_a, b_corner[1]), min(y_a + a.shape[1], b_corner[1] + b.shape[1])
    w0, w1 = max(w_a, b_corner[2]), min(w_a + words + 1, b_corner[2] + b.shape[2])
    total = 0
    for z in range(z0, z1):
        for y in range(y0, y1):
            for w in range(w0, w1):
                other = b[z - b_corner[0], y - b_corner[1], w - b_corner[2]]
                if not other:
                    continue
                word = np.uint64(0)
                at = w - w_a
                if at < words:
                    word = a[z - z_a, y - y_a, at] << up
                if at > 0 and up:
                    word |= a[z - z_a, y - y_a, at - 1] >> down
                total += popcount(word & other)
        if total >= stop:
            break
    return total


@compiled
def _meeting(low: float, high: float, start: float, slope: float, size: int) -> tuple[float, float]:
    """The part of low … high over which start + slope·x lies in 0 … size, a cell wider on both sides.

    An empty one has its low above its high.
    """
    if abs(slope) < 1e-9:
        return (low, high) if -1.0 <= start <= size + 1.0 else (1.0, 0.0)
    one, other = (-1.0 - start) / slope, (size + 1.0 - start) / slope
    return max(low, min(one, other)), min(high, max(one, other))


@compiled
def common_moved(
    a: Bits,
    a_corner: Corner,
    b: Bits,
    b_corner: Corner,
    turn: Floats,
    move: Floats,
    stop: int,
    stride: int,
) -> int:
    """Cells of `a` whose centre, after x → turn·x + move in cells, lies in a set cell of `b`.

    Of the layers and rows of `a` only every `stride`-th is looked at, and counts for all it stands
    for. Counting ends once there are `stop`.
    """
    layers, rows, words = b.shape
    x0, y0, z0 = b_corner[2] * 64, b_corner[1], b_corner[0]
    total = 0
    for z in range(0, a.shape[0], stride):
        for y in range(0, a.shape[1], stride):
            y_at, z_at = y + a_corner[1] + 0.5, z + a_corner[0] + 0.5
            x_row = turn[0, 1] * y_at + turn[0, 2] * z_at + move[0] - x0
            y_row = turn[1, 1] * y_at + turn[1, 2] * z_at + move[1] - y0
            z_row = turn[2, 1] * y_at + turn[2, 2] * z_at + move[2] - z0
            low, high = 64.0 * a_corner[2], 64.0 * (a_corner[2] + a.shape[2])
            low, high = _meeting(low, high, z_row, turn[2, 0], layers)
            low, high = _meeting(low, high, y_row, turn[1, 0], rows)
            low, high = _meeting(low, high, x_row, turn[0, 0], words * 64)
            if low > high:
                continue
            start, end = int(low) - 64 * a_corner[2], int(high) - 64 * a_corner[2]
            for w in range(max(0, start >> 6), min(a.shape[2] - 1, end >> 6) + 1):
                word = a[z, y, w]
                word &= ALL_BITS << np.uint64(max(0, start - 64 * w))
                word &= ALL_BITS >> np.uint64(max(0, 64 * w + 63 - end))
                while word:
                    lowest = word & (~word + np.uint64(1))
                    word ^= lowest
                    x_at = 64 * (w + a_corner[2]) + popcount(lowest - np.uint64(1)) + 0.5
                    layer = int(np.floor(z_row + turn[2, 0] * x_at))
                    row = int(np.floor(y_row + turn[1, 0] * x_at))
                    cell = int(np.floor(x_row + turn[0, 0] * x_at))
                    if 0 <= layer < layers and 0 <= row < rows and 0 <= cell < words * 64:
                        bit = b[layer, row, cell >> 6] >> np.uint64(cell & 63)
                        total += int(bit & np.uint64(1)) * stride * stride
        if total >= stop:
            break
    return total
