"""The truss heuristic: always legal, deterministic, mostly right, and blind to what a model can't see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from evalkit import Observation, Reply, StepContext
from evalkit_polybridge.agents.truss import TrussAgent
from evalkit_polybridge.environment import BridgeEnvironment
from evalkit_polybridge.graph import Bridge, Level, LevelMeta, Node, Region
from evalkit_polybridge.heuristic import propose
from evalkit_polybridge.levels import catalogue
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.rules import check, is_legal
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import level_task

STRICT = [entry.level for entry in catalogue.load("strict")]
SAMPLE = STRICT[::13]


def solved(level: Level) -> bool:
    """Does one of three proposals cross, each of them legal?"""
    failures: list[Bridge] = []
    for attempt in range(3):
        bridge = propose(level, attempt, failures)
        assert is_legal(check(level, bridge))
        assert bridge not in failures
        if simulate(level, bridge).success:
            return True
        failures.append(bridge)
    return False


def test_crosses_nearly_every_level_on_the_strict_budget() -> None:
    results = [solved(level) for level in SAMPLE]
    assert sum(results) >= 0.95 * len(results)


@pytest.mark.parametrize("level", SAMPLE[::3], ids=lambda level: level.name)
def test_reads_nothing_of_an_observation_but_context_and_save(level: Level) -> None:
    """The rest of it, the level's name and what the task hides change nothing."""
    meta = LevelMeta("CANARY", "CANARY", "CANARY", ("CANARY",), {"CANARY": 1})
    settings = BridgeSettings().model_dump()
    whole = BridgeEnvironment(settings).reset(level_task(level, meta), 0)
    bare = {name: json.loads(json.dumps(whole.data[name])) for name in ("context", "save")}
    bare["context"]["task_context"]["levelName"] = "level-1"
    replies = []
    for observation in (whole, Observation(data=bare)):
        agent = TrussAgent("", settings)
        agent.start((), 0)
        reply = agent.act(observation, StepContext({}, {}))
        assert isinstance(reply, Reply)
        replies.append(reply.calls)
    assert replies[0] == replies[1]


def test_retries_change_side_and_web() -> None:
    level = replace(STRICT[4], budget=20_000.0)
    first, second, third = (propose(level, attempt, ()) for attempt in range(3))
    assert len({first, second, third}) == 3
    assert {_above(first), _above(second)} == {True, False}
    assert propose(level, 0, [first]) == second


def _above(bridge: Bridge) -> bool:
    chord = [node.y for node in bridge.nodes if not node.fixed]
    return max(chord) + min(chord) > 0


def test_more_budget_never_buys_less() -> None:
    level = replace(SAMPLE[0], vehicles_pg=(9.0,))
    peaks = []
    for budget in (6_000.0, 9_000.0, 14_000.0):
        bridge = propose(replace(level, budget=budget), 0, ())
        assert bridge.cost() <= budget
        peaks.append(max(simulate(level, bridge, strength_scale=100.0).peak_utilisation.values()))
    assert peaks == sorted(peaks, reverse=True)


def test_a_hopeless_budget_still_gets_a_complete_design() -> None:
    level = replace(SAMPLE[1], budget=100.0)
    assert [p.code for p in check(level, propose(level, 0, ()))] == ["OVER_BUDGET"]


def test_runs_out_of_topologies_without_failing() -> None:
    """Once nothing new is left, the last proposal is repeated."""
    level = STRICT[0]
    assert is_legal(check(level, propose(level, 60, ())))


def test_a_walled_gap_is_refused() -> None:
    wall = Region(((3.0, -20.0), (3.0, 20.0), (4.0, 20.0)))
    anchors = (Node(1, 0.0, 0.0, True), Node(2, 8.0, 0.0, True))
    level = Level("wall", 8.0, 0.0, anchors, (3.0,), (1, 2, 3), 50_000.0, regions=(wall,))
    with pytest.raises(ValueError, match="no truss of the vocabulary is legal on level wall"):
        propose(level, 0, ())


def test_the_same_design_in_another_process() -> None:
    code = (
        "from evalkit_polybridge.heuristic import propose\n"
        "from evalkit_polybridge.levels import catalogue\n"
        "print(hash(propose(catalogue.load('strict')[40].level, 1, ())))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(output.stdout) == hash(propose(STRICT[40], 1, ()))


def test_imports_neither_physics_nor_levels_nor_designer() -> None:
    code = (
        "import sys, evalkit_polybridge.heuristic\n"
        "print([m for m in sys.modules if m.startswith('evalkit_polybridge.')])\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for forbidden in ("physics", "levels", "executor", "designer", "calibrate", "numba"):
        assert forbidden not in output
