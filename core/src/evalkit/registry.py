"""What names stand for: suites and groups from plugins and registry files.

A registry file adds to the suites of the installed plugins:

    evalkit: 1
    include: [more.yaml]
    suites:
      mine: {benchmark: polybridge, metrics: [success], …}
    groups:
      ci.smoke: {tags: [smoke]}
    overrides:
      polybridge.strict: {limits: {calls: 5}}

It is the one that `--registry` or EVALKIT_REGISTRY names, otherwise the nearest `registry.yaml` upward from
the current folder that has the header.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evalkit.canonical import sha256_of
from evalkit.errors import EvalkitError, RegistryError, UnknownNameError, UsageError
from evalkit.hookspecs import BenchmarkSpec
from evalkit.plugins import Plugins, SpecTable
from evalkit.registry_files import VARIABLE, Block, Group, find_registry, read_registry, read_suites
from evalkit.registry_options import LISTS, apply_option
from evalkit.registry_schema import RegistryFile, SuiteBlock, validate
from evalkit.registry_settings import check_suite, full_settings


@dataclass(frozen=True)
class Suite:
    """A suite with everything filled in: what is played, and under which protocol.

    `settings` hold all settings of the benchmark, defaults too. `versions` gives the version of each
    validator, executor and metric by list and id. `notices` say who changed the suite.
    """

    name: str
    version: int
    benchmark: str
    benchmark_version: str
    title: str
    tags: tuple[str, ...]
    tasks: Mapping[str, Any]
    condition: str
    variant: str
    agent: str | None
    limits: Mapping[str, float]
    settings: Mapping[str, Any]
    validators: tuple[str, ...]
    executors: tuple[str, ...]
    final_executors: tuple[str, ...]
    metrics: tuple[str, ...]
    thresholds: tuple[str, ...]
    versions: Mapping[str, Mapping[str, str]]
    origin: str
    notices: tuple[str, ...] = ()

    def protocol(self) -> dict[str, Any]:
        """All that decides results, as JSON; not title, tags, agent or thresholds.

        `order` keeps what a mapping loses: validators speak and executors run in this order.
        """
        return {
            "benchmark": {self.benchmark: self.benchmark_version},
            "tasks": dict(self.tasks),
            "condition": self.condition,
            "variant": self.variant,
            "limits": dict(self.limits),
            "settings": dict(self.settings),
            **{kind: dict(self.versions[kind]) for kind in LISTS},
            "order": [[*self.validators], [*self.executors], [*self.final_executors]],
        }

    @cached_property
    def protocol_hash(self) -> str:
        """SHA-256 of the protocol's canonical JSON; only runs with equal ones are comparable."""
        return sha256_of(self.protocol())


