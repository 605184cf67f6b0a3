"""Intervals of means and of paired differences: Student's t, and the percentile bootstrap by clusters.

Episodes of one family (or epochs of one task) resemble each other. Resampling them one by one would
pretend they are independent and give intervals that are too narrow; so whole clusters are drawn, with
replacement, and each keeps all its members (Efron and Tibshirani 1993; Cameron, Gelbach and Miller 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from evalkit.stats._interval import Interval, check_confidence
from evalkit.stats._paired import matched_keys

DEFAULT_DRAWS = 10_000

#: Resampled clusters held in memory at once.
_BLOCK = 1 << 21
#: Resampled differences below this share of the largest difference are ties: what is left is rounding.
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of b − a over the matched keys, its bootstrap interval and two-sided p-value.

    `difference` is None without keys; `p_value` (and the interval's bounds) with fewer than two clusters.
    """

    difference: float | None
    interval: Interval
    p_value: float | None
    n_pairs: int
    n_clusters: int


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t interval of the mean of independent values.

    Fewer than two values have no spread to judge by: both bounds are None. Raises ValueError on values
    that aren't finite.
    """
    check_confidence(confidence)
    _check_finite(values)
    n = len(values)
    if n < 2:
        return Interval(None, None, "t")
    from scipy.special import stdtrit

    half_width = float(stdtrit(n - 1, 0.5 + confidence / 2.0)) * stdev(values) / sqrt(n)
    mean = fmean(values)
    return Interval(mean - half_width, mean + half_width, "t")


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[str] | None = None,
    *,
    confidence: float = 0.95,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of the mean; `clusters` names the cluster of each value.

    The mean is over values, so a large cluster weighs more. The bits depend on the values, the names and
    the seed, and not on the order in which the values come. With fewer than two clusters (values, where
    no clusters are given) both bounds are None. Raises ValueError on values that aren't finite and on
    `clusters` of another length.
    """
    check_confidence(confidence)
    _check_finite(values)
    if clusters is None:
        sums, sizes, method = np.sort(np.asarray(values, dtype=float)), np.ones(len(values)), "bootstrap"
    else:
        sums, sizes = _cluster_totals(values, clusters)
        method = "cluster bootstrap"
    if len(sums) < 2:
        return Interval(None, None, method)
    return _percentiles(_resampled_means(sums, sizes, draws, seed), confidence, method)


def paired_bootstrap(
    a: Mapping[str, float],
    b: Mapping[str, float],
    clusters: Mapping[str, str] | None = None,
    *,
    confidence: float = 0.95,
    draws: int = DEFAULT_DRAWS,
    seed: int = 0,
) -> PairedDifference:
    """Compares two runs on the same keys; `clusters` maps a key to its cluster (default: each its own).

    p = 2 · min(P(d* ≤ 0), P(d* ≥ 0)) over the resampled differences d*, counting the observed sample
    once so that p is never 0, and at most 1. Raises ValueError on different keys, a key without a
    cluster, and values that aren't finite.
    """
    check_confidence(confidence)
    keys = matched_keys(a, b)
    cluster_of = {key: key for key in keys} if clusters is None else clusters
    missing = [key for key in keys if key not in cluster_of]
    if missing:
        raise ValueError(f"{len(missing)} keys have no cluster, such as {missing[0]!r}")
    differences = [b[key] - a[key] for key in keys]
    _check_finite(differences)
    sums, sizes = _cluster_totals(differences, [cluster_of[key] for key in keys])
    difference = fsum(differences) / len(keys) if keys else None
    method = "bootstrap" if clusters is None else "cluster bootstrap"
    if len(sums) < 2:
        return PairedDifference(difference, Interval(None, None, method), None, len(keys), len(sums))
    means = _resampled_means(sums, sizes, draws, seed)
    means[np.abs(means) <= _TIE * max(map(abs, differences))] = 0.0
    rarer_side = int(min(np.count_nonzero(means <= 0.0), np.count_nonzero(means >= 0.0)))
    p_value = min(1.0, 2.0 * (rarer_side + 1) / (draws + 1))
    return PairedDifference(
        difference, _percentiles(means, confidence, method), p_value, len(keys), len(sums)
    )


def resamples(n: int, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """`draws` rows of n indices drawn with replacement, in blocks that bound the memory (PCG64).

    Raises ValueError if `draws` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _BLOCK // n)
    for start in range(0, draws, rows):
        yield rng.integers(0, n, size=(min(rows, draws - start), n))


def _cluster_totals(
    values: Sequence[float], clusters: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and size of every cluster, by name; exactly rounded sums don't depend on the members' order."""
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values but {len(clusters)} cluster names")
    members: dict[str, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        members.setdefault(cluster, []).append(value)
    names = sorted(members)
    sums = np.array([fsum(members[name]) for name in names], dtype=float)
    return sums, np.array([len(members[name]) for name in names], dtype=float)


def _resampled_means(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], draws: int, seed: int
) -> NDArray[np.float64]:
    """(draws,) means over the members of resampled clusters."""
    return np.concatenate(
        [sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1) for drawn in resamples(len(sums), draws, seed)]
    )


def _percentiles(means: NDArray[np.float64], confidence: float, method: str) -> Interval:
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return Interval(float(low), float(high), method)


def _check_finite(values: Sequence[float]) -> None:
    bad = next((value for value in values if not isfinite(value)), None)
    if bad is not None:
        raise ValueError(f"{bad} is not a value to average; leave out what wasn't measured")
