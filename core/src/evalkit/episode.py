"""The walk of one episode: observe, act, step, validate, execute, feed back; budgets, meters, counters.

The walk is the same wherever it runs. It knows neither files nor processes: events and blobs go to a
`Sink`. Whatever a plugin raises ends the episode with the reason that names the culprit.
"""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ParamSpec, Protocol, TypeVar

from evalkit.canonical import canonical_json, sha256_of
from evalkit.errors import EndReason, EvalkitError, StorageError
from evalkit.types import (
    Agent,
    Candidate,
    Environment,
    EpisodeKey,
    Execution,
    Executor,
    Observation,
    Reply,
    StepContext,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Validator,
    Verdict,
    Violation,
)
from evalkit.types.record import is_reference

P = ParamSpec("P")
T = TypeVar("T")

#: JSON longer than this many bytes is kept as a blob and referred to by its hash.
INLINE_BYTES = 2048
#: After this many calls in a row that the budget refused, the episode ends.
MAX_REFUSALS = 3
#: Where a tool is served past the budget, with which the agent can still hand in: after so many replies in a
#: row of which calls were refused.
MAX_REFUSED_REPLIES = 40
#: What a reply was spent on is no reason to leave out some of its calls.
_PER_REPLY = ("calls", "tool_calls", "llm_calls", "tokens", "cost")


class Sink(Protocol):
    """Where an episode's record goes."""

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append an event. ValueError or TypeError if the fields aren't JSON."""
        ...

    def blob(self, data: bytes) -> str:
        """Keep bytes and return their SHA-256."""
        ...

    def flush(self) -> None:
        """Make sure that everything so far reaches the record."""
        ...


@dataclass(frozen=True, slots=True)
class LoopExecutor:
    """An executor in the loop and what identifies its evidence."""

    id: str
    version: str
    constants_sha256: str
    executor: Executor


@dataclass(frozen=True, slots=True)
class Rules:
    """The protocol of a suite, as far as the walk needs it."""

    limits: Mapping[str, float]
    validators: Sequence[Validator]
    executors: Sequence[LoopExecutor]
    pictures: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """How an episode's play ended; `detail` names the limit or tells the error."""

    reason: EndReason
    detail: str
    counters: Mapping[str, float]


