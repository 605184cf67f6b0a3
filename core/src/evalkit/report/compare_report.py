"""Two runs scored and compared, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.errors import UsageError
from evalkit.plugins import Plugins
from evalkit.report.compare import (
    BOOTSTRAP,
    Comparison,
    Lost,
    Side,
    adjusted,
    compare_sides,
    run_differences,
    side_of,
)
from evalkit.report.formats import FILE_WIDTH, FORMATS, to_json, to_text
from evalkit.report.run_report import chosen_metrics
from evalkit.report.table import Cell, Column, Estimate, Rate, Table, listed
from evalkit.run.scoring import score_run
from evalkit.store.reader import RunReader

#: So many tasks that changed are named in a table.
SHOWN_TASKS = 8
#: Smaller p-values are printed as "below".
SMALLEST_P = 1e-4
#: With fewer, percentile intervals are too narrow (docs/statistics.md).
FEW_CLUSTERS = 10


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """One agent of A, one of B, and every metric of both; `differences` as in `run_differences`."""

    a: Side
    b: Side
    metrics: Sequence[Comparison]
    differences: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """All pairs of agents that were compared; `paired` says that lost episodes were left out.

    The p-values of all pairs were corrected together.
    """

    pairs: Sequence[ComparedPair]
    paired: bool

    def render(self, form: str, width: int = FILE_WIDTH) -> str:
        """The report in a format of `FORMATS` or as `json`; `width` matters to the text only."""
        if form == "json":
            return to_json({"paired": self.paired, "comparisons": [_pair_json(pair) for pair in self.pairs]})
        tables = self.tables(exact=form == "csv")
        return to_text(tables, width) if form == "table" else FORMATS[form](tables)

    def tables(self, *, exact: bool = False) -> list[Table]:
        """Per pair the table of differences and, if a task changed, the table of those that did.

        `exact` keeps p-values as numbers, for programs.
        """
        tests = sum(c.p_value is not None for pair in self.pairs for c in pair.metrics)
        tables: list[Table] = []
        for pair in self.pairs:
            end = f"@{pair.a.agent}" if len(self.pairs) > 1 else ""
            tables.append(_difference_table(f"compare{end}", pair, tests, self.paired, exact))
            tables += _flip_tables(f"flips{end}", pair.metrics)
        return tables


def compare_runs(
    a: RunReader,
    b: RunReader,
    plugins: Plugins,
    agents: Sequence[tuple[str, str]],
    patterns: Sequence[str] = (),
    *,
    paired: bool = False,
) -> ComparisonReport:
    """Score two runs and compare pairs of their agents by the metrics that a pattern fits.

    `paired` leaves lost episodes out. UnknownNameError for a pattern that fits no metric, UsageError if the
    runs have no metric in common. Whether the protocols are the same is for the caller to check.
    """
    metrics_a, metrics_b = chosen_metrics([a, b], plugins, patterns)
    scores_a = score_run(a, plugins, metrics_a)
    scores_b = score_run(b, plugins, metrics_b) if b.folder != a.folder else scores_a
    if not scores_a.specs.keys() & scores_b.specs.keys():
        raise UsageError(f"{a.name} and {b.name} have no metric in common")
    nothing = Lost(None, None)
    lost = {id: nothing if paired else Lost.as_declared(spec) for id, spec in scores_a.specs.items()}
    sides = [(side_of(a, scores_a, one), side_of(b, scores_b, other)) for one, other in agents]
    found = [compare_sides(*pair, lost) for pair in sides]
    differences = run_differences(a, b)
    every = iter(adjusted(comparison for comparisons in found for comparison in comparisons))
    pairs = [
        ComparedPair(*pair, [next(every) for _ in comparisons], differences)
        for pair, comparisons in zip(sides, found, strict=True)
    ]
    return ComparisonReport(pairs, paired)


def _difference_table(table_id: str, pair: ComparedPair, tests: int, paired: bool, exact: bool) -> Table:
    columns = [Column("metric"), Column("A"), Column("B"), Column("B − A"), Column("p"), Column("p (Holm)")]
    rows = [
        (
            c.spec.label,
            _figure_cell(c, c.a),
            _figure_cell(c, c.b),
            _difference_cell(c),
            _p_cell(c.p_value, exact),
            _p_cell(c.p_adjusted, exact),
        )
        for c in pair.metrics
    ]
    a, b = pair.a, pair.b
    title = f"{a.suite} · A {a.agent}, B {b.agent}"
    note = "\n".join(_note(pair, tests, paired))
    return Table(table_id, title, tuple(columns), tuple(rows), note, headline=True)


def _pair_json(pair: ComparedPair) -> dict[str, Any]:
    """A comparison as JSON: fractions for proportions, null where there is no value."""
    a, b = pair.a, pair.b
    shared = set(a.tasks) & set(b.tasks)
    return {
        "a": _side_json(a),
        "b": _side_json(b),
        "same_protocol": a.protocol_hash == b.protocol_hash,
        "differ_in": list(pair.differences),
        "tasks": {
            "both": len(shared),
            "only_a": [task for task in a.tasks if task not in shared],
            "only_b": [task for task in b.tasks if task not in shared],
        },
        "metrics": {c.spec.id: _metric_json(c) for c in pair.metrics},
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {
        "run": side.run,
        "suite": side.suite,
        "agent": side.agent,
        "protocol_hash": side.protocol_hash,
        "epochs": side.epochs,
    }


def _metric_json(c: Comparison) -> dict[str, Any]:
    return {
        "label": c.spec.label,
        "kind": c.spec.kind,
        "unit": c.spec.unit,
        "higher_is_better": c.spec.higher_is_better,
        "pairs": c.pairs,
        "clusters": c.clusters,
        "a": c.a,
        "b": c.b,
        "difference": c.difference,
        "low": c.low,
        "high": c.high,
        "method": c.method,
        "test": c.test,
        "p_value": c.p_value,
        "p_holm": c.p_adjusted,
        "gained": list(c.gained),
        "lost": list(c.lost),
        "unknown": {"a": list(c.unknown_a), "b": list(c.unknown_b)},
    }


def _figure_cell(c: Comparison, value: float | None) -> Cell:
    if c.binary:
        return Rate(value, round((value or 0.0) * c.pairs), c.pairs, unit=c.spec.unit)
    return Estimate(_whole(c, value), c.pairs or None, unit=c.spec.unit)


def _difference_cell(c: Comparison) -> Cell:
    unit = "points" if c.spec.unit == "%" else c.spec.unit
    return Estimate(_whole(c, c.difference), None, c.low, c.high, unit, "", c.method)


def _whole(c: Comparison, value: float | None) -> float | None:
    """The value, as int if it is a total of whole numbers."""
    return int(value) if value is not None and c.spec.kind == "total" and value.is_integer() else value


def _p_cell(p_value: float | None, exact: bool) -> Cell:
    if p_value is None or exact:
        return p_value
    return f"{p_value:.2g}" if p_value >= SMALLEST_P else f"< {SMALLEST_P:g}"


def _flip_tables(table_id: str, found: Sequence[Comparison]) -> list[Table]:
    """The tasks whose value rose or fell, metrics with the same ones together; no table if there are none."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for c in found:
        if c.gained or c.lost:
            alike.setdefault((c.gained, c.lost), []).append(c.spec.label)
    rows: list[tuple[Cell, ...]] = []
    for (gained, lost), labels in alike.items():
        for word, tasks in (("gained", gained), ("lost", lost)):
            if tasks:
                rows.append((", ".join(labels), word, len(tasks), _some(tasks)))
    if not rows:
        return []
    columns = (Column("metric"), Column("change"), Column("tasks", "right"), Column("which"))
    note = "gained: higher in B than in A; lost: lower; --json lists all tasks"
    return [Table(table_id, "Tasks that changed", columns, tuple(rows), note, headline=True)]


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - SHOWN_TASKS
    return ", ".join(names[:SHOWN_TASKS]) + (f" and {more} more" if more > 0 else "")


