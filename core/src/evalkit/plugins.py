"""Finds plugins and asks them what they bring.

Each entry point of the group `evalkit` is loaded on its own. A plugin that can't be loaded, or whose hooks
break their contract, lands in `Plugins.broken` with the reason and takes no other plugin down. An id that
two plugins define is an error for those who use that id, and for nobody else.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import importlib.metadata
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pluggy

from evalkit import hookspecs
from evalkit._plugin_checks import Spec, checked_paths, checked_specs, key_of, module_fault, one_line
from evalkit._plugin_discovery import Found, discover
from evalkit.errors import EvalkitError, PluginError, UnknownNameError, did_you_mean
from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    CheckSpec,
    CommandSpec,
    DataSourceSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ModelSpec,
    ValidatorSpec,
    ViewSpec,
)

CORE_PLUGIN = "evalkit"
CORE_DISTRIBUTION = "evalkit-core"
ONLY_VARIABLE = "EVALKIT_PLUGINS"

_log = logging.getLogger("evalkit.plugins")

S = TypeVar("S", bound=Spec)


class _Distribution(Protocol):
    """What is asked of `importlib.metadata.Distribution`."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something comes from: a plugin, and the distribution that brought it."""

    plugin: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip() or self.plugin


class SpecTable(dict[str, S]):
    """Specs by id.

    Asking for an id with `[]` raises `UnknownNameError`, or `PluginError` if several plugins define it
    (those ids are in `contested`, with the plugins' names) or a broken plugin of that name is why it is
    missing.
    """

    def __init__(self, kind: str, plugins: Plugins) -> None:
        super().__init__()
        self.kind = kind
        self.owners: dict[str, str] = {}
        self.contested: dict[str, tuple[str, ...]] = {}
        self._plugins = plugins

    def __missing__(self, name: str) -> S:
        self.refuse_contested(name)
        raise self._plugins.missing(self.kind, name, self)

    def refuse_contested(self, name: str) -> None:
        """PluginError if several plugins define `name`."""
        if name in self.contested:
            raise self._plugins.contest(self.kind, name, self.contested[name])

    def put(self, name: str, spec: S, plugin: str) -> None:
        """Enter what a plugin defines; a second plugin's claim makes the id contested."""
        if name in self.owners:
            self.contested[name] = (*self.contested.get(name, (self.owners[name],)), plugin)
            self.pop(name, None)
        else:
            self.owners[name] = plugin
            self[name] = spec


