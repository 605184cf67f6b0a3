"""Every hook a plugin can implement, and the light descriptors that hooks return.

A plugin is a module named by an entry point of the group `evalkit`. It imports nothing but the standard
library and this module, so that `evalkit --help` and `evalkit ls` stay quick; what does the work is named
as a string `"package.module:attribute"` and imported when it is needed.

A minimal plugin:

    from evalkit.hookspecs import BenchmarkSpec, EnvironmentSpec, hookimpl

    @hookimpl
    def evalkit_benchmarks():
        return [BenchmarkSpec(id="toy", title="A toy", tasks="toy.tasks:load")]

    @hookimpl
    def evalkit_environment(benchmark, variant):
        if benchmark == "toy":
            return EnvironmentSpec(target="toy.environment:ToyEnvironment")

Installed is not active: a suite names the validators, executors and metrics it uses by id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pluggy

if TYPE_CHECKING:
    from evalkit.types import Event

hookspec = pluggy.HookspecMarker("evalkit")
hookimpl = pluggy.HookimplMarker("evalkit")


@dataclass(frozen=True, slots=True)
class BenchmarkSpec:
    """A benchmark: where its tasks come from and what its settings are.

    `tasks` names a function `load(tasks: Mapping, settings: Mapping) -> Sequence[Task]`, where `tasks`
    is the suite's block of that name. `settings` names a pydantic model of the protocol settings (None:
    there are none). `suite_check` names a function `check(condition, tasks, settings)` that raises
    UsageError for a suite, also one changed by `-T`, whose parts contradict each other; with a parameter
    `limits` it is told of those as well. `opener` names
    a function `open(path, settings) -> ToolCall | Candidate` that turns a file into what `evalkit try`
    puts to the test, `task_reader` a function `read(path, settings) -> Task` for tasks that come as a
    file (`try --task FILE`), `free_task` a function `free(settings) -> Task` for `try` without a task,
    and `trial` a function `report(task, candidate, verdict, executions, settings) -> dict` for the
    `report` of its JSON. `warm` names a function without arguments that compiles kernels before workers
    start. `version` is recorded.
    `claim` says in a sentence what a result shows and what it doesn't.
    """

    id: str
    title: str
    tasks: str
    version: str = "1"
    settings: str | None = None
    suite_check: str | None = None
    opener: str | None = None
    task_reader: str | None = None
    free_task: str | None = None
    trial: str | None = None
    pictures: str | None = None
    warm: str | None = None
    url: str = ""
    claim: str = ""


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """`target` names an `evalkit.types.Environment` class, built with the protocol settings.

    With `mode="workspace"` it is an `evalkit.types.WorkspaceEnvironment`: agents work in a folder instead of
    making calls.
    """

    target: str
    mode: Literal["turns", "workspace"] = "turns"


@dataclass(frozen=True, slots=True)
class ValidatorSpec:
    """Deterministic legality of a candidate; `target` names an `evalkit.types.Validator` class."""

    id: str
    target: str
    version: str
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ExecutorSpec:
    """Evidence about a candidate; `target` names an `evalkit.types.Executor` class.

    `needs_model` marks a judge, among a suite's final executors: it is skipped until `evalkit rescore --judge
    MODEL` hands its object the `evalkit.models.ModelClient`, by a method `use_model(client)`, after which its
    constants name the model. `exclusive` one that uses what a machine has once (a screen): with it a run
    has one worker. Other runs don't know of that, so it has a lock of its own. `warm` as in `BenchmarkSpec`.
    `release` names a function `release(settings)` that gives back what a worker that was killed still held;
    it is called in the parent once all workers of a command are gone, however they ended.
    """

    id: str
    target: str
    version: str
    summary: str = ""
    needs_model: bool = False
    exclusive: bool = False
    warm: str | None = None
    release: str | None = None


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """A number computed from records alone; `target` names an `evalkit.types.Metric` class.

    `kind` decides the interval: `proportion` (values 0/1, Wilson), `mean` (bootstrap, resampled by
    `cluster`, a key of `Task.hidden`), `total` (a sum, no interval); where tasks have several epochs,
    proportions are resampled, too, by `cluster` or whole tasks. `missing` says what an episode
    without a result counts as in the second figure, `failure` (0) or `omit`. `denominator` and
    `not_applicable` are sentences for readers. `scope="run"` metrics see all episodes at once.
    `unit` is printed behind the value (`%` prints a proportion in percent).
    """

    id: str
    target: str
    label: str
    summary: str
    kind: Literal["proportion", "mean", "total"] = "proportion"
    scope: Literal["episode", "run"] = "episode"
    denominator: str = "episodes"
    not_applicable: str = "never"
    missing: Literal["failure", "omit"] = "failure"
    cluster: str | None = None
    higher_is_better: bool = True
    unit: str = "%"
    version: str = "1"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """A player; `target` names an `evalkit.types.Agent` class, a `WorkspaceAgent` class, or one that is both.

    `benchmarks` empty means any. `offline` agents need no model and play in worker processes; the others in
    threads. Of these, `own_program` agents start a program that reaches its model itself.
    `sees_images=False` keeps pictures unrendered.
    """

    name: str
    target: str
    summary: str
    benchmarks: tuple[str, ...] = ()
    offline: bool = True
    own_program: bool = False
    sees_images: bool = False
    version: str = "1"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A way to reach models (`litellm`, `scripted` …); `target` names a `ModelClient` class."""

    name: str
    target: str
    summary: str


@dataclass(frozen=True, slots=True)
class DataSourceSpec:
    """Data that users fetch with `evalkit data pull NAME`; `target` names a function
    `pull(pull: evalkit.data.Pull) -> None` that fetches from `pull.source`, by default `url`."""

    name: str
    target: str
    summary: str
    licence: str
    url: str
    size: str = ""


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """What `evalkit doctor` should look at; `target` names a function
    `check() -> Sequence[tuple[name, status, detail]]` with the status `ok`, `info`, `warn` or `broken`."""

    name: str
    target: str


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """A way to look at an episode or run of a benchmark.

    `scope="episode"`: `target(episode, task) -> list[evalkit.types.Artifact]` for `evalkit show`; a function
    with a parameter `files` gets those of the last complete design, bytes by name;
    `scope="run"`: `target(list of (episode, task)) -> list[evalkit.report.Table]` for `evalkit report`. That
    list holds the episodes that have a result. A function with a parameter `missing` is told of the planned
    ones that have none as well, `target(played, missing=list of (EpisodeKey, Task))`, and its tables can
    count them.
    """

    id: str
    target: str
    summary: str
    scope: Literal["episode", "run"] = "episode"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command group of a plugin, `evalkit NAME …`; `target` names a click command."""

    name: str
    target: str
    summary: str


@hookspec
def evalkit_benchmarks() -> Sequence[BenchmarkSpec]:  # type: ignore[empty-body]
    """The benchmarks this plugin brings."""


@hookspec
def evalkit_suites() -> Path | Sequence[Path]:  # type: ignore[empty-body]
    """Path of the plugin's `suites.yaml` (package data), or several."""


@hookspec(firstresult=True)
def evalkit_environment(benchmark: str, variant: str) -> EnvironmentSpec | None:
    """The environment of a benchmark in a variant (`default` unless a suite says otherwise).

    The plugin that brings the benchmark is asked first; other plugins can add variants.
    """


@hookspec
def evalkit_validators(benchmark: str) -> Sequence[ValidatorSpec]:  # type: ignore[empty-body]
    """Validators for a benchmark, one's own or another plugin's."""


@hookspec
def evalkit_executors(benchmark: str) -> Sequence[ExecutorSpec]:  # type: ignore[empty-body]
    """Executors and judges for a benchmark."""


@hookspec
def evalkit_metrics(benchmark: str) -> Sequence[MetricSpec]:  # type: ignore[empty-body]
    """Metrics for a benchmark."""


@hookspec
def evalkit_agents() -> Sequence[AgentSpec]:  # type: ignore[empty-body]
    """Agents this plugin brings."""


@hookspec
def evalkit_models() -> Sequence[ModelSpec]:  # type: ignore[empty-body]
    """Model clients this plugin brings."""


@hookspec
def evalkit_data_sources() -> Sequence[DataSourceSpec]:  # type: ignore[empty-body]
    """Data sets for `evalkit data pull`."""


@hookspec
def evalkit_checks() -> Sequence[CheckSpec]:  # type: ignore[empty-body]
    """What `evalkit doctor` looks at for this plugin."""


@hookspec
def evalkit_views(benchmark: str) -> Sequence[ViewSpec]:  # type: ignore[empty-body]
    """Pictures and tables for `evalkit show` and `evalkit report`."""


@hookspec
def evalkit_commands() -> Sequence[CommandSpec]:  # type: ignore[empty-body]
    """Commands of the plugin's own."""


@hookspec
def evalkit_event(event: Event) -> None:
    """Called for each event as it is written; exceptions are logged, never fatal."""