def _note(pair: ComparedPair, tests: int, paired: bool) -> Iterator[str]:
    a, b, found = pair.a, pair.b, pair.metrics
    for name, side in (("A", a), ("B", b)):
        yield f"{name}: agent {side.agent}, run {side.run}"
    if a.protocol_hash != b.protocol_hash:
        yield (
            f"DIFFERENT PROTOCOLS ({a.protocol_hash[:12]} and {b.protocol_hash[:12]}), compared by force: "
            f"they differ in {', '.join(pair.differences)}; "
            f"what differs below may come from the protocol and not from the agents"
        )
    elif pair.differences:
        yield (
            f"compared by force, but the runs DIFFER in {', '.join(pair.differences)}: "
            f"what differs below may come from that and not from the agents"
        )
    yield from dict.fromkeys(notice for side in (a, b) for notice in side.scores.notices)
    shared = set(a.tasks) & set(b.tasks)
    for name, side in (("A", a), ("B", b)):
        own = [task for task in side.tasks if task not in shared]
        if own:
            yield f"only in {name}'s run, not compared: {listed(own)}"
    yield from _unknown_lines(found, paired)
    if a.epochs > 1 or b.epochs > 1:
        yield f"a task's value is its mean over the epochs that have one (A {a.epochs}, B {b.epochs})"
    yield "figures and differences are over the tasks with a value on both sides (`evalkit report` has all)"
    if any(c.low is not None for c in found):
        methods = _methods(c.method for c in found if c.low is not None)
        yield f"[low, high] is the 95 % interval of the difference: {methods}"
    if tests:
        yield f"p: {_methods(f'{c.test}{_cluster(c)}' for c in found if c.test)}"
    if any(c.p_value is not None and c.test == BOOTSTRAP and c.clusters < FEW_CLUSTERS for c in found):
        yield f"the bootstrap's intervals are too narrow below {FEW_CLUSTERS} tasks or clusters"
    if tests > 1:
        yield (f"{tests} tests: at p < 0.05 one in 20 comes out by chance; p (Holm) is corrected for all")


def _cluster(c: Comparison) -> str:
    return f" in clusters of {c.spec.cluster}" if c.spec.cluster and c.test == BOOTSTRAP else ""


def _unknown_lines(found: Sequence[Comparison], paired: bool) -> Iterator[str]:
    """The tasks without a known result, by side and by what they count as."""
    for name, attribute in (("A", "unknown_a"), ("B", "unknown_b")):
        by_tasks: dict[tuple[str, ...], list[str]] = {}
        for c in found:
            if tasks := getattr(c, attribute):
                by_tasks.setdefault(tasks, []).append(c.spec.label)
        for tasks, labels in by_tasks.items():
            who = "" if len(labels) == len(found) else f" ({', '.join(labels)})"
            yield f"no known result in {name}{who}: {listed(tasks)}"
    if any(c.unknown_a or c.unknown_b for c in found):
        if paired:
            yield "what has no known result is left out"
        else:
            yield "missing episodes count as 0 where the metric calls them failures, else they are left out"


def _methods(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
