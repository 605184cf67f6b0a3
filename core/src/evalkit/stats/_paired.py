"""Two runs over the same keys with binary results, and p-values corrected for multiple comparisons.

A key names what was attempted by both (a task, or task and epoch). Both runs must have the same keys: what
happens to an episode that only one of them finished (dropped, or counted as a failure) is for the caller
to decide and to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True, slots=True)
class McNemar:
    """The 2×2 table of a paired binary comparison and its exact two-sided p-value."""

    both: int
    only_a: int
    only_b: int
    neither: int
    p_value: float


@dataclass(frozen=True, slots=True)
class Flips:
    """Keys whose result differs, sorted: `gained` failed in a and succeed in b, `lost` the other way."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]


def matched_keys(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    """The keys of both, sorted. Raises ValueError that names an example if they differ."""
    unmatched = sorted(a.keys() ^ b.keys())
    if unmatched:
        raise ValueError(
            f"a paired comparison needs the same keys on both sides; {len(unmatched)} are on one side only, "
            f"such as {unmatched[0]!r}"
        )
    return sorted(a)


def flips(a: Mapping[str, bool], b: Mapping[str, bool]) -> Flips:
    """Which keys changed from a to b, and in which direction. Raises ValueError on different keys."""
    keys = matched_keys(a, b)
    return Flips(
        gained=tuple(key for key in keys if b[key] and not a[key]),
        lost=tuple(key for key in keys if a[key] and not b[key]),
    )


def mcnemar_exact(a: Mapping[str, bool], b: Mapping[str, bool]) -> McNemar:
    """McNemar's test in its exact form: are flips in the two directions equally likely?

    Two-sided binomial test with probability ½ on the flips (McNemar 1947); p = 1 where nothing flipped.
    It treats keys as independent: with several epochs a task, or tasks of one family, use
    `paired_bootstrap` with clusters. Raises ValueError on different keys.
    """
    changed = flips(a, b)
    both = sum(a[key] and b[key] for key in a)
    only_a, only_b = len(changed.lost), len(changed.gained)
    return McNemar(
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=len(a) - both - only_a - only_b,
        p_value=_two_sided_half(min(only_a, only_b), only_a + only_b),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted by Holm's step-down method (Holm 1979), in the order given.

    Rejecting where the adjusted value is ≤ α keeps the chance of any false rejection ≤ α, whatever the
    dependence between the tests. Raises ValueError on a value outside 0 … 1.
    """
    for p in p_values:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"{p} is not a p-value")
    adjusted = [0.0] * len(p_values)
    largest_so_far = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest_so_far = max(largest_so_far, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest_so_far
    return adjusted


def _two_sided_half(fewer: int, n: int) -> float:
    """Two-sided p of `fewer` or less on the rarer side of n fair coins, in exact integers."""
    tail = sum(comb(n, i) for i in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << n))
