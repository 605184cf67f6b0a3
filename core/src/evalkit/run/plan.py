"""What a run will play, decided before anything runs, and the manifest that freezes it."""

from __future__ import annotations

import datetime
import fnmatch
import hashlib
import os
import platform
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution, version
from typing import TYPE_CHECKING, Any

from evalkit.canonical import canonical_json
from evalkit.errors import NothingSelectedError, PluginError, UnknownNameError, UsageError
from evalkit.plugins import Plugins, resolve
from evalkit.run.assemble import Assembly, find_agent
from evalkit.run.worker import AgentChoice, EpisodeJob, PlaySetup
from evalkit.store import RECORD_VERSION
from evalkit.store.planned import Shard, planned_keys
from evalkit.types import EpisodeKey, Task

if TYPE_CHECKING:
    from evalkit.registry import Suite

RECORDED_PACKAGES = ("evalkit-core", "numpy", "numba", "llvmlite", "pydantic", "pluggy", "pebble", "Pillow")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of a suite's tasks to play; `span` is a slice, `keyword` a pattern, `ids` exact names."""

    span: slice = field(default_factory=lambda: slice(None))
    keyword: str | None = None
    ids: tuple[str, ...] = ()

    def apply(self, tasks: Sequence[Task], suite: str) -> list[Task]:
        """The selected tasks, in order; UnknownNameError for an id that isn't there."""
        known = {task.id: task for task in tasks}
        for name in self.ids:
            if name not in known:
                raise UnknownNameError("task", name, known, f"`evalkit ls tasks --suite {suite}` lists them")
        chosen = [task for task in tasks if not self.ids or task.id in self.ids]
        if self.keyword:
            pattern = self.keyword.lower()
            pattern = pattern if any(c in pattern for c in "*?[") else f"*{pattern}*"
            chosen = [task for task in chosen if fnmatch.fnmatch(task.id.lower(), pattern)]
        chosen = chosen[self.span]
        if not chosen:
            raise NothingSelectedError(f"no task of {suite} is selected ({len(tasks)} exist)")
        return chosen


@dataclass(frozen=True)
class Plan:
    """A run before it starts."""

    suite: Suite
    setup: PlaySetup
    tasks: tuple[Task, ...]
    all_tasks: int
    epochs: int
    seed: int
    shard: Shard | None = None

    @cached_property
    def keys(self) -> list[EpisodeKey]:
        """Every episode, in the order of play."""
        agents = [agent.id for agent in self.setup.agents]
        tasks = [task.id for task in self.tasks]
        return planned_keys(agents, tasks, self.suite.condition, self.epochs, self.shard)

    def jobs(self, only: Container[EpisodeKey] | None = None) -> Iterator[EpisodeJob]:
        """The episodes (or only some of them), numbered in the order of play."""
        tasks = {task.id: task for task in self.tasks}
        for number, key in enumerate(self.keys):
            if only is None or key in only:
                yield EpisodeJob(number, key, tasks[key.task], key.seed(self.seed))


def load_tasks(plugins: Plugins, suite: Suite) -> list[Task]:
    """All tasks of a suite; PluginError if the benchmark's loader misbehaves."""
    return load_benchmark_tasks(plugins, suite.benchmark, suite.tasks, suite.settings)


def load_benchmark_tasks(plugins: Plugins, benchmark: str, block: Any, settings: Any) -> list[Task]:
    """The tasks of a benchmark for a suite's `tasks` block and settings."""
    plugins.require(benchmark)
    spec = plugins.benchmarks()[benchmark]
    plugin = plugins.origin(spec).plugin
    tasks = list(resolve(spec.tasks, plugin)(block, settings))
    seen: set[str] = set()
    for task in tasks:
        if not isinstance(task, Task):
            raise PluginError(plugin, f"{spec.tasks} gave {type(task).__name__} instead of a Task")
        if task.id in seen:
            raise PluginError(plugin, f"{spec.tasks} gave two tasks with the id {task.id!r}")
        seen.add(task.id)
    return tasks


def make_plan(
    plugins: Plugins,
    suite: Suite,
    agents: Sequence[str],
    selection: Selection,
    *,
    epochs: int = 1,
    seed: int = 0,
    pictures: bool = False,
    shard: Shard | None = None,
    model_options: Sequence[str] = (),
) -> Plan:
    """Decide what to play; every name is checked here, before episode 1.

    `model_options` (`-M key=value`) hold for every agent that needs a model.
    """
    names = list(dict.fromkeys(agents or ([suite.agent] if suite.agent else [])))
    if not names:
        raise UsageError(f"{suite.name} has no default agent; name one with --agent")
    specs = {name: find_agent(plugins, suite.benchmark, name.partition(":")[0]) for name in names}
    setup = PlaySetup(
        benchmark=suite.benchmark,
        variant=suite.variant,
        settings=dict(suite.settings),
        limits=dict(suite.limits),
        validators=tuple(suite.validators),
        executors=tuple(suite.executors),
        agents=tuple(_choice(name, () if spec.offline else model_options) for name, spec in specs.items()),
        pictures=pictures,
    )
    tasks = load_tasks(plugins, suite)
    chosen = selection.apply(tasks, suite.name)
    plan = Plan(suite, setup, tuple(chosen), len(tasks), epochs, seed, shard)
    if not plan.keys and shard is not None:
        raise NothingSelectedError(f"shard {shard.number}/{shard.count} of {suite.name} holds no episode")
    return plan


