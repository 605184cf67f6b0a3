"""One design put to the test without an agent: validators, executors, metrics."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from evalkit.canonical import sha256_of
from evalkit.episode import End, LoopExecutor, Rules, execution_fields, play
from evalkit.errors import EndReason, EvalkitError, NoResultError, PluginError, UsageError
from evalkit.plugins import Plugins, resolve
from evalkit.registry import Suite
from evalkit.run.assemble import Assembly
from evalkit.run.scoring import metric_specs
from evalkit.run.worker import PlaySetup, event_body
from evalkit.types import (
    Candidate,
    Environment,
    Episode,
    EpisodeKey,
    Execution,
    Executor,
    Observation,
    Reply,
    Score,
    StepContext,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Verdict,
    Violation,
)
from evalkit.types.record import is_reference


class MemorySink:
    """Keeps an episode's record in memory."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.blobs: dict[str, bytes] = {}

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append an event."""
        self.events.append(json.loads(event_body(len(self.events), kind, fields)))

    def blob(self, data: bytes) -> str:
        """Keep bytes."""
        sha256 = hashlib.sha256(data).hexdigest()
        self.blobs[sha256] = data
        return sha256

    def flush(self) -> None:
        """Nothing to do: events are kept as they come."""

    def load(self, value: Any) -> Any:
        """The value behind a reference to a blob, or the value itself."""
        if is_reference(value):
            return json.loads(self.blobs[value["blob"]])
        return value


@dataclass(frozen=True, slots=True)
class Trial:
    """What came out.

    `works` is True if the design is valid, every executor's verdict is a success, and at least one gave its
    verdict where the protocol names executors (`to_execute`).
    """

    task: Task
    candidate: Candidate | None
    violations: tuple[Violation, ...]
    executions: tuple[Execution, ...]
    scores: dict[str, Score]
    report: Mapping[str, Any]
    text: Sequence[str] | None
    artifacts: dict[str, bytes]
    to_execute: bool

    @property
    def valid(self) -> bool:
        """No violation but advice."""
        return self.candidate is not None and Verdict(self.violations).valid

    @property
    def works(self) -> bool:
        """Valid, executed if the protocol asks for it, and nowhere a failure."""
        executed = bool(self.executions) or not self.to_execute
        return self.valid and executed and all(e.success is not False for e in self.executions)

    def as_json(self, target: str) -> dict[str, Any]:
        """The JSON contract of `evalkit try`."""
        first = self.executions[0] if self.executions else None
        return {
            "target": target,
            "task": self.task.id,
            "candidate_sha256": self.candidate.sha256 if self.candidate else None,
            "valid": self.valid,
            "violations": [
                {
                    "code": v.code,
                    "message": v.message,
                    "ids": list(v.ids),
                    "value": v.value,
                    "limit": v.limit,
                    "advisory": v.advisory,
                }
                for v in self.violations
            ],
            "execution": None
            if first is None
            else {"executor": first.executor, "success": first.success, **first.data},
            "metrics": {
                id: {"score": s.value, "status": s.status, "evidence": dict(s.evidence)}
                for id, s in self.scores.items()
            },
            "report": dict(self.report),
        }


def try_design(plugins: Plugins, suite: Suite, task: Task, path: Path, *, pictures: bool) -> Trial:
    """Put the design in a file to the test in a suite's protocol.

    Raises UsageError if the benchmark can't read such files, and whatever one line explains a failure of
    a plugin on the way.
    """
    spec = plugins.require(suite.benchmark)
    plugin = plugins.origin(spec).plugin
    if spec.opener is None:
        raise UsageError(f"{suite.benchmark} has no files that `evalkit try` could open")
    opened = resolve(spec.opener, plugin)(path, suite.settings)
    setup = PlaySetup(
        benchmark=suite.benchmark,
        variant=suite.variant,
        settings=dict(suite.settings),
        limits={},
        validators=tuple(suite.validators),
        executors=tuple(suite.executors),
        agents=(),
        pictures=pictures,
    )
    assembly = Assembly(setup, plugins)
    environment = assembly.environment()
    sink, watch = MemorySink(), _Watch()
    executors = [
        LoopExecutor(e.id, e.version, e.constants_sha256, _Watched(e.executor, watch))
        for e in assembly.executors
    ]
    rules = Rules({}, [_WatchedValidator(v, watch) for v in assembly.validators], executors, pictures)
    key = EpisodeKey("try", task.id, suite.condition, 1)
    given = not isinstance(opened, ToolCall)
    if assembly.mode == "workspace" and not given:
        raise PluginError(plugin, f"{spec.opener} gave a call, and {suite.name} is played in a workspace")
    subject = cast(Environment, _Given(environment, opened)) if given else environment
    call = opened if isinstance(opened, ToolCall) else ToolCall("open", {})
    end = play(key, task, key.seed(0), subject, _OneCall(call), rules, sink)
    _raise_errors(end, plugin, watch)
    final = [id for id in suite.final_executors if not plugins.executors(suite.benchmark)[id].needs_model]
    gathered = _gathered(assembly, final, task, watch, sink, pictures=pictures) if end_is_valid(sink) else {}
    episode = Episode(key, list(sink.events), sink.events[-1], sink.load, gathered)
    violations = _violations(episode)
    candidate = watch.candidate
    report: dict[str, Any] = {}
    if spec.trial is not None:
        verdict = Verdict(violations)
        found = resolve(spec.trial, plugin)(task, candidate, verdict, watch.executions, suite.settings)
        report = dict(found)
    text = report.pop("text", None)
    artifacts = {artifact.name: artifact for e in watch.executions for artifact in e.artifacts}
    if pictures and spec.pictures is not None and candidate is not None:
        drawn = resolve(spec.pictures, plugin)(task, candidate, suite.settings)
        artifacts |= {artifact.name: artifact for artifact in drawn}
    return Trial(
        task,
        candidate,
        violations,
        tuple(watch.executions),
        _scores(plugins, suite, episode, task),
        report,
        text,
        {name: artifact.data for name, artifact in artifacts.items()},
        bool(suite.executors or final),
    )


def end_is_valid(sink: MemorySink) -> bool:
    """Whether the walk yielded a candidate that the validators let pass."""
    designs = [e for e in sink.events if e["kind"] == "result" and e.get("candidate") is not None]
    return bool(designs) and all(e["valid"] for e in sink.events if e["kind"] == "violation")


def _gathered(
    assembly: Assembly,
    executors: Sequence[str],
    task: Task,
    watch: _Watch,
    sink: MemorySink,
    *,
    pictures: bool,
) -> dict[tuple[str, str, str], Any]:
    """The evidence of the executors that look at a final design after play."""
    found: dict[tuple[str, str, str], Any] = {}
    candidate = watch.candidate
    if candidate is None:
        return found
    for id in executors:
        loop = assembly.executor(id)
        plugin = assembly.plugins.origin(assembly.plugins.executors(assembly.setup.benchmark)[id]).plugin
        try:
            execution = loop.executor.execute(task, candidate, pictures=pictures)
        except EvalkitError as error:
            raise _without_result(error) from None
        except Exception as error:
            raise PluginError(plugin, f"executor {id}: {type(error).__name__}: {error}") from error
        watch.executions.append(execution)
        found[task.id, candidate.sha256, id] = execution_fields(loop, candidate, execution, sink)
    return found


def _raise_errors(end: End, plugin: str, watch: _Watch) -> None:
    if watch.told is not None:
        raise _without_result(watch.told)
    if end.reason in (EndReason.ENVIRONMENT_ERROR, EndReason.VALIDATOR_ERROR, EndReason.EXECUTOR_ERROR):
        raise PluginError(plugin, f"{end.reason.value.replace('_', ' ')}: {end.detail}")
    if end.reason is EndReason.AGENT_ERROR:
        raise EvalkitError(f"the design can't be recorded: {end.detail}")


def _without_result(told: EvalkitError) -> EvalkitError:
    """What an executor explained, as no fault of evalkit unless it says whose it is."""
    return told if isinstance(told, UsageError | PluginError) else NoResultError(str(told))


def _violations(episode: Episode) -> tuple[Violation, ...]:
    return tuple(
        Violation(
            v["code"],
            v["message"],
            tuple(v.get("ids", ())),
            v.get("value"),
            v.get("limit"),
            v.get("advisory", False),
        )
        for event in episode.of("violation")
        for v in event["violations"]
    )


def _scores(plugins: Plugins, suite: Suite, episode: Episode, task: Task) -> dict[str, Score]:
    scores = {}
    for id, spec in metric_specs(plugins, suite.benchmark, list(suite.metrics)).items():
        if spec.scope == "episode":
            scorer = resolve(spec.target, plugins.origin(spec).plugin)(dict(suite.settings))
            scores[id] = scorer.measure(episode, task)
    return scores


@dataclass(slots=True)
class _Watch:
    """What passed by on the walk; `told` is what an executor explains in one line, such as a machine that
    isn't ready."""

    candidate: Candidate | None = None
    told: EvalkitError | None = None
    executions: list[Execution] = field(default_factory=list)


