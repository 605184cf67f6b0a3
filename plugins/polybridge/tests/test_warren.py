"""`warren`: one rule, applied wherever there is a gap, blind to everything else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from evalkit_polybridge.agents.warren import DEPTH_M, warren
from evalkit_polybridge.constants import LOOSE_BUDGET, ROAD, STEEL, WOOD
from evalkit_polybridge.levels import generate
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.rules import check

LEVELS = {level.name: replace(level, budget=float(LOOSE_BUDGET)) for level, _ in generate()}
BASIC = LEVELS["T1B_Basic_08m"]
ROAD_WOOD = next(level for name, level in LEVELS.items() if name.startswith("T1C"))


def materials(level) -> set[int]:
    return {edge.material for edge in warren(level).edges}


def test_the_truss_over_eight_metres() -> None:
    bridge = warren(BASIC)
    by_material = {kind: sum(e.material == kind for e in bridge.edges) for kind in (ROAD.type, STEEL.type)}
    assert by_material == {ROAD.type: 4, STEEL.type: 8 + 3}
    assert {node.y for node in bridge.nodes} == {0.0, -DEPTH_M}
    assert check(BASIC, bridge) == []
    assert simulate(BASIC, bridge).success


def test_wood_where_steel_is_too_dear_or_not_admitted() -> None:
    assert materials(BASIC) == {ROAD.type, STEEL.type}
    assert materials(replace(BASIC, budget=warren(BASIC).cost() - 1.0)) == {ROAD.type, WOOD.type}
    assert materials(ROAD_WOOD) == {ROAD.type, WOOD.type}


def test_a_truss_of_its_own_under_every_gap() -> None:
    level = next(level for name, level in LEVELS.items() if name.startswith("T2G"))
    bridge = warren(level)
    place = bridge.node_by_id()
    for platform in level.platforms:
        crossing = [
            edge
            for edge in bridge.edges
            if min(place[edge.a].x, place[edge.b].x) < platform.x_start + 1e-9
            and max(place[edge.a].x, place[edge.b].x) > platform.x_end - 1e-9
        ]
        assert crossing == []


def test_nothing_but_gaps_materials_and_budget_matters() -> None:
    level = next(level for level in LEVELS.values() if level.regions and len(level.anchors) == 2)
    for blind_to in (
        replace(level, name="other", regions=()),
        replace(level, vehicles_pg=(1.0, 9.0)),
    ):
        assert warren(blind_to) == warren(level)


@pytest.mark.parametrize("name", sorted(LEVELS)[::9])
def test_only_obstacles_and_steep_slopes_make_it_illegal_under_the_loose_budget(name: str) -> None:
    codes = {problem.code for problem in check(LEVELS[name], warren(LEVELS[name]))}
    assert codes <= {"CLEARANCE", "EDGE_TOO_LONG"}


def test_it_loads_neither_physics_nor_levels() -> None:
    code = "import sys, evalkit_polybridge.agents.warren; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    for hidden in ("physics", "levels", "designer", "calibrate", "executor_embedded", "tasks"):
        assert f"evalkit_polybridge.{hidden}" not in done.stdout.split()