def manifest(plan: Plan, plugins: Plugins, name: str) -> dict[str, Any]:
    """The frozen configuration of a run; the assembly proves that everything can be built."""
    suite = plan.suite
    assembly = Assembly(plan.setup, plugins)
    for agent in plan.setup.agents:
        assembly.agent(agent.id)
    return {
        "record_version": RECORD_VERSION,
        "run": name,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "suite": {
            "name": suite.name,
            "version": suite.version,
            "title": suite.title,
            "origin": suite.origin,
            "notices": list(suite.notices),
            "thresholds": list(suite.thresholds),
        },
        "protocol": suite.protocol(),
        "protocol_hash": suite.protocol_hash,
        "condition": suite.condition,
        "agents": [_agent_entry(assembly, choice) for choice in plan.setup.agents],
        "tasks": [task.id for task in plan.tasks],
        "tasks_sha256": tasks_sha256(plan.tasks),
        "all_tasks": plan.all_tasks,
        "epochs": plan.epochs,
        "seed": plan.seed,
        "shard": asdict(plan.shard) if plan.shard is not None else None,
        "pictures": plan.setup.pictures,
        "executors": {
            e.id: {
                "version": e.version,
                "constants_sha256": e.constants_sha256,
                "constants": dict(e.executor.constants()),
            }
            for e in [*assembly.executors, *map(assembly.executor, suite.final_executors)]
        },
        "versions": installed_versions(plugins, suite, plan.setup.agents),
        "platform": {
            "python": platform.python_version(),
            "implementation": sys.implementation.name,
            "system": platform.system(),
            "machine": platform.machine(),
        },
        "order_dependent": "seconds" in suite.limits,
    }


def tasks_sha256(tasks: Iterable[Task]) -> str:
    """Hash of everything in the tasks, what agents can't see included."""
    digest = hashlib.sha256()
    for task in tasks:
        digest.update(canonical_json([task.id, dict(task.inputs), dict(task.hidden)]) + b"\n")
    return digest.hexdigest()


def run_name(suite: str) -> str:
    """A name that sorts by time: `20260131-101500-polybridge.strict-3f2a`."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    return f"{stamp}-{suite}-{os.urandom(2).hex()}"


def _choice(text: str, options: Sequence[str]) -> AgentChoice:
    name, _, argument = text.partition(":")
    return AgentChoice(text, name, argument, tuple(options))


def _agent_entry(assembly: Assembly, choice: AgentChoice) -> dict[str, Any]:
    spec = find_agent(assembly.plugins, assembly.setup.benchmark, choice.name)
    return {
        "id": choice.id,
        "name": choice.name,
        "argument": choice.argument,
        "version": spec.version,
        "plugin": assembly.plugins.origin(spec).plugin,
    } | _model_entry(assembly, choice)


def _model_entry(assembly: Assembly, choice: AgentChoice) -> dict[str, Any]:
    """What a manifest keeps of how an agent reaches a model.

    Options as given, and of a model its address and token prices and how the agent talks with it about tools,
    of an agent's own program its version, command line and isolation.
    """
    if not assembly.plays_in_thread(choice.id):
        return {}
    options: dict[str, Any] = {"options": list(choice.options)}
    if assembly.has_own_program(choice.id):
        return options | {"program": dict(assembly.agent(choice.id).describe())}
    from evalkit.models import open_model, parse_options

    if (dialogue := getattr(assembly.agent(choice.id), "dialogue", None)) is not None:
        options["dialogue"] = asdict(dialogue)
    client = open_model(choice.argument, parse_options(choice.options))
    try:
        return options | {"model": dict(client.describe())}
    finally:
        client.close()


def isolation_notices(agent: Mapping[str, Any]) -> list[str]:
    """What readers of results have to know of how an agent of a manifest was shut in, a sentence each."""
    program = agent.get("program")
    isolation = program.get("isolation") if isinstance(program, dict) else "full"
    if isolation == "full":
        return []
    if isolation == "uid":
        sees = "whatever every user of the machine may read"
    else:
        isolation, sees = "none", "all that evalkit can, tasks and references included"
    return [f"{agent['id']}: isolation: {isolation} (it could read {sees})"]


def installed_versions(plugins: Plugins, suite: Suite, agents: Iterable[AgentChoice]) -> dict[str, str]:
    """Versions of the packages that a manifest records: the core's, and of all whose parts take part."""
    benchmark = suite.benchmark
    tables = (
        (plugins.validators(benchmark), suite.validators),
        (plugins.executors(benchmark), (*suite.executors, *suite.final_executors)),
        (plugins.metrics(benchmark), suite.metrics),
        (plugins.agents(benchmark), [agent.name for agent in agents]),
    )
    specs = [plugins.benchmarks()[benchmark], *(table[name] for table, names in tables for name in names)]
    names = [*RECORDED_PACKAGES, *(plugins.origin(spec).distribution for spec in specs)]
    return {name: package_version(name) for name in dict.fromkeys(names) if name}


def package_version(name: str) -> str:
    """The version of an installed package, marked if it is editable; `not installed` otherwise."""
    try:
        found = version(name)
    except PackageNotFoundError:
        return "not installed"
    direct = distribution(name).read_text("direct_url.json") or ""
    return f"{found} (editable)" if '"editable": true' in direct else found