class LimitReached(Exception):  # noqa: N818 - not an error: the protocol's limit ends the episode
    """Raised by an agent that may not go on in the middle of its turn: `name` is the limit it has reached."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Ended(Exception):  # noqa: N818 - not an error: it unwinds the walk
    def __init__(self, reason: EndReason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def play(
    key: EpisodeKey, task: Task, seed: int, environment: Environment, agent: Agent, rules: Rules, sink: Sink
) -> End:
    """Play one episode to its end and leave its record in `sink`."""
    return _Walk(key, task, seed, environment, agent, rules, sink).play()


class _Walk:
    def __init__(
        self,
        key: EpisodeKey,
        task: Task,
        seed: int,
        environment: Environment,
        agent: Agent,
        rules: Rules,
        sink: Sink,
    ) -> None:
        self.key, self.task, self.seed = key, task, seed
        self.environment, self.agent, self.rules, self.sink = environment, agent, rules, sink
        self.counters: Counter[str] = Counter(calls=0, tool_calls=0, executions=0)
        self.tools: dict[str, Tool] = {}
        self.refusals = 0
        self.refused_turn = 0
        self.started = time.perf_counter()

    def play(self) -> End:
        self.sink.event("episode_start", {"key": self.key.as_dict(), "seed": self.seed})
        try:
            end = self._rounds()
        except _Ended as ended:
            end = End(ended.reason, ended.detail, dict(self.counters))
        fields: dict[str, Any] = {"reason": end.reason.value}
        if end.detail:
            fields["detail"] = end.detail
        fields |= {"counters": dict(end.counters), "seconds": self._seconds(self.started)}
        self.sink.event("episode_end", fields)
        self.sink.flush()
        return end

    def _rounds(self) -> End:
        environment = self.environment
        told = getattr(environment, "limits", None)
        if told is not None:
            self._guard(EndReason.ENVIRONMENT_ERROR, told, dict(self.rules.limits))
        observation = self._guard(EndReason.ENVIRONMENT_ERROR, environment.reset, self.task, self.seed)
        _expect(EndReason.ENVIRONMENT_ERROR, "reset", observation, Observation)
        tools = self._guard(EndReason.ENVIRONMENT_ERROR, environment.tools)
        self.tools = {tool.name: tool for tool in tools}
        self._record_observation(observation)
        self._guard(EndReason.AGENT_ERROR, self.agent.start, tools, self.seed)
        while not observation.done:
            self._check_limits()
            observation = self._turn(observation)
        raise _Ended(EndReason.DONE)

    def _turn(self, observation: Observation) -> Observation:
        reply = self._act(observation)
        if isinstance(reply, Stop) or not reply.calls:
            reason = reply.reason if isinstance(reply, Stop) else "no call in the reply"
            raise _Ended(EndReason.AGENT_STOPPED, reason)
        self.counters["calls"] += 1
        seen: list[Observation] = []
        for call in reply.calls:
            if seen:
                self._check_limits(between_calls=True)
            seen.append(self._call(call, reply))
            if seen[-1].done:
                break
        return seen[0] if len(seen) == 1 else _combined(seen)

    def _act(self, observation: Observation) -> Reply | Stop:
        """The agent's answer, what it spent counted; calls that come when the time is up aren't made."""
        reply: Reply | Stop | LimitReached
        try:
            reply = self._guard(EndReason.AGENT_ERROR, self.agent.act, observation, self._context())
        except LimitReached as reached:
            reply = reached
        finally:
            self._count_spending()
        if isinstance(reply, LimitReached):
            raise self._used_up(reply.name)
        _expect(EndReason.AGENT_ERROR, "act", reply, Reply, Stop)
        if isinstance(reply, Reply) and self._has_reached("seconds") and not self._hands_in(reply):
            raise self._used_up("seconds")
        return reply

    def _hands_in(self, reply: Reply) -> bool:
        """Whether all calls are of tools that are served past the budget, such as a final `submit`."""
        tools = [self.tools.get(call.name) for call in reply.calls]
        return all(tool is not None and tool.past_budget for tool in tools)

    def _call(self, call: ToolCall, reply: Reply) -> Observation:
        arguments, unreadable = self._recordable(call)
        fields: dict[str, Any] = {
            "turn": self.counters["calls"],
            "tool": call.name,
            "arguments": arguments,
        }
        if reply.note is not None:
            fields["note"] = self._compact(dict(reply.note))
        self._event(EndReason.AGENT_ERROR, "action", fields)
        self.sink.flush()
        tool = self.tools.get(call.name)
        budget = self._over_budget(tool) if tool is not None else None
        refused = self._refusal(call, tool, budget) or unreadable
        if call.error:
            refused = self._refused(call, "arguments", call.error)
        self.counters["tool_calls"] += 1
        if tool is not None and budget is None:
            self.counters.update(f"meter:{meter}" for meter in tool.meters)
        if refused is not None:
            result = refused
        else:
            step = self.environment.step
            result = self._guard(EndReason.ENVIRONMENT_ERROR, step, call, self._context())
            _expect(EndReason.ENVIRONMENT_ERROR, "step", result, StepResult)
        return self._settle(result)

    def _settle(self, result: StepResult) -> Observation:
        """Record what a call did and put its candidate, if there is one, to the test."""
        state = self._guard(EndReason.ENVIRONMENT_ERROR, self.environment.state)
        fields: dict[str, Any] = {"ok": result.ok, "state": self._state_hash(state)}
        if not result.ok:
            self.counters["errors"] += 1
        candidate = result.candidate
        if candidate is not None:
            fields["candidate"] = self._record_candidate(candidate)
        if candidate is None and not result.violations:
            fields |= self._observation_fields(result.observation)
        self._event(EndReason.ENVIRONMENT_ERROR, "result", fields)
        if candidate is None and not result.violations:
            result.observation.done = result.observation.done or result.done
            return result.observation
        verdict, execution = self._test(candidate, result.violations)
        observation = self._guard(EndReason.ENVIRONMENT_ERROR, self.environment.feedback, verdict, execution)
        observation.done = observation.done or result.done
        self._record_observation(observation)
        return observation

    def _test(
        self, candidate: Candidate | None, violations: tuple[Violation, ...]
    ) -> tuple[Verdict, Execution | None]:
        found = list(violations)
        if candidate is not None:
            for validator in self.rules.validators:
                said = self._guard(EndReason.VALIDATOR_ERROR, validator.validate, self.task, candidate)
                _expect(EndReason.VALIDATOR_ERROR, "validate", said, Sequence)
                for violation in said:
                    _expect(EndReason.VALIDATOR_ERROR, "validate", violation, Violation)
                found += said
        verdict = Verdict(tuple(found))
        if found:
            listed = [_violation_fields(v) for v in found]
            self._event(
                EndReason.VALIDATOR_ERROR, "violation", {"valid": verdict.valid, "violations": listed}
            )
        if candidate is None or not verdict.valid or not self.rules.executors:
            return verdict, None
        self.counters["executions"] += 1
        executions = [self._execute(executor, candidate) for executor in self.rules.executors]
        return verdict, executions[0]

    def _execute(self, loop: LoopExecutor, candidate: Candidate) -> Execution:
        self.sink.flush()
        started = time.perf_counter()
        execution = self._guard(
            EndReason.EXECUTOR_ERROR,
            lambda: loop.executor.execute(self.task, candidate, pictures=self.rules.pictures),
        )
        _expect(EndReason.EXECUTOR_ERROR, "execute", execution, Execution)
        fields = self._guard(
            EndReason.EXECUTOR_ERROR, execution_fields, loop, candidate, execution, self.sink
        )
        fields["seconds"] = self._seconds(started)
        self._event(EndReason.EXECUTOR_ERROR, "execution", fields)
        return execution

    # budgets

    def _context(self) -> StepContext:
        left = {name: max(0.0, limit - self._spent(name)) for name, limit in self.rules.limits.items()}
        return StepContext(left, dict(self.counters))

    def _count_spending(self) -> None:
        """Take over what the agent itself spent (model calls, tokens), if it keeps accounts."""
        spent = getattr(self.agent, "spent", None)
        if spent is not None:
            self.counters.update({n: total - self.counters[n] for n, total in spent().items()})

    def _spent(self, name: str) -> float:
        return time.perf_counter() - self.started if name == "seconds" else self.counters[name]

    def _has_reached(self, name: str) -> bool:
        return self._spent(name) >= self.rules.limits.get(name, float("inf"))

    def _used_up(self, name: str) -> _Ended:
        """The end by a limit."""
        observed = round(self._spent(name), 3) if name == "seconds" else self._spent(name)
        return _Ended(
            EndReason.LIMIT, f"{name}: limit {self.rules.limits[name]:.12g}, observed {observed:.12g}"
        )

    def _check_limits(self, *, between_calls: bool = False) -> None:
        """End the episode when a counter that no tool can do without has reached its limit.

        `executions` counts candidates put to the test, however many executors look at each. Calls of one
        reply are made under one count of what the reply took; what they exceed of `tool_calls` is refused.
        """
        for name in self.rules.limits:
            if name.startswith("meter:") or (between_calls and name in _PER_REPLY):
                continue
            if name == "tool_calls" and any(tool.past_budget for tool in self.tools.values()):
                continue
            if self._has_reached(name):
                raise self._used_up(name)

    def _over_budget(self, tool: Tool) -> str | None:
        """The name of the budget that refuses this tool, if one does."""
        limits = self.rules.limits
        if not tool.past_budget and self.counters["tool_calls"] >= limits.get("tool_calls", float("inf")):
            return "tool_calls"
        for meter in tool.meters:
            if self.counters[f"meter:{meter}"] >= limits.get(f"meter:{meter}", float("inf")):
                return f"meter:{meter}"
        return None

    def _refusal(self, call: ToolCall, tool: Tool | None, budget: str | None) -> StepResult | None:
        """An error result for calls that never reach the environment."""
        if tool is None:
            from evalkit.errors import did_you_mean

            names = did_you_mean(call.name, self.tools) or sorted(self.tools)
            message = f"there is no tool {call.name!r}; try {', '.join(names)}"
            return self._refused(call, "unknown_tool", message)
        if budget is not None:
            self._count_refusal(budget)
            return self._refused(call, "over_budget", self._over_budget_message(budget))
        self.refusals = 0
        fault = _argument_fault(tool, call)
        return None if fault is None else self._refused(call, "arguments", fault)

    def _served_past_budget(self) -> list[str]:
        return [name for name, tool in self.tools.items() if tool.past_budget]

    def _count_refusal(self, budget: str) -> None:
        """End the episode of an agent that doesn't heed refusals, later where it can still hand in."""
        if not self._served_past_budget():
            self.refusals += 1
            if self.refusals > MAX_REFUSALS:
                raise _Ended(EndReason.LIMIT, f"{budget}: {MAX_REFUSALS} refused calls in a row")
        elif self.refused_turn != self.counters["calls"]:
            self.refused_turn = self.counters["calls"]
            self.refusals += 1
            if self.refusals > MAX_REFUSED_REPLIES:
                raise _Ended(
                    EndReason.LIMIT, f"{budget}: {MAX_REFUSED_REPLIES} replies in a row with refused calls"
                )

    def _over_budget_message(self, budget: str) -> str:
        name = budget.removeprefix("meter:").replace("_", " ")
        message = f"the budget of {name} ({self.rules.limits[budget]:g}) is used up"
        served = self._served_past_budget()
        return (
            message
            if budget != "tool_calls" or not served
            else f"{message}; only {', '.join(served)} is served"
        )

    def _refused(self, call: ToolCall, code: str, message: str) -> StepResult:
        """The result of a call that never reaches the environment, in its words if it has some."""
        data: Mapping[str, Any] = {"message": message}
        phrase = getattr(self.environment, "refusal", None)
        if phrase is not None:
            data = self._guard(EndReason.ENVIRONMENT_ERROR, phrase, call, code, message)
            _expect(EndReason.ENVIRONMENT_ERROR, "refusal", data, Mapping)
        return StepResult(Observation(data={"ok": False, "code": code, **data}), ok=False)

    # the record

    def _event(self, culprit: EndReason, kind: str, fields: Mapping[str, Any]) -> None:
        """Append an event; what isn't JSON in it is the culprit's mistake."""
        self._guard(culprit, self.sink.event, kind, fields)

    def _record_observation(self, observation: Observation) -> None:
        fields = self._guard(EndReason.ENVIRONMENT_ERROR, self._observation_fields, observation)
        self._event(EndReason.ENVIRONMENT_ERROR, "observation", fields)

    def _observation_fields(self, observation: Observation) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if observation.text:
            fields["text"] = self._compact(observation.text)
        if observation.data:
            fields["data"] = {name: self._compact(value) for name, value in observation.data.items()}
        if observation.images:
            fields["images"] = [
                {"name": image.name, "blob": self.sink.blob(image.data()) if self.rules.pictures else None}
                for image in observation.images
            ]
        return fields

    def _recordable(self, call: ToolCall) -> tuple[Any, StepResult | None]:
        """Arguments for the record; what isn't JSON (a NaN, say) is kept as text and is a mistake."""
        try:
            return self._compact(dict(call.arguments)), None
        except (TypeError, ValueError, RecursionError) as error:
            mistake = self._refused(call, "arguments", f"the arguments are not JSON: {error}")
            return {"not_json": _shown(call.arguments)}, mistake

    def _record_candidate(self, candidate: Candidate) -> dict[str, Any]:
        def fields() -> dict[str, Any]:
            found: dict[str, Any] = {
                "sha256": candidate.sha256,
                "data": self._compact(dict(candidate.data)),
            }
            if candidate.files:
                found["files"] = {f.name: self.sink.blob(f.data) for f in candidate.files}
            return found

        return self._guard(EndReason.ENVIRONMENT_ERROR, fields)

    def _state_hash(self, state: Mapping[str, Any]) -> str:
        return self._guard(EndReason.ENVIRONMENT_ERROR, sha256_of, state)

    def _compact(self, value: Any) -> Any:
        return compact(value, self.sink)

    @staticmethod
    def _seconds(since: float) -> float:
        return round(time.perf_counter() - since, 6)

    @staticmethod
    def _guard(culprit: EndReason, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call code that isn't the core's; what it raises ends the episode and names the culprit.

        A record that can't be written is nobody's fault, and nothing can be recorded of it.
        """
        try:
            return function(*args, **kwargs)
        except (_Ended, LimitReached, MemoryError, StorageError):
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            reason = getattr(error, "end_reason", None)  # a model's failure is not its agent's
            if reason is None and isinstance(error, EvalkitError):
                message = str(error)  # explained in one line; no defect to be looked for in the code
            elif reason is None:
                where = traceback.extract_tb(error.__traceback__)[-1]
                message += f" ({where.name}, line {where.lineno})"
            raise _Ended(reason or culprit, message[:2000]) from error


def _expect(culprit: EndReason, what: str, value: object, *types: type) -> None:
    """End the episode if a plugin returned something that its contract doesn't know."""
    if not isinstance(value, types):
        wanted = " or ".join(t.__name__ for t in types)
        raise _Ended(culprit, f"{what} gave {type(value).__name__} instead of {wanted}")


def _shown(value: Any) -> str:
    """The beginning of a value as Python writes it, where Python can."""
    try:
        return repr(value)[: INLINE_BYTES // 8]
    except (RecursionError, ValueError) as error:  # too deep, or a number of too many digits
        return f"{type(value).__name__} ({error})"


def compact(value: Any, sink: Sink) -> Any:
    """The value itself, or a reference to a blob if it is long or looks like such a reference."""
    if isinstance(value, str) and len(value) <= INLINE_BYTES // 6:
        return value
    encoded = canonical_json(value)
    if len(encoded) <= INLINE_BYTES and not is_reference(value):
        return value
    return {"blob": sink.blob(encoded), "size": len(encoded), "media_type": "application/json"}


def execution_fields(
    loop: LoopExecutor, candidate: Candidate, execution: Execution, sink: Sink
) -> dict[str, Any]:
    """An execution as the fields of its event; the key is (candidate, id, version, constants)."""
    fields: dict[str, Any] = {
        "executor": loop.id,
        "version": loop.version,
        "constants_sha256": loop.constants_sha256,
        "candidate_sha256": candidate.sha256,
        "success": execution.success,
        "data": compact(dict(execution.data), sink),
    }
    if execution.artifacts:
        fields["artifacts"] = [
            {"name": a.name, "blob": sink.blob(a.data), "media_type": a.media_type}
            for a in execution.artifacts
        ]
    return fields


def _violation_fields(violation: Violation) -> dict[str, Any]:
    fields = asdict(violation)
    fields["ids"] = list(violation.ids)
    return {k: v for k, v in fields.items() if v not in (None, [], False)}


def _combined(seen: list[Observation]) -> Observation:
    """What the agent sees after several calls in one reply: each result in order."""
    results = [{"text": o.text, "data": dict(o.data)} for o in seen]
    images = tuple(image for o in seen for image in o.images)
    return Observation(data={"results": results}, images=images, done=seen[-1].done)


def _argument_fault(tool: Tool, call: ToolCall) -> str | None:
    """What is wrong where the arguments don't fit the tool's model."""
    if tool.arguments is None:
        return f"{tool.name} takes no arguments" if call.arguments else None
    from pydantic import ValidationError

    try:
        tool.arguments.model_validate(dict(call.arguments))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        return f"{tool.name}: {where}: {first['msg']}"
    return None
