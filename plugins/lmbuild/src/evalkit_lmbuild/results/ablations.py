"""Ablations: an agent against itself where the protocol differs in one thing, task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from evalkit.report import Column, Estimate, Table
from evalkit.stats import holm, paired_bootstrap
from evalkit_lmbuild.objects import CONDITIONS
from evalkit_lmbuild.results.systems import System
from evalkit_lmbuild.scoring.levels import LEVELS

FACTORS = {"tier": "Tiers", "rounds": "Rounds", "brief": "Briefs"}
"""Settings whose effect is tabled, with the title of their table."""
_FIRST = {
    "tier": ("B", "A", "C"),
    "rounds": (1, 2, 3),
    "brief": ("name_only+image", "name_only", *CONDITIONS),
}
"""Which of two values a difference starts from: the one that comes first."""
MIN_TASKS = 10
"""Below so many tasks a bootstrap's p is far too small, so that there is none."""
ALL = tuple(name for level, metrics in LEVELS.items() for name in (level, *metrics))


@dataclass(frozen=True, slots=True)
class Difference:
    """What a change of one setting does to a metric or level of one agent, in [−1, 1].

    `before` and `after` are means over the `n` tasks that have a value under both; `p` is two-sided,
    `p_adjusted` after Holm's correction over all differences of the same setting.
    """

    agent: str
    factor: str
    change: str
    metric: str
    n: int
    before: float
    after: float
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None = None

    @property
    def difference(self) -> float:
        """What the change gains."""
        return self.after - self.before


def differences(systems: Sequence[System], factor: str) -> list[Difference]:
    """Differences of all metrics and levels, for all pairs of systems that differ in this setting alone."""
    found = []
    for one, other in combinations(systems, 2):
        if not _differ_only(one, other, factor):
            continue
        first, second = sorted((one, other), key=lambda s: _FIRST[factor].index(getattr(s.settings, factor)))
        found += [each for name in ALL if (each := _difference(first, second, factor, name)) is not None]
    tested = [each for each in found if each.p is not None]
    adjusted = dict(
        zip(map(id, tested), holm([each.p for each in tested if each.p is not None]), strict=True)
    )
    return [replace(each, p_adjusted=adjusted.get(id(each))) for each in found]


def ablation_tables(systems: Sequence[System]) -> list[Table]:
    """A table per setting in which systems of one agent differ."""
    tables = []
    for factor, title in FACTORS.items():
        if found := differences(systems, factor):
            tables.append(_table(factor, title, found))
    return tables


def _differ_only(one: System, other: System, factor: str) -> bool:
    if one.agent != other.agent or getattr(one.settings, factor) == getattr(other.settings, factor):
        return False
    same = other.settings.model_copy(update={factor: getattr(one.settings, factor)})
    return same == one.settings and one.limits == other.limits


def _difference(first: System, second: System, factor: str, name: str) -> Difference | None:
    before, after = first.by_task(name), second.by_task(name)
    tasks = sorted(before.keys() & after.keys())
    if not tasks:
        return None
    before, after = ({task: values[task] for task in tasks} for values in (before, after))
    tested = paired_bootstrap(before, after)
    change = " → ".join(str(getattr(system.settings, factor)) for system in (first, second))
    return Difference(
        first.agent,
        factor,
        change,
        name,
        len(tasks),
        sum(before.values()) / len(tasks),
        sum(after.values()) / len(tasks),
        tested.interval.low,
        tested.interval.high,
        tested.p_value if len(tasks) >= MIN_TASKS else None,
    )


def _table(factor: str, title: str, found: Sequence[Difference]) -> Table:
    rows = tuple(
        (
            each.agent,
            each.change,
            each.metric,
            each.n,
            Estimate(each.before, None, unit="%"),
            Estimate(each.after, None, unit="%"),
            Estimate(each.difference, None, each.low, each.high, "points"),
            each.p,
            each.p_adjusted,
        )
        for each in found
    )
    texts = tuple(Column(name) for name in ("agent", factor, "metric"))
    figures = ("tasks", "before", "after", "difference", "p", "p adjusted")
    note = (
        "Paired by task, over the tasks that have a value under both; a level of a task is the mean of its "
        "metrics that apply. Interval and p by paired bootstrap, adjusted by Holm over the table; below "
        f"{MIN_TASKS} tasks there is no p, and intervals are too narrow."
    )
    columns = (*texts, *(Column(name, "right") for name in figures))
    return Table(f"lmbuild.{factor}", f"{title}: paired differences", columns, rows, note)
