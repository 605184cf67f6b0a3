"""A worker that dies between its episode's last event and the message that says so."""

from __future__ import annotations

import json

from evalkit.errors import EndReason
from evalkit.plugins import Plugins
from evalkit.run.pool import Events, Failed
from evalkit.run.runner import Runner
from evalkit.run.worker import EpisodeJob, PlaySetup, event_body
from evalkit.store.logs import added, blob_references, counted, episode_path
from evalkit.store.writer import RunWriter
from evalkit.types import EpisodeKey, Task

KEY = EpisodeKey("a", "t", "c", 1)
START = event_body(0, "episode_start", {"key": KEY.as_dict(), "seed": 1})
ACTION = event_body(1, "action", {"turn": 1, "tool": "add", "arguments": {}})
RESULT = event_body(2, "result", {"ok": False, "state": "s"})
END = event_body(3, "episode_end", {"reason": "done", "counters": {"calls": 1}, "seconds": 0.1})


def play(folder, *bodies: str) -> tuple[dict, list[dict]]:
    """The index line and the events after a worker sent `bodies` and crashed."""
    manifest = {"record_version": 1, "run": "r"}
    setup = PlaySetup("b", "default", {}, {}, (), (), ())
    with RunWriter.create(folder, manifest) as writer:
        runner = Runner(setup, writer, Plugins(), workers=1)
        runner._jobs[0] = EpisodeJob(0, KEY, Task("t", {}), 1)
        if bodies:
            runner._handle(Events(0, list(bodies)), lambda *_: None)
        runner._handle(Failed(0, EndReason.WORKER_CRASHED, "exit code -9"), lambda *_: None)
    lines = episode_path(folder, KEY).read_text().splitlines()
    line = json.loads((folder / "episodes.jsonl").read_text())
    return line, [json.loads(text) for text in lines]


def test_an_end_that_was_written_counts(tmp_path):
    line, events = play(tmp_path / "run", START, ACTION, RESULT, END)
    assert line["end"] == {"reason": "done", "counters": {"calls": 1}}
    assert [event["kind"] for event in events].count("episode_end") == 1
    assert line["events"] == 4


def test_what_was_spent_is_counted_from_the_events(tmp_path):
    line, events = play(tmp_path / "run", START, ACTION, RESULT)
    assert line["end"]["reason"] == "worker_crashed"
    assert line["end"]["detail"] == "exit code -9"
    assert line["end"]["counters"] == {"calls": 1, "tool_calls": 1, "executions": 0, "errors": 1}
    assert events[-1]["counters"] == line["end"]["counters"]


def test_a_worker_that_said_nothing_leaves_a_start_and_an_end(tmp_path):
    line, events = play(tmp_path / "run")
    assert [event["kind"] for event in events] == ["episode_start", "episode_end"]
    assert line["end"]["counters"] == {"calls": 0, "tool_calls": 0, "executions": 0}


def test_what_a_model_was_asked_counts_too():
    events = [
        {"kind": "action", "turn": 1},
        {"kind": "http_attempt"},
        {"kind": "http_attempt"},
        {"kind": "model_response", "usage": {"input": 100, "output": 20, "cached": None, "reasoning": None}},
        {"kind": "model_response", "usage": {"input": 9, "output": 1}, "cache": "hit"},
        {"kind": "model_response", "error": {"kind": "timeout"}},
        {"kind": "execution"},
    ]
    assert counted(events) == {
        "calls": 1,
        "tool_calls": 1,
        "executions": 1,
        "http_attempts": 2,
        "llm_calls": 2,
        "cache_hits": 1,
        "input_tokens": 100,
        "output_tokens": 20,
        "reused_input_tokens": 9,
        "reused_output_tokens": 1,
        "tokens": 130,
    }
    assert added(counted(events), {"calls": 2, "meter:checks": 1})["calls"] == 3


def test_only_the_cores_own_references_to_blobs_count():
    forged = {
        "kind": "action",
        "arguments": {"x": {"blob": "a" * 64, "size": 1, "media_type": "application/json"}},
    }
    assert list(blob_references(forged)) == []
    reference = {"blob": "b" * 64, "size": 9, "media_type": "application/json"}
    event = {
        "kind": "result",
        "data": {"save": reference},
        "images": [{"name": "editor.png", "blob": "c" * 64}, {"name": "sheet.png", "blob": None}],
        "candidate": {"sha256": "d" * 64, "data": reference, "files": {"mesh.glb": "e" * 64}},
    }
    assert sorted(blob_references(event)) == sorted(
        [("b" * 64, 9), ("b" * 64, 9), ("c" * 64, None), ("e" * 64, None)]
    )
    assert list(blob_references({"kind": "http_attempt", "request": "f" * 64})) == [("f" * 64, None)]
