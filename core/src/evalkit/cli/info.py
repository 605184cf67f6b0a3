"""`evalkit info`: what a suite measures and how, or what a metric, agent, plugin … is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli._common import (
    cell,
    complete_targets,
    emit,
    emit_json,
    json_option,
    open_registry,
    overrides_option,
    registry_option,
    tell,
    warn_broken,
)
from evalkit.errors import EvalkitError, UsageError

if TYPE_CHECKING:
    from evalkit.plugins import Plugins, SpecTable
    from evalkit.registry import Registry, Suite

Facts = dict[str, Any]


@click.command(short_help="Say what a suite, metric, agent or plugin is.")
@click.argument("target", required=False, shell_complete=complete_targets)
@overrides_option
@click.option("--registry-schema", is_flag=True, help="Print the JSON Schema of registry files instead.")
@json_option
@registry_option
def command(
    target: str | None,
    overrides: tuple[str, ...],
    registry_schema: bool,
    as_json: bool,
    registry: Path | None,
) -> None:
    """Say what TARGET is: a suite, a group, a benchmark, a plugin, an agent, a metric, an executor or a
    validator. The first kind that knows the name answers; `metric:NAME` asks for one kind.

    \b
    Examples:
      evalkit info polybridge.strict
      evalkit info polybridge.strict -T limits.calls=5
      evalkit info metric:polybridge.success_at_3 --json
    """
    if registry_schema:
        from evalkit.registry import json_schema

        emit_json(json_schema())
        return
    if target is None:
        raise UsageError("name what you want to know about: evalkit info TARGET")
    plugins, found = open_registry(registry)
    plugins.check()
    facts = _find(target, plugins, found, overrides)
    if as_json:
        emit_json(facts)
    else:
        _print(facts)
    warn_broken(plugins)


def _find(target: str, plugins: Plugins, registry: Registry, overrides: Sequence[str]) -> Facts:
    """The facts about a target; UnknownNameError with the nearest names of all kinds."""
    kinds: dict[str, tuple[Sequence[str], Callable[[str], Facts]]] = {
        "suite": (registry.names(), lambda name: _suite(registry.suite(name, overrides), plugins)),
        "group": (registry.groups(), lambda name: {"suites": registry.expand([name])}),
        "benchmark": (list(plugins.benchmarks().owners), lambda name: _benchmark(name, plugins)),
        "plugin": (plugins.names(), lambda name: _plugin(name, plugins)),
        "agent": ([spec.name for spec in plugins.every_agent()], lambda name: _agent(name, plugins)),
        "metric": _of_benchmarks(plugins, plugins.metrics),
        "executor": _of_benchmarks(plugins, plugins.executors),
        "validator": _of_benchmarks(plugins, plugins.validators),
    }
    wanted, colon, name = target.partition(":")
    if not colon or wanted not in kinds:
        wanted, name = "", target
    bare = name.partition("@")[0]
    for kind, (names, facts_of) in kinds.items():
        if wanted in ("", kind) and (name in names or (kind == "suite" and bare in names)):
            if overrides and kind != "suite":
                raise UsageError(f"-T changes suites; {name} is a {kind}")
            return {"kind": kind, "name": name, **facts_of(name)}
    known = [n for kind, (names, _) in kinds.items() if wanted in ("", kind) for n in names]
    raise plugins.missing(wanted or "target", name, known)


def _of_benchmarks(
    plugins: Plugins, table_of: Callable[[str], SpecTable[Any]]
) -> tuple[Sequence[str], Callable[[str], Facts]]:
    """Names and facts of what is defined per benchmark."""
    tables = {benchmark: table_of(benchmark) for benchmark in sorted(plugins.benchmarks())}
    names = sorted({name for table in tables.values() for name in table.owners})

    def facts(name: str) -> Facts:
        return {
            "definitions": [
                {"benchmark": benchmark, **_spec(table[name], plugins)}
                for benchmark, table in tables.items()
                if name in table.owners
            ]
        }

    return names, facts


def _spec(spec: Any, plugins: Plugins) -> Facts:
    values = {k: list(v) if isinstance(v, tuple) else v for k, v in dataclasses.asdict(spec).items()}
    return {**values, "plugin": plugins.origin(spec).plugin}


def _agent(name: str, plugins: Plugins) -> Facts:
    """An agent, or each of several that share a name because they play different benchmarks."""
    found = [_spec(spec, plugins) for spec in plugins.every_agent() if spec.name == name]
    return found[0] if len(found) == 1 else {"definitions": found}


def _suite(suite: Suite, plugins: Plugins) -> Facts:
    benchmark = plugins.benchmarks()[suite.benchmark]
    executors = plugins.executors(suite.benchmark)
    tables: Mapping[str, SpecTable[Any]] = {
        "validators": plugins.validators(suite.benchmark),
        "executors": executors,
        "final_executors": executors,
        "metrics": plugins.metrics(suite.benchmark),
    }
    return {
        "name": suite.name,
        "title": suite.title,
        "version": suite.version,
        "origin": suite.origin,
        "notices": list(suite.notices),
        "tags": list(suite.tags),
        "benchmark": suite.benchmark,
        "benchmark_version": suite.benchmark_version,
        "claim": benchmark.claim,
        "tasks": _count_tasks(suite, plugins),
        "tasks_block": dict(suite.tasks),
        "agent": suite.agent,
        "condition": suite.condition,
        "variant": suite.variant,
        "limits": dict(suite.limits),
        "settings": dict(suite.settings),
        **{
            kind: [_spec(table[name], plugins) for name in getattr(suite, kind)]
            for kind, table in tables.items()
        },
        "thresholds": list(suite.thresholds),
        "protocol_hash": suite.protocol_hash,
    }


def _count_tasks(suite: Suite, plugins: Plugins) -> int | None:
    """How many tasks the suite has; None, with the reason on stderr, if they can't be loaded."""
    from evalkit.run.plan import load_tasks

    try:
        return len(load_tasks(plugins, suite))
    except (EvalkitError, OSError) as error:
        tell(f"warning: the tasks can't be loaded: {error}")
        return None


