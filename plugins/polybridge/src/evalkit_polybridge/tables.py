"""Tables of a run: by agent and condition, by suite and group, by family and tag, and what designs fail on.

`measures` says what is in a cell. A condition is headed by its name and, where that is another, by the budget
that its levels had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from evalkit import Episode, EpisodeKey, Task
from evalkit.report import Cell, Column, Rate, Table
from evalkit_polybridge.levels.families import FAMILIES
from evalkit_polybridge.measures import (
    MEAN_COST_RATIO,
    Measure,
    Planned,
    System,
    cells,
    columns,
    count,
    recovery,
    success,
    trajectories,
    valid,
    with_missing,
)

GROUPS = {
    "T1": "T1 anchors, connectivity",
    "T2": "T2 terrain, geometry",
    "T4": "T4 dynamic load",
    "G": "G compositions",
}
SUITES = ("core", "compositional")


def breakdown(
    played: Sequence[tuple[Episode, Task]], missing: Sequence[tuple[EpisodeKey, Task]] = ()
) -> list[Table]:
    """All tables of a run, of any number of agents and conditions.

    `played` are the episodes that have a result, `missing` the planned ones that have none.

    `polybridge.systems` and `polybridge.errors` hold every agent and condition; `polybridge.groups`,
    `polybridge.families` and `polybridge.tags` exist for each, with `/agent/condition` behind their name.
    """
    planned = [Planned.of(episode, task) for episode, task in played]
    planned += [Planned(key, task) for key, task in missing]
    systems: dict[System, list[Planned]] = {}
    for episode in planned:
        systems.setdefault(episode.system, []).append(episode)
    tables = [_by_system(systems)]
    for system, group in systems.items():
        tables += [_by_group(system, group), _by_family(system, group), _by_tag(system, group)]
    return [*tables, error_composition(systems)]


_OF_SYSTEM: tuple[Measure, ...] = (
    ("n", count),
    *(valid(k) for k in (1, 2, 3)),
    *(success(k) for k in (1, 2, 3)),
    ("Recovery@3", recovery),
)
_OF_GROUP: tuple[Measure, ...] = (
    ("n", count),
    *(valid(k) for k in (1, 3)),
    *(success(k) for k in (1, 3)),
    ("Recovery@3", recovery),
    MEAN_COST_RATIO,
)


def _by_system(systems: Mapping[System, Sequence[Planned]]) -> Table:
    """A row per agent and condition, in the shape in which results of the benchmark are published."""
    figures = with_missing(_OF_SYSTEM, systems.values())
    rows = tuple((*system, *cells(group, figures)) for system, group in systems.items())
    return Table(
        "polybridge.systems",
        "PolyBridge by agent and condition",
        columns(("agent", "condition"), figures),
        rows,
        "Recovery@3: of the episodes with a failed run before call 3, those that succeeded afterwards",
    )


def _by_group(system: System, played: Sequence[Planned]) -> Table:
    groups = {"all levels": list(played)}
    groups |= {suite: [p for p in played if p.hidden["suite"] == suite] for suite in SUITES}
    groups |= {title: [p for p in played if p.hidden["group"] == group] for group, title in GROUPS.items()}
    return _grouped("groups", "suite and group", system, groups)


def _by_family(system: System, played: Sequence[Planned]) -> Table:
    titles = {family.id: f"{family.id} {family.title}" for family in FAMILIES}
    groups: dict[str, list[Planned]] = {title: [] for title in titles.values()}
    for p in played:
        family = p.hidden["family"]
        groups.setdefault(titles.get(family, family), []).append(p)
    return _grouped("families", "family", system, groups)


def _by_tag(system: System, played: Sequence[Planned]) -> Table:
    tags = sorted({tag for p in played for tag in p.hidden["tags"]})
    groups = {tag: [p for p in played if tag in p.hidden["tags"]] for tag in tags}
    return _grouped("tags", "tag", system, groups, "A level can have several tags")


def _grouped(
    name: str, by: str, system: System, groups: Mapping[str, Sequence[Planned]], note: str = ""
) -> Table:
    """A row per group that was planned."""
    agent, condition = system
    figures = with_missing(_OF_GROUP, groups.values())
    rows = tuple((title, *cells(group, figures)) for title, group in groups.items() if group)
    return Table(
        f"polybridge.{name}/{agent}/{condition}",
        f"By {by}: {agent}, {condition}",
        columns((by,), figures),
        rows,
        note,
        headline=name == "groups",
    )


def error_composition(systems: Mapping[System, Sequence[Planned]]) -> Table:
    """What share of all recorded errors of an agent and condition each code has.

    The shares have no interval: errors of one episode depend on each other.
    """
    counts = [error_counts(group) for group in systems.values()]
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


def error_counts(group: Sequence[Planned]) -> Counter[str]:
    """How many calls each code was found in."""
    return Counter(code for t in trajectories(group) for call in t.calls for code in call.codes)


def _error_share(count: Counter[str], code: str) -> Rate:
    total = count.total()
    return Rate(count[code] / total if total else None, count[code], total)
