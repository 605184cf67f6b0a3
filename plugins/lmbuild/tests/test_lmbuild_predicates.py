"""Predicates of human checks against what a ruler says."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lmbuild_operability import box, desk, named, subject, wheel
from lmbuild_scenes import cylinder

from evalkit_lmbuild.human_checks import PredicateError, read_predicate
from evalkit_lmbuild.kernel import Field
from evalkit_lmbuild.objects import ObjectError, checked_document
from evalkit_lmbuild.operability import holds
from evalkit_lmbuild.operability.spaces import free_share, ground_clusters, level_area


def stool(seat_top_m: float = 0.45, legs: int = 4):
    """A seat of 0.4 × 0.4 m on legs of 4 cm in its corners."""
    spots = [(x, y) for x in (-0.18, 0.18) for y in (-0.18, 0.18)][:legs]
    height = seat_top_m - 0.03
    return [
        named(box("seat", (0, 0, seat_top_m - 0.015), (0.4, 0.4, 0.03)), "seat"),
        *(
            named(box(f"leg{i}", (x, y, height / 2), (0.04, 0.04, height)), "leg")
            for i, (x, y) in enumerate(spots)
        ),
    ]


# --- surface -----------------------------------------------------------------------------------------


def surface(height_m: float, minimum_m2: float = 0.4) -> float:
    given = {
        "pred": "surface",
        "role": "work surface",
        "min_area_m2": minimum_m2,
        "height_range_m": [0.6, 0.85],
    }
    return holds(subject(desk(height_m), "work surface"), given).score


def test_surface_is_its_area_within_the_window() -> None:
    assert surface(0.72) == 1.0
    assert surface(0.72, minimum_m2=1.44) == pytest.approx(0.72 / 1.44, rel=0.01)
    assert surface(0.59) == surface(0.86) == 0.0


def test_heights_are_above_the_design_s_lowest_point() -> None:
    sunk = [replace(part, position=(*part.position[:2], part.position[2] - 1.0)) for part in desk()]
    given = {"pred": "surface", "role": "work surface", "min_area_m2": 0.4, "height_range_m": [0.6, 0.85]}
    assert holds(subject(sunk, "work surface"), given).score == 1.0


def test_area_of_a_disc_a_slope_and_two_boards_one_above_the_other() -> None:
    disc = cylinder("disc", (0.1, 0.2, 0.5), 0.2, 0.02, (0, 0, 0))
    assert level_area([disc], 0.4, 0.6) == pytest.approx(math.pi * 0.04, rel=0.02)
    slope = box("slope", (0, 0, 0.5), (0.6, 0.4, 0.001), (0, 45, 0))  # its top runs from 0.29 to 0.71 m
    half = level_area([slope], 0.5, 0.8)
    assert half == pytest.approx(0.6 * 0.4 / math.sqrt(2) / 2, rel=0.02)
    boards = [box(f"b{i}", (0.1 * i, 0, 0.3 + 0.1 * i), (0.5, 0.4, 0.02)) for i in range(2)]
    assert level_area(boards, 0.0, 1.0) == pytest.approx(0.6 * 0.4, rel=0.01)
    assert level_area(boards, 0.0, 0.35) == pytest.approx(0.1 * 0.4, rel=0.03)


# --- ground_contact ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("legs", "score"), [(4, 1.0), (3, 0.75), (2, 0.5)])
def test_legs_meet_the_ground_in_places_of_their_own(legs: int, score: float) -> None:
    given = {"pred": "ground_contact", "min_clusters": 4}
    assert holds(subject(stool(legs=legs), "seat", "legs"), given).score == score


def test_a_component_on_the_ground_is_counted_by_what_it_needs() -> None:
    short = [*stool()[:-1], named(box("leg3", (0.18, 0.18, 0.24), (0.04, 0.04, 0.36)), "leg")]
    link = holds(subject(short, "seat", "four legs"), {"pred": "ground_contact", "role": "legs"})
    assert link.score == 0.75
    assert "3 of 4" in link.why
    assert holds(subject(stool(), "seat"), {"pred": "ground_contact", "role": "seat"}).score == 0.0


def test_a_place_is_one_however_many_parts_share_it() -> None:
    feet = [box("a", (0, 0, 0.05), (0.1, 0.1, 0.1)), box("b", (0.1, 0.1, 0.05), (0.1, 0.1, 0.1))]
    assert ground_clusters(Field(feet), ["a", "b"]) == 1
    apart = [feet[0], box("b", (0.3, 0, 0.069), (0.1, 0.1, 0.1))]
    assert ground_clusters(Field(apart), ["a", "b"]) == 2  # 19 mm above the ground, within the band
    above = [feet[0], box("b", (0.3, 0, 0.08), (0.1, 0.1, 0.1))]
    assert ground_clusters(Field(above), ["a", "b"]) == 1


def test_a_wheel_meets_the_ground_once() -> None:
    wheels = [wheel(f"w{i}", (0.3 * i, 0, 0.1), 0.1, 0.03) for i in range(3)]
    assert ground_clusters(Field(wheels), ["w0", "w1", "w2"]) == 3


# --- colocated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gap_m", "score"), [(0.0, 1.0), (0.10, 1.0), (0.15, 0.75), (0.20, 0.5), (0.30, 0.0), (0.5, 0.0)]
)
def test_colocated_falls_from_ten_to_thirty_centimetres(gap_m: float, score: float) -> None:
    parts = [
        named(box("rim", (0, 0, 0.1), (0.2, 0.2, 0.2)), "wheel"),
        named(box("shoe", (0.15 + gap_m, 0, 0.1), (0.1, 0.1, 0.1)), "brake"),
        named(box("far", (2.0, 0, 0.1), (0.1, 0.1, 0.1)), "brake"),
    ]
    thing = subject(parts, "brakes", "wheel")
    link = holds(thing, {"pred": "colocated", "a": "brakes", "b": "wheel"})
    assert link.score == pytest.approx(score, abs=1e-6)
    assert link.parts == ("shoe", "rim")
    wider = holds(thing, {"pred": "colocated", "a": "brakes", "b": "wheel", "max_gap_m": gap_m + 0.01})
    assert wider.score == 1.0


# --- reachable ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("away_m", "score"), [(0.5, 1.0), (0.7, 1.0), (1.05, 0.5), (1.4, 0.0), (2.0, 0.0)])
def test_reach_from_a_seat_falls_to_nothing_at_twice_the_reach(away_m: float, score: float) -> None:
    knob = named(box("knob", (0.01 + away_m, 0, 1.05), (0.02, 0.02, 0.02)), "knob")  # level with the shoulder
    link = holds(subject([*stool(), knob], "seat", "legs", "knob"), {"pred": "reachable", "target": "knob"})
    assert link.score == pytest.approx(score, abs=1e-6)


def test_reach_can_be_given_and_seated_on_something_else() -> None:
    knob = named(box("knob", (0.81, 0, 1.05), (0.02, 0.02, 0.02)), "knob")
    thing = subject([*stool(), knob], "seat", "legs", "knob")
    given = {"pred": "reachable", "target": "knob", "from": "seat"}
    assert holds(thing, given).score == pytest.approx((1.4 - 0.8) / 0.7)
    assert holds(thing, given | {"reach_m": 0.8}).score == 1.0
    assert holds(thing, given | {"from": "saddle"}).why == "there is no saddle to reach it from"


@pytest.mark.parametrize(
    ("height_m", "score"), [(0.1, 1.0), (1.4, 1.0), (2.1, 1.0), (2.45, 0.5), (2.8, 0.0), (3.0, 0.0)]
)
def test_who_stands_reaches_up_from_a_shoulder_at_1_4_m_and_bends_down(height_m: float, score: float) -> None:
    post = named(box("post", (0, 0, 1.6), (0.1, 0.1, 3.2)), "post")
    knob = named(box("knob", (0, -0.06, height_m + 0.01), (0.02, 0.02, 0.02)), "knob")
    link = holds(subject([post, knob], "post", "knob"), {"pred": "reachable", "target": "knob"})
    assert link.score == pytest.approx(score, abs=0.01)


def test_who_stands_reaches_in_from_the_nearest_side() -> None:
    slab = named(box("slab", (0, 0, 0.325), (4.0, 2.0, 0.65)), "slab")
    knob = named(box("knob", (0.5, 0.2, 0.66), (0.02, 0.02, 0.02)), "knob")
    link = holds(subject([slab, knob], "slab", "knob"), {"pred": "reachable", "target": "knob"})
    distance = math.hypot(0.8 - 0.01, 0.7 - 0.67)  # from the edge at y = 1, bent to 0.70 m
    assert link.score == pytest.approx((1.4 - distance) / 0.7, abs=1e-6)


# --- grip --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "score"),
    [
        ((0.03, 0.12, 0.03), 1.0),
        ((0.015, 0.015, 0.015), 1.0),
        ((0.07, 0.07, 0.5), 1.0),
        ((0.01, 0.03, 0.2), 0.5),
        ((0.03, 0.08, 0.2), 0.5),
        ((0.2, 0.2, 0.2), 0.0),
        ((0.005, 0.3, 0.2), 0.0),
    ],
)
def test_a_grip_is_thin_in_two_directions(size: tuple[float, float, float], score: float) -> None:
    turned = replace(named(box("bar", (0, 0, 0.5), size), "handle"), rotation=(20.0, 35.0, 50.0))
    assert holds(subject([turned], "handle"), {"pred": "grip", "role": "handle"}).score == score


def test_the_best_part_is_gripped() -> None:
    parts = [
        named(box("plate", (0, 0, 0.5), (0.2, 0.2, 0.01)), "handle"),
        named(box("bar", (0, 0, 0.8), (0.2, 0.03, 0.03)), "handle"),
    ]
    link = holds(subject(parts, "handle"), {"pred": "grip", "role": "handle"})
    assert (link.score, link.parts) == (1.0, ("bar",))


# --- clearance ---------------------------------------------------------------------------------------

LEGROOM = {"pred": "clearance", "anchor": "work surface", "placement": "below", "box": "seated_legs"}


def test_legs_fit_under_a_desk_but_not_where_a_box_stands() -> None:
    free = holds(subject(desk(), "work surface", "side panels"), LEGROOM)
    assert free.score == 1.0
    # under the top at 0.69 m the legs take 0.29 to 0.69 m; the box fills half of their width
    crate = named(box("crate", (0.25, 0, 0.345), (0.5, 0.6, 0.688)), "crate")
    blocked = holds(subject([*desk(), crate], "work surface", "side panels"), LEGROOM)
    assert blocked.score == pytest.approx(0.5 / 0.9)
    assert blocked.parts == ("crate",)
    assert holds(subject([*desk(), crate], "work surface"), LEGROOM | {"min_free": 0.5}).score == 1.0


@pytest.mark.parametrize(
    ("placement", "centre"),
    [
        ("above", (0, 0, 0.95)),
        ("below", (0, 0, 0.05)),
        ("front", (0, -0.45, 0.5)),
        ("back", (0, 0.45, 0.5)),
        ("left", (-0.45, 0, 0.5)),
        ("right", (0.45, 0, 0.5)),
    ],
)
def test_room_is_beside_the_anchor(placement: str, centre: tuple[float, float, float]) -> None:
    parts = [
        named(box("anchor", (0, 0, 0.5), (0.4, 0.4, 0.4)), "seat"),
        named(box("thing", centre, (0.48, 0.48, 0.48)), None),
    ]
    given = {"pred": "clearance", "anchor": "seat", "placement": placement, "box": [0.3, 0.3, 0.3]}
    assert holds(subject(parts, "seat"), given).score == 0.0
    assert holds(subject(parts[:1], "seat"), given).score == 1.0


def test_free_share_counts_points_in_parts() -> None:
    parts = [box("slab", (0, 0, 0.1), (1.0, 1.0, 0.2))]
    low, high = np.array([-0.3, -0.3, 0.0]), np.array([0.3, 0.3, 1.0])
    assert free_share(Field(parts), low, high) == (pytest.approx(0.8), ("slab",))


# --- part_present, and what isn't there --------------------------------------------------------------


def test_presence_counts_instances_and_halves_what_is_out_of_place() -> None:
    three = subject(stool(legs=3), "seat", "four legs", reference=stool())
    assert holds(three, {"pred": "part_present", "role": "legs"}).score == 0.75
    aside = [*stool(legs=3), named(box("leg3", (1.5, 0, 0.21), (0.04, 0.04, 0.42)), "leg")]
    moved = subject(aside, "seat", "four legs", reference=[*stool(), aside[-1]])
    assert holds(moved, {"pred": "part_present", "role": "legs"}).score == 1.0
    away = subject(stool()[:1] + aside[-1:], "seat", "leg", reference=stool())
    assert holds(away, {"pred": "part_present", "role": "leg"}).score == 0.5


def test_a_kind_of_a_component_counts_as_it() -> None:
    parts = [named(wheel(f"w{i}", (0.3 * i, 0, 0.1), 0.1, 0.03), "rear wheel") for i in range(2)]
    thing = subject(parts, "wheels", "rear wheels")
    assert holds(thing, {"pred": "part_present", "role": "wheels"}).score == 1.0


@pytest.mark.parametrize(
    "given",
    [
        {"pred": "part_present", "role": "brakes"},
        {"pred": "grip", "role": "brakes"},
        {"pred": "reachable", "target": "brakes"},
        {"pred": "ground_contact", "role": "brakes"},
        {"pred": "colocated", "a": "seat", "b": "brakes"},
        {"pred": "surface", "role": "brakes", "min_area_m2": 0.1},
        {"pred": "clearance", "anchor": "brakes", "box": "seated_torso"},
    ],
)
def test_what_is_missing_scores_nothing_and_says_so(given: dict[str, object]) -> None:
    link = holds(subject(stool(), "seat", "brakes"), given)
    assert link.score == 0.0
    assert link.why == "there is no brakes"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "there is no predicate None; there are part_present"),
        ({"pred": "edible"}, "there is no predicate 'edible'"),
        ({"pred": "grip"}, "grip needs 'role'"),
        ({"pred": "grip", "role": "knob", "size": 3}, "grip has no argument 'size'"),
        (
            {"pred": "surface", "role": "seat", "min_area_m2": "wide"},
            "'min_area_m2' has to be a number above 0",
        ),
        ({"pred": "surface", "role": "seat", "min_area_m2": float("nan")}, "a number above 0"),
        (
            {"pred": "surface", "role": "seat", "min_area_m2": 1, "height_range_m": [2, 1]},
            "lower one first",
        ),
        (
            {"pred": "clearance", "anchor": "seat", "box": "elephant"},
            "three numbers, or one of seated",
        ),
        ({"pred": "clearance", "anchor": "seat", "box": [1, 1, 0]}, "'box' has to be a number above 0"),
        (
            {"pred": "clearance", "anchor": "seat", "box": [1, 1, 1], "placement": "under"},
            "'placement' has to be one of above",
        ),
        ({"pred": "reachable", "target": 3}, "'target' has to be a name"),
    ],
)
def test_predicates_that_are_wrong_are_refused_by_name(given: dict[str, object], message: str) -> None:
    with pytest.raises(PredicateError, match=message.replace("(", r"\(")) as caught:
        read_predicate(given)
    assert "\n" not in str(caught.value)


def test_a_file_with_a_wrong_predicate_is_refused() -> None:
    document = {
        "task_id": "post",
        "object": {"name": "post"},
        "conditions": [{"condition_id": "name_only", "text": "Build a post."}],
    }
    grip = {"id": "H1", "predicates": [{"pred": "grip", "role": "post"}]}
    assert checked_document(document | {"human_checks": [grip]})["human_checks"][0]["id"] == "H1"
    for predicates, message in (([{"pred": "grip"}], "grip needs 'role'"), ([], "has 0 items; it needs 1")):
        with pytest.raises(ObjectError, match=message) as caught:
            checked_document(document | {"human_checks": [grip | {"predicates": predicates}]})
        assert "human_checks[0].predicates" in str(caught.value)


# --- the shapes in which they come -------------------------------------------------------------------


def test_every_predicate_of_the_sample_sheets_is_known(lmbuild_data: Path) -> None:
    sheets = json.loads((lmbuild_data / "opsheets_sample.json").read_text("utf-8"))
    found = [
        predicate
        for sheet in sheets.values()
        if isinstance(sheet, dict)
        for key, value in sheet.items()
        if key.startswith("H")
        for predicate in value
    ]
    assert len(found) == 7
    for predicate in found:
        read_predicate(predicate)


def test_every_predicate_of_a_sheet_of_our_own_is_known() -> None:
    for predicate in (
        {"pred": "surface", "role": "bench top", "min_area_m2": 0.2, "height_range_m": [0.4, 0.5]},
        {
            "pred": "clearance",
            "anchor": "bench top",
            "placement": "above",
            "box": "seated_torso",
            "min_free": 0.8,
        },
        {"pred": "reachable", "target": "lever", "from": "standing", "reach_m": 0.6},
        {"pred": "part_present", "role": "lever"},
        {"pred": "colocated", "a": "lever", "b": "bench top", "max_gap_m": 0.05},
        {"pred": "ground_contact", "role": "feet", "min_clusters": 3},
        {"pred": "grip", "role": "lever"},
    ):
        read_predicate(predicate)
