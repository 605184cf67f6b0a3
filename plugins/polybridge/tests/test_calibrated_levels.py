"""The checked-in calibration data: complete, consistent, every reference a legal solution on its budget."""

from __future__ import annotations

from functools import cache

import pytest

from evalkit import sha256_of
from evalkit_polybridge.calibrate import constants_sha256
from evalkit_polybridge.constants import BUDGET_LADDER, physics_constants
from evalkit_polybridge.designer import is_robust
from evalkit_polybridge.executor_embedded import VERSION
from evalkit_polybridge.graph import Bridge
from evalkit_polybridge.levels import catalogue, generate
from evalkit_polybridge.levels.references import load_references
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.rules import check

NAMES = [level.name for level, _ in generate()]


@cache
def strict_entries() -> dict[str, catalogue.Entry]:
    return {entry.level.name: entry for entry in catalogue.load("strict")}


@cache
def references() -> dict[str, Bridge]:
    return load_references()


def test_strict_budgets_use_the_whole_ladder() -> None:
    budgets = {entry.level.budget for entry in catalogue.load("strict")}
    assert budgets == {float(rung) for rung in BUDGET_LADDER}


def test_budgets_of_a_level_are_ordered() -> None:
    loaded = zip(catalogue.load("tight"), catalogue.load("strict"), catalogue.load("loose"), strict=True)
    for tight, strict, loose in loaded:
        assert tight.level.budget <= strict.level.budget <= loose.level.budget, strict.level.name
        assert 0 < strict.optimum_cost <= strict.reference_cost


def test_held_out_levels_have_budgets_on_the_ladder() -> None:
    assert {entry.level.budget for entry in catalogue.load_heldout("strict")} <= set(BUDGET_LADDER)


def test_every_level_has_a_reference() -> None:
    assert sorted(references()) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_a_legal_solution_on_the_strict_budget(name: str) -> None:
    entry = strict_entries()[name]
    reference = references()[name]
    assert check(entry.level, reference) == []
    assert reference.cost() == pytest.approx(entry.reference_cost, abs=0.01)
    run = simulate(entry.level, reference)
    assert run.success
    assert max(run.peak_utilisation.values()) <= 0.95


@pytest.mark.parametrize("name", NAMES[::10])
def test_small_perturbations_do_not_flip_a_reference(name: str) -> None:
    assert is_robust(strict_entries()[name].level, references()[name])


@pytest.mark.parametrize("file_name", [catalogue.BUDGETS_FILE, catalogue.HELDOUT_BUDGETS_FILE])
def test_the_data_belong_to_this_executor(file_name: str) -> None:
    """After a change of the physics, run `python -m evalkit_polybridge.calibrate` (and with `--heldout`)."""
    stored = catalogue.read_calibration(file_name)
    assert stored.constants_sha256 == constants_sha256() == sha256_of(physics_constants())
    assert stored.executor_version == VERSION


# Cheapest passing costs measured while the levels were designed, in dollars.
@pytest.mark.parametrize(
    ("name", "cost"),
    [
        ("T1C_RoadWood_08m_3PG", 4400),
        ("T2A_SlopeUp_12m_Up1m", 8100),
        ("G1_Clearance_Multi2_14m_R2m", 11_300),
        ("T4B_Heavy_14m_W3", 14_400),
        ("T4B_Heavy_18m_W3", 21_600),
        ("T1B_Basic_20m", 17_500),
        ("T1C_RoadWood_12m_3PG", 7700),
        ("T1C_RoadWood_14m_3PG", 10_100),
    ],
)
def test_the_cheapest_known_cost_is_near_the_measured_one(name: str, cost: float) -> None:
    entry = strict_entries()[name]
    assert entry.optimum_cost <= 1.05 * cost
