"""Scoring runs and putting together what is printed of them."""

from __future__ import annotations

import fnmatch
import inspect
import logging
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evalkit.errors import EvalkitError, UnknownNameError
from evalkit.hookspecs import MetricSpec
from evalkit.plugins import Plugins, resolve
from evalkit.report.epochs import pass_table
from evalkit.report.formats import FILE_WIDTH, FORMATS, to_json, to_text, write_text
from evalkit.report.systems import System, main_tables, merged_by_id, summary, systems_of
from evalkit.report.table import Table
from evalkit.report.usage import usage_table
from evalkit.run import scoring
from evalkit.run.scoring import RunScores, benchmark_of, metric_specs, scorable_episodes, score_run
from evalkit.store.reader import RunReader
from evalkit.types import Episode, EpisodeKey, Task

_log = logging.getLogger("evalkit")


@dataclass(frozen=True, slots=True)
class Report:
    """The systems of one or several runs; `tables` are the main ones, then those of plugins."""

    systems: Sequence[System]
    tables: Sequence[Table]

    def render(self, form: str, width: int = FILE_WIDTH) -> str:
        """The report in a format of `FORMATS` or as `json`; `width` matters to the text only."""
        if form == "json":
            return to_json(summary(self.systems, self.tables))
        return to_text(self.tables, width) if form == "table" else FORMATS[form](self.tables)

    def print(self, form: str, *, brief: bool = False) -> None:
        """Write the report to stdout; `rich` is the text in colours if a person looks, `plain` never is.

        A `brief` text holds only the tables that are headlines.
        """
        if form in ("rich", "plain", "table"):
            shown = [table for table in self.tables if table.headline or not brief]
            text = to_text(shown, terminal_width())
            write_text(text, sys.stdout, colour=False if form == "plain" else None)
        else:
            write_text(self.render(form), sys.stdout, colour=False)


def terminal_width() -> int:
    """Columns of the terminal (or COLUMNS); FILE_WIDTH without one."""
    return shutil.get_terminal_size((FILE_WIDTH, 24)).columns


def run_report(
    readers: Sequence[RunReader],
    plugins: Plugins,
    patterns: Sequence[str] = (),
    *,
    keep_scores: bool = False,
) -> Report:
    """Score runs from their records and report them side by side.

    With `patterns` (glob patterns of metric ids or labels) there are only those metrics and no tables of
    plugins. `keep_scores` leaves `scores/scores.json` in each run. UnknownNameError for a pattern that fits
    no metric, PluginError if a run's plugin can't be used.
    """
    systems: list[System] = []
    views: list[tuple[str, list[Table]]] = []
    for reader, metrics in zip(readers, chosen_metrics(readers, plugins, patterns), strict=True):
        scores = score_run(reader, plugins, metrics)
        if keep_scores:
            scoring.keep_scores(reader.folder, scores)
        systems += systems_of(reader, scores)
        attempts = pass_table(reader, scores)
        tables = [] if patterns else _view_tables(reader, plugins, scores)
        views.append((reader.name, tables if attempts is None else [attempts, *tables]))
    usage = [(reader.name, [table]) for reader in readers if (table := usage_table(reader)) is not None]
    return Report(systems, [*main_tables(systems), *merged_by_id(usage), *merged_by_id(views)])


def chosen_metrics(
    readers: Sequence[RunReader], plugins: Plugins, patterns: Sequence[str]
) -> list[list[str]]:
    """The metrics of each run that a pattern fits, in the suite's order; all of them without a pattern.

    UnknownNameError for a pattern that fits none.
    """
    specs = [protocol_metrics(reader, plugins) for reader in readers]
    for pattern in patterns:
        if not any(_fits(spec, pattern) for run in specs for spec in run):
            raise UnknownNameError("metric", pattern, [spec.id for run in specs for spec in run])
    return [[s.id for s in run if not patterns or any(_fits(s, p) for p in patterns)] for run in specs]


def protocol_metrics(reader: RunReader, plugins: Plugins) -> list[MetricSpec]:
    """The metrics of a run's protocol, in the suite's order; PluginError if its plugin can't be used."""
    benchmark = benchmark_of(reader)
    plugins.require(benchmark)
    names = list(reader.manifest["protocol"]["metrics"])
    return list(metric_specs(plugins, benchmark, names).values())


def _fits(spec: MetricSpec, pattern: str) -> bool:
    return any(fnmatch.fnmatch(name.lower(), pattern.lower()) for name in (spec.id, spec.label))


def _view_tables(reader: RunReader, plugins: Plugins, scores: RunScores) -> list[Table]:
    """What the plugins' views make of a run; a view that fails is logged and left out."""
    views = [view for view in plugins.views(benchmark_of(reader)).values() if view.scope == "run"]
    if not views:
        return []
    played = list(_played(reader, scores))
    missing = _missing(reader, scores, played)
    tables: list[Table] = []
    for view in views:
        plugin = plugins.origin(view).plugin
        try:
            function = resolve(view.target, plugin)
            told = "missing" in inspect.signature(function).parameters
            tables += function(played, missing=missing) if told else function(played)
        except Exception as error:  # noqa: BLE001 - views raise anything; the figures still count
            why = str(error) if isinstance(error, EvalkitError) else f"{type(error).__name__}: {error}"
            _log.warning("plugin %r: view %r failed: %s", plugin, view.id, why)
    return tables


def _played(reader: RunReader, scores: RunScores) -> Iterator[tuple[Episode, Task]]:
    for key, episode in scorable_episodes(reader, scores.unscored):
        if key.task in scores.tasks:
            yield episode, scores.tasks[key.task]


def _missing(
    reader: RunReader, scores: RunScores, played: Iterable[tuple[Episode, Task]]
) -> list[tuple[EpisodeKey, Task]]:
    """The planned episodes without a result, in order, as far as their tasks are installed."""
    finished = {episode.key for episode, _ in played}
    left = [key for key in reader.planned() if key not in finished]
    return [(key, scores.tasks[key.task]) for key in left if key.task in scores.tasks]
