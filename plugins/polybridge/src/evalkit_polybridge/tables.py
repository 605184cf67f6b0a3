"""Tables of a run: by agent and condition, by suite and group, by family and tag, and what designs fail on.

Everything is counted from the trajectories of the episodes that have a result. Intervals are 95 %: Wilson
for rates, a bootstrap over families for mean costs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit import Episode, EpisodeKey, Task
from evalkit.report import Cell, Column, Estimate, Rate, Table
from evalkit.stats import bootstrap_mean, wilson
from evalkit_polybridge.levels.families import FAMILIES
from evalkit_polybridge.trajectory import Trajectory, read_trajectory

GROUPS = {
    "T1": "T1 anchors, connectivity",
    "T2": "T2 terrain, geometry",
    "T4": "T4 dynamic load",
    "G": "G compositions",
}
SUITES = ("core", "compositional")

BOOTSTRAP_SEED = 0


@dataclass(frozen=True, slots=True)
class _Played:
    """An episode as the tables see it; `cost_ratio` is None unless it succeeded."""

    key: EpisodeKey
    trajectory: Trajectory
    hidden: Mapping[str, Any]
    cost_ratio: float | None

    @staticmethod
    def of(episode: Episode, task: Task) -> _Played:
        trajectory = read_trajectory(episode)
        cost = None if trajectory.success is None else trajectory.success.cost
        ratio = None if cost is None else cost / float(task.hidden["strict_budget"])
        return _Played(episode.key, trajectory, task.hidden, ratio)


_System = tuple[str, str]
_Figure = tuple[str, Callable[[Sequence[_Played]], Cell]]


def breakdown(episodes: Sequence[tuple[Episode, Task]]) -> list[Table]:
    """All tables of a run; `episodes` are those with a result, of any number of agents and conditions.

    `polybridge.systems` and `polybridge.errors` hold every agent and condition; `polybridge.groups`,
    `polybridge.families` and `polybridge.tags` exist for each, with `/agent/condition` behind their name.
    """
    systems: dict[_System, list[_Played]] = {}
    for episode, task in episodes:
        played = _Played.of(episode, task)
        systems.setdefault((played.key.agent, played.key.condition), []).append(played)
    tables = [_by_system(systems)]
    for system, played_by in systems.items():
        tables += [_by_group(system, played_by), _by_family(system, played_by), _by_tag(system, played_by)]
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


def _valid(k: int) -> _Figure:
    return f"Valid@{k}", lambda group: rate(p.trajectory.valid_at(k) for p in group)


def _success(k: int) -> _Figure:
    return f"Success@{k}", lambda group: rate(p.trajectory.success_at(k) for p in group)


def _recovery(group: Sequence[_Played]) -> Cell:
    return rate(p.trajectory.recovery_at(3) for p in group)


def _mean_cost_ratio(group: Sequence[_Played]) -> Cell:
    """Mean of cost ÷ strict budget over the successes; families are resampled whole."""
    counted = [(p.cost_ratio, str(p.hidden["family"])) for p in group if p.cost_ratio is not None]
    if not counted:
        return Estimate(None, 0)
    ratios, families = [ratio for ratio, _ in counted], [family for _, family in counted]
    interval = bootstrap_mean(ratios, families, seed=BOOTSTRAP_SEED)
    mean = math.fsum(ratios) / len(ratios)
    return Estimate(mean, len(ratios), interval.low, interval.high, method="bootstrap(cluster=family)")


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
