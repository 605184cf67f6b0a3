"""Model agents in the walk: limits between and inside turns, and what a model is shown of old results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

import evalkit.episode
from evalkit import Image, Observation, StepContext, StepResult, Task, Tool, ToolCall
from evalkit.agents.models import (
    ChatAgent,
    Dialogue,
    ModelAgent,
    TextToolsAgent,
    ToolsAgent,
    shortened,
)
from evalkit.episode import Rules, play
from evalkit.models import (
    AdaptiveLimiter,
    Message,
    ModelRequest,
    ModelSession,
    ResponseCache,
    RetryPolicy,
    ToolResult,
    open_model,
)
from evalkit.run.trial import MemorySink
from evalkit.types import EpisodeKey

KEY = EpisodeKey("tools", "T-1", "default", 1)
LONG = "long " * 200
DIALOGUE = Dialogue()


class Say(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    text: str


class Echo:
    """Its tool `say` is answered with a long text; never ends by itself."""

    def __init__(self, settings: Any = None) -> None:
        self.said: list[str] = []

    def reset(self, task: Task, seed: int) -> Observation:
        return Observation("Speak.")

    def tools(self) -> Sequence[Tool]:
        return (Tool("say", "Say something.", Say),)

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        self.said.append(call.arguments["text"])
        return StepResult(Observation(f"{len(self.said)}: {LONG}"))

    def feedback(self, verdict: Any, execution: Any) -> Observation:
        raise AssertionError("there is no candidate")

    def state(self) -> dict[str, Any]:
        return {"said": self.said}


def call(**usage: int) -> dict[str, Any]:
    return {"tool_calls": [{"name": "say", "arguments": {"text": "x"}}], "usage": usage}


def block(*texts: str) -> str:
    calls = (json.dumps({"name": "say", "arguments": {"text": text}}) for text in texts)
    return "\n".join(f"```tool\n{one}\n```" for one in calls)


class Clock:
    """Stands still unless a model takes its time."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of the walk."""
    clock = Clock()
    monkeypatch.setattr(evalkit.episode, "time", clock)
    return clock


class Played:
    """An episode of a model whose replies are written down, with its requests and its record.

    With a clock, each reply takes three seconds.
    """

    def __init__(
        self,
        folder: Path,
        agent: type[ModelAgent],
        replies: Sequence[Any],
        limits: Mapping[str, float],
        *,
        cache: ResponseCache | None = None,
        prices: Mapping[str, Any] | None = None,
        clock: Clock | None = None,
    ) -> None:
        script = folder / "script.json"
        script.write_text(json.dumps(list(replies)))
        client = open_model(f"scripted:{script}")
        self.requests: list[ModelRequest] = []
        self._client, self.provider, self.source = client, client.provider, client.source
        self.model, self.controls, self.defaults = client.model, client.controls, client.defaults
        self.attempts, self.max_connections = client.attempts, client.max_connections
        self._prices, self._clock = prices, clock
        self.sink, self.environment = MemorySink(), Echo()
        options: Any = {} if clock is None else {"clock": clock.perf_counter}
        session = ModelSession(self, AdaptiveLimiter(1), RetryPolicy(1), cache, self.sink, **options)
        player = agent(client.model, {})
        player.connect(session, KEY)
        rules = Rules(limits, (), ())
        self.end = play(KEY, Task("T-1", {}), 0, self.environment, player, rules, self.sink)
        self.counters = self.end.counters

    def complete(self, request: ModelRequest, key: Any) -> Any:
        self.requests.append(request)
        if self._clock is not None:
            self._clock.now += 3.0
        return self._client.complete(request, key)

    def describe(self) -> Mapping[str, Any]:
        return {**self._client.describe(), "prices": self._prices}

    def reason(self) -> tuple[str, str]:
        return self.end.reason.value, self.end.detail

    def kinds(self, kind: str) -> int:
        return sum(event["kind"] == kind for event in self.sink.events)


