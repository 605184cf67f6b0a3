"""Checks of what tools do with calls that nobody should make, and of what calls cost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from evalkit.canonical import canonical_json, sha256_of
from evalkit.testing._contracts import CheckedValidator, checked_observation, checked_result
from evalkit.testing._environment_checks import require_json
from evalkit.testing._finding import Broken, Skip, raised, short
from evalkit.testing._hostile import accepts, hostile_arguments, sample_arguments
from evalkit.testing._play import SEED, Played, loop_executor, record
from evalkit.testing._subject import Subject
from evalkit.types import StepContext, StepResult, Task, Tool, ToolCall, Verdict

#: A hostile call is cut to this length in messages.
CALL_CHARACTERS = 100


def check_hostile_calls(subject: Subject) -> str:
    """No call makes anything raise: unknown tools, wrong types, huge strings, NaN, deep nesting."""
    task = subject.tasks[0]
    tools = _tools(subject, task)
    refused = [ToolCall("no_such_tool"), ToolCall("", {"a": 1}), ToolCall("\x00" * 50)]
    passed: list[ToolCall] = []
    for tool in tools:
        for arguments in hostile_arguments(tool):
            (passed if accepts(tool, arguments) else refused).append(ToolCall(tool.name, arguments))
    _check_refused(subject, task, [call for call in refused if _is_json(call.arguments)])
    samples = [ToolCall(t.name, sample_arguments(t)) for t in tools if accepts(t, sample_arguments(t))]
    _check_passed(subject, task, samples, passed)
    return f"{len(refused)} calls that the schemas refuse, {len(passed)} that they let pass"


def _tools(subject: Subject, task: Task) -> list[Tool]:
    environment = subject.environment(subject.settings)
    environment.reset(task, SEED)
    return list(environment.tools())


def _is_json(arguments: Mapping[str, Any]) -> bool:
    """What isn't JSON (NaN) is refused before it becomes a call."""
    try:
        canonical_json(dict(arguments))
    except ValueError:
        return False
    return True


def _check_refused(subject: Subject, task: Task, calls: list[ToolCall]) -> None:
    """Through the core: an error for the agent each time, and a state that stays."""
    played = record(subject, task, calls, limits={})
    if played.end.reason.value.endswith("_error"):
        number = sum(event["kind"] == "action" for event in played.sink.events)
        raise Broken(f"{_told(calls[number - 1])} ends the episode: {played.end.detail}")
    results = [event for event in played.events() if event["kind"] == "result"]
    for call, result in zip(calls, results, strict=False):
        if result["ok"]:
            raise Broken(f"{_told(call)} doesn't fit the tool's schema and is answered with ok")
        if result["state"] != results[0]["state"]:
            raise Broken(f"{_told(call)} is refused and changes the state")


def _check_passed(subject: Subject, task: Task, first: list[ToolCall], calls: list[ToolCall]) -> None:
    """At the environment itself, with the candidates that calls bring going to validators and executors.

    Each of `first` is made right after the start, `calls` are made one after the other.
    """
    field = _Field(subject, task)
    for number, call in enumerate([*first, *calls]):
        try:
            if number <= len(first):
                field.start()
            field.make(call)
        except Broken as error:
            raise Broken(f"{_told(call)}: {error}") from error
        except Exception as error:
            raise Broken(f"{_told(call)} raises {raised(error)}") from error


class _Field:
    """An environment that gets one hostile call after the other, made anew when its episode is over."""

    def __init__(self, subject: Subject, task: Task) -> None:
        self._subject, self._task = subject, task
        self._validators = [
            CheckedValidator(n, build(subject.settings)) for n, build in subject.validators.items()
        ]
        self._executors = [loop_executor(subject, name).executor for name in subject.executors]
        self.start()

    def start(self) -> None:
        """A new episode."""
        self._environment = self._subject.environment(self._subject.settings)
        self._environment.reset(self._task, SEED)

    def make(self, call: ToolCall) -> None:
        """One call and what follows from it."""
        before = sha256_of(self._environment.state())
        context = StepContext(dict(self._subject.limits), Counter(calls=0))
        result = checked_result("step", self._environment.step(call, context))
        observation = result.observation
        if result.candidate is not None or result.violations:
            observation = checked_observation("feedback", self._test(result))
        require_json([observation.text, dict(observation.data)], "the observation")
        require_json(self._environment.state(), "the state")
        if not result.ok and sha256_of(self._environment.state()) != before:
            raise Broken("is answered with ok=False and changes the state")
        if result.done or observation.done:
            self.start()

    def _test(self, result: StepResult) -> Any:
        found = list(result.violations)
        execution = None
        if result.candidate is not None:
            require_json(result.candidate.data, "the candidate")
            for validator in self._validators:
                found += validator.validate(self._task, result.candidate)
            if Verdict(tuple(found)).valid:
                made = [e.execute(self._task, result.candidate, pictures=False) for e in self._executors]
                execution = made[0] if made else None
        return self._environment.feedback(Verdict(tuple(found)), execution)


def _told(call: ToolCall) -> str:
    return f"{call.name or 'a call without a name'}({short(dict(call.arguments), CALL_CHARACTERS)})"


def check_meters(subject: Subject) -> str:
    """Meters are spent also when a call fails, what is left goes down, and then calls are refused."""
    task = subject.tasks[0]
    tools = _tools(subject, task)
    for tool in tools:
        if not isinstance(tool.meters, tuple) or not all(isinstance(m, str) and m for m in tool.meters):
            raise Broken(f"meters of {tool.name!r} are {tool.meters!r}, wanted a tuple of names")
    spent = {meter for tool in tools for meter in tool.meters}
    for limit in subject.limits:
        meter = limit.removeprefix("meter:")
        if limit.startswith("meter:") and meter not in spent:
            known = ", ".join(sorted(spent)) or "nothing"
            raise Broken(f"limits.{limit}: no tool spends {meter!r}; tools spend {known}")
    if not spent:
        raise Skip("no tool is metered")
    for tool in tools:
        for meter in tool.meters:
            _check_meter(subject, task, tool, meter)
    return f"{len(spent)} meters: {', '.join(sorted(spent))}"


def _check_meter(subject: Subject, task: Task, tool: Tool, meter: str) -> None:
    name = f"meter:{meter}"
    failing = ToolCall(tool.name, {**sample_arguments(tool), "no_such_argument": 1})
    good = ToolCall(tool.name, sample_arguments(tool))
    played = record(subject, task, [failing, failing, good], limits={name: 2})
    if played.end.counters.get(name) != 2:
        raise Broken(
            f"{tool.name!r}: {meter} counts {played.end.counters.get(name, 0):g} after two failed calls"
        )
    if not _refused_over_budget(played):
        raise Broken(f"{tool.name!r} is served although the budget of {meter} is used up")
    served = record(subject, task, [good, good], limits={name: 2})
    left = [context.budget_left.get(name, math.nan) for context in served.contexts]
    if left != sorted(left, reverse=True) or len(set(left)) != len(left):
        raise Broken(f"{tool.name!r}: budget_left of {meter} doesn't go down: {left}")


def _refused_over_budget(played: Played) -> bool:
    results = [event for event in played.events() if event["kind"] == "result"]
    return len(results) == 3 and results[2].get("data", {}).get("code") == "over_budget"
