"""Tables of a run: by agent and condition, by suite and group, by family and tag, and what designs fail on.

Everything is counted from the trajectories of the episodes that have a result. Intervals are 95 %: Wilson
for rates, a bootstrap over families for mean costs. A condition is headed by its name and, where that is
another, by the budget that its levels had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
class _Played:
    """An episode as the tables see it; `cost_ratio` is that metric's score."""

    key: EpisodeKey
    trajectory: Trajectory
    hidden: Mapping[str, Any]
    cost_ratio: Score

    @staticmethod
    def of(episode: Episode, task: Task) -> _Played:
        ratio = CostRatio({}).measure(episode, task)
        return _Played(episode.key, read_trajectory(episode), task.hidden, ratio)

    @property
    def condition(self) -> str:
        """`loose`, or `loose (strict budget)` where the name of the condition promises another budget."""
        name, budget = self.key.condition, self.hidden["budget_name"]
        return name if name == budget else f"{name} ({budget} budget)"


_System = tuple[str, str]
_Figure = tuple[str, Callable[[Sequence[_Played]], Cell]]


def breakdown(episodes: Sequence[tuple[Episode, Task]], missing: Sequence[Task] = ()) -> list[Table]:
    """All tables of a run; `episodes` are those with a result, of any number of agents and conditions.

    `missing` are the tasks of planned episodes without a result, one for each; every table says how many
    they are.

    `polybridge.systems` and `polybridge.errors` hold every agent and condition; `polybridge.groups`,
    `polybridge.families` and `polybridge.tags` exist for each, with `/agent/condition` behind their name.
    """
    systems: dict[_System, list[_Played]] = {}
    for episode, task in episodes:
        played = _Played.of(episode, task)
        systems.setdefault((played.key.agent, played.condition), []).append(played)
    tables = [_by_system(systems)]
    for system, played_by in systems.items():
        tables += [_by_group(system, played_by), _by_family(system, played_by), _by_tag(system, played_by)]
    tables.append(_errors(systems))
    if not missing:
        return tables
    left_out = f"{len(missing)} of {len(episodes) + len(missing)} planned episodes have no result: left out"
    return [replace(table, note="\n".join(filter(None, (table.note, left_out)))) for table in tables]


# --- Figures -----------------------------------------------------------------------------------------


def rate(held: Iterable[bool | None]) -> Rate:
    """A proportion with its counts and Wilson interval; None is outside the denominator."""
    counted = [value for value in held if value is not None]
    successes, n = sum(counted), len(counted)
    interval = wilson(successes, n)
    return Rate(
        successes / n if n else None, successes, n, interval.low, interval.high, method=interval.method
    )


def _valid(k: int) -> _Figure:
    return f"Valid@{k}", lambda group: rate(p.trajectory.valid_at(k) for p in group)


def _success(k: int) -> _Figure:
    return f"Success@{k}", lambda group: rate(p.trajectory.success_at(k) for p in group)


def _recovery(group: Sequence[_Played]) -> Cell:
    return rate(p.trajectory.recovery_at(3) for p in group)


def _mean_cost_ratio(group: Sequence[_Played]) -> Cell:
    """The metric over the group."""
    scores = {p.key: p.cost_ratio for p in group}
    families = {p.key: str(p.hidden["family"]) for p in group}
    found = aggregate(COST_RATIO, scores, clusters=families)
    return Estimate(found.value, found.denominator, found.low, found.high, method=found.method)


_SYSTEM_FIGURES: tuple[_Figure, ...] = (
    ("n", len),
    *(_valid(k) for k in (1, 2, 3)),
    *(_success(k) for k in (1, 2, 3)),
    ("Recovery@3", _recovery),
)
_GROUP_FIGURES: tuple[_Figure, ...] = (
    ("n", len),
    *(_valid(k) for k in (1, 3)),
    *(_success(k) for k in (1, 3)),
    ("Recovery@3", _recovery),
    ("cost ÷ strict budget", _mean_cost_ratio),
)


def _columns(heads: Iterable[str], figures: Iterable[_Figure]) -> tuple[Column, ...]:
    return (*(Column(head) for head in heads), *(Column(name, "right") for name, _ in figures))


def _cells(group: Sequence[_Played], figures: Iterable[_Figure]) -> list[Cell]:
    return [figure(group) for _, figure in figures]


# --- Tables ------------------------------------------------------------------------------------------


def _by_system(systems: Mapping[_System, Sequence[_Played]]) -> Table:
    """A row per agent and condition, in the shape in which results of the benchmark are published."""
    rows = tuple((*system, *_cells(group, _SYSTEM_FIGURES)) for system, group in systems.items())
    return Table(
        "polybridge.systems",
        "PolyBridge by agent and condition",
        _columns(("agent", "condition"), _SYSTEM_FIGURES),
        rows,
        "Recovery@3: of the episodes with a failed run before call 3, those that succeeded afterwards",
    )


def _by_group(system: _System, played: Sequence[_Played]) -> Table:
    groups = {"all levels": list(played)}
    groups |= {suite: [p for p in played if p.hidden["suite"] == suite] for suite in SUITES}
    groups |= {title: [p for p in played if p.hidden["group"] == group] for group, title in GROUPS.items()}
    return _grouped("groups", "suite and group", system, groups)


def _by_family(system: _System, played: Sequence[_Played]) -> Table:
    titles = {family.id: f"{family.id} {family.title}" for family in FAMILIES}
    groups: dict[str, list[_Played]] = {title: [] for title in titles.values()}
    for p in played:
        family = p.hidden["family"]
        groups.setdefault(titles.get(family, family), []).append(p)
    return _grouped("families", "family", system, groups)


def _by_tag(system: _System, played: Sequence[_Played]) -> Table:
    tags = sorted({tag for p in played for tag in p.hidden["tags"]})
    groups = {tag: [p for p in played if tag in p.hidden["tags"]] for tag in tags}
    return _grouped("tags", "tag", system, groups, "A level can have several tags")


def _grouped(
    name: str, by: str, system: _System, groups: Mapping[str, Sequence[_Played]], note: str = ""
) -> Table:
    """A row per group that was played."""
    agent, condition = system
    rows = tuple((title, *_cells(group, _GROUP_FIGURES)) for title, group in groups.items() if group)
    return Table(
        f"polybridge.{name}/{agent}/{condition}",
        f"By {by}: {agent}, {condition}",
        _columns((by,), _GROUP_FIGURES),
        rows,
        note,
        headline=name == "groups",
    )


def _errors(systems: Mapping[_System, Sequence[_Played]]) -> Table:
    """What share of all recorded errors of an agent and condition each code has.

    The shares have no interval: errors of one episode depend on each other.
    """
    counts = [
        Counter(code for played in group for call in played.trajectory.calls for code in call.codes)
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
