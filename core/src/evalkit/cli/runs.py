"""`evalkit runs [DIR]`: the runs in a folder, newest first."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evalkit.cli._common import tell
from evalkit.errors import EvalkitError, UsageError
from evalkit.plugins import Plugins, load_plugins
from evalkit.report.formats import to_json, to_text, write_text
from evalkit.report.run_report import terminal_width
from evalkit.report.systems import System, figure_cell, metric_json, systems_of
from evalkit.report.table import Cell, Column, Table
from evalkit.run.scoring import RunScores, benchmark_of, score_run
from evalkit.store.reader import RunReader, find_runs


@dataclass(frozen=True, slots=True)
class _Line:
    """One agent of one run; `seconds` is the time from the run's start to the end of its last episode."""

    folder: Path
    system: System
    started: datetime.datetime
    seconds: float | None


@click.command(
    name="runs",
    epilog="""\b
Examples:
  evalkit runs
  evalkit runs results --json""",
)
@click.argument("folder", default="runs", metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="A JSON object with the list `runs`.")
def command(folder: Path, as_json: bool) -> None:
    """List the runs in DIR (default: ./runs), newest first, with the first metric of their suites."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is not a folder")
    plugins = load_plugins()
    lines = [line for path in reversed(find_runs(folder)) for line in _lines(path, plugins)]
    if as_json:
        click.echo(to_json({"runs": [_json(line) for line in lines]}), nl=False)
    else:
        text = to_text([_table(folder, lines)], terminal_width())
        write_text(text, sys.stdout)


def _lines(folder: Path, plugins: Plugins) -> list[_Line]:
    """The run's agents; what can't be read or scored is named on stderr."""
    try:
        reader = RunReader(folder)
        started = datetime.datetime.fromisoformat(reader.manifest["created"])
        seconds = _seconds(reader, started)
        systems = systems_of(reader, _first_scores(reader, plugins))
    except EvalkitError as error:
        tell(str(error))
        return []
    return [_Line(folder, system, started, seconds) for system in systems]


def _first_scores(reader: RunReader, plugins: Plugins) -> RunScores | None:
    """Scores of the suite's first metric, or None if they can't be had here."""
    try:
        plugins.require(benchmark_of(reader))
        return score_run(reader, plugins, list(reader.manifest["protocol"]["metrics"])[:1])
    except EvalkitError as error:
        tell(f"{reader.name} can't be scored: {error}")
        return None


def _seconds(reader: RunReader, started: datetime.datetime) -> float | None:
    """From the start to the end of the episode that the index names last; None without an episode."""
    index = reader.index()
    if not index:
        return None
    try:
        ended = float(reader.episode(next(reversed(index))).end["time"])
    except EvalkitError:
        return None
    return max(0.0, ended - started.timestamp())


def _table(folder: Path, lines: Sequence[_Line]) -> Table:
    columns = (
        Column("run"),
        Column("suite"),
        Column("agent"),
        Column("done", "right"),
        Column("errors", "right"),
        Column("first metric"),
        Column("value"),
        Column("started (UTC)"),
        Column("took", "right"),
    )
    rows = tuple(_row(line) for line in lines)
    named = all(line.system.suite in line.system.run for line in lines)
    table = Table("runs", f"runs in {folder}", columns, rows)
    return _without(table, "suite") if named and rows else table


def _row(line: _Line) -> tuple[Cell, ...]:
    system = line.system
    aggregate = next(iter(system.aggregates.values()), None)
    return (
        system.run,
        system.suite,
        system.agent,
        f"{system.played}/{system.planned}",
        system.errors,
        aggregate.label if aggregate is not None else "not scored",
        figure_cell(aggregate, aggregate, aggregate.word) if aggregate is not None else None,
        line.started.astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M"),
        _duration(line.seconds),
    )


def _without(table: Table, name: str) -> Table:
    """The table without a column (names of runs usually begin with the suite's)."""
    kept = [i for i, column in enumerate(table.columns) if column.name != name]
    columns = tuple(table.columns[i] for i in kept)
    return Table(table.id, table.title, columns, tuple(tuple(row[i] for i in kept) for row in table.rows))


def _duration(seconds: float | None) -> str:
    """Hours, minutes and seconds: `0:03:05`."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _json(line: _Line) -> dict[str, Any]:
    system = line.system
    return {
        "run": system.run,
        "folder": str(line.folder),
        "suite": system.suite,
        "agent": system.agent,
        "planned": system.planned,
        "played": system.played,
        "errors": system.errors,
        "metrics": {name: metric_json(aggregate) for name, aggregate in system.aggregates.items()},
        "started": line.started.isoformat(),
        "seconds": line.seconds,
    }
