"""The walk of one episode, with a tiny environment: stack numbers until their sum is right."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from evalkit import (
    Candidate,
    Execution,
    Image,
    Observation,
    Reply,
    StepContext,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Verdict,
    Violation,
    sha256_of,
)
from evalkit.episode import INLINE_BYTES, MAX_REFUSED_REPLIES, LoopExecutor, Rules, play
from evalkit.errors import EndReason
from evalkit.run.trial import MemorySink
from evalkit.types import Episode, EpisodeKey

KEY = EpisodeKey("scripted", "sum-7", "default", 1)
TASK = Task("sum-7", {"sum": 7})


class Push(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    number: int


class Sums:
    """`push` a number, `look` (metered), `submit` the numbers as a candidate."""

    def __init__(self, settings: Any = None) -> None:
        self.numbers: list[int] = []

    def reset(self, task: Task, seed: int) -> Observation:
        return Observation("sum up", {"sum": task.inputs["sum"]}, (Image("task.png", b"picture"),))

    def tools(self) -> Sequence[Tool]:
        return (
            Tool("push", "Push a number.", Push),
            Tool("look", "See the sum.", meters=("looks",)),
            Tool("submit", "Submit.", past_budget=True),
        )

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        if call.name == "push":
            self.numbers.append(call.arguments["number"])
            if call.arguments["number"] == 666:
                raise RuntimeError("the environment's own bug")
            return StepResult(Observation(data={"n": len(self.numbers)}))
        if call.name == "look":
            return StepResult(Observation(data={"sum": sum(self.numbers), "left": dict(ctx.budget_left)}))
        if not self.numbers:
            return StepResult(Observation(), violations=(Violation("EMPTY", "push something first"),))
        return StepResult(Observation(), Candidate({"numbers": list(self.numbers)}))

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        won = execution is not None and execution.success is True
        return Observation(data={"valid": verdict.valid, "won": won}, done=won)

    def state(self) -> dict[str, Any]:
        return {"numbers": self.numbers}

    @classmethod
    def from_state(cls, task: Task, state: Any, settings: Any) -> Sums:
        new = cls()
        new.numbers = list(state["numbers"])
        return new


class NoNegative:
    def __init__(self, settings: Any = None) -> None: ...

    def validate(self, task: Task, candidate: Candidate) -> list[Violation]:
        bad = [i for i, n in enumerate(candidate.data["numbers"]) if n < 0]
        return [Violation("NEGATIVE", f"number {i} is negative", (i,)) for i in bad]


class Adds:
    def __init__(self, settings: Any = None) -> None: ...

    def constants(self) -> dict[str, Any]:
        return {}

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        total = sum(candidate.data["numbers"])
        return Execution(total == task.inputs["sum"], {"total": total}, (), "adds")


class Plays:
    """Plays replies one by one and remembers what it saw."""

    def __init__(self, *replies: Reply | Stop | Exception) -> None:
        self.replies = list(replies)
        self.seen: list[Observation] = []

    def start(self, tools: Sequence[Tool], seed: int) -> None: ...

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        self.seen.append(observation)
        if not self.replies:
            return Stop("nothing more")
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def say(*calls: tuple[str, dict[str, Any]]) -> Reply:
    return Reply(tuple(ToolCall(name, arguments) for name, arguments in calls))


PUSH = ("push", {"number": 7})
SUBMIT = ("submit", {})
LOOK = ("look", {})


ADDS = (Adds(),)


def walk(
    agent: Plays, environment: Any = None, executors: Any = ADDS, pictures: bool = False, **limits: float
) -> Episode:
    sink = MemorySink()
    named = {name.replace("meter_", "meter:"): value for name, value in limits.items()}
    loop = [LoopExecutor("adds", "1", "0" * 64, e) for e in executors]
    rules = Rules(named, [NoNegative()], loop, pictures)
    end = play(KEY, TASK, 1, environment or Sums(), agent, rules, sink)
    assert sink.events[-1]["kind"] == "episode_end"
    assert sink.events[-1]["reason"] == end.reason
    assert [e["seq"] for e in sink.events] == list(range(len(sink.events)))
    return Episode(KEY, list(sink.events), sink.events[-1], sink.load)


def kinds(episode: Episode) -> list[str]:
    return [event["kind"] for event in episode.events]


def test_success_ends_the_episode() -> None:
    episode = walk(Plays(say(PUSH), say(SUBMIT), say(PUSH)))
    assert kinds(episode) == [
        "episode_start", "observation", "action", "result", "action", "result",
        "execution", "observation", "episode_end",
    ]  # fmt: skip
    assert episode.end["reason"] == EndReason.DONE
    assert episode.counters == {"calls": 2, "tool_calls": 2, "executions": 1}
    turns = episode.turns()
    assert [turn.proposed for turn in turns] == [False, True]
    assert turns[1].succeeded
    assert episode.final_candidate() == {"numbers": [7]}
    evidence = episode.evidence("adds")
    assert evidence is not None
    assert evidence["data"] == {"total": 7}


def test_state_hash_is_of_the_state_after_the_call() -> None:
    episode = walk(Plays(say(PUSH)))
    (result,) = episode.of("result")
    assert result["state"] == sha256_of({"numbers": [7]})


def test_refused_candidate_is_not_executed() -> None:
    agent = Plays(say(("push", {"number": -1})), say(SUBMIT))
    episode = walk(agent)
    (violation,) = episode.of("violation")
    assert violation["valid"] is False
    assert violation["violations"] == [{"code": "NEGATIVE", "message": "number 0 is negative", "ids": [0]}]
    assert not list(episode.of("execution"))
    assert agent.seen[-1].data == {"valid": False, "won": False}


def test_a_design_that_cant_be_read_is_a_violation() -> None:
    episode = walk(Plays(say(SUBMIT)))
    turn = episode.turns()[0]
    assert turn.proposed
    assert not turn.valid
    assert episode.final_candidate() is None


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (("pusch", {}), "unknown_tool", "push"),
        (("push", {}), "arguments", "number"),
        (("push", {"number": "7"}), "arguments", "number"),
        (("push", {"number": 7, "color": 1}), "arguments", "color"),
        (("look", {"x": 1}), "arguments", "takes no arguments"),
    ],
)
def test_mistakes_are_results_and_change_nothing(call: Any, code: str, words: str) -> None:
    episode = walk(Plays(say(call)))
    (result,) = episode.of("result")
    assert result["ok"] is False
    assert result["data"]["code"] == code
    assert words in result["data"]["message"]
    assert result["state"] == sha256_of({"numbers": []})
    assert episode.counters["errors"] == 1
    assert episode.counters["tool_calls"] == 1


def test_meters_are_spent_also_by_calls_that_fail() -> None:
    episode = walk(Plays(say(("look", {"x": 1})), say(LOOK), say(LOOK)), meter_looks=2)
    codes = [event["data"].get("code") for event in episode.of("result")]
    assert codes == ["arguments", None, "over_budget"]
    assert episode.counters["meter:looks"] == 2


def test_tool_budget_serves_only_what_is_past_it() -> None:
    episode = walk(Plays(say(PUSH), say(PUSH), say(SUBMIT)), tool_calls=1)
    results = list(episode.of("result"))
    assert [r["ok"] for r in results] == [True, False, True]
    assert results[1]["data"]["code"] == "over_budget"
    assert episode.end["reason"] == EndReason.DONE


def test_what_is_served_past_the_budget_is_served_after_many_refusals() -> None:
    replies = [say(PUSH)] * 12 + [say(*[PUSH] * 60, SUBMIT)]
    episode = walk(Plays(*replies), tool_calls=1)
    results = list(episode.of("result"))
    assert [r["ok"] for r in results] == [True, *[False] * 71, True]
    message = "the budget of tool calls (1) is used up; only submit is served"
    assert results[1]["data"] == {"ok": False, "code": "over_budget", "message": message}
    assert episode.end["reason"] == EndReason.DONE


def test_replies_with_refused_calls_end_the_episode() -> None:
    episode = walk(Plays(*[say(PUSH)] * (MAX_REFUSED_REPLIES + 9)), tool_calls=1)
    assert episode.end["reason"] == EndReason.LIMIT
    assert episode.end["detail"].startswith("tool_calls")
    assert episode.counters["calls"] == MAX_REFUSED_REPLIES + 2


def test_refusals_in_a_row_end_the_episode_where_nothing_is_served_past_the_budget() -> None:
    class OnlyLooks(Sums):
        def tools(self) -> Sequence[Tool]:
            return (Tool("look", "See the sum.", meters=("looks",)),)

    episode = walk(Plays(*[say(LOOK)] * 9), OnlyLooks(), meter_looks=1)
    assert episode.end["detail"] == "meter:looks: 3 refused calls in a row"
    assert episode.counters["calls"] == 5


def test_an_environment_words_what_the_walk_refuses() -> None:
    class Words(Sums):
        def refusal(self, call: ToolCall, code: str, message: str) -> dict[str, Any]:
            return {"error": f"{call.name}: {code}"}

    unknown, wrong = walk(Plays(say(("pusch", {})), say(("push", {}))), Words()).of("result")
    assert unknown["data"] == {"ok": False, "code": "unknown_tool", "error": "pusch: unknown_tool"}
    assert wrong["data"] == {"ok": False, "code": "arguments", "error": "push: arguments"}


def test_call_limit_names_itself_and_what_was_observed() -> None:
    episode = walk(Plays(*[say(PUSH)] * 5), calls=2)
    assert episode.end["reason"] == EndReason.LIMIT
    assert episode.end["detail"] == "calls: limit 2, observed 2"
    assert episode.counters["calls"] == 2


def test_execution_limit_is_checked_after_every_execution() -> None:
    wrong = [say(("push", {"number": 1})), say(SUBMIT), say(SUBMIT)]
    episode = walk(Plays(*wrong), executions=1)
    assert episode.end["detail"] == "executions: limit 1, observed 1"


def test_execution_limit_holds_inside_one_reply() -> None:
    wrong = ("push", {"number": 1})
    episode = walk(Plays(say(wrong, SUBMIT, SUBMIT, SUBMIT)), executions=1)
    assert episode.end["detail"] == "executions: limit 1, observed 1"
    assert len(list(episode.of("execution"))) == 1


def test_a_candidate_counts_once_however_many_executors_look_at_it() -> None:
    episode = walk(Plays(say(("push", {"number": 1})), say(SUBMIT), say(SUBMIT)), executors=(Adds(), Adds()))
    assert episode.counters["executions"] == 2
    assert len(list(episode.of("execution"))) == 4


def test_environments_hear_the_limits_before_the_reset() -> None:
    class Listens(Sums):
        def limits(self, limits: dict[str, float]) -> None:
            self.heard = limits

        def reset(self, task: Task, seed: int) -> Observation:
            return Observation(data=self.heard)

    agent = Plays()
    walk(agent, Listens(), calls=4)
    assert agent.seen[0].data == {"calls": 4}


def test_parallel_calls_run_in_order_and_stop_at_the_end() -> None:
    agent = Plays(say(PUSH, LOOK), say(SUBMIT, PUSH))
    episode = walk(agent)
    assert [r["data"] for r in agent.seen[1].data["results"]] == [{"n": 1}, {"sum": 7, "left": {}}]
    assert [e["tool"] for e in episode.of("action")] == ["push", "look", "submit"]
    assert episode.counters == {"calls": 2, "tool_calls": 3, "executions": 1, "meter:looks": 1}


def test_budget_left_reaches_the_environment() -> None:
    agent = Plays(say(LOOK), say(LOOK))
    walk(agent, tool_calls=5, meter_looks=3)
    assert agent.seen[1].data["left"] == {"tool_calls": 4, "meter:looks": 2}


@pytest.mark.parametrize(
    ("agent", "environment", "executors", "reason"),
    [
        (Plays(ValueError("agent bug")), None, ADDS, EndReason.AGENT_ERROR),
        (Plays(say(("push", {"number": 666}))), None, ADDS, EndReason.ENVIRONMENT_ERROR),
        (Plays(say(PUSH), say(SUBMIT)), None, (object(),), EndReason.EXECUTOR_ERROR),
        (Plays(Stop("bored")), None, ADDS, EndReason.AGENT_STOPPED),
        (Plays(Reply(())), None, ADDS, EndReason.AGENT_STOPPED),
    ],
)
def test_what_raises_is_named(agent: Plays, environment: Any, executors: Any, reason: EndReason) -> None:
    episode = walk(agent, environment, executors)
    assert episode.end["reason"] == reason


def test_of_a_bug_the_place_is_told_and_of_a_foreseen_failure_only_the_failure() -> None:
    class WeatherError(Exception):
        end_reason = EndReason.MODEL_ERROR

    assert re.search(r"ValueError: a bug \(\w+, line \d+\)$", walk(Plays(ValueError("a bug"))).end["detail"])
    end = walk(Plays(WeatherError("a storm"))).end
    assert (end["reason"], end["detail"]) == ("model_error", "WeatherError: a storm")


def test_nan_in_arguments_is_a_mistake_of_the_call() -> None:
    episode = walk(Plays(say(("push", {"number": float("nan")})), say(PUSH)))
    first, second = episode.of("result")
    assert (first["ok"], first["data"]["code"], second["ok"]) == (False, "arguments", True)
    assert "nan" in next(iter(episode.of("action")))["arguments"]["not_json"]


class Forgets(Sums):
    def step(self, call: ToolCall, ctx: StepContext) -> Any:
        return None


class Mutters(NoNegative):
    def validate(self, task: Task, candidate: Candidate) -> Any:
        return ["looks wrong"]


class Shrugs(Adds):
    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Any:
        return True


@pytest.mark.parametrize(
    ("environment", "validator", "executor", "reason", "words"),
    [
        (Forgets(), NoNegative(), Adds(), EndReason.ENVIRONMENT_ERROR, "step gave NoneType"),
        (Sums(), Mutters(), Adds(), EndReason.VALIDATOR_ERROR, "validate gave str"),
        (Sums(), NoNegative(), Shrugs(), EndReason.EXECUTOR_ERROR, "execute gave bool"),
    ],
)
def test_wrong_types_name_the_culprit(
    environment: Any, validator: Any, executor: Any, reason: EndReason, words: str
) -> None:
    sink = MemorySink()
    rules = Rules({}, [validator], [LoopExecutor("adds", "1", "0" * 64, executor)])
    end = play(KEY, TASK, 1, environment, Plays(say(PUSH), say(SUBMIT)), rules, sink)
    assert end.reason == reason
    assert words in end.detail


def test_nan_from_an_environment_is_its_error() -> None:
    class Nan(Sums):
        def state(self) -> dict[str, Any]:
            return {"x": float("nan")}

    episode = walk(Plays(say(PUSH)), Nan())
    assert episode.end["reason"] == EndReason.ENVIRONMENT_ERROR


def test_pictures_are_drawn_only_for_those_who_look() -> None:
    (blind,) = [e["images"] for e in walk(Plays()).of("observation")]
    assert blind == [{"name": "task.png", "blob": None}]
    (seen,) = [e["images"] for e in walk(Plays(), pictures=True).of("observation")]
    assert len(seen[0]["blob"]) == 64


def test_long_values_become_blobs_that_load_back() -> None:
    long = Reply((ToolCall("push", {"number": 1, "why": "x" * INLINE_BYTES}),))
    episode = walk(Plays(long))
    (action,) = episode.of("action")
    assert set(action["arguments"]) == {"blob", "size", "media_type"}
    assert episode.load(action["arguments"])["why"] == "x" * INLINE_BYTES


def test_lone_surrogates_survive_the_record() -> None:
    episode = walk(Plays(Reply((ToolCall("push", {"number": 1, "why": "\ud800"}),))))
    (action,) = episode.of("action")
    assert json.loads(json.dumps(action))["arguments"]["why"] == "\ud800"


def test_seed_depends_on_run_task_and_epoch_only() -> None:
    other_agent = EpisodeKey("other", "sum-7", "loose", 1)
    assert KEY.seed(0) == other_agent.seed(0)
    assert len({KEY.seed(0), KEY.seed(1), EpisodeKey("scripted", "sum-7", "default", 2).seed(0)}) == 3
