"""From the names in a suite to the objects that play it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalkit.canonical import sha256_of
from evalkit.episode import LoopExecutor, Rules
from evalkit.errors import UnknownNameError
from evalkit.plugins import Plugins, load_plugins, resolve
from evalkit.types import Agent, Environment, Executor, Validator

if TYPE_CHECKING:
    from evalkit.hookspecs import AgentSpec, ExecutorSpec
    from evalkit.run.worker import PlaySetup


class Assembly:
    """The classes and shared objects of a suite: built once per process."""

    def __init__(self, setup: PlaySetup, plugins: Plugins | None = None) -> None:
        """Import everything the suite names; PluginError or UnknownNameError if that fails."""
        self.setup = setup
        self.plugins = plugins or load_plugins()
        self.plugins.require(setup.benchmark)
        spec = self.plugins.environment(setup.benchmark, setup.variant)
        self._environment = resolve(spec.target, self.plugins.origin(spec).plugin)
        self._agents = {choice.id: self._agent_class(choice.name) for choice in setup.agents}
        self._arguments = {choice.id: choice.argument for choice in setup.agents}
        self.validators = [self._validator(name) for name in setup.validators]
        self.executors = [self.executor(name) for name in setup.executors]

    def environment(self) -> Environment:
        """A new environment."""
        environment: Environment = self._environment(self.setup.settings)
        return environment

    def agent(self, agent_id: str) -> Agent:
        """A new agent."""
        agent: Agent = self._agents[agent_id][1](self._arguments[agent_id], self.setup.settings)
        return agent

    def needs_model(self, agent_id: str) -> bool:
        """Whether the agent plays in a thread and asks a model."""
        return not self._agents[agent_id][0].offline

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
        return spec, resolve(spec.target, self.plugins.origin(spec).plugin)


def find_agent(plugins: Plugins, benchmark: str, name: str) -> AgentSpec:
    """The agent of that name that can play the benchmark.

    UnknownNameError if there is none; PluginError if several plugins bring one, or if a broken one should.
    """
    table = plugins.agents(benchmark)
    if name not in table.owners:
        raise plugins.missing("agent", name, table, f"agents that play {benchmark}")
    return table[name]


def needs_models(plugins: Plugins, setup: PlaySetup) -> bool:
    """Whether any of the setup's agents asks a model."""
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