class _WatchedValidator:
    def __init__(self, validator: Any, watch: _Watch) -> None:
        self._validator, self._watch = validator, watch

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        self._watch.candidate = candidate
        violations: Sequence[Violation] = self._validator.validate(task, candidate)
        return violations


class _Watched:
    def __init__(self, executor: Executor, watch: _Watch) -> None:
        self._executor, self._watch = executor, watch

    def constants(self) -> Mapping[str, Any]:
        return self._executor.constants()

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        self._watch.candidate = candidate
        try:
            execution = self._executor.execute(task, candidate, pictures=pictures)
        except EvalkitError as error:
            self._watch.told = error
            raise
        self._watch.executions.append(execution)
        return execution


class _OneCall:
    """Makes one call and stops."""

    def __init__(self, call: ToolCall) -> None:
        self._call: ToolCall | None = call

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        pass

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        call, self._call = self._call, None
        return Stop("tried") if call is None else Reply((call,))


class _Given:
    """An environment in which a candidate from a file is already made."""

    def __init__(self, environment: Any, candidate: Candidate) -> None:
        self._environment, self._candidate = environment, candidate

    def reset(self, task: Task, seed: int) -> Observation:
        if not hasattr(self._environment, "reset"):
            return Observation()  # a workspace, which nobody works in
        observation: Observation = self._environment.reset(task, seed)
        return observation

    def tools(self) -> Sequence[Tool]:
        return (Tool("open", "The design in the file."),)

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        return StepResult(Observation(), self._candidate)

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        return Observation(done=True)

    def state(self) -> dict[str, Any]:
        return {"candidate": sha256_of(dict(self._candidate.data))}
