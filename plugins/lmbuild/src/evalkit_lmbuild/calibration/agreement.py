"""How far scores agree with people, and people with each other: rank correlations (Spearman)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from evalkit_lmbuild.calibration.ratings import Rated
from evalkit_lmbuild.scoring.levels import Calibration, combine

FEWEST = 3
"""Pairs of values that a rank correlation needs to say anything."""


@dataclass(frozen=True)
class Agreement:
    """Agreement on one metric; None where there is too little, or no spread.

    `systems`: Spearman of the systems' mean scores with their mean ratings. `items`: of scores with mean
    ratings, design by design. `raters`: mean over pairs of raters, over the designs that both rated.
    """

    metric: str
    systems: float | None
    items: float | None
    raters: float | None
    n_systems: int
    n_items: int
    n_raters: int


def agreements(items: Sequence[Rated], maps: Mapping[str, Calibration]) -> list[Agreement]:
    """The agreement on each metric that has maps, over these items."""
    return [agreement([item for item in items if item.metric == name], name, maps) for name in maps]


def agreement(items: Sequence[Rated], metric: str, maps: Mapping[str, Calibration]) -> Agreement:
    """The agreement on one metric; designs without any half are left out."""
    scored: list[tuple[Rated, float]] = []
    for item in items:
        score = combine(metric, item.judge, item.computed, maps).score
        if score is not None:
            scored.append((item, score))
    systems = sorted({item.system for item, _ in scored})
    by_system = [
        (_mean([score for item, score in scored if item.system == system]),
         _mean([item.rating for item, _ in scored if item.system == system]))
        for system in systems
    ]  # fmt: skip
    pairs = rater_correlations(items)
    return Agreement(
        metric,
        systems=spearman(by_system),
        items=spearman([(score, item.rating) for item, score in scored]),
        raters=_mean(pairs) if pairs else None,
        n_systems=len(systems),
        n_items=len(scored),
        n_raters=len({rater for item in items for rater in item.ratings}),
    )


def rater_correlations(items: Sequence[Rated]) -> list[float]:
    """Spearman of every two raters over the items that both rated; who shares too little is left out."""
    raters = sorted({rater for item in items for rater in item.ratings})
    found = []
    for one, other in combinations(raters, 2):
        both = [item.ratings for item in items if one in item.ratings and other in item.ratings]
        correlation = spearman([(ratings[one], ratings[other]) for ratings in both])
        if correlation is not None:
            found.append(correlation)
    return found


def spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Rank correlation, equal values at their mean rank; None for fewer than three pairs or no spread."""
    import numpy as np
    from scipy.stats import rankdata

    if len(pairs) < FEWEST:
        return None
    ranks = rankdata(np.asarray(pairs, dtype=np.float64), axis=0)
    if (np.ptp(ranks, axis=0) == 0).any():
        return None
    return float(np.corrcoef(ranks.T)[0, 1])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
