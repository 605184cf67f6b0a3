"""How far a shape is its own mirror image in a vertical plane."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

STEP_DEG = 5


def mirror_iou(cells: npt.NDArray[np.bool_]) -> float:
    """Best overlap of a shape with its mirror image in vertical planes through the middle of its box, every
    5°.

    `cells` [nx, ny, nz] are the filled cells of its bounding box. The overlap is the volume that shape and
    image share over the volume of both together; a cell's image is the cell its centre falls into.
    """
    if not cells.any():
        return 0.0
    columns = _columns(_cropped(cells))
    total = int(np.bitwise_count(columns).sum())
    best = 0
    for angle in range(0, 180, STEP_DEG):
        doubled = math.radians(2 * angle)
        cosine, sine = round(math.cos(doubled), 12), round(math.sin(doubled), 12)
        best = max(best, int(_shared(columns, cosine, sine)))
    return best / (2 * total - best)


def symmetry_match(symmetry: float, reference: float) -> float:
    """1 − |s − s_ref| / max(s_ref, 1 − s_ref): 1 where a design is as symmetric as its reference."""
    return 1.0 - abs(symmetry - reference) / max(reference, 1.0 - reference)


def _cropped(cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    spans = []
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        used = np.flatnonzero(cells.any(axis=others))
        spans.append(slice(int(used[0]), int(used[-1]) + 1))
    return cells[tuple(spans)]


def _columns(cells: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Cells [nx, ny, nz] as bits of words [nx, ny, words]."""
    nx, ny, nz = cells.shape
    padded = np.zeros((nx, ny, -(-nz // 64) * 64), dtype=np.bool_)
    padded[:, :, :nz] = cells
    return np.packbits(padded, axis=2, bitorder="little").view("<u8")


@numba.njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator, unused-ignore]
def _bits(word: Any) -> Any:
    """How many bits of a word are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@numba.njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator, unused-ignore]
def _shared(columns: Any, cosine: float, sine: float) -> int:
    """Cells that coincide with the mirror image in the plane through the middle at half the given angle."""
    nx, ny, words = columns.shape
    middle_x, middle_y = (nx - 1) / 2, (ny - 1) / 2
    shared = 0
    for x in range(nx):
        for y in range(ny):
            image_x = int(np.floor(cosine * (x - middle_x) + sine * (y - middle_y) + middle_x + 0.5))
            image_y = int(np.floor(sine * (x - middle_x) - cosine * (y - middle_y) + middle_y + 0.5))
            if 0 <= image_x < nx and 0 <= image_y < ny:
                for word in range(words):
                    shared += _bits(columns[x, y, word] & columns[image_x, image_y, word])
    return shared