class Plugins:
    """The plugins of this process and what they bring.

    `broken` maps the name of each plugin known to be broken to the reason, in one line; a fault of a hook
    is known once that hook was asked (`check` asks them all). `limited` says that EVALKIT_PLUGINS left some
    plugins out.
    """

    def __init__(self) -> None:
        self.broken: dict[str, str] = {}
        self.limited = False
        self._manager = pluggy.PluginManager("evalkit")
        self._manager.add_hookspecs(hookspecs)
        self._distributions: dict[str, _Distribution | None] = {}
        self._tables: dict[tuple[str, ...], SpecTable[Any]] = {}
        self._environments: dict[tuple[str, str], dict[str, EnvironmentSpec]] = {}
        self._agents: list[AgentSpec] | None = None
        self._origins: dict[int, str] = {}

    # Loading

    def add(self, name: str, module: object, distribution: _Distribution | None = None) -> None:
        """Register one plugin; what is wrong with it ends up in `broken`."""
        self._distributions[name] = distribution
        if fault := module_fault(module, self._manager):
            self.report_fault(name, fault)
            return
        try:
            self._manager.register(module, name)
            self._manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            if self._manager.has_plugin(name):
                self._manager.unregister(name=name)
            self.report_fault(name, one_line(error))

    def add_broken(self, name: str, reason: str, distribution: _Distribution | None = None) -> None:
        """Note a plugin that can't be loaded at all."""
        self._distributions[name] = distribution
        self.report_fault(name, reason)

    def report_fault(self, plugin: str, reason: str) -> None:
        """Mark a plugin as broken; the first reason stays."""
        self._distributions.setdefault(plugin, None)
        self.broken.setdefault(plugin, " ".join(reason.split()))

    # What plugins bring

    def benchmarks(self) -> SpecTable[BenchmarkSpec]:
        """Benchmarks by id."""
        return self._table("evalkit_benchmarks", "benchmark", BenchmarkSpec)

    def validators(self, benchmark: str) -> SpecTable[ValidatorSpec]:
        """Validators offered for a benchmark, by id."""
        return self._table("evalkit_validators", "validator", ValidatorSpec, benchmark)

    def executors(self, benchmark: str) -> SpecTable[ExecutorSpec]:
        """Executors and judges offered for a benchmark, by id."""
        return self._table("evalkit_executors", "executor", ExecutorSpec, benchmark)

    def metrics(self, benchmark: str) -> SpecTable[MetricSpec]:
        """Metrics offered for a benchmark, by id."""
        return self._table("evalkit_metrics", "metric", MetricSpec, benchmark)

    def views(self, benchmark: str) -> SpecTable[ViewSpec]:
        """Views offered for a benchmark, by id."""
        return self._table("evalkit_views", "view", ViewSpec, benchmark)

    def agents(self, benchmark: str) -> SpecTable[AgentSpec]:
        """Agents that can play a benchmark, by name; plugins may use one name for different benchmarks."""
        table: SpecTable[AgentSpec] = SpecTable("agent", self)
        for spec in self.every_agent():
            if not spec.benchmarks or benchmark in spec.benchmarks:
                table.put(spec.name, spec, self.origin(spec).plugin)
        return table

    def every_agent(self) -> list[AgentSpec]:
        """The agents of all plugins; a name may occur several times."""
        if self._agents is None:
            check = functools.partial(checked_specs, spec_type=AgentSpec)
            offers = list(self._ask("evalkit_agents", check))
            self._origins.update({id(spec): plugin for plugin, specs in offers for spec in specs})
            self._agents = [spec for _, specs in offers for spec in specs]
        return self._agents

    def models(self) -> SpecTable[ModelSpec]:
        """Ways to reach models, by name."""
        return self._table("evalkit_models", "model client", ModelSpec)

    def data_sources(self) -> SpecTable[DataSourceSpec]:
        """Data sets that users can fetch, by name."""
        return self._table("evalkit_data_sources", "data source", DataSourceSpec)

    def checks(self) -> SpecTable[CheckSpec]:
        """What `evalkit doctor` looks at for plugins, by name."""
        return self._table("evalkit_checks", "check", CheckSpec)

    def commands(self) -> SpecTable[CommandSpec]:
        """Commands of plugins, by name."""
        return self._table("evalkit_commands", "command", CommandSpec)

    def suite_files(self) -> list[tuple[Origin, Path]]:
        """Every plugin's suite files."""
        return [
            (self.origin_of(plugin), path)
            for plugin, paths in self._ask("evalkit_suites", checked_paths)
            for path in paths
        ]

    def environment(self, benchmark: str, variant: str = "default") -> EnvironmentSpec:
        """The environment of a benchmark in a variant: its own plugin's, otherwise the only one offered.

        Raises UnknownNameError if nobody offers it and PluginError if several foreign plugins do.
        """
        table = self.benchmarks()
        owner = table.owners[table[benchmark].id]
        offers = self._environment_offers(benchmark, variant)
        if owner in offers:
            return offers[owner]
        if len(offers) > 1:
            raise self.contest(f"variant of {benchmark}", variant, tuple(offers))
        if not offers:
            raise self.missing(f"variant of {benchmark}", variant, ())
        return next(iter(offers.values()))

    def require(self, benchmark: str) -> BenchmarkSpec:
        """A benchmark that is fit for use.

        Raises UnknownNameError if there is none, PluginError if its plugin is broken in any way or if
        several plugins define it.
        """
        table = self.benchmarks()
        spec = table[benchmark]
        owner = table.owners[benchmark]
        self.check([benchmark])
        if owner in self.broken:
            raise PluginError(owner, self.broken[owner])
        return spec

    def check(self, benchmarks: Iterable[str] | None = None) -> None:
        """Ask every hook (about some benchmarks, or all), so that `broken` is complete."""
        self.every_agent()
        self.models()
        self.data_sources()
        self.checks()
        self.commands()
        self.suite_files()
        for benchmark in self.benchmarks() if benchmarks is None else benchmarks:
            self._environment_offers(benchmark, "default")
            self.validators(benchmark)
            self.executors(benchmark)
            self.metrics(benchmark)
            self.views(benchmark)

    # Where things come from

    def origin(self, spec: Spec | EnvironmentSpec) -> Origin:
        """Who brought a spec that one of the methods above returned."""
        return self.origin_of(self._origins[id(spec)])

    def origin_of(self, plugin: str) -> Origin:
        """The distribution behind a plugin's name."""
        distribution = self._distributions[plugin]
        if distribution is None:
            return Origin(plugin, "", "")
        return Origin(plugin, distribution.name, distribution.version)

    def module_of(self, plugin: str) -> str:
        """Name of the module that a plugin is."""
        return str(getattr(self._manager.get_plugin(plugin), "__name__", plugin))

    @property
    def partial(self) -> bool:
        """Whether a plugin is broken or left out, so that a name may be unknown for that reason."""
        return self.limited or bool(self.broken)

    def names(self) -> list[str]:
        """All plugins found, broken ones too, sorted."""
        return sorted(self._distributions)

    # Errors

    def missing(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> EvalkitError:
        """The error for a name that nobody answers to: a broken plugin's fault if it bears that name."""
        head = name.partition(".")[0]
        if head in self.broken:
            return PluginError(head, f"{self.broken[head]} ({kind} {name!r} needs it)")
        broken = "; ".join(f"plugin {p!r} is broken: {why}" for p, why in sorted(self.broken.items()))
        return UnknownNameError(kind, name, known, "; ".join(filter(None, (hint, broken))))

    def contest(self, kind: str, name: str, plugins: tuple[str, ...]) -> PluginError:
        """The error for an id that several plugins define."""
        first, *others = [f"{p!r} ({self.origin_of(p)})" for p in plugins]
        return PluginError(
            plugins[0],
            f"the {kind} {name!r} is defined by {first} and also by {', '.join(others)}; "
            f"uninstall one of them or name those to load in {ONLY_VARIABLE}",
        )

    # Events

    @property
    def observed(self) -> bool:
        """Whether any plugin listens to events."""
        return bool(self._manager.hook.evalkit_event.get_hookimpls())

    def notify(self, event: Mapping[str, Any]) -> None:
        """Hand an event to its observers, each a copy of its own; what they raise is logged."""
        for implementation in self._manager.hook.evalkit_event.get_hookimpls():
            try:
                _call(implementation, {"event": copy.deepcopy(dict(event))})
            except Exception:  # noqa: BLE001 - logged with its traceback
                _log.exception("plugin %r: evalkit_event failed", implementation.plugin_name)

    # Asking hooks

    def _ask(self, hook: str, check: Callable[[Any], Any], **arguments: str) -> Iterator[tuple[str, Any]]:
        """Each plugin's checked answer to one hook, by plugin; a fault marks the plugin as broken."""
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            plugin = implementation.plugin_name
            try:
                answer = check(_call(implementation, arguments))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
                self.report_fault(plugin, f"{hook}: {one_line(error)}")
            else:
                yield plugin, answer

    def _table(self, hook: str, kind: str, spec_type: type[S], benchmark: str | None = None) -> SpecTable[S]:
        key = (hook,) if benchmark is None else (hook, benchmark)
        if key not in self._tables:
            arguments = {} if benchmark is None else {"benchmark": benchmark}
            table: SpecTable[S] = SpecTable(kind, self)
            check = functools.partial(checked_specs, spec_type=spec_type)
            for plugin, specs in self._ask(hook, check, **arguments):
                for spec in specs:
                    self._origins[id(spec)] = plugin
                    table.put(key_of(spec), spec, plugin)
            self._tables[key] = table
        return self._tables[key]

    def _environment_offers(self, benchmark: str, variant: str) -> dict[str, EnvironmentSpec]:
        key = (benchmark, variant)
        if key not in self._environments:

            def check(answer: object) -> list[EnvironmentSpec]:
                return checked_specs([] if answer is None else [answer], EnvironmentSpec)

            offers = self._ask("evalkit_environment", check, benchmark=benchmark, variant=variant)
            self._environments[key] = {plugin: specs[0] for plugin, specs in offers if specs}
            for plugin, spec in self._environments[key].items():
                self._origins[id(spec)] = plugin
        return self._environments[key]


def _call(implementation: pluggy.HookImpl, arguments: Mapping[str, Any]) -> Any:
    return implementation.function(*(arguments[name] for name in implementation.argnames))


def resolve(target: str, plugin: str) -> Any:
    """The object that `"package.module:attribute"` names; PluginError if it can't be had."""
    module, _, path = target.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise PluginError(plugin, f"{target} can't be loaded: {one_line(error)}") from error
    return found


@functools.cache
def load_plugins() -> Plugins:
    """The plugins installed here, or those that the variable EVALKIT_PLUGINS names (`a,b`), and the core's.

    Never fails because of a plugin: see `Plugins.broken`.
    """
    plugins = Plugins()
    plugins.add(CORE_PLUGIN, importlib.import_module("evalkit._builtin"), _core_distribution())
    found, unreadable = discover()
    for name, (reason, distribution) in unreadable.items():
        plugins.add_broken(name, reason, distribution)
    wanted = [name.strip() for name in os.environ.get(ONLY_VARIABLE, "").split(",") if name.strip()]
    for name in wanted:
        if name not in found and name != CORE_PLUGIN:
            similar = did_you_mean(name, found)
            hint = f"did you mean {' or '.join(similar)}?" if similar else f"installed: {', '.join(found)}"
            plugins.report_fault(name, f"{ONLY_VARIABLE} names it, but it isn't installed; {hint}")
    plugins.limited = bool(wanted)
    for name, entry in found.items():
        if not wanted or name in wanted:
            _load_one(plugins, name, entry)
    return plugins


def _load_one(plugins: Plugins, name: str, found: Found) -> None:
    try:
        with contextlib.redirect_stdout(sys.stderr):  # stdout belongs to results
            module = found.point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
        reason = f"{found.point.value} can't be loaded: {one_line(error)}"
        plugins.add_broken(name, reason, found.distribution)
    else:
        plugins.add(name, module, found.distribution)


def _core_distribution() -> importlib.metadata.Distribution | None:
    try:
        return importlib.metadata.distribution(CORE_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:  # run from a source tree
        return None
