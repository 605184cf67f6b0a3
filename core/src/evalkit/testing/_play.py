"""Episodes played in memory, by an agent or from a list of calls, in environments that can be watched."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalkit.canonical import canonical_json
from evalkit.episode import End, LoopExecutor, Rules, execution_fields, play
from evalkit.run.assemble import constants_sha256
from evalkit.run.trial import MemorySink
from evalkit.testing._contracts import (
    CheckedExecutor,
    CheckedValidator,
    checked_observation,
    checked_result,
)
from evalkit.testing._finding import Broken
from evalkit.types import (
    Candidate,
    Episode,
    EpisodeKey,
    Execution,
    Observation,
    Reply,
    StepContext,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Verdict,
)

if TYPE_CHECKING:
    from evalkit.testing._subject import Subject

SEED = 20_240_229
#: What two records of the same episode may differ in.
VOLATILE = ("time", "seconds")

Wrapper = Callable[[Any], Any]
"""What puts an environment into another one that watches it or stands in for it."""


class Caller:
    """An agent that makes the given calls, one by one, and stops."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = iter(copy.deepcopy(list(calls)))  # an environment may change what it gets

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """Nothing to prepare."""

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next call."""
        call = next(self._calls, None)
        return Stop("the script has ended") if call is None else Reply((call,))


class Watched:
    """An environment that passes everything on to another one."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def reset(self, task: Task, seed: int) -> Observation:
        """Passed on."""
        observation: Observation = self.inner.reset(task, seed)
        return observation

    def tools(self) -> Sequence[Tool]:
        """Passed on."""
        tools: Sequence[Tool] = self.inner.tools()
        return tools

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        """Passed on."""
        result: StepResult = self.inner.step(call, ctx)
        return result

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """Passed on."""
        observation: Observation = self.inner.feedback(verdict, execution)
        return observation

    def state(self) -> dict[str, Any]:
        """Passed on."""
        state: dict[str, Any] = self.inner.state()
        return state


class _Spy(Watched):
    """Keeps the objects that a record holds only as JSON."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.candidates: list[Candidate] = []
        self.executions: list[Execution] = []
        self.contexts: list[StepContext] = []
        self.states: list[Any] = []

    def reset(self, task: Task, seed: int) -> Observation:
        return checked_observation("reset", super().reset(task, seed))

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        self.contexts.append(ctx)
        result = checked_result(super().step(call, ctx))
        if result.candidate is not None:
            self.candidates.append(copy.deepcopy(result.candidate))  # as it was before anybody got it
        return result

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        if execution is not None:
            self.executions.append(execution)
        return checked_observation("feedback", super().feedback(verdict, execution))

    def state(self) -> dict[str, Any]:
        self.states.append(super().state())
        found: dict[str, Any] = self.states[-1]
        return found


@dataclass(slots=True)
class Played:
    """An episode in memory: its record, how it ended, and the objects that passed by."""

    key: EpisodeKey
    task: Task
    sink: MemorySink
    end: End
    candidates: list[Candidate]
    executions: list[Execution]
    contexts: list[StepContext]
    states: list[Any]
    gathered: dict[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)

    def events(self) -> list[dict[str, Any]]:
        """The record without what may differ between two plays."""
        return [{k: v for k, v in event.items() if k not in VOLATILE} for event in self.sink.events]

    def calls(self) -> list[ToolCall]:
        """The calls as the record tells them."""
        actions = (event for event in self.sink.events if event["kind"] == "action")
        return [ToolCall(a["tool"], self.sink.load(a["arguments"])) for a in actions]

    def episode(self) -> Episode:
        """What metrics get."""
        events = json.loads(json.dumps(self.sink.events))
        return Episode(self.key, events, events[-1], self.sink.load, dict(self.gathered))

    def seen(self) -> list[Any]:
        """What the agent saw, observation by observation, as JSON: text and data."""
        found = []
        for event in self.sink.events:
            if "text" in event or ("data" in event and event["kind"] in ("observation", "result")):
                data = {name: self.sink.load(value) for name, value in event.get("data", {}).items()}
                found.append({"text": self.sink.load(event.get("text", "")), "data": data})
        return found


def record(
    subject: Subject,
    task: Task,
    player: Any,
    *,
    wrap: Wrapper | None = None,
    seed: int = SEED,
    limits: Mapping[str, float] | None = None,
    pictures: bool = False,
) -> Played:
    """Play an episode in this process; `player` is an agent or a list of calls."""
    agent = Caller(player) if isinstance(player, list | tuple) else player
    inner = subject.environment(subject.settings)
    spy: Any = _Spy(inner if wrap is None else wrap(inner))
    key = EpisodeKey("check", task.id, "check", 1)
    rules = Rules(
        subject.limits if limits is None else limits,
        [CheckedValidator(name, build(subject.settings)) for name, build in subject.validators.items()],
        [loop_executor(subject, name) for name in subject.executors],
        pictures=pictures,
    )
    sink = MemorySink()
    end = play(key, task, seed, spy, agent, rules, sink)
    return Played(key, task, sink, end, spy.candidates, spy.executions, spy.contexts, spy.states)


def play_script(
    subject: Subject,
    task: Task,
    *,
    wrap: Wrapper | None = None,
    script: Sequence[ToolCall] | None = None,
    pictures: bool = False,
) -> Played:
    """Play a task's script, or another. Broken if the environment, a validator or an executor raises."""
    calls = subject.scripts[task.id] if script is None else script
    played = record(subject, task, list(calls), wrap=wrap, pictures=pictures)
    if played.end.reason.value.endswith("_error"):
        culprit = played.end.reason.value.removesuffix("_error")
        raise Broken(f"{task.id}: the {culprit} fails on the script: {played.end.detail}")
    return played


def gather(subject: Subject, played: Played) -> Played:
    """Put the last design of an episode before the executors after play."""
    if played.candidates:
        candidate = played.candidates[-1]
        for name in subject.final_executors:
            loop = loop_executor(subject, name)
            execution = loop.executor.execute(played.task, candidate, pictures=False)
            fields = {"kind": "execution", **execution_fields(loop, candidate, execution, played.sink)}
            played.gathered[(played.key.task, candidate.sha256, name)] = json.loads(canonical_json(fields))
    return played


def loop_executor(subject: Subject, name: str) -> LoopExecutor:
    """An executor of the subject, newly built."""
    build = subject.executors.get(name) or subject.final_executors[name]
    executor = CheckedExecutor(name, build(subject.settings))
    return LoopExecutor(name, "", constants_sha256(executor), executor)
