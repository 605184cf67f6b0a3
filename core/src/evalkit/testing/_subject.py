"""What is checked: a suite's environment, tasks, validators, executors, metrics, and what is played."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evalkit.errors import UnknownNameError, UsageError
from evalkit.plugins import Plugins, load_plugins, resolve
from evalkit.registry import Registry, Suite
from evalkit.run.assemble import find_agent, require_workspaces
from evalkit.run.plan import load_tasks
from evalkit.run.scoring import metric_specs
from evalkit.testing._finding import short
from evalkit.testing._play import record, script_of
from evalkit.types import Task, ToolCall

Builder = Callable[[Mapping[str, Any]], Any]
AgentBuilder = Callable[[str, Mapping[str, Any]], Any]
Script = Sequence[ToolCall] | Mapping[str, bytes]
"""Calls to make or, in a workspace, files to hand in, by path."""

#: At least so many tasks are played unless a caller names some.
FEWEST_TASKS = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """A suite taken apart, so that each part can be checked, or replaced by a broken one in tests of the kit.

    `environment`, `validators`, `executors` (in the loop), `final_executors` (after play; judges that need a
    model are left out) and `metrics` are classes, built with `settings`. `scripts` maps each task's id to
    what is played on it: calls, or files if `mode` is `workspace`. `visible` are keys of `Task.hidden` whose
    values agents may see. `agents` are the offline agents to check, by name.
    """

    name: str
    settings: Mapping[str, Any]
    limits: Mapping[str, float]
    environment: Builder
    load_tasks: Callable[[], Sequence[Task]]
    tasks: tuple[Task, ...]
    scripts: Mapping[str, Script]
    validators: Mapping[str, Builder]
    executors: Mapping[str, Builder]
    final_executors: Mapping[str, Builder]
    metrics: Mapping[str, Builder]
    run_metrics: Mapping[str, Builder]
    mode: Literal["turns", "workspace"] = "turns"
    proportions: frozenset[str] = frozenset()
    visible: frozenset[str] = frozenset()
    agents: Mapping[str, AgentBuilder] = field(default_factory=dict)


def subject_of(
    suite: str | Suite,
    *,
    tasks: Sequence[str] | None = None,
    scripts: Mapping[str, Script] | None = None,
    visible: Sequence[str] = (),
    plugins: Plugins | None = None,
    agents: Sequence[str] | None = None,
) -> Subject:
    """Take a suite apart.

    `agents` names the offline agents to check, without arguments; None means the suite's default agent and
    all others of the benchmark's plugin that need none. `tasks` are ids; without them, tasks from first to
    last are taken, at least three and one for each agent. `scripts` maps task ids (or `*` for all others) to
    calls or, for a suite that is played in a workspace, to files to hand in; without them the agents play one
    task each in turn, and what they do are the scripts. Raises what explains in one line why the suite can't
    be had.
    """
    plugins = plugins or load_plugins()
    if isinstance(suite, str):
        suite = Registry.load(plugins).suite(suite)
    environment = plugins.environment(suite.benchmark, suite.variant)
    if environment.mode == "workspace":
        require_workspaces(suite.benchmark)
    players = _agents(plugins, suite, agents, "work" if environment.mode == "workspace" else "act")
    chosen = _choose(load_tasks(plugins, suite), tasks, suite.name, max(FEWEST_TASKS, len(players)))
    specs = metric_specs(plugins, suite.benchmark, list(suite.metrics))
    known = plugins.executors(suite.benchmark)
    judged = [name for name in suite.final_executors if not known[name].needs_model]
    subject = Subject(
        name=suite.name,
        settings=dict(suite.settings),
        limits={name: limit for name, limit in suite.limits.items() if name != "seconds"},
        environment=_load(plugins, environment),
        load_tasks=lambda: load_tasks(plugins, suite),
        tasks=chosen,
        scripts={},
        validators={n: _load(plugins, plugins.validators(suite.benchmark)[n]) for n in suite.validators},
        executors={n: _load(plugins, known[n]) for n in suite.executors},
        final_executors={n: _load(plugins, known[n]) for n in judged},
        metrics={n: _load(plugins, spec) for n, spec in specs.items() if spec.scope == "episode"},
        run_metrics={n: _load(plugins, spec) for n, spec in specs.items() if spec.scope == "run"},
        mode=environment.mode,
        proportions=frozenset(n for n, spec in specs.items() if spec.kind == "proportion"),
        visible=frozenset(visible),
        agents=players,
    )
    return replace(subject, scripts=_scripts(subject, scripts))


def _load(plugins: Plugins, spec: Any) -> Any:
    return resolve(spec.target, plugins.origin(spec).plugin)


def _choose(tasks: Sequence[Task], wanted: Sequence[str] | None, suite: str, count: int) -> tuple[Task, ...]:
    if wanted is not None:
        known = {task.id for task in tasks}
        for name in wanted:
            if name not in known:
                raise UnknownNameError("task", name, known, f"`evalkit ls tasks --suite {suite}` lists them")
        return tuple(task for task in tasks if task.id in wanted)
    if not tasks:
        raise UsageError(f"{suite} has no tasks: there is nothing to check")
    indices = {round(i * (len(tasks) - 1) / (count - 1)) for i in range(count)}
    return tuple(tasks[i] for i in sorted(indices))


def _agents(
    plugins: Plugins, suite: Suite, names: Sequence[str] | None, method: str
) -> dict[str, AgentBuilder]:
    """The offline agents to check, the suite's default first; those that lack the method, or refuse to be
    built without an argument, are left out."""
    if names is None:
        owner = plugins.origin(plugins.benchmarks()[suite.benchmark]).plugin
        table = plugins.agents(suite.benchmark)
        own = [name for name, spec in table.items() if plugins.origin(spec).plugin == owner]
        default = [suite.agent] if suite.agent and ":" not in suite.agent else []
        names = [*default, *own]
    specs = [find_agent(plugins, suite.benchmark, name) for name in dict.fromkeys(names)]
    found = {spec.name: _load(plugins, spec) for spec in specs if spec.offline}
    return {
        name: build
        for name, build in found.items()
        if hasattr(build, method) and not _needs_argument(build, suite.settings)
    }


def _needs_argument(build: AgentBuilder, settings: Mapping[str, Any]) -> bool:
    try:
        build("", settings)
    except UsageError:
        return True
    except Exception:  # noqa: BLE001 - a broken agent is one of the things that are checked
        return False
    return False


def _scripts(subject: Subject, given: Mapping[str, Script] | None) -> dict[str, Script]:
    """A script for every task: those given, or what the agents do, each on one task in turn."""
    nothing: Script = {} if subject.mode == "workspace" else []
    if given is not None:
        _check_kind(subject, given)
        return {task.id: given.get(task.id, given.get("*", nothing)) for task in subject.tasks}
    builders = list(subject.agents.values())
    if not builders:
        return {task.id: nothing for task in subject.tasks}
    scripts = {}
    for i, task in enumerate(subject.tasks):
        agent = new_agent(builders[i % len(builders)], subject, task)
        scripts[task.id] = script_of(subject, record(subject, task, agent))
    return scripts


def _check_kind(subject: Subject, given: Mapping[str, Script]) -> None:
    wanted = "a mapping of paths to bytes" if subject.mode == "workspace" else "a list of calls"
    for task, script in given.items():
        if isinstance(script, Mapping) != (subject.mode == "workspace"):
            raise UsageError(f"{subject.name}: scripts[{task!r}] is {short(script)}, wanted {wanted}")


def new_agent(build: AgentBuilder, subject: Subject, task: Task) -> Any:
    """An agent without an argument, told which task it will play if it wants to know."""
    agent = build("", subject.settings)
    if hasattr(agent, "use_task"):
        agent.use_task(task.id)
    return agent
