"""Sizes that a catalogue offers a shape in: series that don't tell which of their sizes a reference uses.

A shape that the reference uses is in a series of 1 to 4 sizes at a place of its own; shapes that it doesn't
use are in series too, mostly short ones, so that about the same share of the entries of long and of short
series is used. Sizes step by the longest extent, in whole centimetres where the shape's own is one: a size
and its neighbour have no ratio that says which of them was there first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

USED = (4, 1, 3, 2)
"""How many sizes shapes of the reference come in, by turns."""
OTHERS = (1, 2, 1, 1, 3, 1, 2, 1, 1, 4, 1, 2, 1)
"""The same of shapes that it doesn't use. Of a series' n entries one is used, so with as many used series of
each length the share of other series falls as 5/n - 1 for one used entry in five."""
OTHERS_PER_USED = 1.6
SPAN = 2.4
"""A series lies in a window of this ratio, the used size at a place in it by chance, as all others are."""
APART = 1.08
"""The least ratio of neighbours."""
TRIES = 24
LONGEST_MM = 2400
"""Programs hold lengths of up to 3 m."""


def draw(*what: object) -> int:
    """A number from 0 to 2^64 that looks random and depends only on what is given."""
    return int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:8], "big")


def factors(extents_mm: Sequence[float], count: int, seed: str) -> list[float]:
    """Factors of the other sizes of a series of `count`; the seed decides where the given one is among them.

    Fewer where a shape is too small to step by whole millimetres.
    """
    longest = max(extents_mm)
    step = next((step for step in (10, 5, 2) if round(longest) % step == 0 and longest >= 8 * step), 1)
    low = min(longest / SPAN ** _chance(seed, "window"), LONGEST_MM / SPAN)
    tries = [round(low * SPAN ** _chance(seed, number) / step) * step for number in range(TRIES)]
    sizes = [longest]
    for size in sorted(tries, key=lambda size: _crooked(extents_mm, size / longest)):
        if len(sizes) < count and all(size > APART * each or each > APART * size for each in sizes):
            sizes.append(size)
    return sorted(size / longest for size in sizes[1:])


def _chance(*what: object) -> float:
    return draw(*what) / 2**64


def _crooked(extents_mm: Sequence[float], factor: float) -> int:
    """How much less round extents get by a factor: sizes of one's own are whole, often in fives."""
    return sum(max(0, _digits(each * factor) - _digits(each)) for each in extents_mm)


def _digits(extent_mm: float) -> int:
    """0 for whole centimetres, 1 for multiples of 5 mm, 2 of 2 mm, 3 for the rest."""
    steps = (10, 5, 2)
    return next((rank for rank, step in enumerate(steps) if round(extent_mm, 1) % step == 0), len(steps))
