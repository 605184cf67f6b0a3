"""Outside air: what a 6-connected flood from the rim of a bit grid reaches, a row of words at a time."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.kernel._bits import Bits
from evalkit_lmbuild.kernel._jit import compiled


@compiled
def _spread(shell: Bits, air: Bits, z: int, y: int) -> bool:
    """Take air over from the four neighbouring rows and along the row itself; whether anything was new."""
    layers, rows, words = shell.shape
    one, top = np.uint64(1), np.uint64(63)
    new = False
    carry = np.uint64(0)
    for w in range(words):
        free = ~shell[z, y, w]
        seed = air[z, y, w] | carry
        if z > 0:
            seed |= air[z - 1, y, w]
        if z < layers - 1:
            seed |= air[z + 1, y, w]
        if y > 0:
            seed |= air[z, y - 1, w]
        if y < rows - 1:
            seed |= air[z, y + 1, w]
        seed &= free
        if seed == air[z, y, w]:
            carry = seed >> top
            continue
        # The carry of an addition runs from a seed to the upper end of its run of free cells.
        seed |= free & ~(free + seed)
        carry = seed >> top
        new = new or seed != air[z, y, w]
        air[z, y, w] = seed
    if not new:
        return False
    carry = np.uint64(0)
    for w in range(words - 1, -1, -1):
        free = ~shell[z, y, w]
        seed = air[z, y, w] | (carry & free)
        for shift in (1, 2, 4, 8, 16, 32):
            seed |= free & (seed >> np.uint64(shift))
            free &= free >> np.uint64(shift)
        air[z, y, w] = seed
        carry = (seed & one) << top
    return True


@compiled
def _drain(shell: Bits, air: Bits) -> None:
    """Spread from row to row until nothing is new; each row waits at most once."""
    layers, rows, _ = shell.shape
    waiting = np.arange(layers * rows)
    queued = np.ones(layers * rows, np.bool_)
    size = layers * rows
    while size:
        size -= 1
        at = waiting[size]
        queued[at] = False
        z, y = at // rows, at % rows
        if not _spread(shell, air, z, y):
            continue
        for dz, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= z + dz < layers and 0 <= y + dy < rows:
                near = (z + dz) * rows + y + dy
                if not queued[near]:
                    queued[near] = True
                    waiting[size] = near
                    size += 1


@compiled
def filled(shell: Bits) -> Bits:
    """The shell and all that outside air doesn't reach. The outermost layers and rows must be empty."""
    layers, rows, words = shell.shape
    air = np.zeros_like(shell)
    for w in range(words):
        air[0, 0, w] = np.uint64(0xFFFFFFFFFFFFFFFF)
    for z in range(layers):
        for y in range(rows):
            _spread(shell, air, z, y)
    new = False
    for z in range(layers - 1, -1, -1):
        for y in range(rows - 1, -1, -1):
            new = _spread(shell, air, z, y) or new
    if new:  # winding passages
        _drain(shell, air)
    for z in range(layers):
        for y in range(rows):
            for w in range(words):
                air[z, y, w] = ~air[z, y, w]
    return air
