"""The context JSON: its schema, and that a level can be read back from what a model sees."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

from evalkit_polybridge.context import ContextError, context, level_from_context
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Platform, Region
from evalkit_polybridge.levels import generate

LEVEL = Level(
    name="Everything",
    span_m=16.0,
    dy_m=1.0,
    anchors=(
        Node(1, 0.0, 0.0, True),
        Node(2, 16.0, 1.0, True),
        Node(3, 6.0, 2.0, True),
        Node(4, 10.0, 2.0, True),
        Node(5, 0.0, -2.0, True),
    ),
    vehicles_pg=(3.0, 9.0),
    materials=(1, 2),
    budget=12_000.0,
    platforms=(Platform(6.0, 10.0, 2.0, -5.0, (3, 4)),),
    regions=(
        Region(((5.0, 1.5), (1.5, -5.0), (5.9, -5.0))),
        Region(((13.0, -2.0), (11.0, -7.0), (15.0, -7.0)), applies_to=(2,)),
    ),
)


def test_the_schema_with_its_names_and_order() -> None:
    expected = {
        "task_context": {
            "levelName": "Everything",
            "available_materials": ["Road", "Wood"],
            "budget_limit": 12000.0,
            "vehicle_count": 2,
            "vehicle_weights_pg": [3.0, 9.0],
            "vehicle_weight_pg": 9.0,
            "material_profile": "road_wood",
        },
        "semantic_environment": {
            "terrain_affordances": [
                {
                    "type": "center_platform",
                    "shape": "rectangular_terrain",
                    "x_start": 6.0,
                    "x_end": 10.0,
                    "surface_y": 2.0,
                    "bottom_y": -5.0,
                    "drivable": True,
                    "support_anchor_ids": [3, 4],
                }
            ],
            "forbidden_regions": [
                {
                    "type": "rock",
                    "shape": "triangle",
                    "vertices": [{"x": 5.0, "y": 1.5}, {"x": 1.5, "y": -5.0}, {"x": 5.9, "y": -5.0}],
                    "applies_to": ["Road", "Wood"],
                },
                {
                    "type": "rock",
                    "shape": "triangle",
                    "vertices": [{"x": 13.0, "y": -2.0}, {"x": 11.0, "y": -7.0}, {"x": 15.0, "y": -7.0}],
                    "applies_to": ["Wood"],
                },
            ],
        },
    }
    assert json.dumps(context(LEVEL)) == json.dumps(expected)


def test_empty_lists_stay() -> None:
    plain = context(replace(LEVEL, platforms=(), regions=(), materials=(1, 2, 3)))
    assert plain["semantic_environment"] == {"terrain_affordances": [], "forbidden_regions": []}
    assert plain["task_context"]["material_profile"] == "road_wood_steel"


def through_json(level: Level) -> Any:
    return json.loads(json.dumps(context(level)))


def test_a_level_is_read_back_from_what_a_model_sees() -> None:
    assert level_from_context(through_json(LEVEL), LEVEL.empty_bridge()) == LEVEL


def test_every_level_of_the_benchmark_is_read_back() -> None:
    levels = [level for level, _ in generate()]
    assert [level_from_context(through_json(level), level.empty_bridge()) for level in levels] == levels


def test_a_save_with_a_design_in_it_serves_as_well() -> None:
    anchors = LEVEL.anchors
    save = Bridge((Node(6, 1.0, 1.0), *reversed(anchors)), (Edge(7, 1, 1, 6),))
    assert level_from_context(context(LEVEL), save) == LEVEL


def test_a_region_that_lists_every_material_holds_for_all() -> None:
    listed = replace(LEVEL, regions=(replace(LEVEL.regions[0], applies_to=(1, 2)),))
    assert level_from_context(context(listed), LEVEL.empty_bridge()).regions == (LEVEL.regions[0],)


PLATFORM = ("semantic_environment", "terrain_affordances", 0)
ROCK = ("semantic_environment", "forbidden_regions", 1)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("task_context",), [], "the context: task_context"),
        (("task_context", "levelName"), 7, "levelName has to be there and to be a string"),
        (("task_context", "available_materials"), ["Road", "Rope"], "'Rope' is no material"),
        (("task_context", "budget_limit"), None, "budget_limit has to be a finite number"),
        (("task_context", "vehicle_count"), 3, "3 positive weights"),
        (
            ("task_context", "vehicle_weights_pg"),
            [3.0, "x"],
            "vehicle_weights_pg[1] has to be a finite number",
        ),
        (("task_context", "vehicle_weights_pg"), [3.0, -9.0], "positive weights"),
        (("semantic_environment", "terrain_affordances"), {}, "to be a list"),
        ((*PLATFORM, "type"), "island", "'island'"),
        ((*PLATFORM, "drivable"), False, "drivable is False"),
        ((*PLATFORM, "support_anchor_ids"), [3, 77], "two anchors of the save"),
        ((*PLATFORM, "x_end"), 6.0, "left of x_end"),
        ((*PLATFORM, "surface_y"), True, "surface_y has to be a finite number"),
        ((*ROCK, "shape"), "circle", "'circle'"),
        ((*ROCK, "vertices"), [{"x": 0, "y": 0}], "3 vertices, not 1"),
        ((*ROCK, "vertices", 2), {"x": 12.0, "y": -4.5}, "no area"),
        ((*ROCK, "vertices", 2), {"x": 12.0}, "vertices[2]: y has to be"),
        ((*ROCK, "applies_to"), [], "applies_to is empty"),
    ],
)
def test_a_bad_context_is_refused_in_one_line(path: tuple[Any, ...], value: Any, says: str) -> None:
    document = copy.deepcopy(context(LEVEL))
    target: Any = document
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(ContextError) as caught:
        level_from_context(document, LEVEL.empty_bridge())
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ((Node(1, 0.0, 0.0, True),), "anchors 1 (left) and 2 (right)"),
        ((Node(1, 0.0, 0.0, True), Node(2, 8.0, 0.0, False)), "anchors 1 (left) and 2 (right)"),
        ((Node(1, 1.0, 0.0, True), Node(2, 8.0, 0.0, True)), "anchor 1 is at (1.0, 0.0)"),
        ((*LEVEL.anchors, LEVEL.anchors[0]), "every id once"),
    ],
)
def test_a_save_without_the_two_banks_is_refused(nodes: tuple[Node, ...], says: str) -> None:
    with pytest.raises(ContextError) as caught:
        level_from_context(context(LEVEL), Bridge(nodes, ()))
    assert says in str(caught.value)
