"""Models play polybridge: the whole path from `-m` to the scores, with replies from a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.levels import generate
from evalkit_polybridge.levels.references import load_references

LEVELS = {level.name: level for level, _ in generate()}
NAMES = ["T1B_Basic_08m", "T2D_Platform_4-4-4"]


def evalkit(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        timeout=240,
    )
    assert done.returncode == code, done.stderr
    return done


def script(folder: Path, replies: dict[str, list[Any]]) -> str:
    (folder / "script.json").write_text(json.dumps(replies))
    return "scripted:script.json"


def logs(folder: Path) -> dict[str, list[dict[str, Any]]]:
    (run,) = (folder / "runs").iterdir()
    found = {}
    for path in sorted((run / "episodes").iterdir()):
        events = [json.loads(line) for line in path.read_text().splitlines()]
        found[events[0]["key"]["task"]] = events
    return found


def select(*names: str) -> list[str]:
    return [word for name in names for word in ("--id", name)]


def test_refused_failed_and_repaired(tmp_path: Path) -> None:
    references = load_references()
    model = script(
        tmp_path,
        {
            name: [
                "I would build a truss.",
                {"text": format_reply(flat_deck(LEVELS[name]), ""), "usage": {"input": 10, "output": 5}},
                format_reply(references[name], ""),
            ]
            for name in NAMES
        },
    )
    done = evalkit(tmp_path, "run", "polybridge.smoke", "-m", model, *select(*NAMES))
    assert done.stdout.startswith(f"polybridge.smoke · chat:{model} · 2 episodes")
    for events in logs(tmp_path).values():
        kinds = [event["kind"] for event in events]
        assert kinds.count("model_request") == kinds.count("model_response") == 3
        assert events[-1]["counters"]["llm_calls"] == 3
        assert events[-1]["counters"]["tokens"] == 15
        assert events[-1]["counters"]["executions"] == 2
        first = next(event for event in events if event["kind"] == "observation")
        assert len(first["images"][0]["blob"]) == 64
    assert json.loads(evalkit(tmp_path, "verify", "latest", "--json").stdout)["clean"]
    report = json.loads(evalkit(tmp_path, "report", "--format", "json").stdout)
    (row,) = report["tables"]["usage"]["rows"]
    assert row == [f"chat:{model}", 6, 0, 0, 20, 10, 4, "unknown"]


def test_a_replay_of_what_a_model_played_is_equal(tmp_path: Path) -> None:
    replies = ["no", {"text": format_reply(load_references()[NAMES[0]], ""), "usage": {"input": 9}}]
    evalkit(tmp_path, "run", "polybridge.smoke", "-m", script(tmp_path, {"*": replies}), *select(NAMES[0]))
    replayed = json.loads(evalkit(tmp_path, "replay", "--json").stdout)
    assert replayed["equal"], replayed["differences"]
    assert replayed["calls"] == 2


def test_arguments_that_could_not_be_read_are_replayed(tmp_path: Path) -> None:
    unreadable = {"tool_calls": [{"name": "propose", "arguments": '{"text": '}]}
    wrong = {"tool_calls": [{"name": "propose", "arguments": {"words": 1}}]}
    model = script(tmp_path, {"*": [unreadable, wrong, {"tool_calls": [{"name": "build"}]}]})
    arguments = ("--agent", f"tools:{model}", *select(NAMES[0]))
    evalkit(tmp_path, "run", "polybridge.smoke", *arguments)
    replayed = json.loads(evalkit(tmp_path, "replay", "--json").stdout)
    assert replayed["equal"], replayed["differences"]
    assert replayed["calls"] == 3


def test_a_model_sees_prompt_context_save_and_pictures(tmp_path: Path) -> None:
    evalkit(tmp_path, "run", "polybridge.smoke", "-m", script(tmp_path, {"*": ["no"] * 3}), *select(NAMES[0]))
    (events,) = logs(tmp_path).values()
    requests = [event["request"] for event in events if event["kind"] == "model_request"]
    (run,) = (tmp_path / "runs").iterdir()
    last = json.loads((run / "blobs" / requests[-1][:2] / requests[-1]).read_bytes())
    text = json.dumps(last)
    for part in ("You design bridges", "task_context", "isKinematic", "PARSE_ERROR", "draft"):
        assert part in text


def test_an_error_costs_its_episode_only(tmp_path: Path) -> None:
    model = script(tmp_path, {NAMES[0]: [{"error": "bad_request"}], "*": ["no"] * 3})
    done = evalkit(tmp_path, "run", "polybridge.smoke", "-m", model, *select(*NAMES), code=3)
    assert "model_error" in done.stderr
    ends = {task: events[-1]["reason"] for task, events in logs(tmp_path).items()}
    assert ends == {NAMES[0]: "model_error", NAMES[1]: "limit"}


@pytest.mark.parametrize("kind", ["content_filter", "context_overflow"])
def test_no_usable_answer_is_the_models_result(tmp_path: Path, kind: str) -> None:
    model = script(tmp_path, {"*": ["no", {"error": kind}]})
    done = evalkit(tmp_path, "run", "polybridge.smoke", "-m", model, *select(NAMES[0]))
    (events,) = logs(tmp_path).values()
    assert events[-1]["reason"] == "agent_stopped"
    assert kind in events[-1]["detail"]
    assert events[-1]["counters"]["llm_calls"] == 2
    assert "0.0 % (0/1)" in done.stdout


def test_a_fatal_answer_stops_the_run(tmp_path: Path) -> None:
    model = script(tmp_path, {"*": [{"error": "insufficient_quota"}]})
    arguments = ("run", "polybridge.smoke", "-m", model, "--max-connections", "1")
    done = evalkit(tmp_path, *arguments, code=3)
    assert "stopped after 1 of 6 episodes" in done.stderr
    assert "insufficient_quota" in done.stderr
    assert len(logs(tmp_path)) == 1


def test_a_fatal_answer_of_one_model_leaves_the_others_playing(tmp_path: Path) -> None:
    (tmp_path / "poor.json").write_text(json.dumps({NAMES[0]: ["no"] * 3, "*": [{"error": "auth"}]}))
    fine = script(tmp_path, {"*": ["no"] * 3})
    arguments = ("-m", "scripted:poor.json", "-m", fine, "--agent", "flat", "--max-connections", "1")
    done = evalkit(tmp_path, "run", "polybridge.smoke", *arguments, code=3)
    told = [line for line in done.stderr.splitlines() if "stopped after" in line]
    assert len(told) == 1
    assert told[0].startswith("chat:scripted:poor.json stopped after 2 of 6 episodes: ModelError: auth")
    assert "; left: T2B_SlopeDown_08m_Down1m, " in told[0]
    assert "`evalkit resume " in told[0]
    (run,) = (tmp_path / "runs").iterdir()
    index = [json.loads(line)["key"] for line in (run / "episodes.jsonl").read_text().splitlines()]
    counts = {agent: sum(key["agent"] == agent for key in index) for agent in {k["agent"] for k in index}}
    assert counts == {"flat": 6, f"chat:{fine}": 6, "chat:scripted:poor.json": 2}
    (tmp_path / "poor.json").write_text(json.dumps(["no"] * 3))
    evalkit(tmp_path, "resume", "latest")
    assert len((run / "episodes.jsonl").read_text().splitlines()) == 6 * 3 + 1


def test_agents_that_ask_one_broken_model_all_stop(tmp_path: Path) -> None:
    model = script(tmp_path, {"*": [{"error": "auth"}]})
    arguments = ("--agent", "chat", "--agent", "tools", "-m", model, "--max-connections", "1")
    done = evalkit(tmp_path, "run", "polybridge.smoke", *arguments, code=3)
    told = [line.partition(" episodes: ")[0] for line in done.stderr.splitlines() if "stopped after" in line]
    assert told == [f"chat:{model} stopped after 1 of 6", f"tools:{model} stopped after 0 of 6"]


def test_a_budget_of_the_run_stops_it(tmp_path: Path) -> None:
    model = script(tmp_path, {"*": ["no"] * 3})
    arguments = ("run", "polybridge.smoke", "-m", model, "--max-connections", "1", "--total-calls", "6")
    done = evalkit(tmp_path, *arguments, code=6)
    assert "calls: limit 6, observed 6" in done.stderr
    spent = evalkit(tmp_path, "resume", "latest", code=2)
    assert "raise it with --total-calls" in spent.stderr
    again = evalkit(tmp_path, "resume", "latest", "--total-calls", "18")
    assert "6 episodes" in again.stdout
    assert len(logs(tmp_path)) == 6
    (run,) = (tmp_path / "runs").iterdir()
    manifest = json.loads((run / "run.json").read_text())
    assert (manifest["totals"], manifest["order_dependent"]) == ({"calls": 6}, True)


def test_a_budget_of_tokens_counts_episodes_that_are_being_played(tmp_path: Path) -> None:
    reply = {"text": "no", "usage": {"input": 100, "output": 10}}
    model = script(tmp_path, {"*": [reply] * 3})
    done = evalkit(tmp_path, "run", "polybridge.smoke", "-m", model, "--total-tokens", "1234567")
    assert "budget" not in done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["totals"] == {"tokens": 1234567}
    stopped = evalkit(tmp_path, "run", "polybridge.smoke", "-m", model, "--total-tokens", "150",
        "--max-connections", "2", code=6,
    )  # fmt: skip
    assert "tokens: limit 150, observed" in stopped.stderr
    assert evalkit(tmp_path, "verify", "latest").returncode == 0


def test_a_limit_of_model_calls_holds_for_reminders(tmp_path: Path) -> None:
    model = script(tmp_path, {"*": ["Hm."] * 9})
    arguments = ("--agent", f"tools:{model}", "--max-llm-calls", "2", *select(NAMES[0]))
    evalkit(tmp_path, "run", "polybridge.smoke", *arguments)
    (events,) = logs(tmp_path).values()
    assert events[-1]["detail"] == "llm_calls: limit 2, observed 2"
    assert sum(event["kind"] == "model_request" for event in events) == 2
    assert json.loads(evalkit(tmp_path, "verify", "latest", "--json").stdout)["clean"]
    assert json.loads(evalkit(tmp_path, "replay", "--json").stdout)["equal"]


def test_replies_from_the_cache_are_shown_and_not_counted_as_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    model = script(tmp_path, {"*": [{"text": "no", "usage": {"input": 10, "output": 5}}] * 3})
    arguments = ("run", "polybridge.smoke", "-m", model, "--cache", "--format", "json", *select(NAMES[0]))
    rows = [json.loads(evalkit(tmp_path, *arguments).stdout)["tables"]["usage"]["rows"] for _ in range(2)]
    assert [row[0][1:6] for row in rows] == [[3, 0, 0, 30, 15], [3, 3, 0, 0, 0]]


def test_limits_keep_every_digit(tmp_path: Path) -> None:
    model = script(tmp_path, {"*": ["no"] * 3})
    arguments = ("run", "polybridge.smoke", "-m", model, "--max-tokens", "1234567")
    evalkit(tmp_path, *arguments, *select(NAMES[0]))
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "run.json").read_text())["protocol"]["limits"]["tokens"] == 1234567


def test_models_and_heuristics_side_by_side(tmp_path: Path) -> None:
    model = script(tmp_path, {"*": ["no"] * 3})
    arguments = ("run", "polybridge.smoke", "-m", model, "--agent", "flat", "--format", "json")
    report = json.loads(evalkit(tmp_path, *arguments, *select(NAMES[0])).stdout)
    assert [run["agent"] for run in report["runs"]] == ["flat", f"chat:{model}"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-m", "scripted:missing.json"), "missing.json"),
        (("--agent", "chat"), "needs a model"),
        (("-M", "temperature=0"), "no model plays"),
        (("-m", "scripted:script.json", "-M", "temprature=0"), "did you mean temperature"),
        (("-m", "scripted:script.json", "--max-time", "soon"), "--max-time"),
        (("-m", "scripted:script.json", "--max-cost", "1"), "no prices are known"),
    ],
)
def test_mistakes_are_found_before_the_first_episode(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    script(tmp_path, {"*": ["no"]})
    done = evalkit(tmp_path, "run", "polybridge.smoke", *arguments, code=2)
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()
