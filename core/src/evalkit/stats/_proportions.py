"""Intervals of proportions, in pure Python."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from evalkit.stats._interval import Interval, check_confidence


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """The Wilson score interval of `successes` out of `n` (Wilson 1927), without continuity correction.

    With n = 0 both bounds are None. The lower bound of 0 successes is exactly 0, the upper one of n
    successes exactly 1. Raises ValueError unless 0 ≤ successes ≤ n and 0 < confidence < 1.
    """
    check_confidence(confidence)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes out of {n} is not a proportion")
    if n == 0:
        return Interval(None, None, "wilson")
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1.0 + z * z / n)
    half_width = z / (1.0 + z * z / n) * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    low = 0.0 if successes == 0 else centre - half_width
    high = 1.0 if successes == n else centre + half_width
    return Interval(low, high, "wilson")