def test_the_last_model_call_that_is_allowed_is_carried_out(tmp_path: Path) -> None:
    played = Played(tmp_path, ToolsAgent, [call()] * 9, {"llm_calls": 3})
    assert played.reason() == ("limit", "llm_calls: limit 3, observed 3")
    assert (len(played.requests), played.environment.said) == (3, ["x"] * 3)


@pytest.mark.parametrize(("name", "limit", "observed"), [("llm_calls", 1, 1), ("tokens", 9, 12)])
def test_all_calls_of_the_last_reply_are_carried_out(
    tmp_path: Path, name: str, limit: int, observed: int
) -> None:
    reply = {"text": block("a", "b", "c"), "usage": {"input": 10, "output": 2}}
    played = Played(tmp_path, TextToolsAgent, [reply], {name: limit})
    assert played.reason() == ("limit", f"{name}: limit {limit}, observed {observed}")
    assert played.environment.said == ["a", "b", "c"]


def test_reminders_are_model_calls_and_keep_the_limit(tmp_path: Path) -> None:
    played = Played(tmp_path, ToolsAgent, ["Hm."] * 9, {"llm_calls": 2})
    assert played.reason() == ("limit", "llm_calls: limit 2, observed 2")
    assert (len(played.requests), played.counters["llm_calls"]) == (2, 2)
    without = Played(tmp_path, ToolsAgent, ["Hm."] * 9, {"llm_calls": 9})
    assert (without.end.reason.value, len(without.requests)) == ("agent_stopped", DIALOGUE.nudges + 1)


def test_limits_inside_a_turn_count_what_earlier_turns_spent(tmp_path: Path) -> None:
    replies = [call(input=40, output=10), {"text": "Hm.", "usage": {"input": 50, "output": 10}}, *["Hm."] * 9]
    played = Played(tmp_path, ToolsAgent, replies, {"tokens": 100})
    assert played.reason() == ("limit", "tokens: limit 100, observed 110")
    assert len(played.requests) == 2


def test_the_limit_of_cost_is_kept_inside_a_turn(tmp_path: Path) -> None:
    replies = [{"text": "Hm.", "usage": {"input": 3, "output": 1}}] * 9
    prices = {"input": 0.1, "output": 0.2, "cached": None}
    played = Played(tmp_path, ToolsAgent, replies, {"cost": 1.0}, prices=prices)
    assert played.reason() == ("limit", "cost: limit 1, observed 1")
    assert len(played.requests) == 2


@pytest.mark.parametrize(("agent", "reply"), [(ChatAgent, "late"), (ToolsAgent, call())])
def test_a_reply_that_comes_when_the_time_is_up_is_recorded_and_not_played(
    tmp_path: Path, clock: Clock, agent: type[ModelAgent], reply: Any
) -> None:
    played = Played(tmp_path, agent, [reply] * 3, {"seconds": 5}, clock=clock)
    assert played.reason() == ("limit", "seconds: limit 5, observed 6")
    assert (played.kinds("model_response"), played.kinds("action")) == (2, 1)


def test_the_time_is_looked_at_between_reminders(tmp_path: Path, clock: Clock) -> None:
    played = Played(tmp_path, ToolsAgent, ["Hm."] * 9, {"seconds": 5}, clock=clock)
    assert played.reason() == ("limit", "seconds: limit 5, observed 6")
    assert len(played.requests) == 2


def test_a_call_that_the_deadline_cuts_off_ends_the_episode_by_its_limit(
    tmp_path: Path, clock: Clock
) -> None:
    played = Played(tmp_path, ChatAgent, [{"error": "timeout"}], {"seconds": 2}, clock=clock)
    assert played.reason() == ("limit", "seconds: limit 2, observed 3")
    assert played.sink.events[-2]["error"]["kind"] == "deadline"


