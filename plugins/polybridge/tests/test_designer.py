"""The reference designer on small levels, and the rungs of the budget ladder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalkit_polybridge import calibrate, designer
from evalkit_polybridge.constants import BUDGET_LADDER
from evalkit_polybridge.graph import Bridge, Level, Node, Region
from evalkit_polybridge.levels import catalogue, generate
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.rules import check, is_legal

LEVELS = {level.name: level for level, _ in generate()}


@pytest.mark.parametrize("name", ["T1C_RoadWood_08m_3PG", "T2D_Platform_4-2-4"])
def test_a_reference_is_legal_robust_and_below_its_utilisation(name: str) -> None:
    level = LEVELS[name]
    found = designer.reference(level)
    assert is_legal(check(level, found.bridge))
    run = simulate(level, found.bridge)
    assert run.success
    assert found.peak_utilisation == max(run.peak_utilisation.values()) <= 0.95
    assert found.cost == found.bridge.cost()
    assert designer.is_robust(level, found.bridge)
    assert found == designer.reference(level)


def test_the_optimum_is_cheaper_and_still_passes() -> None:
    level = LEVELS["T1C_RoadWood_08m_3PG"]
    optimum = designer.optimum(level)
    assert simulate(level, optimum.bridge).success
    assert is_legal(check(level, optimum.bridge))
    assert 3500 < optimum.cost <= designer.reference(level).cost


def test_a_more_cautious_reference_costs_no_less() -> None:
    level = LEVELS["T1B_Basic_10m"]
    assert designer.reference(level, 0.6).cost > designer.reference(level).cost
    assert designer.reference(level, 0.6).peak_utilisation <= 0.6


def test_a_design_on_the_edge_is_not_robust() -> None:
    level = LEVELS["T1C_RoadWood_08m_3PG"]
    found = designer.reference(level)
    heavier = replace(level, vehicles_pg=(3.0 * 1.1 / found.peak_utilisation,))
    assert not designer.is_robust(heavier, found.bridge)


def test_a_load_beyond_every_material_has_no_design() -> None:
    level = replace(LEVELS["T1C_RoadWood_14m_3PG"], vehicles_pg=(40.0,))
    with pytest.raises(designer.NoDesignError, match="T1C_RoadWood_14m_3PG"):
        designer.reference(level)


def test_a_walled_gap_has_no_design() -> None:
    wall = Region(((3.0, -20.0), (3.0, 20.0), (4.0, 20.0)))
    anchors = (Node(1, 0.0, 0.0, True), Node(2, 8.0, 0.0, True))
    level = Level("wall", 8.0, 0.0, anchors, (3.0,), (1, 2, 3), 50_000.0, regions=(wall,))
    with pytest.raises(designer.NoDesignError, match="wall"):
        designer.optimum(level)


def test_an_unused_rung_gets_a_more_cautious_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level on every rung but one: the dearest level below takes it, with the least caution that does."""
    free = 13_000
    costs = {f"L{rung}": rung / 1.1 - 0.02 for rung in BUDGET_LADDER if rung != free}
    levels = [replace(LEVELS["T1B_Basic_10m"], name=name) for name in [*costs, "L12000b"]]
    costs["L12000b"] = 12_000 / 1.1 - 2
    monkeypatch.setattr(designer, "reference", lambda level, u: _found(costs[level.name] * 0.95 / u))
    found = {name: calibrate.Calibrated(_found(cost), _found(cost)) for name, cost in costs.items()}
    covered = calibrate.use_whole_ladder(levels, found)
    changed = {name for name in found if covered[name] != found[name]}
    assert changed == {"L12000"}
    assert covered["L12000"].costs().strict_budget == free
    assert covered["L12000"].costs().optimum_cost == pytest.approx(12_000 / 1.1, abs=0.1)


def _found(cost: float) -> designer.Found:
    return designer.Found(Bridge((), ()), cost, 0.9)


def test_a_checked_sample_agrees_with_the_data() -> None:
    assert calibrate.main(["--check", "1", "--jobs", "1"]) == 0


def test_a_check_notices_other_costs() -> None:
    name = "T1B_Basic_06m"
    stored = catalogue.read_calibration(catalogue.BUDGETS_FILE)
    costs = stored.costs[name]
    found = {name: calibrate.Calibrated(_found(costs.reference_cost), _found(costs.optimum_cost))}
    assert calibrate.check(found, stored) == 0
    wrong = replace(stored, costs={name: replace(costs, optimum_cost=0.9 * costs.optimum_cost)})
    assert calibrate.check(found, wrong) == 1
    assert calibrate.check(found, replace(stored, constants_sha256=np.base_repr(7))) == 1
