"""Checks of an installed plugin as a whole, and of one suite for each benchmark that it has a part in."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evalkit._plugin_checks import TARGET_FIELDS
from evalkit.errors import EvalkitError, UnknownNameError
from evalkit.plugins import Plugins, SpecTable, load_plugins, resolve
from evalkit.registry import Registry, Suite
from evalkit.testing._checks import check_benchmark
from evalkit.testing._finding import Broken, Finding, Skip

TIMEOUT_S = 60
SMOKE = "smoke"


def check_plugin(
    name: str,
    *,
    suites: Sequence[str] = (),
    visible: Sequence[str] = (),
    plugins: Plugins | None = None,
) -> Iterator[tuple[str, Finding]]:
    """Check an installed plugin: pairs of what was checked (the plugin's or a suite's name) and a finding.

    Without `suites`, one suite is checked for each benchmark that the plugin brings or adds to, one tagged
    `smoke` if there is any; what it adds to another plugin's benchmark is switched on for that. `visible`
    are keys of `Task.hidden` whose values agents may see. UnknownNameError if there is no such plugin.
    """
    plugins = plugins or load_plugins()
    if name not in plugins.names():
        raise UnknownNameError("plugin", name, plugins.names(), "`evalkit ls plugins` lists them")
    plugins.check()
    registry = Registry.load(plugins)
    for check, look in _CHECKS.items():
        finding = _finding(check, look, plugins, name, registry)
        yield name, finding
        if check == "loads" and finding.status == "failed":
            return
    for suite, agents in _suites(plugins, registry, name, suites):
        for finding in check_benchmark(suite, plugins=plugins, visible=visible, agents=agents):
            yield suite.name, finding


def _finding(
    check: str, look: Callable[..., str], plugins: Plugins, name: str, registry: Registry
) -> Finding:
    try:
        return Finding(check, "ok", look(plugins, name, registry))
    except Broken as broken:
        return Finding(check, "failed", str(broken))
    except Skip as skip:
        return Finding(check, "skipped", str(skip))


def _check_loads(plugins: Plugins, name: str, registry: Registry) -> str:
    """The plugin can be imported, and its hooks answer as they should."""
    if name in plugins.broken:
        raise Broken(plugins.broken[name])
    return str(plugins.origin_of(name))


def _check_light(plugins: Plugins, name: str, registry: Registry) -> str:
    """Loading the plugin imports nothing but the standard library, evalkit and itself."""
    module = plugins.module_of(name)
    package = module.partition(".")[0]
    code = (
        "import sys, evalkit.hookspecs; before = set(sys.modules)\n"
        f"import {module}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        f"print(*sorted(new - set(sys.stdlib_module_names) - {{'evalkit', {package!r}}}))\n"
        f"new = set(sys.modules) - before - {{{module!r}}}\n"
        "print(*sorted(name for name in new if name.startswith('evalkit.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise Broken(f"{module} can't be imported on its own: {(done.stderr.splitlines() or ['?'])[-1]}")
    foreign, core = done.stdout.splitlines()[-2:]
    if foreign or core:
        raise Broken(
            f"{module} imports {', '.join((foreign + ' ' + core).split())}, which every command has to wait "
            'for; name what does the work as "module:attribute" instead'
        )
    return f"{module} imports the standard library and evalkit.hookspecs"


def _check_targets(plugins: Plugins, name: str, registry: Registry) -> str:
    """Everything that the plugin names as "module:attribute" is there."""
    targets = [target for spec in _specs(plugins, name) for target in _targets(spec)]
    for target in targets:
        try:
            resolve(target, name)
        except EvalkitError as error:
            raise Broken(str(error)) from error
    return f"{len(targets)} targets"


def _check_suites(plugins: Plugins, name: str, registry: Registry) -> str:
    """Every suite of the plugin's benchmarks can be put together."""
    own = [suite for benchmark in _own_benchmarks(plugins, name) for suite in _suites_of(registry, benchmark)]
    if not own:
        raise Skip("the plugin brings no benchmark with a suite")
    for suite in own:
        try:
            registry.suite(suite)
        except EvalkitError as error:
            raise Broken(f"{suite}: {error}") from error
    return f"{len(own)} suites"


_CHECKS: dict[str, Callable[[Plugins, str, Registry], str]] = {
    "loads": _check_loads,
    "light": _check_light,
    "targets": _check_targets,
    "suites": _check_suites,
}


def _specs(plugins: Plugins, name: str) -> list[Any]:
    """All descriptors that a plugin's hooks return."""
    specs: list[Any] = [*plugins.benchmarks().values(), *plugins.every_agent(), *plugins.models().values()]
    specs += [*plugins.data_sources().values(), *plugins.checks().values()]
    specs += [*plugins.commands().values()]
    for benchmark in plugins.benchmarks():
        specs += _offers(plugins, benchmark)
    return [spec for spec in specs if plugins.origin(spec).plugin == name]


def _offers(plugins: Plugins, benchmark: str) -> list[Any]:
    tables = (plugins.validators, plugins.executors, plugins.metrics, plugins.views)
    return [spec for table_of in tables for spec in table_of(benchmark).values()]


def _targets(spec: Any) -> Iterator[str]:
    for field in dataclasses.fields(spec):
        value = getattr(spec, field.name)
        if field.name in TARGET_FIELDS and value is not None:
            yield value


def _own_benchmarks(plugins: Plugins, name: str) -> list[str]:
    table = plugins.benchmarks()
    return [benchmark for benchmark in sorted(table) if table.owners[benchmark] == name]


def _suites_of(registry: Registry, benchmark: str) -> list[str]:
    """Suites of a benchmark, those tagged `smoke` first."""
    blocks = {name: registry.describe(name) for name in registry.names()}
    found = [name for name, block in blocks.items() if block["benchmark"] == benchmark]
    return sorted(found, key=lambda name: (SMOKE not in blocks[name].get("tags", []), name))


def _suites(
    plugins: Plugins, registry: Registry, name: str, wanted: Sequence[str]
) -> Iterator[tuple[Suite, list[str] | None]]:
    """The suites to check, each with the agents to check on it (None: the benchmark's own)."""
    if wanted:
        yield from ((registry.suite(suite), None) for suite in wanted)
        return
    own = _own_benchmarks(plugins, name)
    for benchmark in sorted(plugins.benchmarks()):
        suites = _suites_of(registry, benchmark)
        if not suites:
            continue
        if benchmark in own:
            yield registry.suite(suites[0]), None
            continue
        additions = _additions(plugins, benchmark, name)
        agents = [
            agent
            for agent, spec in plugins.agents(benchmark).items()
            if plugins.origin(spec).plugin == name and spec.benchmarks
        ]
        if additions or agents:
            suite = registry.suite(suites[0], additions)
            default = [suite.agent] if suite.agent and ":" not in suite.agent else []
            yield suite, [*agents, *default]


def _additions(plugins: Plugins, benchmark: str, name: str) -> list[str]:
    """Options that switch on what a plugin adds to another one's benchmark."""
    tables: dict[str, SpecTable[Any]] = {
        "validators": plugins.validators(benchmark),
        "executors": plugins.executors(benchmark),
        "metrics": plugins.metrics(benchmark),
    }
    return [
        f"{kind}+={id}"
        for kind, table in tables.items()
        for id, spec in table.items()
        if plugins.origin(spec).plugin == name and not getattr(spec, "needs_model", False)
    ]
