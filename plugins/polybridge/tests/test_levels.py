"""The 189 levels and the held-out ones: counts, geometry, ids, what stays hidden, and their budgets."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, replace
from itertools import pairwise

import pytest

from evalkit_polybridge.constants import BUDGET_LADDER, LOOSE_BUDGET
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.graph import Bridge, Edge, Level, LevelMeta, Node, Point
from evalkit_polybridge.levels import FAMILIES, catalogue, generate, heldout
from evalkit_polybridge.levels.catalogue import Calibration, CatalogueError, Costs
from evalkit_polybridge.levels.geometry import MAX_TRAVEL_M, Recipe, Rock
from evalkit_polybridge.levels.references import designs_document, parse_designs
from evalkit_polybridge.tasks import load_tasks

GRID = generate()
HELDOUT = heldout()
EVERY = GRID + HELDOUT
BY_NAME = {level.name: (level, meta) for level, meta in EVERY}

FAMILY_SIZES = {
    "T1B": 9, "T1C": 9, "T1D": 9, "T1E": 8, "T1F": 8, "T1G": 8, "T1H": 8,
    "T2A": 6, "T2B": 6, "T2C": 6, "T2D": 6, "T2E": 6, "T2F": 6, "T2G": 6, "T2H": 6,
    "T2I": 6, "T2J": 5, "T2K": 5,
    "T4B": 9, "T4C": 9, "T4D": 8,
    "G1": 8, "G2": 7, "G3": 7, "G4": 6, "G5": 6, "G6": 6,
}  # fmt: skip


def each(levels: list[tuple[Level, LevelMeta]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("level", "meta"), levels, ids=[level.name for level, _ in levels])


# --- The set -------------------------------------------------------------------------------------------


def test_189_levels_in_27_families() -> None:
    assert len(GRID) == 189
    assert Counter(meta.family for _, meta in GRID) == FAMILY_SIZES
    assert [family.id for family in FAMILIES] == list(FAMILY_SIZES)


def test_groups_and_suites_have_their_shares() -> None:
    assert Counter(meta.group for _, meta in GRID) == {"T1": 59, "T2": 64, "T4": 26, "G": 40}
    assert Counter(meta.suite for _, meta in GRID) == {"core": 149, "compositional": 40}


def test_held_out_levels_are_spread_over_all_families_in_proportion() -> None:
    assert len(HELDOUT) == 60
    assert Counter(meta.group for _, meta in HELDOUT) == {"T1": 19, "T2": 20, "T4": 8, "G": 13}
    assert {meta.family for _, meta in HELDOUT} == set(FAMILY_SIZES)
    assert all(level.name.startswith("H_") for level, _ in HELDOUT)


def test_names_are_unique_even_without_regard_to_case_and_safe_as_file_names() -> None:
    assert len({level.name.lower() for level, _ in EVERY}) == len(EVERY)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{4,60}", level.name) for level, _ in EVERY)


@pytest.mark.parametrize(
    "name", ["T1B_Basic_06m", "G1_Clearance_Multi2_14m_R2m", "G1_Clearance_HeavyW3_14m_R2m"]
)
def test_known_names_exist(name: str) -> None:
    assert name in BY_NAME


def test_no_two_levels_pose_the_same_problem() -> None:
    problems = Counter(replace(level, name="") for level, _ in EVERY)
    assert [problem for problem, count in problems.items() if count > 1] == []


def test_generation_is_deterministic() -> None:
    assert generate() == GRID
    assert heldout() == HELDOUT


# --- Known levels --------------------------------------------------------------------------------------


def test_clearance_heavy_level_in_full() -> None:
    level, meta = BY_NAME["G1_Clearance_HeavyW3_14m_R2m"]
    assert (level.span_m, level.dy_m, level.vehicles_pg, level.materials) == (14.0, 0.0, (9.0,), (1, 2, 3))
    assert level.anchors == (Node(1, 0.0, 0.0, True), Node(2, 14.0, 0.0, True))
    assert [region.vertices for region in level.regions] == [((7.0, -2.0), (4.0, -7.0), (10.0, -7.0))]
    assert (meta.family, meta.group, meta.suite) == ("G1", "G", "compositional")
    assert meta.tags == ("heavy", "rock_clearance")


def test_side_rock_stands_at_three_tenths_of_the_span() -> None:
    level, meta = BY_NAME["T2I_RockSide_14m_R3m"]
    assert level.regions[0].vertices == ((4.2, -3.0), (1.7, -7.0), (6.7, -7.0))
    assert [(node.x, node.y) for node in level.anchors[2:]] == [(0.0, -2.0), (14.0, -2.0)]
    assert meta.tags == ("heavy", "bottom_anchor", "rock_clearance")


def test_elevated_rock_rises_above_the_banks() -> None:
    level, meta = BY_NAME["T4D_Elevated_16m_E1p2m_3PG"]
    assert level.regions[0].vertices == ((8.0, 1.2), (5.5, -7.0), (10.5, -7.0))
    assert meta.tags == ("rock_clearance", "elevated_load")


def test_ceiling_is_two_triangles_that_tile_the_rectangle() -> None:
    level, meta = BY_NAME["T2J_Overhead_14m_C2m"]
    corners = {point for region in level.regions for point in region.vertices}
    assert corners == {(1.0, 2.0), (13.0, 2.0), (13.0, 8.0), (1.0, 8.0)}
    assert sum(area(*region.vertices) for region in level.regions) == pytest.approx(12 * 6)
    assert meta.tags == ("heavy", "overhead")


def test_two_platforms_get_their_anchors_from_left_to_right() -> None:
    level, _ = BY_NAME["T2G_TwoPlatforms_6-1p5-5-1p5-6"]
    assert [(p.x_start, p.x_end, p.anchor_ids) for p in level.platforms] == [
        (6.0, 7.5, (3, 4)),
        (12.5, 14.0, (5, 6)),
    ]
    assert level.span_m == 20.0


def test_lower_anchors_of_a_sloping_level_hang_below_their_own_bank() -> None:
    level, _ = BY_NAME["G6_All_14m_Down2m_R2m_6PG"]
    assert [(node.id, node.x, node.y) for node in level.anchors] == [
        (1, 0.0, 0.0),
        (2, 14.0, -2.0),
        (3, 0.0, -2.0),
        (4, 14.0, -4.0),
    ]


def test_mid_anchor_is_tagged_as_such() -> None:
    level, meta = BY_NAME["T1G_MidAnchor_16m_D4m_6PG"]
    assert (level.anchors[2].x, level.anchors[2].y) == (8.0, -4.0)
    assert meta.tags == ("heavy", "mid_anchor")


def test_parameters_name_what_the_level_has_and_survive_json() -> None:
    assert BY_NAME["T1E_BottomOneSide_10m_Left"][1].parameters == {
        "span_m": 10.0,
        "segments_m": [10],
        "loads_pg": [6],
        "dy_m": 0.0,
        "road_wood_only": False,
        "bottom_depth_m": 2.0,
        "bottom_sides": "left",
    }
    for _, meta in EVERY:
        assert json.loads(json.dumps(meta.parameters)) == meta.parameters


# --- Every level ---------------------------------------------------------------------------------------


@each(EVERY)
def test_the_last_vehicle_can_arrive_within_the_window(level: Level, meta: LevelMeta) -> None:
    vehicles = len(level.vehicles_pg)
    assert (2 + 4 * (vehicles - 1)) + level.span_m + 3.6 <= 26.25


@each(EVERY)
def test_numbers_are_exact_in_four_decimals(level: Level, meta: LevelMeta) -> None:
    points = [(node.x, node.y) for node in level.anchors]
    points += [vertex for region in level.regions for vertex in region.vertices]
    points += [(p.x_start, p.surface_y) for p in level.platforms] + [
        (p.x_end, p.bottom_y) for p in level.platforms
    ]
    for value in [level.span_m, level.dy_m, *(coordinate for point in points for coordinate in point)]:
        assert isinstance(value, float)
        assert value == round(value, 4)
        assert str(value) != "-0.0"


@each(EVERY)
def test_anchor_ids_follow_the_rule(level: Level, meta: LevelMeta) -> None:
    assert [node.id for node in level.anchors] == list(range(1, len(level.anchors) + 1))
    assert all(node.fixed for node in level.anchors)
    assert (level.anchors[0].x, level.anchors[0].y) == (0.0, 0.0)
    assert (level.anchors[1].x, level.anchors[1].y) == (level.span_m, level.dy_m)
    corners = [(x, p.surface_y) for p in level.platforms for x in (p.x_start, p.x_end)]
    middle = level.anchors[2 : 2 + len(corners)]
    assert [(node.x, node.y) for node in middle] == corners
    assert [node.id for node in middle] == [number for p in level.platforms for number in p.anchor_ids]
    extra_x = [node.x for node in level.anchors[2 + len(corners) :]]
    assert extra_x == sorted(extra_x)


@each(EVERY)
def test_anchors_stand_on_the_ground_apart_from_towers_and_mid_anchors(level: Level, meta: LevelMeta) -> None:
    floating = [node for node in level.anchors if not on_ground(level, (node.x, node.y))]
    expected = 2 * ("top_anchor" in meta.tags) + ("mid_anchor" in meta.tags)
    assert len(floating) == expected
    assert len({(node.x, node.y) for node in level.anchors}) == len(level.anchors)


@each(EVERY)
def test_regions_leave_the_anchors_free(level: Level, meta: LevelMeta) -> None:
    for region in level.regions:
        assert (region.type, region.applies_to) == ("rock", ())
        assert area(*region.vertices) > 0
        for node in level.anchors:
            assert not inside(region.vertices, (node.x, node.y)), node


@each(EVERY)
def test_loads_materials_and_budget(level: Level, meta: LevelMeta) -> None:
    assert len(set(level.vehicles_pg)) == 1
    assert 0.8 <= level.vehicles_pg[0] <= 15
    assert level.materials == ((1, 2) if "road_wood_only" in meta.tags else (1, 2, 3))
    assert level.budget == LOOSE_BUDGET


@each(EVERY)
def test_a_level_holds_no_text_but_its_name_and_the_kind_of_its_regions(
    level: Level, meta: LevelMeta
) -> None:
    assert texts_in(asdict(replace(level, name=""))) <= {"", "rock"}


@each(HELDOUT)
def test_held_out_levels_lie_off_the_grid_but_within_its_reach(level: Level, meta: LevelMeta) -> None:
    family = next(family for family in FAMILIES if family.id == meta.family)
    gaps = meta.parameters["segments_m"][::2]
    grid_gaps = [gap for recipe in family.variants.values() for gap in recipe.gaps_m]
    assert not set(gaps) & set(grid_gaps)
    assert 4.0 <= min(gaps) <= max(gaps) <= max(grid_gaps)
    assert level.vehicles_pg[0] <= max(recipe.loads_pg[0] for recipe in family.variants.values())


def test_the_travel_limit_is_the_one_of_the_window_rule() -> None:
    assert MAX_TRAVEL_M == 26.25
    assert Recipe((14,), (3, 3)).travel_m() == pytest.approx(6 + 14 + 3.6)


def test_a_rock_with_a_ceiling_is_tagged_as_both() -> None:
    family = FAMILIES[0]
    _, meta = family.build("x", Recipe((12,), rock=Rock(-1), ceiling_y_m=1.6))
    assert meta.tags == ("rock_clearance", "overhead")


# --- Catalogue -----------------------------------------------------------------------------------------

COSTS = {level.name: Costs(4400.0 + 10 * index, 4300.0 + index / 3) for index, (level, _) in enumerate(GRID)}
CALIBRATION = Calibration("1", "ab" * 32, COSTS)


def test_budgets_of_the_three_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "read_calibration", lambda _: CALIBRATION)
    strict, loose, tight = (catalogue.load(condition) for condition in ("strict", "loose", "tight"))
    assert [entry.level.name for entry in strict] == [level.name for level, _ in GRID]
    assert strict[0].level.budget == 6500
    assert strict[188].level.budget == 7000  # 1.10 × 6280 = 6908
    assert {entry.level.budget for entry in loose} == {50_000}
    assert loose[188].strict_budget == 7000
    assert tight[1].level.budget == round(1.02 * (4300 + 1 / 3), 2)


@pytest.mark.parametrize(
    ("reference_cost", "rung"), [(100.0, 6500), (10_000.0, 11_000), (10_000.01, 12_000), (38_181.81, 42_000)]
)
def test_strict_budget_is_the_next_rung(reference_cost: float, rung: int) -> None:
    assert catalogue.strict_budget(reference_cost) == rung
    assert rung in BUDGET_LADDER


def test_a_reference_above_the_ladder_is_an_error() -> None:
    with pytest.raises(CatalogueError, match="last rung"):
        catalogue.strict_budget(38_200.0)


def test_budgets_document_is_stable_and_reads_back() -> None:
    text = catalogue.budgets_document(CALIBRATION)
    again = catalogue.parse_budgets(text)
    assert again.executor_version == "1"
    assert again.constants_sha256 == "ab" * 32
    assert again.costs["T1C_RoadWood_06m_1PG"] == Costs(4490.0, 4303.0)
    assert catalogue.budgets_document(again) == text
    reordered = Calibration("1", "ab" * 32, dict(reversed(COSTS.items())))
    assert catalogue.budgets_document(reordered) == text


def test_a_missing_file_is_one_clear_error() -> None:
    with pytest.raises(CatalogueError, match=r"levels/data/nowhere\.json is missing: run `python -m"):
        catalogue.read_calibration("nowhere.json")


def test_a_missing_level_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {name: cost for name, cost in COSTS.items() if name != "T1B_Basic_08m"}
    monkeypatch.setattr(catalogue, "read_calibration", lambda _: replace(CALIBRATION, costs=costs))
    with pytest.raises(CatalogueError, match="lacks 1 of 189 levels \\(T1B_Basic_08m"):
        catalogue.load("strict")


def test_a_strict_budget_off_its_rung_is_refused() -> None:
    text = catalogue.budgets_document(CALIBRATION).replace(
        '"strict_budget": 6500', '"strict_budget": 7000', 1
    )
    with pytest.raises(ValueError, match="is not 6500"):
        catalogue.parse_budgets(text)


def test_opaque_names_are_stable_unique_and_tell_nothing() -> None:
    names = [level.name for level, _ in EVERY]
    opaque = [catalogue.opaque_name(name) for name in names]
    assert len(set(opaque)) == len(EVERY)
    assert opaque == [catalogue.opaque_name(name) for name in names]
    assert all(re.fullmatch(r"level-[0-9a-f]{10}", name) for name in opaque)


def test_tasks_with_opaque_names_show_them_and_keep_the_rest() -> None:
    plain, renamed = (load_tasks({}, {"opaque_names": opaque}) for opaque in (False, True))
    for task, other in zip(plain, renamed, strict=True):
        assert other.id == level_from_inputs(other.inputs).name == catalogue.opaque_name(task.id)
        assert replace(level_from_inputs(other.inputs), name=task.id) == level_from_inputs(task.inputs)
        assert other.hidden == task.hidden


def test_references_read_back() -> None:
    bridge = Bridge(
        (Node(1, 0.0, 0.0, True), Node(2, 4.0, 0.0, True), Node(3, 2.0, -0.0125)),
        (Edge(4, 1, 1, 3), Edge(5, 3, 3, 2)),
    )
    text = designs_document({"b": bridge, "a": Bridge((), ())})
    assert parse_designs(text) == {"a": Bridge((), ()), "b": bridge}
    assert list(json.loads(text)) == ["a", "b"]


# --- Helpers of the checks above --------------------------------------------------------------------------


def texts_in(value: object) -> set[str]:
    """Every string among the values of nested dictionaries and sequences."""
    if isinstance(value, dict):
        return texts_in(list(value.values()))
    if isinstance(value, list | tuple):
        return {text for item in value for text in texts_in(item)}
    return {value} if isinstance(value, str) else set()


def cross(o: Point, a: Point, b: Point) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def area(a: Point, b: Point, c: Point) -> float:
    return abs(cross(a, b, c)) / 2


def inside(triangle: tuple[Point, Point, Point], point: Point) -> bool:
    a, b, c = triangle
    sides = [cross(a, b, point), cross(b, c, point), cross(c, a, point)]
    return all(side >= 0 for side in sides) or all(side <= 0 for side in sides)


def on_ground(level: Level, point: Point) -> bool:
    """Whether the point lies on one of the (axis-parallel) lines of the ground."""
    x, y = point
    return any(
        min(a[0], b[0]) <= x <= max(a[0], b[0]) and min(a[1], b[1]) <= y <= max(a[1], b[1])
        for outline in level.outlines()
        for a, b in pairwise(outline)
    )
