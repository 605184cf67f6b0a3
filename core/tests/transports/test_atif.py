"""Trajectories in ATIF v1.8, held against a model of the format written from its specification."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, model_validator

from evalkit.run.scoring import RunScores
from evalkit.run.worker import event_body
from evalkit.store import RECORD_VERSION
from evalkit.store.reader import RunReader
from evalkit.store.writer import RunWriter
from evalkit.transports.atif import export_run
from evalkit.types import EpisodeKey, Score


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Source(Strict):
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    path: str


class Part(Strict):
    type: Literal["text", "image"]
    text: str | None = None
    source: Source | None = None

    @model_validator(mode="after")
    def one_of_both(self) -> Part:
        assert (self.text is None) == (self.type == "image")
        assert (self.source is None) == (self.type == "text")
        return self


class Call(Strict):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]


class Result(Strict):
    source_call_id: str | None = None
    content: str | list[Part] | None = None
    extra: dict[str, Any] | None = None


class Results(Strict):
    results: list[Result]


class Metrics(Strict):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class Step(Strict):
    step_id: int
    timestamp: str
    source: Literal["system", "user", "agent"]
    message: str | list[Part]
    tool_calls: list[Call] | None = None
    observation: Results | None = None
    metrics: Metrics | None = None
    llm_call_count: int | None = None

    @model_validator(mode="after")
    def consistent(self) -> Step:
        datetime.datetime.fromisoformat(self.timestamp)
        agents_only = (self.tool_calls, self.metrics)
        assert self.source == "agent" or agents_only == (None, None)
        assert self.llm_call_count != 0 or self.metrics is None
        known = {call.tool_call_id for call in self.tool_calls or ()}
        assert {r.source_call_id for r in (self.observation.results if self.observation else ())} <= known
        return self


class Agent(Strict):
    name: str
    version: str
    model_name: str | None = None
    extra: dict[str, Any] | None = None


class FinalMetrics(Strict):
    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_steps: int
    extra: dict[str, Any]


class Trajectory(Strict):
    schema_version: Literal["ATIF-v1.8"]
    session_id: str
    trajectory_id: str
    agent: Agent
    steps: list[Step]
    final_metrics: FinalMetrics
    extra: dict[str, Any]

    @model_validator(mode="after")
    def numbered(self) -> Trajectory:
        assert [step.step_id for step in self.steps] == list(range(1, len(self.steps) + 1))
        return self


MODEL_KEY = EpisodeKey("chat:some/model", "t-1", "plain", 1)
PICTURE = hashlib.sha256(b"a picture").hexdigest()


def usage(tokens: int, cached: int | None = None) -> dict[str, int | None]:
    return {"input": tokens, "output": 2, "cached": cached, "reasoning": None}


EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("episode_start", {"key": MODEL_KEY.as_dict(), "seed": 4}),
    ("observation", {"text": "Build.", "images": [{"name": "start.png", "blob": PICTURE}]}),
    ("model_request", {"turn": 1, "model": "some/model", "request": PICTURE}),
    ("model_response", {"cache": "off", "turn": 1, "text": "I place two.", "usage": usage(100)}),
    ("action", {"turn": 1, "tool": "place", "arguments": {"x": 1}}),
    ("result", {"ok": True, "state": "s1", "data": {"boxes": 1}}),
    ("action", {"turn": 1, "tool": "plaice", "arguments": {"x": 2}}),
    ("result", {"ok": False, "state": "s1", "data": {"ok": False, "code": "unknown_tool"}}),
    ("model_response", {"cache": "off", "turn": 2, "error": {"kind": "rate_limited"}}),
    ("model_response", {"cache": "off", "turn": 2, "text": "", "usage": usage(120, cached=90)}),
    ("action", {"turn": 2, "tool": "submit", "arguments": {}}),
    ("result", {"ok": True, "state": "s2", "candidate": {"sha256": "c", "data": {}}}),
    ("violation", {"valid": True, "violations": [{"code": "THIN", "message": "", "advisory": True}]}),
    (
        "execution",
        {
            "executor": "toy.statics",
            "version": "1",
            "success": False,
            "candidate_sha256": "c",
            "constants_sha256": "k",
            "data": {},
        },
    ),
    ("observation", {"text": "It fell.", "images": [{"name": "not drawn.png", "blob": None}]}),
    ("model_response", {"cache": "off", "turn": 3, "text": "I give up.", "usage": usage(130)}),
    ("episode_end", {"reason": "agent_stopped", "detail": "no call in the reply", "counters": {"calls": 2}}),
]


MANIFEST = {
    "record_version": RECORD_VERSION,
    "run": "run-1",
    "created": "2026-01-31T10:15:00+00:00",
    "suite": {"name": "toy.suite", "version": 3, "title": "", "origin": "a test", "notices": []},
    "protocol": {
        "benchmark": {"toy": "1"},
        "tasks": {},
        "condition": "plain",
        "variant": "default",
        "limits": {},
        "settings": {},
        "validators": {},
        "executors": {},
        "final_executors": {},
        "metrics": {},
        "order": [[], [], []],
    },
    "protocol_hash": "p",
    "condition": "plain",
    "tasks": ["t-1"],
    "tasks_sha256": "t",
    "epochs": 1,
    "seed": 0,
    "pictures": True,
    "executors": {},
    "versions": {},
    "platform": {"python": "3.11", "system": "Linux", "machine": "x86_64"},
}


def write_run(folder: Path, agent: Mapping[str, Any], events: list[tuple[str, dict[str, Any]]]) -> RunReader:
    key = EpisodeKey(agent["id"], "t-1", "plain", 1)
    with RunWriter.create(folder, MANIFEST | {"agents": [{"name": "a", "argument": "", **agent}]}) as writer:
        log, attempt = writer.begin(key)
        log.append([event_body(number, kind, fields) for number, (kind, fields) in enumerate(events)])
        writer.blob(PICTURE, b"a picture")
        writer.finish(key, log, attempt, {"reason": "agent_stopped", "counters": {}})
    return RunReader(folder)


def exported(reader: RunReader, folder: Path, scores: RunScores | None = None) -> Trajectory:
    unreadable: dict[EpisodeKey, str] = {}
    paths = list(export_run(reader, scores or RunScores({}, {}), folder, unreadable))
    assert unreadable == {}
    (path,) = paths
    return Trajectory.model_validate(json.loads(path.read_text()))


@pytest.fixture
def trajectory(tmp_path: Path) -> Trajectory:
    agent = {"id": MODEL_KEY.agent, "name": "chat", "version": "2", "plugin": "evalkit", "argument": ""}
    scores = RunScores({}, {}, {"toy.solved": {MODEL_KEY: Score(0.0)}, "toy.height": {}})
    return exported(write_run(tmp_path / "run", agent, EVENTS), tmp_path / "out", scores)


def test_a_step_per_reply_with_its_calls_and_what_they_showed(trajectory: Trajectory) -> None:
    first, placed, submitted, gave_up = trajectory.steps
    assert (first.source, placed.source) == ("user", "agent")
    assert placed.message == "I place two."
    assert [c.function_name for c in placed.tool_calls or ()] == ["place", "plaice"]
    results = placed.observation.results if placed.observation else []
    assert [r.content for r in results] == ["boxes: 1", "ok: false\ncode: unknown_tool"]
    assert [r.extra and r.extra["ok"] for r in results] == [True, False]
    (fell,) = submitted.observation.results if submitted.observation else []
    assert fell.content == "It fell."
    assert fell.extra == {
        "ok": True,
        "state": "s2",
        "violations": ["THIN"],
        "executions": {"toy.statics": False},
    }
    assert (gave_up.message, gave_up.tool_calls) == ("I give up.", None)


def test_tokens_are_those_of_the_step_and_missing_ones_stay_missing(trajectory: Trajectory) -> None:
    _, placed, submitted, _ = trajectory.steps
    assert placed.metrics == Metrics(prompt_tokens=100, completion_tokens=2)
    assert submitted.metrics == Metrics(prompt_tokens=120, completion_tokens=2, cached_tokens=90)
    assert [step.llm_call_count for step in trajectory.steps] == [None, 1, 2, 1]
    totals = trajectory.final_metrics
    assert (totals.total_prompt_tokens, totals.total_completion_tokens) == (350, 6)
    assert totals.total_cached_tokens == 90


def test_pictures_are_files_beside_it(trajectory: Trajectory, tmp_path: Path) -> None:
    text, picture = trajectory.steps[0].message
    assert isinstance(picture, Part)
    assert picture.source is not None
    assert text == Part(type="text", text="Build.")
    assert (tmp_path / "out" / picture.source.path).read_bytes() == b"a picture"


def test_who_played_what_and_how_it_ended(trajectory: Trajectory) -> None:
    assert (trajectory.agent.name, trajectory.agent.model_name) == (MODEL_KEY.agent, "some/model")
    assert trajectory.trajectory_id == f"run-1/{MODEL_KEY.text()}"
    assert trajectory.extra["suite"] == "toy.suite@3"
    assert trajectory.final_metrics.extra == {
        "end": "agent_stopped",
        "detail": "no call in the reply",
        "counters": {"calls": 2},
        "scores": {"toy.solved": 0.0},
    }


def test_agents_without_a_model_say_so_and_clients_from_outside_say_nothing(tmp_path: Path) -> None:
    events = [event for event in EVENTS if not event[0].startswith("model_")]
    offline = write_run(tmp_path / "offline", {"id": "tower", "version": "1"}, events)
    counts = [step.llm_call_count for step in exported(offline, tmp_path / "a").steps]
    assert counts == [None, 0, 0]
    agent = {"id": "mcp", "version": "1", "transport": "mcp", "client": "some client 1"}
    outside = exported(write_run(tmp_path / "outside", agent, events), tmp_path / "b")
    assert [step.llm_call_count for step in outside.steps] == [None] * 3
    assert outside.agent.extra == {"name": "a", "transport": "mcp", "client": "some client 1"}


def test_a_damaged_log_is_named_and_the_others_are_written(tmp_path: Path) -> None:
    reader = write_run(tmp_path / "run", {"id": "tower", "version": "1"}, EVENTS[:-1])
    unreadable: dict[EpisodeKey, str] = {}
    assert list(export_run(reader, RunScores({}, {}), tmp_path / "out", unreadable)) == []
    assert "the log has no end" in unreadable[EpisodeKey("tower", "t-1", "plain", 1)]
