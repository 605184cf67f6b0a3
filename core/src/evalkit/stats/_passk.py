"""Success over repeated attempts: at least one of k (pass@k), and all of k (pass^k).

Both estimators average over every way to pick k of a task's n attempts, which makes them unbiased; using
1 − (1 − c/n)^k or (c/n)^k instead is biased for small n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k attempts succeeds: 1 − C(n−c, k) / C(n, k) (Chen et al. 2021, eq. 1).

    `n` attempts were made, `c` of them succeeded. Raises ValueError unless 0 ≤ c ≤ n and 1 ≤ k ≤ n.
    """
    _check_counts(n, c, k)
    ways = comb(n, k)
    return (ways - comb(n - c, k)) / ways


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Chance that all of k attempts succeed: C(c, k) / C(n, k) (Yao et al. 2024, τ-bench).

    Arguments and errors as in `pass_at_k`.
    """
    _check_counts(n, c, k)
    return comb(c, k) / comb(n, k)


@dataclass(frozen=True, slots=True)
class TaskAverage:
    """A mean over tasks. `value` is None when no task had enough attempts.

    `per_task` holds the estimate of every task used, in the order of their names, ready for
    `bootstrap_mean` (clusters = the tasks' families); `skipped` names the tasks with fewer than k attempts.
    """

    value: float | None
    per_task: dict[str, float]
    skipped: tuple[str, ...]


def mean_pass_at_k(counts: Mapping[str, tuple[int, int]], k: int) -> TaskAverage:
    """pass@k averaged over tasks; `counts` maps a task to (attempts n, successes c).

    Tasks with n < k can't be estimated: they are left out and named, never counted as 0.
    """
    return _average(counts, k, pass_at_k)


def mean_pass_hat_k(counts: Mapping[str, tuple[int, int]], k: int) -> TaskAverage:
    """pass^k averaged over tasks; see `mean_pass_at_k`."""
    return _average(counts, k, pass_hat_k)


def _average(
    counts: Mapping[str, tuple[int, int]], k: int, estimate: Callable[[int, int, int], float]
) -> TaskAverage:
    tasks = sorted(counts)
    per_task = {task: estimate(*counts[task], k) for task in tasks if counts[task][0] >= k}
    value = sum(per_task.values()) / len(per_task) if per_task else None
    return TaskAverage(value, per_task, tuple(task for task in tasks if task not in per_task))


def _check_counts(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"{c} successes out of {n} attempts is impossible")
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and the number of attempts ({n}), not {k}")
