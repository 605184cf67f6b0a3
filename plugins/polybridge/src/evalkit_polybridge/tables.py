"""Tables of a run: by agent and condition, by suite and group, by family and tag, and what designs fail on.

Everything is counted from the trajectories of the episodes that have a result. Where planned episodes have
none, two more columns count them, and count them as failures. Intervals are 95 %: Wilson
for rates, a bootstrap over families for mean costs. A condition is headed by its name and, where that is
another, by the budget that its levels had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit import Episode, EpisodeKey, Score, Task
from evalkit.report import Cell, Column, Estimate, Rate, Table
from evalkit.report.aggregate import aggregate
from evalkit.stats import wilson
from evalkit_polybridge.levels.families import FAMILIES
from evalkit_polybridge.metrics import CostRatio
from evalkit_polybridge.specs import COST_RATIO
from evalkit_polybridge.trajectory import Trajectory, read_trajectory

GROUPS = {
    "T1": "T1 anchors, connectivity",
    "T2": "T2 terrain, geometry",
    "T4": "T4 dynamic load",
    "G": "G compositions",
}
SUITES = ("core", "compositional")


@dataclass(frozen=True, slots=True)
class _Planned:
    """An episode as the tables see it; `trajectory` is None if it has no result.

    `cost_ratio` is that metric's score.
    """

    key: EpisodeKey
    hidden: Mapping[str, Any]
    trajectory: Trajectory | None = None
    cost_ratio: Score | None = None

    @staticmethod
    def of(episode: Episode, task: Task) -> _Planned:
        ratio = CostRatio({}).measure(episode, task)
        return _Planned(episode.key, task.hidden, read_trajectory(episode), ratio)

    @property
    def system(self) -> _System:
        """Agent and condition: `loose`, or `loose (strict budget)` where the name promises another one."""
        name, budget = self.key.condition, self.hidden["budget_name"]
        return self.key.agent, name if name == budget else f"{name} ({budget} budget)"


_System = tuple[str, str]
_Figure = tuple[str, Callable[[Sequence["_Planned"]], Cell]]


def breakdown(
    played: Sequence[tuple[Episode, Task]], missing: Sequence[tuple[EpisodeKey, Task]] = ()
) -> list[Table]:
    """All tables of a run, of any number of agents and conditions.

    `played` are the episodes that have a result, `missing` the planned ones that have none.

    `polybridge.systems` and `polybridge.errors` hold every agent and condition; `polybridge.groups`,
    `polybridge.families` and `polybridge.tags` exist for each, with `/agent/condition` behind their name.
    """
    planned = [_Planned.of(episode, task) for episode, task in played]
    planned += [_Planned(key, task.hidden) for key, task in missing]
    systems: dict[_System, list[_Planned]] = {}
    for episode in planned:
        systems.setdefault(episode.system, []).append(episode)
    tables = [_by_system(systems)]
    for system, group in systems.items():
        tables += [_by_group(system, group), _by_family(system, group), _by_tag(system, group)]
    return [*tables, _errors(systems)]


# --- Figures -----------------------------------------------------------------------------------------


def rate(held: Iterable[bool | None]) -> Rate:
    """A proportion with its counts and Wilson interval; None is outside the denominator."""
    counted = [value for value in held if value is not None]
    successes, n = sum(counted), len(counted)
    interval = wilson(successes, n)
    return Rate(
        successes / n if n else None, successes, n, interval.low, interval.high, method=interval.method
    )


def _trajectories(group: Sequence[_Planned]) -> list[Trajectory]:
    return [p.trajectory for p in group if p.trajectory is not None]


def _count(group: Sequence[_Planned]) -> Cell:
    return len(_trajectories(group))


def _valid(k: int) -> _Figure:
    return f"Valid@{k}", lambda group: rate(t.valid_at(k) for t in _trajectories(group))


def _success(k: int) -> _Figure:
    return f"Success@{k}", lambda group: rate(t.success_at(k) for t in _trajectories(group))


def _recovery(group: Sequence[_Planned]) -> Cell:
    return rate(t.recovery_at(3) for t in _trajectories(group))


def _mean_cost_ratio(group: Sequence[_Planned]) -> Cell:
    """The metric over the group."""
    scores = {p.key: p.cost_ratio for p in group if p.cost_ratio is not None}
    families = {p.key: str(p.hidden["family"]) for p in group}
    found = aggregate(COST_RATIO, scores, clusters=families)
    return Estimate(found.value, found.denominator, found.low, found.high, method=found.method)


def _without_result(group: Sequence[_Planned]) -> int:
    return sum(p.trajectory is None for p in group)


def _success_of_planned(group: Sequence[_Planned]) -> Cell:
    """Success@3 with every episode without a result as a failure."""
    return rate(p.trajectory is not None and p.trajectory.success_at(3) for p in group)


_SYSTEM_FIGURES: tuple[_Figure, ...] = (
    ("n", _count),
    *(_valid(k) for k in (1, 2, 3)),
    *(_success(k) for k in (1, 2, 3)),
    ("Recovery@3", _recovery),
)
_GROUP_FIGURES: tuple[_Figure, ...] = (
    ("n", _count),
    *(_valid(k) for k in (1, 3)),
    *(_success(k) for k in (1, 3)),
    ("Recovery@3", _recovery),
    ("cost ÷ strict budget", _mean_cost_ratio),
)
_MISSING_FIGURES: tuple[_Figure, ...] = (
    ("no result", _without_result),
    ("Success@3, missing as failures", _success_of_planned),
)


def _figures(usual: tuple[_Figure, ...], groups: Iterable[Sequence[_Planned]]) -> tuple[_Figure, ...]:
    """The usual figures, and those on missing episodes where there are any."""
    return (*usual, *_MISSING_FIGURES) if any(map(_without_result, groups)) else usual


def _columns(heads: Iterable[str], figures: Iterable[_Figure]) -> tuple[Column, ...]:
    return (*(Column(head) for head in heads), *(Column(name, "right") for name, _ in figures))


def _cells(group: Sequence[_Planned], figures: Iterable[_Figure]) -> list[Cell]:
    return [figure(group) for _, figure in figures]


# --- Tables ------------------------------------------------------------------------------------------


def _by_system(systems: Mapping[_System, Sequence[_Planned]]) -> Table:
    """A row per agent and condition, in the shape in which results of the benchmark are published."""
    figures = _figures(_SYSTEM_FIGURES, systems.values())
    rows = tuple((*system, *_cells(group, figures)) for system, group in systems.items())
    return Table(
        "polybridge.systems",
        "PolyBridge by agent and condition",
        _columns(("agent", "condition"), figures),
        rows,
        "Recovery@3: of the episodes with a failed run before call 3, those that succeeded afterwards",
    )


def _by_group(system: _System, played: Sequence[_Planned]) -> Table:
    groups = {"all levels": list(played)}
    groups |= {suite: [p for p in played if p.hidden["suite"] == suite] for suite in SUITES}
    groups |= {title: [p for p in played if p.hidden["group"] == group] for group, title in GROUPS.items()}
    return _grouped("groups", "suite and group", system, groups)


def _by_family(system: _System, played: Sequence[_Planned]) -> Table:
    titles = {family.id: f"{family.id} {family.title}" for family in FAMILIES}
    groups: dict[str, list[_Planned]] = {title: [] for title in titles.values()}
    for p in played:
        family = p.hidden["family"]
        groups.setdefault(titles.get(family, family), []).append(p)
    return _grouped("families", "family", system, groups)


def _by_tag(system: _System, played: Sequence[_Planned]) -> Table:
    tags = sorted({tag for p in played for tag in p.hidden["tags"]})
    groups = {tag: [p for p in played if tag in p.hidden["tags"]] for tag in tags}
    return _grouped("tags", "tag", system, groups, "A level can have several tags")


def _grouped(
    name: str, by: str, system: _System, groups: Mapping[str, Sequence[_Planned]], note: str = ""
) -> Table:
    """A row per group that was planned."""
    agent, condition = system
    figures = _figures(_GROUP_FIGURES, groups.values())
    rows = tuple((title, *_cells(group, figures)) for title, group in groups.items() if group)
    return Table(
        f"polybridge.{name}/{agent}/{condition}",
        f"By {by}: {agent}, {condition}",
        _columns((by,), figures),
        rows,
        note,
        headline=name == "groups",
    )


def _errors(systems: Mapping[_System, Sequence[_Planned]]) -> Table:
    """What share of all recorded errors of an agent and condition each code has.

    The shares have no interval: errors of one episode depend on each other.
    """
    counts = [
        Counter(
            code for trajectory in _trajectories(group) for call in trajectory.calls for code in call.codes
        )
        for group in systems.values()
    ]
    overall = sum(counts, Counter[str]())
    rows: list[tuple[Cell, ...]] = [
        (code, *(_error_share(count, code) for count in counts))
        for code in sorted(overall, key=lambda code: (-overall[code], code))
    ]
    return Table(
        "polybridge.errors",
        "What designs fail on, as shares of all recorded errors",
        (Column("error"), *(Column(f"{agent}, {condition}", "right") for agent, condition in systems)),
        tuple(rows),
        "A code counts once for each call in which it was found; a call can have several codes",
    )


def _error_share(count: Counter[str], code: str) -> Rate:
    total = count.total()
    return Rate(count[code] / total if total else None, count[code], total)
