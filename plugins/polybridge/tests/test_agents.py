"""The offline agents play by the rules, see only observations, and answer the same way every time."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from evalkit import StepContext
from evalkit_polybridge.agents.flat import FlatAgent, flat_deck
from evalkit_polybridge.agents.random_truss import RandomAgent
from evalkit_polybridge.agents.truss import TrussAgent
from evalkit_polybridge.constants import LOOSE_BUDGET
from evalkit_polybridge.contract import parse_reply
from evalkit_polybridge.environment import BridgeEnvironment
from evalkit_polybridge.levels import generate
from evalkit_polybridge.rules import check
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import level_task

SETTINGS = BridgeSettings().model_dump()
CONTEXT = StepContext({}, {})
LEVELS = [(replace(level, budget=float(LOOSE_BUDGET)), meta) for level, meta in generate()]
SAMPLE = LEVELS[::13]


def first_reply(agent, level, meta, seed: int = 1) -> str:
    observation = BridgeEnvironment(SETTINGS).reset(level_task(level, meta), 0)
    agent.start((), seed)
    reply = agent.act(observation, CONTEXT)
    return reply.calls[0].arguments["text"]


@pytest.mark.parametrize("kind", [TrussAgent, RandomAgent])
def test_designs_are_legal(kind) -> None:
    for level, meta in SAMPLE:
        reply = parse_reply(first_reply(kind("", SETTINGS), level, meta))
        assert not reply.problems
        assert check(level, reply.bridge) == []


@pytest.mark.parametrize("kind", [TrussAgent, FlatAgent, RandomAgent])
def test_same_seed_same_answer(kind) -> None:
    level, meta = LEVELS[40]
    assert first_reply(kind("", SETTINGS), level, meta) == first_reply(kind("", SETTINGS), level, meta)


def test_random_depends_on_the_seed() -> None:
    level, meta = LEVELS[40]
    agent = RandomAgent("", SETTINGS)
    assert first_reply(agent, level, meta, 1) != first_reply(agent, level, meta, 2)


def test_flat_deck_is_legal_but_where_a_rock_stands_in_its_way() -> None:
    blocked = {meta.family for level, meta in LEVELS if check(level, flat_deck(level))}
    assert blocked == {"T4D"}


def test_flat_deck_needs_no_road_over_platforms() -> None:
    level = next(level for level, meta in LEVELS if meta.family == "T2D")
    deck, nodes = flat_deck(level), flat_deck(level).node_by_id()
    (platform,) = level.platforms
    middles = [(nodes[e.a].x + nodes[e.b].x) / 2 for e in deck.edges]
    assert not [x for x in middles if platform.x_start < x < platform.x_end]


def test_agents_load_neither_physics_nor_levels() -> None:
    code = (
        "import sys\n"
        "import evalkit_polybridge.agents.truss, evalkit_polybridge.agents.flat\n"
        "import evalkit_polybridge.agents.random_truss\n"
        "print(*[m for m in sys.modules if m.startswith('evalkit_polybridge')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "evalkit_polybridge.heuristic" in loaded
    for hidden in ("physics", "levels", "designer", "calibrate", "executor_embedded", "tasks"):
        assert not [m for m in loaded if m.startswith(f"evalkit_polybridge.{hidden}")]
