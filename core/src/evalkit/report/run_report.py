"""Scoring runs and putting together what is printed of them."""

from __future__ import annotations

import fnmatch
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evalkit.errors import EvalkitError, UnknownNameError
from evalkit.hookspecs import MetricSpec
from evalkit.plugins import Plugins, resolve
from evalkit.report.formats import FORMATS, to_json, to_text
from evalkit.report.systems import System, main_tables, merged_by_id, summary, systems_of
from evalkit.report.table import Table
from evalkit.run.scoring import (
    RunScores,
    benchmark_of,
    metric_specs,
    scorable_episodes,
    score_run,
)
from evalkit.store.reader import RunReader
from evalkit.types import Episode, Task

_log = logging.getLogger("evalkit")

#: Width of text that isn't printed on a terminal.
FILE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Report:
    """The systems of some runs, the tables (the main ones, then those of plugins), each run's scores."""

    systems: Sequence[System]
    tables: Sequence[Table]
    scores: Sequence[RunScores]

    def text(self, form: str, width: int = FILE_WIDTH) -> str:
        """The report in a format of `FORMATS` or as `json`; `width` matters to the format `table` only."""
        if form == "json":
            return to_json(summary(self.systems, self.tables))
        return to_text(self.tables, width) if form == "table" else FORMATS[form](self.tables)


def terminal_width() -> int:
    """Columns of the terminal (or COLUMNS); FILE_WIDTH without one."""
    return shutil.get_terminal_size((FILE_WIDTH, 24)).columns


def run_report(
    readers: Sequence[RunReader],
    plugins: Plugins,
    metrics: Callable[[RunReader], Sequence[str]] | None = None,
) -> Report:
    """Score runs from their records and report them side by side.

    `metrics` names the metrics of a run by id; then there are no tables of plugins. None: all those of the
    run's protocol. UnknownNameError for a metric that isn't installed, PluginError if a run's plugin can't
    be used.
    """
    systems: list[System] = []
    views: list[tuple[str, list[Table]]] = []
    kept: list[RunScores] = []
    for reader in readers:
        scores = score_run(reader, plugins, None if metrics is None else metrics(reader))
        kept.append(scores)
        systems += systems_of(reader, scores)
        if metrics is None:
            views.append((reader.name, _view_tables(reader, plugins, scores)))
    return Report(systems, [*main_tables(systems), *merged_by_id(views)], kept)


def matching_metrics(
    readers: Sequence[RunReader], plugins: Plugins, patterns: Sequence[str]
) -> Callable[[RunReader], list[str]]:
    """What picks the metrics of a run whose id or label fits one of the glob patterns, in its order.

    UnknownNameError for a pattern that fits no metric of any of the runs.
    """
    specs = {reader.folder: _protocol_metrics(reader, plugins) for reader in readers}
    every = [spec for of_run in specs.values() for spec in of_run]
    for pattern in patterns:
        if not any(_fits(spec, pattern) for spec in every):
            raise UnknownNameError("metric", pattern, [spec.id for spec in every])
    return lambda reader: [s.id for s in specs[reader.folder] if any(_fits(s, p) for p in patterns)]


def _protocol_metrics(reader: RunReader, plugins: Plugins) -> list[MetricSpec]:
    names = list(reader.manifest["protocol"]["metrics"])
    return list(metric_specs(plugins, benchmark_of(reader), names).values())


def _fits(spec: MetricSpec, pattern: str) -> bool:
    return any(fnmatch.fnmatch(name.lower(), pattern.lower()) for name in (spec.id, spec.label))


def _view_tables(reader: RunReader, plugins: Plugins, scores: RunScores) -> list[Table]:
    """What the plugins' views make of a run; a view that fails is logged and left out."""
    views = [view for view in plugins.views(benchmark_of(reader)).values() if view.scope == "run"]
    if not views:
        return []
    played = list(_played(reader, scores))
    tables: list[Table] = []
    for view in views:
        plugin = plugins.origin(view).plugin
        try:
            tables += resolve(view.target, plugin)(played)
        except Exception as error:  # noqa: BLE001 - views raise anything; the figures still count
            why = str(error) if isinstance(error, EvalkitError) else f"{type(error).__name__}: {error}"
            _log.warning("plugin %r: view %r failed: %s", plugin, view.id, why)
    return tables


def _played(reader: RunReader, scores: RunScores) -> Iterator[tuple[Episode, Task]]:
    for key, episode in scorable_episodes(reader, scores.unscored):
        if key.task in scores.tasks:
            yield episode, scores.tasks[key.task]
