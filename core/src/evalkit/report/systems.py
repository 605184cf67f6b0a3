"""A report of runs: every agent's aggregates, the main tables, and the JSON that scripts read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evalkit.errors import END_POLICIES, EndReason
from evalkit.report.aggregate import STATUSES, Aggregate, Counterpart, aggregate, aggregate_run
from evalkit.report.formats import table_json
from evalkit.report.table import Cell, Column, Estimate, Rate, Table
from evalkit.run.plan import isolation_notices
from evalkit.types import EpisodeKey, Score, Task

if TYPE_CHECKING:
    from evalkit.run.scoring import RunScores
    from evalkit.store.reader import RunReader


@dataclass(frozen=True, slots=True)
class System:
    """One agent in one run: how its episodes fared, and its figure per metric id.

    Of the `planned` episodes, `played` ended somehow, `errors` of those in an error, and `finished` have a
    result that can be scored. `unscored` holds the reasons, one per episode, why others that were played
    can't be, `notices` what makes the figures doubtful.
    """

    run: str
    suite: str
    agent: str
    planned: int
    played: int
    errors: int
    finished: int
    aggregates: Mapping[str, Aggregate]
    unscored: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def systems_of(reader: RunReader, scores: RunScores | None) -> list[System]:
    """The agents of a run in the order of its manifest, their metrics in the order of the suite.

    Without scores (the plugin isn't installed, say) there are no figures.
    """
    index = reader.index()
    failed = {key for key, line in index.items() if END_POLICIES[EndReason(line["end"]["reason"])].error}
    unscored = scores.unscored if scores is not None else {}
    notes = {agent["id"]: isolation_notices(agent) for agent in reader.manifest["agents"]}
    systems = []
    for agent, planned in _by_agent(reader.planned()).items():
        finished = (planned & index.keys()) - failed - unscored.keys()
        systems.append(
            System(
                run=reader.name,
                suite=reader.manifest["suite"]["name"],
                agent=agent,
                planned=len(planned),
                played=len(planned & index.keys()),
                errors=len(planned & failed),
                finished=len(finished),
                aggregates=_aggregates(agent, planned, finished, scores) if scores is not None else {},
                unscored=tuple(why for key, why in unscored.items() if key in planned),
                notices=(*(scores.notices if scores is not None else ()), *notes.get(agent, ())),
            )
        )
    return systems


def main_tables(systems: Sequence[System]) -> list[Table]:
    """The table `main` of all figures, with both numbers where a result is missing.

    One system has a row per metric. Of several systems and metrics the longer list goes down the page,
    and the figures with missing episodes counted as failures are a second table, `main_missing`.
    """
    metrics = _metric_labels(systems)
    if len(systems) == 1:
        return [_single(systems[0], metrics)]
    names = _system_names(systems)
    scored = [[_scored(s.aggregates.get(metric)) for s in systems] for metric in metrics]
    tables = [_grid("main", _title(systems), metrics, names, scored, _note(systems, metrics, names))]
    if any(a.missing for s in systems for a in s.aggregates.values()):
        second = [[_with_missing(s.aggregates.get(metric)) for s in systems] for metric in metrics]
        tables.append(
            _grid("main_missing", "Episodes without a result as failures", metrics, names, second, "")
        )
    return tables


def merged_by_id(tables_of_runs: Sequence[tuple[str, Sequence[Table]]]) -> list[Table]:
    """Tables of named runs: those with one id and the same columns become one with a column `run`."""
    groups: dict[str, list[tuple[str, Table]]] = {}
    for run, tables in tables_of_runs:
        for table in tables:
            same = any(table.columns == other.columns for _, other in groups.get(table.id, [(run, table)]))
            groups.setdefault(table.id if same else f"{table.id}@{run}", []).append((run, table))
    return [_merged(table_id, group) for table_id, group in groups.items()]


def summary(systems: Sequence[System], tables: Sequence[Table]) -> dict[str, Any]:
    """The JSON of a report: `runs[{run, suite, agent, episodes{}, metrics{}, notices[]}]` and `tables{}`.

    Values, `low` and `high` of proportions are fractions; `missing` is null if every episode has a
    result, otherwise the second figure and how it counts them.
    """
    return {
        "runs": [
            {
                "run": system.run,
                "suite": system.suite,
                "agent": system.agent,
                "episodes": {
                    "planned": system.planned,
                    "played": system.played,
                    "errors": system.errors,
                    "finished": system.finished,
                },
                "metrics": {name: metric_json(a) for name, a in system.aggregates.items()},
                "notices": list(system.notices),
            }
            for system in systems
        ],
        "tables": {table.id: table_json(table) for table in tables},
    }


def metric_json(aggregate: Aggregate) -> dict[str, Any]:
    """One metric's entry in the JSON of a report."""
    missing = asdict(aggregate.missing) if aggregate.missing is not None else None
    statuses = {status: getattr(aggregate, status) for status in STATUSES if status != "ok"}
    return {
        "value": aggregate.value,
        "numerator": aggregate.numerator,
        "denominator": aggregate.denominator,
        "low": aggregate.low,
        "high": aggregate.high,
        "method": aggregate.method,
        "missing": missing,
        "label": aggregate.label,
        "kind": aggregate.kind,
        "unit": aggregate.unit,
        **statuses,
        "note": aggregate.note,
    }


def figure_cell(aggregate: Aggregate | Counterpart, of: Aggregate, word: str = "") -> Rate | Estimate:
    """A figure of the metric `of` as a cell."""
    a = aggregate
    if of.kind == "proportion":
        return Rate(a.value, a.numerator, a.denominator, a.low, a.high, of.unit, word, of.method)
    count = None if a.denominator == 0 and a.value is not None else a.denominator
    value = a.value
    if of.kind == "total" and value is not None and value.is_integer():
        value = int(value)
    return Estimate(value, count, a.low, a.high, of.unit, word, of.method)


def _by_agent(planned: Iterable[EpisodeKey]) -> dict[str, set[EpisodeKey]]:
    found: dict[str, set[EpisodeKey]] = {}
    for key in planned:
        found.setdefault(key.agent, set()).add(key)
    return found


def _aggregates(
    agent: str, planned: set[EpisodeKey], finished: set[EpisodeKey], scores: RunScores
) -> dict[str, Aggregate]:
    """Every metric's figure, in the order of `scores.specs`."""
    found: dict[str, Aggregate] = {}
    epochs = max((key.epoch for key in planned), default=1)
    for name, spec in scores.specs.items():
        if spec.scope == "run":
            nothing = Score(None, "unscored", {"why": "no episode has a result"})
            score = scores.run_scores[name].get(agent, nothing)
            found[name] = aggregate_run(spec, score, missing=len(planned - finished), epochs=epochs)
        else:
            own = {key: score for key, score in scores.episode_scores[name].items() if key.agent == agent}
            clusters = _clusters(spec.cluster, planned, scores.tasks) if spec.cluster else None
            found[name] = aggregate(spec, own, clusters=clusters, missing=planned - own.keys())
    return found


def _clusters(name: str, keys: Iterable[EpisodeKey], tasks: Mapping[str, Task]) -> dict[EpisodeKey, str]:
    """The cluster of each episode whose task declares one; another task is its own, with all its epochs."""
    return {
        key: str(tasks[key.task].hidden[name])
        for key in keys
        if key.task in tasks and name in tasks[key.task].hidden
    }


def _metric_labels(systems: Sequence[System]) -> dict[str, str]:
    """Metric id → label, with the id behind labels that two metrics share."""
    labels = {
        name: f"{a.label}, total" if a.kind == "total" else a.label
        for system in systems
        for name, a in system.aggregates.items()
    }
    uses = Counter(labels.values())
    return {name: f"{label} ({name})" if uses[label] > 1 else label for name, label in labels.items()}


def _system_names(systems: Sequence[System]) -> list[str]:
    """Names that tell systems apart: the agent, and as much of suite and run as that takes."""
    if len({system.suite for system in systems}) == 1:
        names = [system.agent for system in systems]
    else:
        names = [f"{system.agent} · {system.suite}" for system in systems]
    uses = Counter(names)
    return [f"{n} · {s.run}" if uses[n] > 1 else n for n, s in zip(names, systems, strict=True)]


def _title(systems: Sequence[System]) -> str:
    suites = " and ".join(dict.fromkeys(system.suite for system in systems))
    agents = len({system.agent for system in systems})
    runs = len({system.run for system in systems})
    return f"{suites} · {_counted(agents, 'agent')}, {_counted(runs, 'run')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _single(system: System, metrics: Mapping[str, str]) -> Table:
    columns = [Column("metric"), Column("over scored episodes")]
    aggregates = system.aggregates
    rows: list[list[Cell]] = [[label, _scored(aggregates[name])] for name, label in metrics.items()]
    if any(a.missing for a in aggregates.values()):
        columns.append(Column("missing as failures"))
        for row, name in zip(rows, metrics, strict=True):
            row.append(_with_missing(aggregates[name]))
    title = f"{system.suite} · {system.agent} · {_counted(system.planned, 'episode')}"
    note = _note([system], metrics, [""])
    return Table("main", title, tuple(columns), tuple(map(tuple, rows)), note, headline=True)


def _grid(
    table_id: str,
    title: str,
    metrics: Mapping[str, str],
    names: Sequence[str],
    figures: Sequence[Sequence[Cell]],
    note: str,
) -> Table:
    """`figures` holds a row per metric; it is turned where there are more systems than metrics."""
    down, across, head = list(metrics.values()), list(names), "metric"
    cells = figures
    if len(names) > len(metrics):
        down, across, head = across, down, "agent"
        cells = [[row[number] for row in figures] for number in range(len(names))]
    columns = (Column(head), *(Column(name) for name in across))
    rows = tuple((name, *row) for name, row in zip(down, cells, strict=True))
    return Table(table_id, title, columns, rows, note, headline=True)


def _scored(aggregate: Aggregate | None) -> Cell:
    return None if aggregate is None else figure_cell(aggregate, aggregate, aggregate.word)


def _with_missing(aggregate: Aggregate | None) -> Cell:
    if aggregate is None or aggregate.missing is None:
        return _scored(aggregate)
    if aggregate.missing.counted_as == "omit":
        return f"{aggregate.missing.count} left out"
    return figure_cell(aggregate.missing, aggregate, aggregate.word)


def _note(systems: Sequence[System], metrics: Mapping[str, str], names: Sequence[str]) -> str:
    """Which episodes are missing, what each figure leaves out, and how intervals were made."""
    lines = [*dict.fromkeys(notice for s in systems for notice in s.notices), *_missing_lines(systems, names)]
    for metric, label in metrics.items():
        noted: dict[str, list[str]] = {}
        for system, name in zip(systems, names, strict=True):
            found = system.aggregates.get(metric)
            if found is not None and found.note:
                noted.setdefault(found.note, []).append(name)
        alike = [len(who) for who in noted.values()] == [len(systems)]
        remarks = list(noted) if alike else [f"{', '.join(who)} {note}" for note, who in noted.items()]
        if remarks:
            lines.append(f"{label}: {'; '.join(remarks)}")
    methods = {a.method: None for s in systems for a in s.aggregates.values() if a.low is not None}
    if methods:
        lines.append(f"[low, high] is the 95 % interval: {', '.join(methods)}")
    return "\n".join(lines)


def _missing_lines(systems: Sequence[System], names: Sequence[str]) -> list[str]:
    lines = []
    for system, name in zip(systems, names, strict=True):
        who = f"{name}: " if name else ""
        if system.finished < system.planned:
            count = f"{system.planned - system.finished} of {_counted(system.planned, 'episode')}"
            lines.append(f"{who}{count} missing (not played, ended in an error, or unreadable)")
        if system.unscored:
            lines.append(
                f"{who}{_counted(len(system.unscored), 'episode')} can't be scored: {system.unscored[0]}"
            )
    return lines or ["no episode is missing"]


def _merged(table_id: str, group: Sequence[tuple[str, Table]]) -> Table:
    first = group[0][1]
    if len(group) == 1:
        return replace(first, id=table_id)
    columns = (Column("run"), *first.columns)
    rows = tuple((run, *row) for run, table in group for row in table.rows)
    notes = dict.fromkeys(table.note for _, table in group if table.note)
    return Table(table_id, first.title, columns, rows, "\n".join(notes), first.headline)
