"""An episode driven from outside: the walk in its thread, and what comes back from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from evalkit import (
    Candidate,
    Execution,
    Image,
    Observation,
    StepContext,
    StepResult,
    Task,
    Tool,
    ToolCall,
    UsageError,
    Verdict,
)
from evalkit.episode import Rules
from evalkit.errors import EndReason, StorageError
from evalkit.run.trial import MemorySink
from evalkit.transports._driven import DrivenEpisode, ended
from evalkit.types import EpisodeKey

KEY = EpisodeKey("outside", "bell", "default", 1)
TASK = Task("bell", {"word": "ring"})
LONG = "x" * 5000


class Word(BaseModel):
    model_config = ConfigDict(extra="forbid")
    word: str


class Bell:
    """`say` a word; the right one ends the episode; `break` is a bug of the environment."""

    def reset(self, task: Task, seed: int) -> Observation:
        self.said: list[str] = []
        self.word = task.inputs["word"]
        return Observation("say the word", {"long": LONG}, (Image("bell.png", b"PNG"),))

    def tools(self) -> Sequence[Tool]:
        return (Tool("say", "Say a word.", Word), Tool("hand_in", "Hand in."), Tool("break", "A bug."))

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        if call.name == "break":
            raise KeyError("the hidden reference")
        if call.name == "hand_in":
            return StepResult(Observation(), Candidate({"said": list(self.said)}))
        self.said.append(call.arguments["word"])
        right = call.arguments["word"] == self.word
        return StepResult(Observation("ding" if right else "nothing"), done=right)

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        return Observation("handed in", {"words": self.said}, (Image("all.jpg", b"JPG"),), done=True)

    def state(self) -> dict[str, Any]:
        return {"said": self.said}


Start = Callable[..., DrivenEpisode]


@pytest.fixture
def start() -> Iterator[Start]:
    """Begins episodes, and sees to it that no thread outlives a test."""
    begun: list[DrivenEpisode] = []

    def begin(limits: Mapping[str, float] | None = None, sink: Any = None, **rules: Any) -> DrivenEpisode:
        given = Rules(limits or {}, (), (), **{"pictures": True, **rules})
        episode = DrivenEpisode(KEY, TASK, 0, Bell(), given, sink or MemorySink())  # type: ignore[arg-type]
        begun.append(episode)
        return episode

    yield begin
    for episode in begun:
        if episode.end is None and episode._thread.is_alive():
            episode.stop("the test is over")
    assert not [thread for thread in threading.enumerate() if thread.name == "evalkit-episode"]


def test_the_first_observation_comes_as_recorded_with_pictures_and_long_values(start: Start) -> None:
    episode = start({"calls": 3})
    first = episode.start()
    assert (first.text, first.data) == ("say the word", {"long": LONG})
    assert [(i.name, i.media_type, i.data()) for i in first.images] == [("bell.png", "image/png", b"PNG")]
    assert [tool.name for tool in episode.tools] == ["say", "hand_in", "break"]
    assert episode.context.budget_left == {"calls": 3}


def test_pictures_that_are_not_drawn_are_not_there(start: Start) -> None:
    assert start(pictures=False).start().images == ()


def test_the_observation_that_ends_the_episode_is_delivered(start: Start) -> None:
    episode = start()
    episode.start()
    assert episode.call("say", {"word": "hush"}).text == "nothing"
    assert episode.end is None
    assert episode.call("say", {"word": "ring"}).text == "ding"
    assert episode.end is not None
    assert episode.end.reason is EndReason.DONE
    assert episode.observe().text == "ding"


def test_feedback_on_a_design_is_delivered_though_it_is_the_last_thing(start: Start) -> None:
    episode = start()
    episode.start()
    seen = episode.call("hand_in", {})
    assert (seen.text, seen.data) == ("handed in", {"words": []})
    assert [image.media_type for image in seen.images] == ["image/jpeg"]


def test_mistakes_count_and_are_told(start: Start) -> None:
    episode = start({"calls": 2})
    episode.start()
    assert episode.call("say", {"wrd": "ring"}).data["code"] == "arguments"
    assert not episode.ok
    assert episode.context.budget_left == {"calls": 1}
    assert episode.call("shout", {}).data["code"] == "unknown_tool"
    assert episode.end is not None
    assert ended(episode.end) == "the episode has ended: limit (calls: limit 2, observed 2)"
    assert episode.context.budget_left == {"calls": 0}
    with pytest.raises(UsageError, match="has ended: limit"):
        episode.call("say", {"word": "ring"})


@pytest.mark.parametrize("word", [float("nan"), {1, 2}, b"bytes", [[[]] * 9] * 9])
def test_what_is_no_argument_is_a_mistake_like_any_other(start: Start, word: object) -> None:
    episode = start({"calls": 2})
    episode.start()
    assert episode.call("say", {"word": word}).data["code"] == "arguments"
    assert episode.call("say", {"word": "ring"}).text == "ding"


def test_words_that_are_no_call_count_as_one(start: Start) -> None:
    episode = start({"calls": 2})
    episode.start()
    seen = episode.call("unreadable", {}, "not JSON: no brackets")
    assert seen.data == {"ok": False, "code": "arguments", "message": "not JSON: no brackets"}
    assert episode.context.budget_left == {"calls": 1}


def test_stopping_is_told_in_the_record_once(start: Start) -> None:
    sink = MemorySink()
    episode = start(sink=sink)
    episode.start()
    end = episode.stop("the client went away")
    assert (end.reason, end.detail) == (EndReason.AGENT_STOPPED, "the client went away")
    assert episode.stop("once more") is end
    assert [e["kind"] for e in sink.events].count("episode_end") == 1
    assert sink.events[-1]["detail"] == "the client went away"


def test_a_bug_of_the_environment_is_in_the_record_and_not_told_to_the_player(start: Start) -> None:
    sink = MemorySink()
    episode = start(sink=sink)
    episode.start()
    seen = episode.call("break", {})
    assert (seen.text, seen.data, episode.ok) == ("", {}, False)
    assert episode.end is not None
    assert ended(episode.end) == "the episode has ended: environment error"
    assert "the hidden reference" in sink.events[-1]["detail"]


def test_a_record_that_cannot_be_written_is_raised_where_the_call_waits(start: Start) -> None:
    class Full(MemorySink):
        def flush(self) -> None:
            if any(event["kind"] == "action" for event in self.events):
                raise StorageError("the disk is full")

    episode = start(sink=Full())
    episode.start()
    for _ in range(2):
        with pytest.raises(StorageError, match="the disk is full"):
            episode.call("say", {"word": "ring"})
