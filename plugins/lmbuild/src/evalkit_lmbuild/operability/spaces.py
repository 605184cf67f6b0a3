"""Room and surfaces that people use: where an object stands, what is level, what is free."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evalkit_lmbuild.design import Floats, Part, Vector
from evalkit_lmbuild.human_checks import PLACEMENTS
from evalkit_lmbuild.kernel import Field
from evalkit_lmbuild.kernel._jit import arrays_of
from evalkit_lmbuild.operability._columns import raise_to

BAND_M = 0.02
"""What is at most this far above the lowest point meets the ground."""
ACROSS = 400
"""Cells along the longer side of a ground plan."""
POINTS = 10
"""Points along each edge of a body."""


def ground_clusters(field: Field, parts: Sequence[str]) -> int:
    """Separate places of the ground plan where these parts are within 2 cm of the design's lowest point.

    Cells of 4 mm; those that meet at a corner are one place.
    """
    from scipy.ndimage import label

    lowest = min(field.voxels(part).low[2] for part in field.parts)
    layers = round(BAND_M / field.pitch)
    near = [voxels for part in parts if (voxels := field.voxels(part)).low[2] < lowest + layers]
    if not near:
        return 0
    first = [min(voxels.corner[axis] for voxels in near) for axis in (1, 2)]
    last = [max(voxels.corner[axis] + voxels.filled.shape[axis] for voxels in near) for axis in (1, 2)]
    plan = np.zeros((last[0] - first[0], last[1] - first[1]), np.uint64)
    for voxels in near:
        z, y, word = voxels.corner
        band = voxels.filled[: lowest + layers - z]
        _, rows, words = voxels.filled.shape
        view = plan[y - first[0] : y - first[0] + rows, word - first[1] : word - first[1] + words]
        view |= np.bitwise_or.reduce(band, axis=0)
    cells = np.unpackbits(plan.view(np.uint8), axis=1)
    return int(label(_in_order(cells), structure=np.ones((3, 3)))[1])


def _in_order(cells: np.ndarray) -> np.ndarray:
    """Bits of each byte the lowest first, so that neighbours in space are neighbours in the array."""
    rows, bits = cells.shape
    return cells.reshape(rows, bits // 8, 8)[:, :, ::-1].reshape(rows, bits)


def level_area(parts: Sequence[Part], low: float, high: float) -> float:
    """Area, m², of the ground plan over which the top of these parts is between two heights, m."""
    corners = [part.world.bounds for part in parts]
    start = np.min([corner for corner, _ in corners], axis=0)
    extents = (np.max([corner for _, corner in corners], axis=0) - start)[:2]
    pitch = float(extents.max()) / ACROSS
    if not pitch > 0:
        return 0.0
    shape = np.maximum(1, np.ceil(extents / pitch - 1e-6)).astype(int)
    heights = np.full(shape, -np.inf)
    for part in parts:
        raise_to(heights, *arrays_of(part.world), start, pitch)
    return float(np.count_nonzero((heights >= low - 1e-9) & (heights <= high + 1e-9))) * pitch**2


def body_box(anchors: Sequence[Part], size: Vector, placement: str) -> tuple[Floats, Floats]:
    """Corners of a body's box against one side of the anchors' bounding box, centred on the other axes, m."""
    corners = [part.world.bounds for part in anchors]
    low = np.min([corner for corner, _ in corners], axis=0)
    high = np.max([corner for _, corner in corners], axis=0)
    axis, side = PLACEMENTS[placement]
    start = (low + high) / 2 - np.asarray(size) / 2
    start[axis] = high[axis] if side > 0 else low[axis] - size[axis]
    return start, start + np.asarray(size)


def free_share(field: Field, low: Floats, high: Floats) -> tuple[float, tuple[str, ...]]:
    """Share of 10³ points in a box that no part fills, and the parts that fill some, the most first."""
    steps = (np.arange(POINTS) + 0.5) / POINTS
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    cells = np.floor((low + grid * (high - low)) / field.pitch).astype(np.int64)
    taken = np.zeros(len(cells), bool)
    filled: dict[str, int] = {}
    for part in field.parts:
        voxels = field.voxels(part)
        inside = ((cells >= voxels.low) & (cells <= voxels.high)).all(axis=1)
        x, y, z = cells[inside].T
        layer, row, word = voxels.corner
        words = voxels.filled[z - layer, y - row, (x >> 6) - word]
        hit = (words >> (x & 63).astype(np.uint64)) & np.uint64(1) != 0
        if hit.any():
            filled[part] = int(hit.sum())
            taken[np.flatnonzero(inside)[hit]] = True
    return 1.0 - float(taken.mean()), tuple(sorted(filled, key=lambda part: -filled[part]))


def warm() -> None:
    """Compile the loop, or load it from numba's cache."""
    raise_to(np.zeros((1, 1)), np.eye(3), np.array([[0, 1, 2]], dtype=np.int32), np.zeros(3), 1.0)
