"""From the names in a suite to the objects that play it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from evalkit.canonical import sha256_of
from evalkit.episode import End, LoopExecutor, Rules, Sink, play
from evalkit.errors import UnknownNameError, UsageError
from evalkit.plugins import Plugins, load_plugins, resolve
from evalkit.types import Executor, Validator

if TYPE_CHECKING:
    from evalkit.hookspecs import AgentSpec, ExecutorSpec
    from evalkit.run.worker import EpisodeJob, PlaySetup

_log = logging.getLogger("evalkit")


class Assembly:
    """The classes and shared objects of a suite: built once per process."""

    def __init__(self, setup: PlaySetup, plugins: Plugins | None = None) -> None:
        """Import everything the suite names; PluginError or UnknownNameError if that fails."""
        self.setup = setup
        self.plugins = plugins or load_plugins()
        self.plugins.require(setup.benchmark)
        spec = self.plugins.environment(setup.benchmark, setup.variant)
        self._environment = resolve(spec.target, self.plugins.origin(spec).plugin)
        self.mode = spec.mode
        if self.mode == "workspace":
            require_workspaces(setup.benchmark)
        self._agents = {choice.id: self._agent_class(choice.name) for choice in setup.agents}
        self._choices = {choice.id: choice for choice in setup.agents}
        self.validators = [self._validator(name) for name in setup.validators]
        self.executors = [self.executor(name) for name in setup.executors]

    def environment(self) -> Any:
        """A new environment, for turns or for a workspace as `mode` says."""
        return self._environment(self.setup.settings)

    def agent(self, agent_id: str) -> Any:
        """A new agent; UsageError if its argument or options are wrong."""
        choice = self._choices[agent_id]
        agent = self._agents[agent_id][1](choice.argument, self.setup.settings)
        if self.has_own_program(agent_id):
            agent.use_options(choice.options)
        return agent

    def plays_in_thread(self, agent_id: str) -> bool:
        """Whether the agent plays in a thread of the parent: it waits for a model more than it computes."""
        return not self._agents[agent_id][0].offline

    def has_own_program(self, agent_id: str) -> bool:
        """Whether the agent starts a program that reaches its model itself."""
        return self._agents[agent_id][0].own_program

    def play(self, job: EpisodeJob, environment: Any, agent: Any, rules: Rules, sink: Sink) -> End:
        """Play an episode in an environment and leave its record in `sink`."""
        if self.mode == "workspace":
            from evalkit.workspace import play_workspace

            return play_workspace(job.key, job.task, job.seed, environment, agent, rules, sink)
        return play(job.key, job.task, job.seed, environment, agent, rules, sink)

    def rules(self, agent_id: str) -> Rules:
        """The protocol for an agent's episodes; pictures are drawn if somebody looks at them."""
        pictures = self.setup.pictures or self._agents[agent_id][0].sees_images
        return Rules(self.setup.limits, self.validators, self.executors, pictures)

    def executor(self, name: str) -> LoopExecutor:
        """An executor with the hash of its constants."""
        specs = self.plugins.executors(self.setup.benchmark)
        if name not in specs:
            raise UnknownNameError("executor", name, specs)
        spec = specs[name]
        executor: Executor = self._build(spec)
        return LoopExecutor(name, spec.version, constants_sha256(executor), executor)

    def _validator(self, name: str) -> Validator:
        specs = self.plugins.validators(self.setup.benchmark)
        if name not in specs:
            raise UnknownNameError("validator", name, specs)
        validator: Validator = self._build(specs[name])
        return validator

    def _build(self, spec: Any) -> Any:
        return resolve(spec.target, self.plugins.origin(spec).plugin)(self.setup.settings)

    def _agent_class(self, name: str) -> tuple[AgentSpec, Any]:
        spec = find_agent(self.plugins, self.setup.benchmark, name)
        found = resolve(spec.target, self.plugins.origin(spec).plugin)
        if not hasattr(found, "work" if self.mode == "workspace" else "act"):
            raise UsageError(_unfitting(name, self.setup, self.mode))
        return spec, found


def require_workspaces(benchmark: str) -> None:
    """UsageError where workspaces can't be played in."""
    if os.name != "posix":
        raise UsageError(f"{benchmark} is played in a workspace, which needs Linux or macOS")


def _unfitting(agent: str, setup: PlaySetup, mode: str) -> str:
    where = f"{setup.benchmark} (variant {setup.variant})"
    if mode == "workspace":
        return f"{where} is played in a workspace, and agent {agent!r} makes calls; use --agent cli:TEMPLATE"
    return f"{where} is played call by call, and agent {agent!r} works in a workspace; see `evalkit play`"


def find_agent(plugins: Plugins, benchmark: str, name: str) -> AgentSpec:
    """The agent of that name that can play the benchmark.

    UnknownNameError if there is none; PluginError if several plugins bring one, or if a broken one should.
    """
    table = plugins.agents(benchmark)
    if name not in table.owners:
        raise plugins.missing("agent", name, table, f"agents that play {benchmark}")
    return table[name]


def needs_threads(plugins: Plugins, setup: PlaySetup) -> bool:
    """Whether any of the setup's agents plays in a thread of the parent."""
    return any(not find_agent(plugins, setup.benchmark, choice.name).offline for choice in setup.agents)


def constants_sha256(executor: Executor) -> str:
    """Hash of the constants that an executor's outcomes depend on."""
    constants: Mapping[str, Any] = executor.constants()
    return sha256_of(dict(constants))


def warm_targets(plugins: Plugins, benchmark: str, executors: list[str]) -> list[tuple[str, str]]:
    """(target, plugin) of every `warm` function that a suite's benchmark and executors name."""
    specs: list[Any] = [plugins.benchmarks()[benchmark]]
    known: Mapping[str, ExecutorSpec] = plugins.executors(benchmark)
    specs += [known[name] for name in executors]
    found = [(spec.warm, plugins.origin(spec).plugin) for spec in specs if spec.warm]
    return list(dict.fromkeys(found))


def release_executors(plugins: Plugins, setup: PlaySetup, executors: Iterable[str]) -> None:
    """Let executors give back what workers held when they were killed; no worker may be left.

    What fails is logged: it changes nothing about what was played.
    """
    known: Mapping[str, ExecutorSpec] = plugins.executors(setup.benchmark)
    for name in executors:
        release = known[name].release if name in known else None
        if release is None:
            continue
        try:
            resolve(release, plugins.origin(known[name]).plugin)(setup.settings)
        except Exception as error:  # noqa: BLE001 - plugins may raise anything
            _log.warning("what %s used isn't as it was: %s", name, error)
