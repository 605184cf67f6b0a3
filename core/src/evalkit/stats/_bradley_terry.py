"""Bradley–Terry strengths from duels: P(i beats j) = 1 / (1 + exp(θ_j − θ_i)).

One damped Newton iteration serves the single fit, the fit beside frozen systems and the thousand fits of a
bootstrap (stacked along the first axis); choix, which has neither of the last two, is the cross-check.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: A step this small is the last: Newton's error afterwards is about its square.
_LAST_STEP = 1e-9
_MAX_STEPS = 500


def count_wins(
    tasks: Sequence[Hashable],
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    first_won: Sequence[float],
    *,
    task_names: Sequence[Hashable],
    systems: Sequence[Hashable],
) -> Floats:
    """Tallies verdicts into wins[t, i, j]: how often system i beat system j on task t.

    The first four arguments have one entry per verdict: task, system shown first, system shown second, 1
    if the first won, 0 if the second did, 0.5 for a draw. `task_names` and `systems` fix the order of the
    axes; pass them sorted, so that a bootstrap doesn't depend on the order in which verdicts came in.
    Raises ValueError on lists of different lengths, repeated or unknown names, a system against itself and
    results outside 0 … 1.
    """
    task_at, system_at = _positions(task_names, "task"), _positions(systems, "system")
    if len({len(tasks), len(first), len(second), len(first_won)}) > 1:
        raise ValueError("every verdict needs a task, a first and a second system and a result")
    wins = np.zeros((len(task_at), len(system_at), len(system_at)))
    for task, one, other, won in zip(tasks, first, second, first_won, strict=True):
        if task not in task_at or one not in system_at or other not in system_at or one == other:
            raise ValueError(
                f"not a duel of two listed systems on a listed task: {one!r}, {other!r}, {task!r}"
            )
        if not 0.0 <= won <= 1.0:
            raise ValueError(f"a result is 1, 0 or 0.5 for a draw, not {won}")
        t, i, j = task_at[task], system_at[one], system_at[other]
        wins[t, i, j] += won
        wins[t, j, i] += 1.0 - won
    return wins


def bradley_terry(wins: ArrayLike, prior: float = 0.5, frozen: Mapping[int, float] | None = None) -> Floats:
    """Most likely strengths θ (n,) given wins (n, n): wins[i, j] = how often i beat j.

    `prior` is added to every pair in both directions; 0.5 is one virtual drawn game per pair and keeps an
    undefeated system finite. `frozen` maps systems to strengths that stay as they are while the others are
    fitted together. Without `frozen`, the mean of θ is 0 (only differences matter).

    Raises ValueError on a bad table, a negative prior, an unknown frozen system, and where prior = 0 and
    the maximum likelihood isn't finite or unique (Ford 1957: every system needs a chain of wins to every
    other; frozen systems count as one).
    """
    table = check_wins(wins, 2)
    held = sorted(frozen or {})
    if held and not 0 <= held[0] <= held[-1] < len(table):
        raise ValueError(f"frozen systems {held} are not all among the {len(table)} systems")
    strengths = np.array([(frozen or {})[system] for system in held], dtype=float)
    if not np.isfinite(strengths).all():
        raise ValueError("frozen strengths must be finite")
    if prior == 0.0:
        require_finite_maximum(table[None], range(len(table)), held)
    theta: Floats = fit(table[None], prior, held, strengths[None])[0]
    return theta


def check_wins(wins: ArrayLike, ndim: int) -> Floats:
    """`wins` as an array of `ndim` axes, the last two of equal length ≥ 1, entries ≥ 0, diagonal 0."""
    table = np.asarray(wins, dtype=float)
    if table.ndim != ndim or table.shape[-1] != table.shape[-2] or table.shape[-1] == 0:
        raise ValueError(
            f"wins must have {ndim} axes, the last two (system, system), not shape {table.shape}"
        )
    if not np.isfinite(table).all() or (table < 0.0).any():
        raise ValueError("wins must be finite and not negative")
    if np.diagonal(table, axis1=-2, axis2=-1).any():
        raise ValueError("a system can't win against itself: the diagonal of wins must be 0")
    return table


def fit(wins: Floats, prior: float, held: Sequence[int], strengths: Floats) -> Floats:
    """Strengths (m, n) of m tables (m, n, n), with the systems `held` at `strengths` (m, len(held)).

    Newton's step d is shortened to log(1 + s) / s, with s = max d − min d, which makes every step of a
    logistic likelihood an improvement without a line search (Sun and Tran-Dinh 2019, generalized
    self-concordant functions), and goes to the full step as s goes to 0. With `prior` 0, call
    `require_finite_maximum` first: without a finite, unique maximum the result means nothing. Raises
    ValueError on a negative prior.
    """
    if not (np.isfinite(prior) and prior >= 0.0):
        raise ValueError(f"the prior must be 0 or positive, not {prior}")
    n = wins.shape[-1]
    won = wins + prior * (1.0 - np.eye(n))
    theta = np.zeros(wins.shape[:-1])
    theta[:, held] = strengths
    fixed = held if len(held) else [0]
    free = np.setdiff1d(np.arange(n), fixed)
    for _ in range(_MAX_STEPS):
        step = _newton_step(theta, won, free)
        span = step.max(axis=-1, initial=0.0) - step.min(axis=-1, initial=0.0)
        damping = np.divide(np.log1p(span), span, out=np.ones_like(span), where=span > 0.0)
        theta[:, free] += damping[:, None] * step
        if (span <= _LAST_STEP).all():
            return theta if len(held) else theta - theta.mean(axis=-1, keepdims=True)
    raise RuntimeError(f"the Bradley–Terry fit didn't converge in {_MAX_STEPS} steps; use a larger prior")


def _newton_step(theta: Floats, won: Floats, free: NDArray[np.intp]) -> Floats:
    """(m, len(free)) undamped steps. The Hessian is regular: some system is always fixed.

    The chance of the upset is computed by itself: 1 − chance would lose its digits in lopsided tables.
    """
    lost = won.swapaxes(-1, -2)
    chance = np.exp(-np.logaddexp(0.0, theta[:, None, :] - theta[:, :, None]))
    upset = chance.swapaxes(-1, -2)
    gradient = (won * upset - lost * chance).sum(axis=-1)
    weight = (won + lost) * chance * upset
    curvature = np.eye(theta.shape[-1]) * weight.sum(axis=-1)[:, :, None] - weight
    solution = np.linalg.solve(curvature[:, free[:, None], free], gradient[:, free, None])
    return np.asarray(solution[..., 0])


def require_finite_maximum(wins: Floats, systems: Sequence[int], held: Sequence[int]) -> None:
    """Raises ValueError unless a chain of wins leads from each of `systems` to each other one.

    This is checked in each of the tables (m, n, n), by the games among `systems`; those `held` count as one.
    """
    chosen, frozen = np.asarray(systems, dtype=int), np.asarray(held, dtype=int)
    reach = (wins > 0.0) | np.eye(wins.shape[-1], dtype=bool)
    reach[:, frozen[:, None], frozen] = True
    reach = reach[:, chosen[:, None], chosen]
    for _ in range((len(chosen) - 1).bit_length()):
        reach = reach.astype(float) @ reach.astype(float) > 0.0
    gaps = np.argwhere(~reach)
    if len(gaps):
        winner, loser = chosen[gaps[0, 1:]]
        where = "" if len(wins) == 1 else f" in {len(np.unique(gaps[:, 0]))} of {len(wins)} resamples"
        raise ValueError(
            f"the most likely ratings are not finite or not unique{where}: no chain of wins leads from "
            f"system {winner} to system {loser}; use a prior above 0 or more games"
        )


def _positions(names: Sequence[Hashable], kind: str) -> dict[Hashable, int]:
    positions = {name: index for index, name in enumerate(names)}
    if len(positions) < len(names):
        raise ValueError(f"a {kind} is listed twice")
    return positions
