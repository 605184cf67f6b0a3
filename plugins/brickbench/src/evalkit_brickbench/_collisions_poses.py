"""Poses for collisions: rotations and stretches of parts, pairs whose boxes meet, relative poses as keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.scene import Floats

Indices = NDArray[np.int64]
Keys = NDArray[np.uint64]

RIGID = 2e-3
"""Matrices this near to a rotation are one: files round to three digits."""
STRETCH_DIGITS = 4
FLAT = 1e-6
"""A matrix with a singular value below this share of the largest has no volume."""
TRANSLATION_STEP_LDU = 1e-3
ROTATION_STEP = 1e-5
CHUNK = 1 << 21

_MASK = np.uint64(0x9E3779B97F4A7C15)
_ODD = np.array([0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53], dtype=np.uint64)


class TooManyPairsError(ValueError):
    """More parts are piled up in one place than can be checked."""


def rotations_and_stretches(matrices: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Matrices [n, 3, 3] as R·S: rotations [n, 3, 3], stretches [n, 3, 3] (the identity where the matrix is a
    rotation to 0.002; with the reflection, if there is one), and which have no volume [n]."""
    left, values, right = np.linalg.svd(matrices)
    rotations = left @ right
    flat = ~(values[:, 2] > FLAT * values[:, 0]) | ~(values[:, 2] > FLAT)
    sign = np.where(np.linalg.det(rotations) < 0, -1.0, 1.0)
    rotations *= sign[:, None, None]
    rigid = (np.abs(values - 1).max(axis=1) <= RIGID) & (sign > 0)
    stretches = np.broadcast_to(np.eye(3), matrices.shape).copy()
    odd = np.flatnonzero(~rigid)
    symmetric = np.swapaxes(right[odd], 1, 2) @ (values[odd, :, None] * right[odd])
    stretches[odd] = np.round(symmetric * sign[odd, None, None], STRETCH_DIGITS) + 0.0
    return rotations, stretches, flat


def world_boxes(low: Floats, high: Floats, rotations: Floats, positions: Floats) -> tuple[Floats, Floats]:
    """Boxes [n, 3] along the world's axes around turned boxes [n, 3]."""
    middle = np.einsum("nij,nj->ni", rotations, (low + high) / 2) + positions
    half = np.einsum("nij,nj->ni", np.abs(rotations), (high - low) / 2)
    return middle - half, middle + half


def meeting_boxes(low: Floats, high: Floats, limit: int) -> Indices:
    """Pairs [k, 2] (i < j, sorted) of boxes [n, 3] that overlap, by a sweep along the axis with fewest
    candidates; `TooManyPairsError` beyond a limit."""
    size = len(low)
    if size < 2:
        return np.empty((0, 2), dtype=np.int64)
    orders = [np.argsort(low[:, axis], kind="stable") for axis in range(3)]
    reaches = [
        np.searchsorted(low[order, axis], high[order, axis], side="left") - np.arange(size) - 1
        for axis, order in enumerate(orders)
    ]
    axis = int(np.argmin([np.maximum(reach, 0).sum() for reach in reaches]))
    order, counts = orders[axis], np.maximum(reaches[axis], 0)
    sides = [(low[order, other], high[order, other]) for other in range(3) if other != axis]
    found: list[Indices] = []
    total = 0
    for first, second in _candidates(counts):
        for side_low, side_high in sides:
            both = (side_low[first] < side_high[second]) & (side_low[second] < side_high[first])
            first, second = first[both], second[both]
        total += len(first)
        if total > limit:
            raise TooManyPairsError(
                f"the boxes of more than {limit:,} pairs of parts overlap: parts are piled up in one place"
            )
        found.append(np.stack([order[first], order[second]], axis=1))
    pairs = np.sort(np.concatenate(found), axis=1) if found else np.empty((0, 2), dtype=np.int64)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _candidates(counts: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Places (i, i+1 … i+counts[i]) in sweep order, about `CHUNK` at a time so that memory stays bounded."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        done = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, done + CHUNK, side="right")), start + 1)
        some = counts[start:stop]
        first = np.repeat(np.arange(start, stop), some)
        within = np.arange(len(first)) - np.repeat(np.cumsum(some) - some, some)
        yield first, first + 1 + within
        start = stop


def relative_poses(
    rotations: Floats, positions: Floats, first: Indices, second: Indices
) -> NDArray[np.int64]:
    """The poses [k, 12] of the second parts in the frames of the first ones: rotation (rows) in steps of
    1e-5 and translation in steps of 0.001 LDU, as whole numbers."""
    back = np.swapaxes(rotations[first], 1, 2)
    turn = (back @ rotations[second]).reshape(-1, 9)
    shift = (back @ (positions[second] - positions[first])[:, :, None])[:, :, 0]
    steps = np.concatenate([turn / ROTATION_STEP, shift / TRANSLATION_STEP_LDU], axis=1)
    return np.asarray(np.rint(steps), dtype=np.int64)


def first_in_order(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Row by row, whether left [k, m] comes before right [k, m] or equals it."""
    differ = left != right
    column = np.argmax(differ, axis=1)
    rows = np.arange(len(left))
    before: NDArray[np.bool_] = ~differ.any(axis=1) | (left[rows, column] < right[rows, column])
    return before


def pose_keys(shapes: Keys, first: Indices, second: Indices, poses: NDArray[np.int64]) -> Keys:
    """Names [k, 2] of 128 bits of the second shapes at poses [k, 12] relative to the first ones;
    `shapes` [s, 2] are names of shapes."""
    state = np.broadcast_to(_MASK, (len(poses), 2)).copy()
    for words in (shapes[first], shapes[second], *(poses[:, [k, k]].view(np.uint64) for k in range(12))):
        state = (state ^ words) * _ODD
        state ^= state >> np.uint64(32)
        state = state * _ODD[::-1]
        state ^= state >> np.uint64(29)
    return state


def as_pose(steps: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Rotation [3, 3] and translation [3] in LDU of one relative pose [12]."""
    pose = steps.astype(np.float64)
    return pose[:9].reshape(3, 3) * ROTATION_STEP, pose[9:] * TRANSLATION_STEP_LDU
