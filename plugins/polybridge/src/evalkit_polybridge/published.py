"""Tables of several runs together, in the shape in which results of the benchmark are published.

Level 1 are the 149 levels with one thing to master each (suite `core`), Level 2 the 40 that combine several
(`compositional`). Conditions of suites that aren't named after them are told apart by the suite's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evalkit import EpisodeKey, Task, UsageError
from evalkit.report import Cell, Column, Rate, RecordedRun, Table
from evalkit_polybridge import metrics
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.levels.families import FAMILIES
from evalkit_polybridge.measures import (
    MEAN_COST_RATIO,
    Measure,
    Planned,
    System,
    aggregated,
    cells,
    columns,
    count,
    rate,
    recovery,
    success,
    trajectories,
    valid,
    with_missing,
)
from evalkit_polybridge.protocol_names import deviation
from evalkit_polybridge.release.gather import agent_entry, frozen
from evalkit_polybridge.tables import GROUPS, error_composition
from evalkit_polybridge.trajectory import Trajectory

LEVELS = {"Level 1": "core", "Level 2": "compositional"}
FAMILY_TITLES = {family.id: f"{family.id} {family.title}" for family in FAMILIES}
REFUSED = "refused: "


def systems_of(runs: Sequence[RecordedRun]) -> dict[System, list[Planned]]:
    """The episodes of runs by agent and condition, in the order of the runs.

    A condition is followed by what its protocol deviates in from the reported one, so that an ablation is
    never counted with what it is compared to, whatever runs are beside it.
    UsageError if two runs hold the same episode under the same condition, or if there is another difference
    between two runs of one agent and condition.
    """
    systems: dict[System, list[Planned]] = {}
    owner: dict[tuple[System, EpisodeKey], RecordedRun] = {}
    sources: dict[System, list[RecordedRun]] = {}
    for run in runs:
        planned = [Planned.of(episode, task) for episode, task in run.played]
        planned += [Planned(key, task) for key, task in run.missing]
        deviates = deviation(run)
        for episode in planned:
            agent, condition = episode.system
            name = _condition(str(run.manifest["suite"]["name"]), condition)
            system = (agent, f"{name} ({deviates})" if deviates else name)
            other = owner.setdefault((system, episode.key), run)
            if other is not run:
                raise UsageError(f"{_both(other, run)} hold {episode.key.text()}: leave one of the runs out")
            if sources.setdefault(system, [run])[-1] is not run:
                sources[system].append(run)
            systems.setdefault(system, []).append(episode)
    for system, (first, *others) in sources.items():
        for run in others:
            _require_alike(system, first, run)
    return systems


def _require_alike(system: System, first: RecordedRun, run: RecordedRun) -> None:
    """UsageError if episodes of both runs can't be counted together."""
    agent, condition = system
    one, other = (
        {**frozen(r), "agent": agent_entry(r, agent), "folder": r.manifest["protocol"]["tasks"].get("folder")}
        for r in (first, run)
    )
    names = [name for name in {**one, **other} if one.get(name) != other.get(name)]
    if names:
        raise UsageError(
            f"{_both(first, run)} are of {agent} under {condition} and differ in {', '.join(names)}: "
            "leave one of the runs out"
        )


def _both(one: RecordedRun, other: RecordedRun) -> str:
    return f"{one.reader.folder} and {other.reader.folder} both"


def _condition(suite: str, condition: str) -> str:
    """`strict` of polybridge.strict, but `heldout strict` of polybridge.heldout."""
    name = suite.removeprefix("polybridge.")
    return condition if name == condition.split()[0] else f"{name} {condition}"


def published(systems: Mapping[System, Sequence[Planned]]) -> list[Table]:
    """Main results, groups, recovery and resources, errors, ends, efficiency, and what was played."""
    return [
        _main(systems),
        by_call(systems),
        capabilities(systems),
        _resources(systems),
        error_composition(systems),
        ends(systems),
        efficiency(systems),
        composition(tasks_of(systems)),
    ]


def tasks_of(systems: Mapping[System, Sequence[Planned]]) -> list[Task]:
    """Every level once, whoever played it under whatever budget."""
    return list({p.task.id: p.task for group in systems.values() for p in group}.values())


def _main(systems: Mapping[System, Sequence[Planned]]) -> Table:
    measures: list[Measure] = [("n", count)]
    for title, suite in LEVELS.items():
        measures += [_within(title, "suite", suite, valid(3)), _within(title, "suite", suite, success(3))]
    for name, over in (valid(3), success(3)):
        measures.append((f"overall {name}", over))
    note = "Level 1: one thing to master each; Level 2: compositions"
    if len({frozenset(p.task.id for p in group) for group in systems.values()}) > 1:
        note += "\nThe rows are of different levels: a difference between them may come from the levels"
    return _by_system("main", "Main results", systems, measures, note)


def by_call(systems: Mapping[System, Sequence[Planned]]) -> Table:
    """Valid and Success after 1, 2 and 3 calls, a row per agent and condition."""
    measures = [*(valid(k) for k in (1, 2, 3)), *(success(k) for k in (1, 2, 3))]
    return _by_system("by_call", "Valid and Success by call", systems, measures)


