"""How far a small sample of tasks can be trusted: do two disjoint samples rank systems alike?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalkit import UsageError
from evalkit.report import Column, Estimate, Table
from evalkit_lmbuild.results.systems import System
from evalkit_lmbuild.scoring.levels import LEVELS

DRAWS = 1000
MIN_SYSTEMS = 3
"""Fewer systems have no correlation worth the name."""
MIN_TASKS = 4
"""Fewer tasks don't make two samples whose means mean anything."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Correlation over systems between their means on two disjoint samples of `size` tasks each.

    Means over the pairs of samples and the middle 95 % of them. `undefined` pairs, in which all systems are
    equal on a sample, are left out. `fixed_pearson` and `fixed_spearman` are those of one pair that is no
    matter of chance: of each stratum the tasks by turns. None where that pair is undefined.
    """

    systems: int
    tasks: int
    size: int
    pearson: float
    pearson_interval: tuple[float, float]
    spearman: float
    spearman_interval: tuple[float, float]
    undefined: int
    fixed_pearson: float | None
    fixed_spearman: float | None


def agreement(
    scores: Floats, strata: Sequence[str], size: int | None = None, draws: int = DRAWS, seed: int = 0
) -> Agreement | None:
    """How `draws` stratified pairs of disjoint samples agree; None where no pair says anything.

    `scores` [systems, tasks], NaN where a metric doesn't apply; `strata` by task. Each sample has about
    `size` tasks (default: half of them), of every stratum its share, drawn without replacement. ValueError
    if the strata aren't one a task, or two such samples don't fit.
    """
    systems, tasks = scores.shape
    if len(strata) != tasks:
        raise ValueError(f"{len(strata)} strata for {tasks} tasks")
    wanted = tasks // 2 if size is None else size
    if not 1 <= wanted <= tasks // 2:
        raise ValueError(f"two disjoint samples of {wanted} tasks don't fit into {tasks}")
    members = [np.flatnonzero(np.array(strata) == name) for name in sorted(set(strata))]
    shares = _shares([len(each) for each in members], wanted)
    rng = np.random.default_rng(seed)
    pearson, spearman = [], []
    for _ in range(draws):
        one, other = _pair(members, shares, rng)
        means = [_means(scores[:, chosen]) for chosen in (one, other)]
        if (r := _correlation(*means)) is not None:
            pearson.append(r)
            spearman.append(_correlation(*map(_ranks, means)))
    if not pearson:
        return None
    ranks = [r for r in spearman if r is not None]
    fixed = [_means(scores[:, chosen]) for chosen in _by_turns(members, shares)]
    return Agreement(
        systems,
        tasks,
        sum(shares),
        float(np.mean(pearson)),
        _middle(pearson),
        float(np.mean(ranks)),
        _middle(ranks),
        draws - len(pearson),
        _correlation(*fixed),
        _correlation(*map(_ranks, fixed)),
    )


def stability_table(systems: Sequence[System], size: int | None = None) -> Table | None:
    """A row per level over the tasks that all systems played; None for fewer than three systems.

    UsageError for a `size` that the table can't have.
    """
    played = [system for system in systems if system.played]
    if size is not None:
        _check_size(played, size)
    if len(played) < MIN_SYSTEMS:
        return None
    family = {task.id: str(task.hidden["family"]) for system in played for _, task in system.played}
    rows = []
    for level in LEVELS:
        found = _agreement_on(played, level, family, size)
        if found is not None:
            rows.append(
                (
                    level,
                    found.systems,
                    found.tasks,
                    found.size,
                    Estimate(found.pearson, None, *found.pearson_interval),
                    Estimate(found.spearman, None, *found.spearman_interval),
                    found.fixed_pearson,
                    found.fixed_spearman,
                )
            )
    if not rows:
        return None
    figures = ("systems", "tasks", "sample", "Pearson r", "Spearman ρ", "fixed r", "fixed ρ")
    note = (
        "Over systems, between two disjoint samples of so many tasks, stratified by mechanism family: mean "
        f"of {DRAWS:,} pairs of samples, and their middle 95 %. Fixed: one pair, a family's tasks by turns."
    )
    columns = (Column("level"), *(Column(name, "right") for name in figures))
    return Table("lmbuild.stability", "Stability of small samples", columns, tuple(rows), note)


def _check_size(played: Sequence[System], size: int) -> None:
    if len(played) < MIN_SYSTEMS:
        raise UsageError(f"samples need {MIN_SYSTEMS} systems, there are {len(played)}; leave --sample out")
    common = len(_common_tasks(played))
    if common < MIN_TASKS:
        raise UsageError(f"samples need {MIN_TASKS} tasks that all systems played, there are {common}")
    if size > common // 2:
        raise UsageError(
            f"two disjoint samples of {size:,} tasks don't fit into the {common} that all systems played; "
            f"--sample is at most {common // 2}"
        )


def _common_tasks(systems: Sequence[System]) -> list[str]:
    """Tasks that all systems played."""
    return sorted(set.intersection(*({task.id for _, task in system.played} for system in systems)))


def _agreement_on(
    systems: Sequence[System], level: str, family: Mapping[str, str], size: int | None
) -> Agreement | None:
    values = [system.by_task(level) for system in systems]
    tasks = _common_tasks(systems)
    if len(tasks) < MIN_TASKS:
        return None
    scores = np.array([[found.get(task, np.nan) for task in tasks] for found in values])
    return agreement(scores, [family[task] for task in tasks], size)


def _shares(sizes: Sequence[int], wanted: int) -> list[int]:
    """How many of each stratum a sample takes: its share, at most half of it, largest remainders first."""
    exact = [size * wanted / sum(sizes) for size in sizes]
    shares = [min(int(share), size // 2) for share, size in zip(exact, sizes, strict=True)]
    for place in sorted(range(len(sizes)), key=lambda i: (int(exact[i]) - exact[i], i)):
        if sum(shares) < wanted and shares[place] < sizes[place] // 2:
            shares[place] += 1
    return shares


def _pair(
    members: Sequence[npt.NDArray[np.intp]], shares: Sequence[int], rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    one: list[int] = []
    other: list[int] = []
    for stratum, share in zip(members, shares, strict=True):
        drawn = rng.permutation(stratum)[: 2 * share].tolist()
        one += drawn[:share]
        other += drawn[share:]
    return one, other


def _by_turns(members: Sequence[npt.NDArray[np.intp]], shares: Sequence[int]) -> tuple[list[int], list[int]]:
    taken = [(stratum[: 2 * share].tolist()) for stratum, share in zip(members, shares, strict=True)]
    return [i for each in taken for i in each[::2]], [i for each in taken for i in each[1::2]]


def _means(values: Floats) -> Floats:
    """Means by row without NaN; NaN for a row without any value."""
    known = ~np.isnan(values)
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _correlation(one: Floats, other: Floats) -> float | None:
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    a, b = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 1e-12 else None


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; ties share their mean."""
    below = (values[None, :] < values[:, None]).sum(axis=1)
    same = (values[None, :] == values[:, None]).sum(axis=1)
    return np.asarray(below + (same + 1) / 2, dtype=np.float64)


def _middle(values: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
