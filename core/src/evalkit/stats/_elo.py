"""Bradley–Terry strengths on the Elo scale: 1000 + 400 / ln 10 · θ, so that +400 means odds of 10 : 1.

A rating is relative to its company. The systems of the `core` are rated by the games among themselves and
centred on 1000; all others are then fitted with the core frozen, so that adding one doesn't move the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pow

import numpy as np
from numpy.typing import ArrayLike

from evalkit.stats._bootstrap import resamples
from evalkit.stats._bradley_terry import Floats, check_wins, fit, require_finite_maximum
from evalkit.stats._interval import check_confidence

CENTRE_ELO = 1000.0
ELO_PER_THETA = 400.0 / log(10.0)


@dataclass(frozen=True, slots=True)
class RatingIntervals:
    """Ratings (n,) of all games, percentile bounds (n,) and the resampled ratings (draws, n), all in Elo.

    With fewer than two tasks the bounds are NaN and there are no resamples.
    """

    elo: Floats
    low: Floats
    high: Floats
    samples: Floats


def win_probability(elo_difference: float) -> float:
    """Chance that the system rated higher by `elo_difference` wins a duel: 1 / (1 + 10^(−d/400))."""
    odds_against = pow(10.0, -abs(elo_difference) / 400.0)
    chance = 1.0 / (1.0 + odds_against)
    return chance if elo_difference >= 0.0 else odds_against * chance


def elo_ratings(wins: ArrayLike, core: Sequence[int] | None = None, prior: float = 0.5) -> Floats:
    """Elo (n,) from wins (n, n); `core` lists the systems whose mean is 1000 (default: all).

    `prior` and the errors are those of `bradley_terry`; also raises ValueError on an empty core, a
    repeated or an unknown system in it.
    """
    table = check_wins(wins, 2)
    elo: Floats = _elo(table[None], _check_core(core, len(table)), prior)[0]
    return elo


def combine_equal_spread(columns: ArrayLike, core: Sequence[int] | None = None) -> Floats:
    """One rating from several columns (Q, …, n) in Elo, scaled so that each spreads the core equally.

    1000 + 1/Q · Σ k_q (x_q − 1000), with k_q = mean of the columns' standard deviations / that of column
    q, over the core with ddof = 1; k_q = 1 for a column without spread. For two columns this is the
    published combination of alignment and design in BrickBench. Axes between the first and the last are
    resamples, each scaled by itself. Raises ValueError on a bad core or without columns.
    """
    x = np.asarray(columns, dtype=float)
    if x.ndim < 2 or 0 in x.shape:
        raise ValueError(f"columns must have the shape (columns, …, systems), not {x.shape}")
    members = _check_core(core, x.shape[-1])
    core_x = x[..., members]
    spread = core_x.std(axis=-1, ddof=1, keepdims=True) if len(members) > 1 else np.zeros_like(core_x)
    mean_spread = np.broadcast_to(spread.mean(axis=0), spread.shape)
    scale = np.divide(mean_spread, spread, out=np.ones_like(spread), where=spread > 0.0)
    return np.asarray(CENTRE_ELO + (scale * (x - CENTRE_ELO)).mean(axis=0))


def bt_bootstrap(
    wins_by_task: ArrayLike,
    core: Sequence[int] | None = None,
    *,
    prior: float = 0.5,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> RatingIntervals:
    """`elo_ratings` of wins (tasks, n, n), with percentile intervals from resampling whole tasks.

    `count_wins` makes the table. Errors as in `elo_ratings`; with prior = 0 every resample must have a
    finite maximum likelihood.
    """
    return bt_bootstrap_combined(
        [wins_by_task], core, prior=prior, confidence=confidence, draws=draws, seed=seed
    )


def bt_bootstrap_combined(
    columns: Sequence[ArrayLike],
    core: Sequence[int] | None = None,
    *,
    prior: float = 0.5,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> RatingIntervals:
    """`combine_equal_spread` of one rating per table (tasks, n, n), such as alignment and design.

    A resample draws the same tasks for every table and scales the columns anew. All tables need the same
    tasks and systems in the same order. Errors as in `bt_bootstrap`.
    """
    check_confidence(confidence)
    tables = [check_wins(column, 3) for column in columns]
    if len({table.shape for table in tables}) != 1:
        raise ValueError("the columns need the same tasks and the same systems")
    n_tasks, n = tables[0].shape[:2]
    members = _check_core(core, n)

    def rate(task_counts: Floats) -> Floats:
        """(m, n) combined ratings where row m counts how often each task was drawn."""
        totals = [np.tensordot(task_counts, table, axes=1) for table in tables]
        return combine_equal_spread([_elo(total, members, prior) for total in totals], members)

    elo = rate(np.ones((1, n_tasks)))[0]
    if n_tasks < 2:
        unknown = np.full(n, np.nan)
        return RatingIntervals(elo, unknown, unknown.copy(), np.empty((0, n)))
    drawn = np.concatenate(list(resamples(n_tasks, draws, seed)))
    samples = rate(np.array([np.bincount(row, minlength=n_tasks) for row in drawn], dtype=float))
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(samples, [tail, 1.0 - tail], axis=0)
    return RatingIntervals(elo, low, high, samples)


def _elo(wins: Floats, core: Sequence[int], prior: float) -> Floats:
    """Elo (m, n) of m tables (m, n, n): the core on its own games, then everyone beside the frozen core."""
    members = np.asarray(core, dtype=int)
    if prior == 0.0:
        require_finite_maximum(wins, core, [])
        require_finite_maximum(wins, range(wins.shape[-1]), core)
    core_theta = fit(wins[:, members[:, None], members], prior, [], np.empty((len(wins), 0)))
    return CENTRE_ELO + ELO_PER_THETA * fit(wins, prior, core, core_theta)


def _check_core(core: Sequence[int] | None, n: int) -> list[int]:
    """The core's systems, sorted; all n of them by default."""
    members = list(range(n)) if core is None else sorted(core)
    if not members or len(set(members)) < len(members) or not 0 <= members[0] <= members[-1] < n:
        raise ValueError(f"the core {members} must list some of the {n} systems, each once")
    return members