def capabilities(systems: Mapping[System, Sequence[Planned]]) -> Table:
    """Success@3 by group, a row per agent and condition."""
    measures = [_within(title, "group", group, success(3)) for group, title in GROUPS.items()]
    return _by_system("capabilities", "Success@3 by capability group", systems, measures)


def _resources(systems: Mapping[System, Sequence[Planned]]) -> Table:
    measures: list[Measure] = [
        ("Recovery@3", recovery),
        ("first run succeeds", lambda group: rate(t.first_attempt_success() for t in trajectories(group))),
        ("calls", aggregated("calls", metrics.Calls)),
        ("physics attempts", aggregated("physics_attempts", metrics.PhysicsAttempts)),
        ("calls to success", aggregated("calls_of_successes", metrics.CallsOfSuccesses)),
        ("validation repairs", aggregated("validation_repair_calls", metrics.ValidationRepairCalls)),
        ("physics repairs", aggregated("physics_repair_calls", metrics.PhysicsRepairCalls)),
    ]
    note = (
        "Recovery@3: of the episodes with a failed run before call 3, those that succeeded afterwards\n"
        "calls and attempts: means over all episodes; repairs: totals"
    )
    return _by_system("resources", "Recovery and resources", systems, measures, note)


def efficiency(systems: Mapping[System, Sequence[Planned]]) -> Table:
    """Success and what it cost, a row per agent and condition."""
    measures: list[Measure] = [
        success(3),
        ("cost of successes", aggregated("cost_of_successes", metrics.CostOfSuccesses)),
        MEAN_COST_RATIO,
    ]
    note = "costs: means over successes; the strict budget is the level's, whatever budget was played"
    return _by_system("efficiency", "Efficiency", systems, measures, note)


def ends(systems: Mapping[System, Sequence[Planned]]) -> Table:
    """How episodes end, by agent, condition and group: crossed, how the last run failed, or why refused.

    The outcomes of runs (`lost`, `timeout`) are the executor's own words.
    """
    rows: list[tuple[str, str, str, Counter[str]]] = []
    for (agent, condition), group in systems.items():
        for name, title in GROUPS.items():
            counted = Counter(_end(t) for t in trajectories([p for p in group if p.hidden["group"] == name]))
            if counted:
                rows.append((agent, condition, title, counted))
    seen = {end for *_, counted in rows for end in counted}
    heads = sorted(seen | {"crossed"}, key=lambda end: (end != "crossed", end.startswith(REFUSED), end))
    return Table(
        "polybridge.ends",
        "How episodes end",
        (*map(Column, ("agent", "condition", "group")), *(Column(head, "right") for head in heads)),
        tuple((*names, *(_share(counted, head) for head in heads)) for *names, counted in rows),
        "without a success an episode ends as its last run did; without a run, it counts under the first "
        "code of its last call",
    )


def _end(trajectory: Trajectory) -> str:
    if trajectory.success is not None:
        return "crossed"
    if trajectory.attempts:
        return str(trajectory.attempts[-1].evidence.get("outcome", "failed"))
    codes = trajectory.calls[-1].codes if trajectory.calls else ()
    return REFUSED + (codes[0] if codes else "no design")


def _share(counted: Counter[str], end: str) -> Rate:
    total = counted.total()
    return Rate(counted[end] / total, counted[end], total)


def composition(tasks: Iterable[Task]) -> Table:
    """What levels there are: families with their number, spans, vehicles and strict budgets."""
    families: dict[str, list[Task]] = {family: [] for family in FAMILY_TITLES}
    for task in tasks:
        families.setdefault(str(task.hidden["family"]), []).append(task)
    heads = ("levels", "span (m)", "vehicles", "heaviest (PG)", "strict budget ($)")
    rows: list[tuple[Cell, ...]] = []
    for family, listed in families.items():
        if listed:
            levels = [level_from_inputs(task.inputs) for task in listed]
            spreads: tuple[Sequence[float], ...] = (
                [level.span_m for level in levels],
                [len(level.vehicles_pg) for level in levels],
                [max(level.vehicles_pg, default=0.0) for level in levels],
                [float(task.hidden["strict_budget"]) for task in listed],
            )
            group = str(listed[0].hidden["group"])
            titles = (FAMILY_TITLES.get(family, family), GROUPS.get(group, group))
            rows.append((*titles, len(listed), *map(_spread, spreads)))
    return Table(
        "polybridge.composition",
        "What was played",
        (Column("family"), Column("group"), *(Column(head, "right") for head in heads)),
        tuple(rows),
    )


def _spread(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def _by_system(
    name: str,
    title: str,
    systems: Mapping[System, Sequence[Planned]],
    measures: Sequence[Measure],
    note: str = "",
) -> Table:
    """A row per agent and condition."""
    shown = with_missing(tuple(measures), systems.values())
    rows = tuple((*system, *cells(group, shown)) for system, group in systems.items())
    return Table(f"polybridge.{name}", title, columns(("agent", "condition"), shown), rows, note)


def _within(title: str, part: str, value: str, measure: Measure) -> Measure:
    """The measure over the episodes of one suite or group."""
    name, over = measure
    heading = title if part == "group" else f"{title} {name}"
    return heading, lambda group: over([p for p in group if p.hidden[part] == value])