class Registry:
    """Suites and groups by name. `path` is the registry file in use, `notices` say what it changed."""

    def __init__(self, plugins: Plugins) -> None:
        self.path: Path | None = None
        self.notices: list[str] = []
        self._plugins = plugins
        self._suites: dict[str, Block] = {}
        self._groups: dict[str, Group] = {}
        self._providers: dict[str, str] = {}
        self._contested: dict[str, tuple[str, ...]] = {}
        self._suite_notices: dict[str, list[str]] = {}

    @classmethod
    def load(cls, plugins: Plugins, path: Path | None = None) -> Registry:
        """Read the suites of all plugins and a registry file (see the module's text for which).

        A plugin whose file is wrong becomes a broken plugin; a wrong registry file is a RegistryError.
        """
        registry = cls(plugins)
        registry._add_plugins()
        named = path or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None)
        file = named or find_registry(Path.cwd())
        if file is not None:
            registry._add_file(file)
        return registry

    def names(self) -> list[str]:
        """All suites, sorted; a name that two plugins define is among them."""
        return sorted(self._suites)

    def groups(self) -> list[str]:
        """All groups, sorted."""
        return sorted(self._groups)

    def expand(self, targets: Sequence[str]) -> list[str]:
        """Names of the suites that targets stand for, each once, in order.

        A target is a suite, `suite@version`, a group, or a pattern with `*`, `?` or `[`. Raises
        UnknownNameError, or PluginError if a broken plugin is why a name is unknown.
        """
        found: list[str] = []
        for target in targets:
            found += self._expand_one(target, ())
        return list(dict.fromkeys(found))

    def one(self, target: str, overrides: Sequence[str] = ()) -> Suite:
        """The one suite that a target stands for, as `suite`; UsageError if it stands for several."""
        names = self.expand([target])
        if len(names) != 1:
            raise UsageError(f"{target} stands for {len(names)} suites; name one of {', '.join(names)}")
        return self.suite(names[0], overrides)

    def describe(self, name: str) -> Mapping[str, Any]:
        """A suite's entries as written: a look at it that needs nothing of its plugins."""
        return self._block(name).data

    def origin(self, name: str) -> str:
        """Where a suite was defined: a distribution with its version, or a file."""
        return self._block(name).origin

    def suite(self, name: str, overrides: Sequence[str] = ()) -> Suite:
        """A suite with the options of `-T` applied and every name in it checked.

        Raises UnknownNameError, RegistryError, UsageError, and PluginError where a plugin is at fault.
        """
        block = self._block(self._without_version(name))
        for option in overrides:
            block = apply_option(block, option)
        return self._build(self._without_version(name), block)

    # Reading

    def _add_plugins(self) -> None:
        for origin, path in self._plugins.suite_files():
            try:
                content = read_suites(path, str(origin))
            except RegistryError as error:
                self._plugins.report_fault(origin.plugin, str(error))
                continue
            for name, block in content.suites.items():
                self._add_plugin_suite(name, block, origin.plugin)

    def _add_plugin_suite(self, name: str, block: Block, plugin: str) -> None:
        if name in self._providers:
            first = self._contested.get(name, (self._providers[name],))
            self._contested[name] = (*first, plugin)
        else:
            self._providers[name] = plugin
            self._suites[name] = block

    def _add_file(self, path: Path) -> None:
        content = read_registry(path)
        self.path = path
        for name, block in content.suites.items():
            if name in self._providers:
                self._note(
                    name, f"{block.where()} replaces the suite {name} of plugin {self._providers[name]!r}"
                )
                self._contested.pop(name, None)
            self._suites[name] = block
        for name, patch in content.overrides:
            self._override(name, patch)
        for name, group in content.groups.items():
            if name in self._suites:
                raise RegistryError(f"the group {name!r} bears the name of a suite", group.where)
        self._groups.update(content.groups)

    def _override(self, name: str, patch: Block) -> None:
        if name in self._suites:
            changed = ", ".join(patch.data) or "nothing"
            self._note(name, f"{patch.where()} overrides the suite {name}: {changed}")
            self._suites[name] = self._suites[name].changed(patch)
        elif self._plugins.partial:
            self._note(name, f"{patch.where()} overrides the suite {name}, which isn't loaded")
        else:
            raise RegistryError(str(self._unknown(name)), patch.where())

    def _note(self, name: str, text: str) -> None:
        self.notices.append(text)
        self._suite_notices.setdefault(name, []).append(text)

    # Names

    def _expand_one(self, target: str, inside: tuple[str, ...]) -> list[str]:
        if target in inside:
            raise RegistryError(f"the group {target!r} holds itself", self._groups[target].where)
        if target in self._groups:
            return self._members(target, inside)
        if any(character in target for character in "*?["):
            matching = fnmatch.filter(self.names(), target)
            if not matching:
                raise UnknownNameError("suite", target, self.names(), "no suite matches this pattern")
            return matching
        name = self._without_version(target)
        if name not in self._suites:
            raise self._unknown(name)
        return [name]

    def _members(self, name: str, inside: tuple[str, ...]) -> list[str]:
        group = self._groups[name]
        if group.block.tags:
            wanted = set(group.block.tags)
            found = [
                n for n, block in sorted(self._suites.items()) if wanted <= set(block.data.get("tags", []))
            ]
            if not found:
                raise UsageError(f"{group.where}: no suite of the group {name!r} is installed")
            return found
        return [s for member in group.block.suites for s in self._expand_one(member, (*inside, name))]

    def _without_version(self, target: str) -> str:
        name, at, wanted = target.partition("@")
        if at and name in self._suites:
            version = self._block(name).data.get("version", 1)
            if wanted != str(version):
                raise UsageError(f"{name} is at version {version} here ({self.origin(name)}), not {wanted}")
        return name

    def _block(self, name: str) -> Block:
        if name in self._contested:
            raise self._plugins.contest("suite", name, self._contested[name])
        if name not in self._suites:
            raise self._unknown(name)
        return self._suites[name]

    def _unknown(self, name: str) -> EvalkitError:
        return self._plugins.missing("suite", name, [*self.names(), *self.groups()])

    # Building

    def _build(self, name: str, block: Block) -> Suite:
        checked = validate(SuiteBlock, block.data, block.where)
        spec = self._benchmark(name, checked.benchmark, block)
        self._check_variant(checked, block)
        suite = Suite(
            name=name,
            version=checked.version,
            benchmark=spec.id,
            benchmark_version=spec.version,
            title=checked.title,
            tags=tuple(checked.tags),
            tasks=checked.tasks,
            condition=checked.condition,
            variant=checked.variant,
            agent=checked.agent,
            limits=checked.limits,
            settings=full_settings(self._plugins, spec, block),
            validators=tuple(checked.validators),
            executors=tuple(checked.executors),
            final_executors=tuple(checked.final_executors),
            metrics=tuple(checked.metrics),
            thresholds=tuple(checked.thresholds),
            versions={kind: self._versions(name, kind, checked, block) for kind in LISTS},
            origin=block.origin,
            notices=tuple(self._suite_notices.get(name, ())),
        )
        check_suite(self._plugins, spec, suite)
        return suite

    def _benchmark(self, suite: str, benchmark: str, block: Block) -> BenchmarkSpec:
        known = self._plugins.benchmarks()
        if benchmark not in known.owners:
            hint = f"suite {suite}, {block.where(('benchmark',))}"
            raise self._plugins.missing("benchmark", benchmark, known, hint)
        return self._plugins.require(benchmark)

    def _check_variant(self, suite: SuiteBlock, block: Block) -> None:
        try:
            self._plugins.environment(suite.benchmark, suite.variant)
        except UnknownNameError as error:
            raise RegistryError(str(error), block.where(("variant",))) from error

    def _versions(self, suite: str, kind: str, checked: SuiteBlock, block: Block) -> dict[str, str]:
        """The version of every validator, executor or metric in a list, whose ids are checked."""
        table: SpecTable[Any]
        if kind == "validators":
            table = self._plugins.validators(checked.benchmark)
        elif kind == "metrics":
            table = self._plugins.metrics(checked.benchmark)
        else:
            table = self._plugins.executors(checked.benchmark)
        ids: list[str] = getattr(checked, kind)
        for number, name in enumerate(ids):
            if name not in table.owners:
                hint = f"suite {suite}, {block.where((kind, number))}"
                raise self._plugins.missing(table.kind, name, table, hint)
        return {name: table[name].version for name in ids}


def json_schema() -> dict[str, Any]:
    """JSON Schema of a registry file."""
    return RegistryFile.model_json_schema()
