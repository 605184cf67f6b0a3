"""All parts of a design together: the cells they fill, and which parts lie inside."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from evalkit_lmbuild.kernel._bits import Bits, Corner, count, eroded
from evalkit_lmbuild.kernel._flood import filled
from evalkit_lmbuild.kernel.field import Field
from evalkit_lmbuild.kernel.voxels import CELL_LIMIT, KernelError

ENCLOSED = 0.05
"""A part with no more than this share of its boundary next to outside air lies inside."""


def filled_cells(field: Field) -> npt.NDArray[np.bool_]:
    """The cells that any part fills, [x, y, z]; of the smallest box of whole words around them."""
    bits, _ = _union(field, field.parts)
    cells = np.unpackbits(bits.view(np.uint8), axis=2, bitorder="little").view(np.bool_)
    return cells.transpose(2, 1, 0)


def enclosed_parts(field: Field) -> frozenset[str]:
    """Parts inside: at most 5 % of their boundary cells are next to air that is reached from outside."""
    if not field.parts:
        return frozenset()
    whole, corner = _union(field, field.parts)
    inner = eroded(filled(whole))
    inside = set()
    for part_id in field.parts:
        voxels = field.voxels(part_id)
        boundary = voxels.filled & ~voxels.core
        exposed = boundary & ~_window(inner, corner, voxels.filled.shape, voxels.corner)
        if count(exposed) <= ENCLOSED * count(boundary):
            inside.add(part_id)
    return frozenset(inside)


def _union(field: Field, ids: Iterable[str]) -> tuple[Bits, Corner]:
    grids = [field.voxels(part_id) for part_id in ids]
    if not grids:
        return np.zeros((1, 1, 1), np.uint64), (0, 0, 0)
    low = [min(grid.corner[i] for grid in grids) for i in range(3)]
    high = [max(grid.corner[i] + grid.filled.shape[i] for grid in grids) for i in range(3)]
    shape = tuple(end - start for start, end in zip(low, high, strict=True))
    if 64.0 * np.prod(np.array(shape, dtype=float)) > CELL_LIMIT:
        raise KernelError(f"the design takes {shape[2] * 64} × {shape[1]} × {shape[0]} cells, too many")
    corner: Corner = (low[0], low[1], low[2])
    bits = np.zeros(shape, np.uint64)
    for grid in grids:
        view = _window(bits, corner, grid.filled.shape, grid.corner)
        view |= grid.filled
    return bits, corner


def _window(bits: Bits, corner: Corner, shape: tuple[int, ...], at: Corner) -> Bits:
    """The view of a grid that another one of this shape and corner covers; it has to lie inside."""
    start = [at[i] - corner[i] for i in range(3)]
    return bits[tuple(slice(start[i], start[i] + shape[i]) for i in range(3))]
