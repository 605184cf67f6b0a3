"""`evalkit ls`: what there is."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import (
    complete_targets,
    emit_json,
    emit_table,
    json_option,
    note,
    open_registry,
    registry_option,
    warn_broken,
)
from evalkit.errors import PluginError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from evalkit.plugins import Plugins, SpecTable
    from evalkit.registry import Registry

Row = dict[str, Any]


@click.command(short_help="List suites, tasks, agents, plugins, metrics, executors.")
@click.argument("kind", default="suites")
@click.argument("pattern", required=False)
@click.option(
    "--suite", metavar="NAME", shell_complete=complete_targets, help="Whose tasks (for `ls tasks`)."
)
@json_option
@registry_option
def command(kind: str, pattern: str | None, suite: str | None, as_json: bool, registry: Path | None) -> None:
    """List what there is: KIND is suites (default), groups, tasks, agents, plugins, metrics, executors or
    validators. PATTERN is a part of the name, or a glob.

    \b
    Examples:
      evalkit ls
      evalkit ls tasks --suite polybridge.strict '*T4*'
      evalkit ls metrics recovery --json
    """
    if kind not in (*_LISTS, "tasks"):
        raise UnknownNameError("kind of list", kind, (*_LISTS, "tasks"))
    if (kind == "tasks") != (suite is not None):
        raise UsageError("`evalkit ls tasks` and --suite NAME go together")
    plugins, found = open_registry(registry)
    plugins.check()
    if suite is not None:
        columns, rows = _tasks(plugins, found, suite)
    else:
        columns, make_rows = _LISTS[kind]
        rows = make_rows(plugins, found)
    rows = [row for row in rows if _matches(str(row[columns[0]]), pattern)]
    if as_json:
        emit_json(rows)
    elif rows:
        emit_table(rows, columns)
    else:
        note(f"no {kind} match {pattern!r}" if pattern else f"there are no {kind}")
    if kind != "plugins":
        warn_broken(plugins)


def _matches(name: str, pattern: str | None) -> bool:
    if pattern is None:
        return True
    lowered = pattern.lower()
    glob = lowered if any(character in lowered for character in "*?[") else f"*{lowered}*"
    return fnmatch.fnmatchcase(name.lower(), glob)


def _suites(plugins: Plugins, registry: Registry) -> list[Row]:
    rows = []
    for name in registry.names():
        try:
            block = registry.describe(name)
            origin = registry.origin(name)
        except PluginError as error:
            note(str(error))
            continue
        rows.append(
            {
                "name": name,
                "version": block.get("version", 1),
                "benchmark": block["benchmark"],
                "tags": block.get("tags", []),
                "title": block.get("title", ""),
                "origin": origin,
            }
        )
    return rows


def _groups(plugins: Plugins, registry: Registry) -> list[Row]:
    rows = []
    for name in registry.groups():
        try:
            members = registry.expand([name])
        except UsageError as error:
            note(str(error))
            members = []
        rows.append({"name": name, "suites": members})
    return rows


def _tasks(plugins: Plugins, registry: Registry, suite: str) -> tuple[tuple[str, ...], list[Row]]:
    from evalkit.run.plan import load_tasks

    tasks = load_tasks(plugins, registry.suite(suite))
    rows = [{"id": task.id, "tags": list(task.hidden.get("tags", []))} for task in tasks]
    return ("id", "tags") if any(row["tags"] for row in rows) else ("id",), rows


def _agents(plugins: Plugins, registry: Registry) -> list[Row]:
    return [
        {
            "name": spec.name,
            "offline": spec.offline,
            "benchmarks": list(spec.benchmarks) or ["any"],
            "summary": spec.summary,
            "plugin": plugins.origin(spec).plugin,
        }
        for spec in plugins.every_agent()
    ]


def _plugins(plugins: Plugins, registry: Registry) -> list[Row]:
    rows = []
    for name in plugins.names():
        origin = plugins.origin_of(name)
        reason = plugins.broken.get(name)
        rows.append(
            {
                "name": name,
                "distribution": origin.distribution,
                "version": origin.version,
                "status": "broken" if reason else "ok",
                "reason": reason,
            }
        )
    return rows


def _metrics(plugins: Plugins, registry: Registry) -> list[Row]:
    return [
        {
            "id": spec.id,
            "benchmark": benchmark,
            "kind": spec.kind,
            "label": spec.label,
            "summary": spec.summary,
            "plugin": plugins.origin(spec).plugin,
        }
        for benchmark in sorted(plugins.benchmarks())
        for spec in _uncontested(plugins, plugins.metrics(benchmark))
    ]


def _executors(plugins: Plugins, registry: Registry) -> list[Row]:
    return [
        {
            "id": spec.id,
            "benchmark": benchmark,
            "version": spec.version,
            "needs_model": spec.needs_model,
            "summary": spec.summary,
            "plugin": plugins.origin(spec).plugin,
        }
        for benchmark in sorted(plugins.benchmarks())
        for spec in _uncontested(plugins, plugins.executors(benchmark))
    ]


def _validators(plugins: Plugins, registry: Registry) -> list[Row]:
    return [
        {
            "id": spec.id,
            "benchmark": benchmark,
            "version": spec.version,
            "summary": spec.summary,
            "plugin": plugins.origin(spec).plugin,
        }
        for benchmark in sorted(plugins.benchmarks())
        for spec in _uncontested(plugins, plugins.validators(benchmark))
    ]


def _uncontested(plugins: Plugins, table: SpecTable[Any]) -> Iterable[Any]:
    """The specs of a table; ids that several plugins define are named on stderr."""
    for name, claimants in sorted(table.contested.items()):
        note(str(plugins.contest(table.kind, name, claimants)))
    return table.values()


_LISTS: dict[str, tuple[tuple[str, ...], Callable[[Plugins, Registry], list[Row]]]] = {
    "suites": (("name", "version", "benchmark", "tags", "title", "origin"), _suites),
    "groups": (("name", "suites"), _groups),
    "agents": (("name", "offline", "benchmarks", "plugin", "summary"), _agents),
    "plugins": (("name", "distribution", "version", "status", "reason"), _plugins),
    "metrics": (("id", "benchmark", "kind", "plugin", "label", "summary"), _metrics),
    "executors": (("id", "benchmark", "version", "needs_model", "plugin", "summary"), _executors),
    "validators": (("id", "benchmark", "version", "plugin", "summary"), _validators),
}