def test_replies_from_the_cache_are_told_apart_and_end_an_episode_at_the_same_place(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache")
    prices = {"input": 0.1, "output": 0.2, "cached": None}
    replies = [call(input=40, output=10)] * 9
    first, again = (
        Played(tmp_path, ToolsAgent, replies, {"tokens": 100}, cache=cache, prices=prices) for _ in range(2)
    )
    assert first.reason() == again.reason() == ("limit", "tokens: limit 100, observed 100")
    assert (len(first.requests), len(again.requests)) == (2, 0)
    assert (first.counters["cost"], first.counters["input_tokens"]) == (12.0, 80)
    assert (again.counters["cost"], again.counters["input_tokens"]) == (0.0, 0)
    assert (again.counters["cache_hits"], again.counters["llm_calls"]) == (2, 2)
    assert (again.counters["reused_input_tokens"], again.counters["reused_output_tokens"]) == (80, 20)


def test_old_results_are_shortened_alike_for_both_forms_of_calls(tmp_path: Path) -> None:
    turns = DIALOGUE.newest_results + 3
    native = Played(tmp_path, ToolsAgent, [call()] * turns, {"calls": turns})
    text = Played(tmp_path, TextToolsAgent, [block("x")] * turns, {"calls": turns})
    shown = [result.text for m in native.requests[-1].messages for result in m.tool_results]
    told = [m.text for m in text.requests[-1].messages if m.text.startswith("Result of say")]
    assert len(shown) == len(told) == turns - 1
    assert [line.partition("):\n")[2] for line in told] == shown
    short = [len(result) < DIALOGUE.old_result_characters + 40 for result in shown]
    assert short == [True] * (turns - 1 - DIALOGUE.newest_results) + [False] * DIALOGUE.newest_results


class TerseAgent(TextToolsAgent):
    """Keeps results short, and ends a reply at its first `say`."""

    dialogue = Dialogue(result_characters=300, newest_results=3, old_result_characters=50, hand_in="say")


class HastyAgent(TextToolsAgent):
    """Has three replies before each `say`."""

    dialogue = Dialogue(nudges=1, hand_in="say", steps=3)


def test_a_dialogue_of_another_kind(tmp_path: Path) -> None:
    turns = 5
    played = Played(tmp_path, TerseAgent, [block("a", "b", "c")] * turns, {"calls": turns})
    assert played.environment.said == ["a"] * turns
    told = [m.text for m in played.requests[-1].messages if m.text.startswith("Result of say")]
    assert all(text.count(":\nnot run") == 2 for text in told)
    shown = [len(text.partition("):\n")[2].partition(" …")[0]) for text in told]
    assert shown == [50] * (turns - 2) + [300]


def test_steps_are_counted_from_one_call_that_hands_in_to_the_next(tmp_path: Path) -> None:
    other = block("x").replace("say", "sigh")
    enough = Played(tmp_path, HastyAgent, ["Hm.", other, block("x")] * 3, {"calls": 6})
    assert enough.environment.said == ["x"] * 3
    too_few = Played(tmp_path, HastyAgent, [block("x"), "Hm.", other, "Hm.", block("x")], {"calls": 9})
    assert too_few.reason() == ("agent_stopped", "3 replies without a call of say")
    assert len(too_few.requests) == 4


def test_only_the_newest_pictures_are_shown() -> None:
    def result(*names: str) -> Message:
        pictures = tuple(Image(name, b"PNG") for name in names)
        return Message("tool", tool_results=(ToolResult("1", "look", "seen", pictures),))

    messages = [
        Message("user", "Look.", (Image("task", b"PNG"),)),
        result("a", "b"),
        result(),
        result("c", "d"),
    ]

    def shown(newest: int) -> str:
        found = shortened(messages, Dialogue(newest_pictures=newest))
        assert [image.name for image in found[0].images] == ["task"]
        return "".join(i.name for message in found for r in message.tool_results for i in r.images)

    assert [shown(newest) for newest in (9, 4, 3, 2, 1, 0)] == ["abcd", "abcd", "bcd", "cd", "d", ""]