def _benchmark(name: str, plugins: Plugins) -> Facts:
    from evalkit.registry_settings import settings_model

    spec = plugins.require(name)
    model = settings_model(plugins, spec)
    fields = {} if model is None else model.model_json_schema().get("properties", {})
    return {
        **_spec(spec, plugins),
        "settings": {
            key: {"default": field.get("default"), "description": field.get("description", "")}
            for key, field in fields.items()
        },
        "validators": sorted(plugins.validators(name)),
        "executors": sorted(plugins.executors(name)),
        "metrics": sorted(plugins.metrics(name)),
    }


def _plugin(name: str, plugins: Plugins) -> Facts:
    origin = plugins.origin_of(name)
    return {
        "distribution": origin.distribution,
        "version": origin.version,
        "status": "broken" if name in plugins.broken else "ok",
        "reason": plugins.broken.get(name),
        "benchmarks": _owned(plugins.benchmarks(), name),
        "agents": sorted(s.name for s in plugins.every_agent() if plugins.origin(s).plugin == name),
        "commands": _owned(plugins.commands(), name),
        **{
            kind: sorted({n for b in plugins.benchmarks() for n in _owned(table_of(b), name)})
            for kind, table_of in (
                ("validators", plugins.validators),
                ("executors", plugins.executors),
                ("metrics", plugins.metrics),
            )
        },
    }


def _owned(table: SpecTable[Any], plugin: str) -> list[str]:
    return sorted(name for name, owner in table.owners.items() if owner == plugin)


def _print(facts: Facts) -> None:
    """Facts as text: one line each, lists of things as paragraphs."""
    width = max(len(key) for key in facts) + 2
    for key, value in facts.items():
        title = key.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            emit(title)
            for item in value:
                _print_item(item)
        elif isinstance(value, dict) and value:
            emit(title)
            for name, entry in value.items():
                emit(f"  {name}: {cell(entry)}")
        else:
            emit(f"{title:<{width}}{cell(value)}")


def _print_item(item: Facts) -> None:
    """An agent, validator, executor or metric: what it is called and its version, then what it is."""
    emit(f"  {item.get('id') or item['name']} (version {item['version']}, plugin {item['plugin']})")
    if item.get("summary"):
        emit(f"    {item['summary']}")
    if "denominator" in item:
        emit(f"    of {item['denominator']}; not applicable: {item['not_applicable']}; {item['kind']}")
