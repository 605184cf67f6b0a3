"""How many pairs of triangles two solids could make cross: a bound that is cheap beside the boolean itself.

A boolean's result can grow with the product of its inputs (two combs of a thousand teeth each), so the pairs
are counted before it is evaluated.
"""

from __future__ import annotations

import itertools

import numpy as np

from evalkit_lmbuild.design import Floats

_CELLS = 32
FEW_PAIRS = 60_000
"""So few pairs needn't be counted better."""


def _boxes(triangles: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Lowest and highest corners of the triangles [n, 3, 3] whose boxes meet the window."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    lowest, highest = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    inside = np.all((highest >= low) & (lowest <= high), axis=1)
    return lowest[inside], highest[inside]


def _cover(first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """How many index boxes first…last (inclusive) cover each cell of the grid: a 3-D difference array."""
    side = _CELLS + 1
    steps = np.zeros(side**3, dtype=np.int64)
    for corner in itertools.product((0, 1), repeat=3):
        at = np.where(corner, last + 1, first)
        flat = (at[:, 0] * side + at[:, 1]) * side + at[:, 2]
        sign = -1 if sum(corner) % 2 else 1
        steps += sign * np.bincount(flat, minlength=side**3)
    grid = steps.reshape(side, side, side)
    return grid.cumsum(axis=0).cumsum(axis=1).cumsum(axis=2)[:-1, :-1, :-1]


def crossing_pairs(a: Floats, b: Floats) -> int:
    """Pairs of triangles of `a` [n, 3, 3] and `b` [m, 3, 3] (m) whose boxes meet, widened to cells of a grid.

    The meeting of two boxes of cells is again a box, and of a box cells − faces + edges − corners = 1
    (Euler), so the pairs are counted exactly from eight cover counts, without listing them. Where the
    triangles near both solids are few, every pair of them counts.
    """
    low = np.maximum(a.min(axis=(0, 1)), b.min(axis=(0, 1)))
    high = np.minimum(a.max(axis=(0, 1)), b.max(axis=(0, 1)))
    if np.any(low > high):
        return 0
    cell = np.maximum(high - low, 1e-12) / _CELLS
    boxes = [_boxes(triangles, low, high) for triangles in (a, b)]
    pairs = len(boxes[0][0]) * len(boxes[1][0])
    if pairs <= FEW_PAIRS:
        return pairs
    corners = [
        tuple(np.clip((corner - low) / cell, 0, _CELLS - 1).astype(np.int64) for corner in box)
        for box in boxes
    ]
    pairs = 0
    for shared in itertools.product((0, 1), repeat=3):
        covers = []
        for first, last in corners:
            shrunk = last - np.asarray(shared)
            kept = np.all(shrunk >= first, axis=1)
            covers.append(_cover(first[kept], shrunk[kept]))
        sign = -1 if sum(shared) % 2 else 1
        pairs += sign * int((covers[0] * covers[1]).sum())
    return pairs
