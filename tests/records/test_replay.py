"""`replay`: the same calls give the same answers, and the first that differs is named."""

from __future__ import annotations

import json

import pytest

from evalkit.run.difference import first_difference
from evalkit.store.reader import RunReader
from evalkit.types import Episode, EpisodeKey


def test_a_replay_of_two_agents_is_equal_without_running_executors(hazard, recorded):
    done = hazard.evalkit("replay", str(recorded), "--json", HAZARD_UNIT="3")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["equal"]
    assert (document["comparison"], document["elsewhere"], document["differences"]) == ("exact", [], [])
    assert document["episodes"] + document["skipped"] == 24
    assert document["skipped"] == sum(
        line["end"]["reason"] in ("environment_error", "worker_crashed", "executor_error")
        for line in RunReader(recorded).index().values()
    )
    assert document["calls"] > document["episodes"]


def test_another_state_is_named_with_both_hashes(hazard, recorded):
    done = hazard.evalkit("replay", str(recorded), "--id", "t00002", "--json", HAZARD_DRIFT="1")
    assert done.returncode == 1
    differences = json.loads(done.stdout)["differences"]
    assert {d["episode"] for d in differences} == {"adder/t00002/default/1", "doubler/t00002/default/1"}
    assert {(d["call"], d["what"]) for d in differences} == {(1, "state hash")}
    assert all(len(d["recorded"]) == len(d["replayed"]) == 64 for d in differences)
    text = hazard.evalkit("replay", str(recorded), "--id", "t00002", HAZARD_DRIFT="1").stdout
    assert "adder/t00002/default/1: call 1: state hash: " in text
    assert "2 differ" in text


def test_executors_run_and_are_compared_if_asked(hazard, recorded):
    same = hazard.evalkit("replay", str(recorded), "--execute", "--id", "t00000")
    assert same.returncode == 0, same.stdout
    other = hazard.evalkit("replay", str(recorded), "--execute", "--id", "t00000", HAZARD_UNIT="2")
    assert other.returncode == 1
    assert "the constants of executor hazard.total differ" in other.stderr
    assert "execution success: True → False" in other.stdout


def test_what_differs_about_the_installation_is_said(hazard, copy):
    manifest = json.loads((copy / "run.json").read_text())
    manifest["platform"]["machine"] = "abacus"
    manifest["versions"]["numpy"] = "0.1"
    (copy / "run.json").write_text(json.dumps(manifest))
    done = hazard.evalkit("replay", str(copy), "--id", "t00000")
    assert done.returncode == 0
    assert ", was abacus" in done.stderr
    assert ", was 0.1" in done.stderr
    assert "floats within 1e-09" in done.stdout


def test_an_unreadable_log_is_a_difference_and_an_unknown_task_an_error(hazard, copy):
    next((copy / "episodes").glob("t00002-*")).unlink()
    done = hazard.evalkit("replay", str(copy), "--id", "t00002", "--json")
    assert done.returncode == 1
    (difference,) = json.loads(done.stdout)["differences"]
    assert difference["what"] == "record"
    done = hazard.evalkit("replay", str(copy), "--id", "t99")
    assert done.returncode == 2
    assert "unknown task 't99'" in done.stderr


def test_a_replayed_run_is_not_touched(hazard, copy):
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    hazard.evalkit("replay", str(copy), "--id", "t00000", HAZARD_DRIFT="1")
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


# Comparing two tellings


def episode(*events: dict, reason: str = "done", **counters: float) -> Episode:
    end = {"kind": "episode_end", "reason": reason, "counters": counters}
    return Episode(EpisodeKey("a", "t", "c", 1), [*events, end], end, lambda value: value)


ACTION = {"kind": "action", "tool": "x", "arguments": {}}


def result(state: str = "s", **data: object) -> dict:
    return {"kind": "result", "ok": True, "state": state, "data": data}


@pytest.mark.parametrize(
    ("old", "new", "tolerance", "expected"),
    [
        (episode(ACTION, result(x=1.0)), episode(ACTION, result(x=1.0)), 0.0, None),
        (episode(ACTION, result(x=1.0)), episode(ACTION, result(x=1.0 + 1e-12)), 0.0, (1, "result data.x")),
        (episode(ACTION, result(x=1.0)), episode(ACTION, result(x=1.0 + 1e-12)), 1e-9, None),
        (episode(ACTION, result(x=1.0)), episode(ACTION, result(x=1.001)), 1e-9, (1, "result data.x")),
        (episode(ACTION, result(x=1)), episode(ACTION, result(x=True)), 0.0, (1, "result data.x")),
        (episode(ACTION, result(x=[1, 2])), episode(ACTION, result(x=[1, 3])), 0.0, (1, "result data.x[1]")),
        (episode(ACTION, result(x=1)), episode(ACTION, result()), 0.0, (1, "result data.x")),
        (episode(ACTION, result("a", x=1)), episode(ACTION, result("b", x=2)), 0.0, (1, "state hash")),
        (episode(ACTION, result()), episode(ACTION, result(), ACTION, result()), 0.0, (2, "next event")),
        (episode(ACTION, result(), ACTION, result()), episode(ACTION, result()), 0.0, (2, "next event")),
        (episode(ACTION, result()), episode(ACTION, result(), reason="limit"), 0.0, (1, "end")),
        (episode(ACTION, result(), calls=1), episode(ACTION, result(), calls=2), 0.0, (1, "counter calls")),
        (
            episode(ACTION, result(), calls=1, tokens=9, llm_calls=1),
            episode(ACTION, result(), calls=1),
            0.0,
            None,
        ),
        (
            episode(ACTION, result(), **{"meter:checks": 1}),
            episode(ACTION, result()),
            0.0,
            (1, "counter meter:checks"),
        ),
    ],
)
def test_the_first_difference(old, new, tolerance, expected):
    found = first_difference(old, new, tolerance)
    assert (None if found is None else (found.call, found.what)) == expected


def test_other_keys_are_told_beside_a_state():
    found = first_difference(episode(ACTION, result("a", x=1)), episode(ACTION, result("b", x=2)), 0.0)
    assert found is not None
    assert found.text() == "a/t/c/1: call 1: state hash: a → b (also data.x)"


@pytest.mark.parametrize("name", ["seconds", "tokens", "cost", "llm_calls"])
def test_limits_of_time_and_of_what_the_agent_spends_are_not_replayed(name):
    old = episode(ACTION, result(), reason="limit")
    old.end["detail"] = f"{name}: limit 3, observed 4"
    assert first_difference(old, episode(ACTION, result(), reason="agent_stopped"), 0.0) is None


@pytest.mark.parametrize("name", ["calls", "tool_calls", "meter:checks"])
def test_limits_of_what_the_walk_counts_are_replayed(name):
    old = episode(ACTION, result(), reason="limit")
    old.end["detail"] = f"{name}: limit 3, observed 3"
    found = first_difference(old, episode(ACTION, result(), reason="agent_stopped"), 0.0)
    assert found is not None
    assert found.what == "end"


def test_polybridge_replays_to_the_same_hashes(hazard):
    run = hazard.evalkit("run", "polybridge.smoke", "-n", "2", "-j", "1", EVALKIT_PLUGINS="polybridge")
    assert run.returncode == 0, run.stderr
    done = hazard.evalkit("replay", "--execute", EVALKIT_PLUGINS="polybridge")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 episodes" in done.stdout
