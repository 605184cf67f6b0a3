"""The checked-in calibration data: complete, consistent, every design a legal solution on its budget."""

from __future__ import annotations

from functools import cache

import pytest

from evalkit import sha256_of
from evalkit_polybridge import designer
from evalkit_polybridge.calibrate import constants_sha256
from evalkit_polybridge.constants import BUDGET_LADDER, physics_constants
from evalkit_polybridge.executor_embedded import VERSION
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.levels import catalogue, references
from evalkit_polybridge.physics import simulate_batch
from evalkit_polybridge.rules import check

#: Per file of designs: the levels they solve, on what budget, and how close to breaking they may come.
DESIGNS = {
    references.REFERENCES_FILE: (catalogue.load, "strict", designer.REFERENCE_UTILISATION),
    references.HELDOUT_REFERENCES_FILE: (catalogue.load_heldout, "strict", designer.REFERENCE_UTILISATION),
    references.OPTIMA_FILE: (catalogue.load, "tight", designer.OPTIMUM_UTILISATION),
    references.HELDOUT_OPTIMA_FILE: (catalogue.load_heldout, "tight", designer.OPTIMUM_UTILISATION),
}


@cache
def solved(file_name: str) -> list[tuple[catalogue.Entry, Bridge]]:
    """Every level of a file with its design."""
    load, condition, _ = DESIGNS[file_name]
    designs = references.load_designs(file_name)
    return [(entry, designs[entry.level.name]) for entry in load(condition)]


def pairs(file_name: str) -> list[tuple[Level, Bridge]]:
    return [(entry.level, bridge) for entry, bridge in solved(file_name)]


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


@pytest.mark.parametrize("file_name", DESIGNS)
def test_every_level_has_a_design_and_no_other_has(file_name: str) -> None:
    names = [entry.level.name for entry, _ in solved(file_name)]
    assert sorted(references.load_designs(file_name)) == sorted(names)


@pytest.mark.parametrize("file_name", DESIGNS)
def test_designs_are_legal_and_cost_what_is_written(file_name: str) -> None:
    for entry, bridge in solved(file_name):
        assert check(entry.level, bridge) == [], entry.level.name
        is_reference = DESIGNS[file_name][1] == "strict"
        written = entry.reference_cost if is_reference else entry.optimum_cost
        assert round(bridge.cost(), 2) == written, entry.level.name


@pytest.mark.parametrize("file_name", DESIGNS)
def test_designs_cross_without_coming_close_to_breaking(file_name: str) -> None:
    runs = simulate_batch(pairs(file_name))
    limit = DESIGNS[file_name][2]
    failed = [
        entry.level.name
        for (entry, _), run in zip(solved(file_name), runs, strict=True)
        if not run.success or max(run.peak_utilisation.values()) > limit
    ]
    assert failed == []


@pytest.mark.parametrize("file_name", [references.REFERENCES_FILE, references.HELDOUT_REFERENCES_FILE])
@pytest.mark.parametrize("perturbation", designer.PERTURBATIONS, ids=str)
def test_small_perturbations_do_not_flip_a_reference(file_name: str, perturbation: dict[str, float]) -> None:
    runs = simulate_batch(pairs(file_name), **perturbation)
    assert [
        level.name for (level, _), run in zip(pairs(file_name), runs, strict=True) if not run.success
    ] == []


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
    entry = next(entry for entry in catalogue.load("strict") if entry.level.name == name)
    assert 0.85 * cost <= entry.optimum_cost <= 1.05 * cost
