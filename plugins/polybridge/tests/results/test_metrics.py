"""Metrics of episodes with known outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evalkit import EpisodeKey
from evalkit.plugins import resolve
from evalkit.report.aggregate import aggregate
from evalkit_polybridge import metrics
from evalkit_polybridge.levels.families import generate
from evalkit_polybridge.specs import METRICS
from evalkit_polybridge.tasks import level_task
from evalkit_polybridge.trajectory import read_trajectory

NAMES = [spec.id.removeprefix("polybridge.") for spec in METRICS]
NA = None


def measure(name: str, episode: Any, task: Any) -> Any:
    spec = next(spec for spec in METRICS if spec.id == f"polybridge.{name}")
    return resolve(spec.target, "polybridge")({}).measure(episode, task)


# Each row: Success@1, 2, 3, Valid@1, 2, 3, Recovery@3, success of the first attempt, reached physics.
RATES = {
    "S": (1, 1, 1, 1, 1, 1, NA, 1, 1),
    "VS": (0, 1, 1, 0, 1, 1, NA, 1, 1),
    "PS": (0, 1, 1, 0, 1, 1, NA, 1, 1),
    "VVS": (0, 0, 1, 0, 0, 1, NA, 1, 1),
    "FS": (0, 1, 1, 1, 1, 1, 1, 0, 1),
    "FFS": (0, 0, 1, 1, 1, 1, 1, 0, 1),
    "FVS": (0, 0, 1, 1, 1, 1, 1, 0, 1),
    "VFS": (0, 0, 1, 0, 1, 1, 1, 0, 1),
    "VVV": (0, 0, 0, 0, 0, 0, NA, NA, 0),
    "VVF": (0, 0, 0, 0, 0, 1, NA, 0, 1),
    "VFF": (0, 0, 0, 0, 1, 1, 0, 0, 1),
    "FVV": (0, 0, 0, 1, 1, 1, 0, 0, 1),
    "FFF": (0, 0, 0, 1, 1, 1, 0, 0, 1),
    "F": (0, 0, 0, 1, 1, 1, 0, 0, 1),
    "": (0, 0, 0, 0, 0, 0, NA, NA, 0),
}
RATE_NAMES = (
    "success_at_1", "success_at_2", "success_at_3", "valid_at_1", "valid_at_2", "valid_at_3",
    "recovery_at_3", "first_attempt_success", "reached_physics",
)  # fmt: skip

# Each row: calls, physics attempts, calls to success, validation-repair calls, physics-repair calls.
COUNTS = {
    "S": (1, 1, 1, 0, 0),
    "VS": (2, 1, 2, 1, 0),
    "PUS": (3, 1, 3, 2, 0),
    "FS": (2, 2, 2, 0, 1),
    "FFS": (3, 3, 3, 0, 2),
    "FVS": (3, 2, 3, 1, 1),
    "VVV": (3, 0, NA, 3, 0),
    "VVF": (3, 1, NA, 2, 0),
    "FFF": (3, 3, NA, 0, 2),
    "FVV": (3, 1, NA, 2, 1),
    "F": (1, 1, NA, 0, 0),
    "": (0, 0, NA, 0, 0),
}
COUNT_NAMES = (
    "calls", "physics_attempts", "calls_of_successes", "validation_repair_calls", "physics_repair_calls"
)  # fmt: skip


@pytest.mark.parametrize("outcomes", RATES)
def test_rates(outcomes: str, episode_of: Any, task_of: Any) -> None:
    episode = episode_of(outcomes)
    assert tuple(measure(name, episode, task_of()).value for name in RATE_NAMES) == RATES[outcomes]


@pytest.mark.parametrize("outcomes", COUNTS)
def test_counts(outcomes: str, episode_of: Any, task_of: Any) -> None:
    episode = episode_of(outcomes)
    assert tuple(measure(name, episode, task_of()).value for name in COUNT_NAMES) == COUNTS[outcomes]


@pytest.mark.parametrize(
    ("outcomes", "name", "why"),
    [
        ("VVF", "recovery_at_3", "no run failed before call 3"),
        ("VVV", "first_attempt_success", "no call gave a legal bridge"),
        ("FF", "calls_of_successes", "the episode did not succeed"),
        ("FF", "cost_of_successes", "the episode did not succeed"),
        ("FF", "cost_ratio", "the episode did not succeed"),
    ],
)
def test_what_is_outside_the_denominator_says_why(
    outcomes: str, name: str, why: str, episode_of: Any, task_of: Any
) -> None:
    score = measure(name, episode_of(outcomes), task_of())
    assert (score.value, score.status, score.evidence) == (None, "not_applicable", {"why": why})


def test_costs_are_those_of_the_design_that_succeeded(written: Any, task_of: Any) -> None:
    episode = written("a", "t", "loose")
    for letter, road_m in (("V", 3), ("F", 9), ("S", 32)):
        episode.call(letter, road_m)
    finished, task = episode.episode(), task_of(budget=8000.0)
    assert measure("cost_of_successes", finished, task).value == 6400.0
    assert measure("cost_ratio", finished, task).value == 0.8


def test_a_long_design_is_fetched_from_its_blob(episode_of: Any, task_of: Any) -> None:
    episode = episode_of("S", road_m=2)
    result = next(episode.of("result"))
    design, result["candidate"]["data"] = result["candidate"]["data"], {"blob": "b", "size": 1}
    episode.load = lambda value: design if value == {"blob": "b", "size": 1} else value
    assert measure("cost_of_successes", episode, task_of()).value == 400.0


def lost(number: int) -> list[EpisodeKey]:
    """Keys of planned episodes without a result."""
    return [EpisodeKey("a", f"lost {i}", "strict", 1) for i in range(number)]


def test_recovery_counts_an_episode_once(episode_of: Any, task_of: Any) -> None:
    spec = next(spec for spec in METRICS if spec.id == "polybridge.recovery_at_3")
    played = ["S", "VS", "VVF", "VVV", "FS", "FFS", "FVS", "VFF", "FFF"]
    scores = {}
    for outcomes in played:
        episode = episode_of(outcomes, task=outcomes)
        scores[episode.key] = measure("recovery_at_3", episode, task_of())
    figure = aggregate(spec, scores, clusters=None, missing=lost(2))
    assert (figure.numerator, figure.denominator, figure.not_applicable) == (3, 5, 4)
    assert figure.missing is not None
    assert (figure.missing.numerator, figure.missing.denominator) == (3, 5)


def test_success_counts_missing_episodes_as_failures(episode_of: Any, task_of: Any) -> None:
    spec = next(spec for spec in METRICS if spec.id == "polybridge.success_at_3")
    episode = episode_of("FS")
    figure = aggregate(
        spec, {episode.key: measure("success_at_3", episode, task_of())}, clusters=None, missing=lost(3)
    )
    assert (figure.numerator, figure.denominator) == (1, 1)
    assert figure.missing is not None
    assert (figure.missing.numerator, figure.missing.denominator) == (1, 4)


def test_every_spec_names_a_metric() -> None:
    assert len(set(NAMES)) == len(NAMES) == 16
    for spec in METRICS:
        assert hasattr(resolve(spec.target, "polybridge")({}), "measure")
        assert spec.kind != "mean" or spec.cluster == "family"
    assert all(hasattr(metrics, spec.target.partition(":")[2]) for spec in METRICS)


# --- Trajectories ------------------------------------------------------------------------------------


def test_codes_are_kinds_of_mistakes_without_advice(written: Any) -> None:
    episode = written("a", "t", "strict")
    episode.call("V", 3, ("EDGE_TOO_LONG", "OVER_BUDGET", "EDGE_TOO_LONG"))
    episode.call("U", 0)
    episode.call("F", 3)
    episode.advise()
    calls = read_trajectory(episode.episode()).calls
    assert [call.codes for call in calls] == [
        ("EDGE_TOO_LONG", "OVER_BUDGET"),
        ("UNKNOWN_TOOL",),
        ("RUN_FALSE_AFTER_VALID",),
    ]


def test_a_call_that_the_budget_refused_is_none(written: Any) -> None:
    episode = written("a", "t", "strict")
    episode.call("F", 3)
    episode.call("U", 0)
    episode.events[-1]["data"]["code"] = "over_budget"
    trajectory = read_trajectory(episode.episode())
    assert str(trajectory) == "F"
    assert trajectory.counters()["physics_repair_calls"] == 0


def test_a_call_that_broke_off_has_no_outcome(written: Any) -> None:
    episode = written("a", "t", "strict")
    episode.call("V", 3)
    episode.call("F", 3)
    del episode.events[-2:]
    trajectory = read_trajectory(episode.episode())
    assert str(trajectory) == "V?"
    assert not trajectory.valid_at(3)


def test_evidence_gathered_after_play_changes_no_outcome(episode_of: Any) -> None:
    event = {"kind": "execution", "executor": "polybridge.other", "success": True, "data": {}}
    gathered = {("t", "0" * 64, "polybridge.other"): event}
    assert str(read_trajectory(replace(episode_of("FV"), gathered=gathered))) == "FV"


def test_an_execution_without_a_verdict_is_no_success(episode_of: Any) -> None:
    episode = episode_of("S")
    next(episode.of("execution"))["success"] = None
    assert str(read_trajectory(episode)) == "F"


# --- Played episodes ---------------------------------------------------------------------------------

# Costs by hand, panels of 1.5 m: road + lower chord + diagonals of 1.25 m;
# over 6 m 6 · $200 + 4.5 · $450 + 10 · $450, over 12 m 12 · $200 + 10.5 · $450 + 20 · $450.
LEVELS = {level.name: (level, meta) for level, meta in generate()}


@pytest.mark.parametrize(
    ("name", "sent", "outcomes", "cost", "recovered"),
    [
        ("T1B_Basic_06m", "S", "S", 7725.0, NA),
        ("T1B_Basic_12m", "PFS", "VFS", 16125.0, 1),
        ("T1B_Basic_10m", "FVF", "FVF", NA, 0),
        ("T1B_Basic_10m", "VPV", "VVV", NA, NA),
    ],
)
def test_a_played_episode(
    name: str, sent: str, outcomes: str, cost: Any, recovered: Any, played: Any, reply_of: Any
) -> None:
    level, meta = LEVELS[name]
    task = level_task(level, meta, "loose")
    episode = played(task, [reply_of(letter, level) for letter in sent])
    trajectory = read_trajectory(episode)
    assert str(trajectory) == outcomes
    assert trajectory.counters()["llm_calls_used"] == episode.counters["calls"] == len(outcomes)
    assert trajectory.counters()["physics_attempts"] == episode.counters["executions"]
    found = measure("cost_of_successes", episode, task).value
    assert found == (cost if cost is None else pytest.approx(cost, abs=1e-3))
    assert measure("recovery_at_3", episode, task).value == recovered
    for call in trajectory.attempts:
        assert call.evidence["cost"] == pytest.approx(call.cost, abs=1e-4)
