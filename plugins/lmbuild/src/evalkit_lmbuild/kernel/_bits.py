"""Operations on bit grids: uint64 [z, y, word], bit b of word w is the cell x = 64·w + b.

All grids lie on one lattice and start at a whole word, so that the words of two grids match one to
one; `corner` is (z, y, word) of a grid's first word.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalkit_lmbuild.kernel._jit import compiled

Bits: TypeAlias = npt.NDArray[np.uint64]
Corner: TypeAlias = tuple[int, int, int]


@compiled
def popcount(word: np.uint64) -> int:
    """Number of set bits; compiled to one instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def dilated(bits: Bits) -> Bits:
    """Cells with a set cell among their 3 × 3 × 3. The outermost layers, rows and bits of `bits`
    must be empty.
    """
    layers, rows, words = bits.shape
    one, top = np.uint64(1), np.uint64(63)
    wide = np.zeros_like(bits)
    for z in range(layers):
        for y in range(rows):
            for w in range(words):
                word = bits[z, y, w]
                word |= (word << one) | (word >> one)
                if w > 0:
                    word |= bits[z, y, w - 1] >> top
                if w < words - 1:
                    word |= bits[z, y, w + 1] << top
                wide[z, y, w] = word
    flat = np.zeros_like(bits)
    for z in range(layers):
        for y in range(1, rows - 1):
            for w in range(words):
                flat[z, y, w] = wide[z, y - 1, w] | wide[z, y, w] | wide[z, y + 1, w]
    for z in range(1, layers - 1):
        for y in range(1, rows - 1):
            for w in range(words):
                wide[z, y, w] = flat[z - 1, y, w] | flat[z, y, w] | flat[z + 1, y, w]
    return wide


@compiled
def eroded(bits: Bits) -> Bits:
    """Cells that are set with all six neighbours. The outermost layers, rows and bits must be empty."""
    layers, rows, words = bits.shape
    one, top = np.uint64(1), np.uint64(63)
    core = np.zeros_like(bits)
    for z in range(1, layers - 1):
        for y in range(1, rows - 1):
            for w in range(words):
                word = bits[z, y, w]
                if not word:
                    continue
                lower, upper = word << one, word >> one
                if w > 0:
                    lower |= bits[z, y, w - 1] >> top
                if w < words - 1:
                    upper |= bits[z, y, w + 1] << top
                word &= lower & upper & bits[z, y - 1, w] & bits[z, y + 1, w]
                core[z, y, w] = word & bits[z - 1, y, w] & bits[z + 1, y, w]
    return core


@compiled
def count_and_sums(bits: Bits) -> tuple[int, int, int, int]:
    """Number of set cells, and the sums of their x, y, z counted from the grid's corner."""
    planes = np.array(
        [
            0xAAAAAAAAAAAAAAAA,
            0xCCCCCCCCCCCCCCCC,
            0xF0F0F0F0F0F0F0F0,
            0xFF00FF00FF00FF00,
            0xFFFF0000FFFF0000,
            0xFFFFFFFF00000000,
        ],
        dtype=np.uint64,
    )
    total, sum_x, sum_y, sum_z = 0, 0, 0, 0
    for z in range(bits.shape[0]):
        for y in range(bits.shape[1]):
            for w in range(bits.shape[2]):
                word = bits[z, y, w]
                if not word:
                    continue
                count = popcount(word)
                total += count
                sum_x += 64 * w * count
                sum_y += y * count
                sum_z += z * count
                for plane in range(6):  # the bit's number in binary, digit by digit
                    sum_x += popcount(word & planes[plane]) << plane
    return total, sum_x, sum_y, sum_z


@compiled
def count(bits: Bits) -> int:
    """Number of set cells."""
    total = 0
    for word in bits.ravel():
        total += popcount(word)
    return total


@compiled
def common(a: Bits, a_corner: Corner, b: Bits, b_corner: Corner, stop: int) -> int:
    """Cells set in both grids; counting ends once there are `stop`."""
    z0, y0, w0 = (
        max(a_corner[0], b_corner[0]),
        max(a_corner[1], b_corner[1]),
        max(a_corner[2], b_corner[2]),
    )
    z1 = min(a_corner[0] + a.shape[0], b_corner[0] + b.shape[0])
    y1 = min(a_corner[1] + a.shape[1], b_corner[1] + b.shape[1])
    w1 = min(a_corner[2] + a.shape[2], b_corner[2] + b.shape[2])
    total = 0
    for z in range(z0, z1):
        for y in range(y0, y1):
            a_row = a[z - a_corner[0], y - a_corner[1]]
            b_row = b[z - b_corner[0], y - b_corner[1]]
            for w in range(w0, w1):
                both = a_row[w - a_corner[2]] & b_row[w - b_corner[2]]
                if both:
                    total += popcount(both)
        if total >= stop:
            break
    return total
