"""What is counted and averaged over groups of episodes: the cells of this benchmark's tables.

Everything is read from the trajectories of the episodes that have a result; where planned episodes have none,
two more measures count them, and count them as failures. Intervals are 95 %: Wilson for rates, a bootstrap
over families for means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit import Episode, EpisodeKey, Metric, Task
from evalkit.report import Cell, Column, Estimate, Rate
from evalkit.report.aggregate import aggregate
from evalkit.stats import wilson
from evalkit_polybridge import metrics
from evalkit_polybridge.specs import METRICS
from evalkit_polybridge.trajectory import Trajectory, read_trajectory

System = tuple[str, str]
"""An agent and the name of a condition."""

Measure = tuple[str, Callable[[Sequence["Planned"]], Cell]]
"""A column's heading and what makes its cell of a group of episodes."""

_SPECS = {spec.id: spec for spec in METRICS}


@dataclass(frozen=True, slots=True)
class Planned:
    """An episode as tables see it; `trajectory` and `episode` are None if it has no result."""

    key: EpisodeKey
    task: Task
    episode: Episode | None = None
    trajectory: Trajectory | None = None

    @staticmethod
    def of(episode: Episode, task: Task) -> Planned:
        """An episode that has a result."""
        return Planned(episode.key, task, episode, read_trajectory(episode))

    @property
    def hidden(self) -> Mapping[str, Any]:
        """What the level's author knows of it: family, group, suite, tags, budgets."""
        return self.task.hidden

    @property
    def system(self) -> System:
        """Agent and condition: `loose`, or `loose (strict budget)` where the name promises another one."""
        name, budget = self.key.condition, self.hidden["budget_name"]
        return self.key.agent, name if name == budget else f"{name} ({budget} budget)"


def rate(held: Iterable[bool | None]) -> Rate:
    """A proportion with its counts and Wilson interval; None is outside the denominator."""
    counted = [value for value in held if value is not None]
    successes, n = sum(counted), len(counted)
    interval = wilson(successes, n)
    return Rate(
        successes / n if n else None, successes, n, interval.low, interval.high, method=interval.method
    )


def trajectories(group: Sequence[Planned]) -> list[Trajectory]:
    """Those of the episodes that have a result."""
    return [p.trajectory for p in group if p.trajectory is not None]


def count(group: Sequence[Planned]) -> Cell:
    """How many episodes have a result."""
    return len(trajectories(group))


def valid(k: int) -> Measure:
    """Valid@k."""
    return f"Valid@{k}", lambda group: rate(t.valid_at(k) for t in trajectories(group))


def success(k: int) -> Measure:
    """Success@k."""
    return f"Success@{k}", lambda group: rate(t.success_at(k) for t in trajectories(group))


def recovery(group: Sequence[Planned]) -> Cell:
    """Recovery@3."""
    return rate(t.recovery_at(3) for t in trajectories(group))


def aggregated(name: str, target: type[Metric]) -> Callable[[Sequence[Planned]], Cell]:
    """The mean or total of the metric `polybridge.<name>`, a class of `metrics`, over a group."""
    spec = _SPECS[f"polybridge.{name}"]

    def over(group: Sequence[Planned]) -> Cell:
        scores = {p.key: target({}).measure(p.episode, p.task) for p in group if p.episode is not None}
        families = {p.key: str(p.hidden["family"]) for p in group}
        found = aggregate(spec, scores, clusters=families)
        value = found.value
        if spec.kind == "total" and value is not None:
            value = int(value)
        return Estimate(value, found.denominator, found.low, found.high, spec.unit, method=found.method)

    return over


MEAN_COST_RATIO: Measure = ("cost ÷ strict budget", aggregated("cost_ratio", metrics.CostRatio))


def _without_result(group: Sequence[Planned]) -> int:
    return sum(p.trajectory is None for p in group)


def _success_of_planned(group: Sequence[Planned]) -> Cell:
    """Success@3 with every episode without a result as a failure."""
    return rate(p.trajectory is not None and p.trajectory.success_at(3) for p in group)


_OF_MISSING: tuple[Measure, ...] = (
    ("no result", _without_result),
    ("Success@3, missing as failures", _success_of_planned),
)


def with_missing(usual: tuple[Measure, ...], groups: Iterable[Sequence[Planned]]) -> tuple[Measure, ...]:
    """The usual figures, and those on missing episodes where there are any."""
    return (*usual, *_OF_MISSING) if any(map(_without_result, groups)) else usual


def columns(heads: Iterable[str], figures: Iterable[Measure]) -> tuple[Column, ...]:
    """Headings of a table that begins with texts."""
    return (*(Column(head) for head in heads), *(Column(name, "right") for name, _ in figures))


def cells(group: Sequence[Planned], figures: Iterable[Measure]) -> list[Cell]:
    """A row's cells."""
    return [figure(group) for _, figure in figures]
