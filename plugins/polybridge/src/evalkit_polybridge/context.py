"""The context JSON that a model sees of a level, and the level that anyone can read back from it.

The context and the save (the native anchors) together hold everything an agent may use: banks follow from
anchors 1 and 2, the left and the right road end. What isn't in them is hidden from every agent.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from evalkit_polybridge.constants import MATERIAL_BY_NAME, MATERIALS
from evalkit_polybridge.graph import Bridge, Level, Platform, Point, Region

LEFT_ANCHOR_ID = 1
RIGHT_ANCHOR_ID = 2

_T = TypeVar("_T")


class ContextError(ValueError):
    """A context or save from which no level can be read; the message is one line: where and what."""


def context(level: Level) -> dict[str, Any]:
    """The model-visible context as JSON values, keys in a fixed order, empty lists included.

    `vehicle_weight_pg` is the heaviest vehicle's weight; vehicles cross in the order of the list. A region
    that holds for every material lists all the level admits.
    """
    names = [MATERIALS[t].name for t in level.materials]
    return {
        "task_context": {
            "levelName": level.name,
            "available_materials": names,
            "budget_limit": level.budget,
            "vehicle_count": len(level.vehicles_pg),
            "vehicle_weights_pg": list(level.vehicles_pg),
            "vehicle_weight_pg": max(level.vehicles_pg),
            "material_profile": "_".join(name.lower() for name in names),
        },
        "semantic_environment": {
            "terrain_affordances": [_affordance(platform) for platform in level.platforms],
            "forbidden_regions": [_forbidden(region, names) for region in level.regions],
        },
    }


def level_from_context(context: dict[str, Any], save: Bridge) -> Level:
    """The level that a context and a save describe, from nothing but what a model sees.

    Anchors are the save's fixed nodes in the order of their ids. A region listing every admitted material
    becomes one for all of them (`applies_to` empty). Inverse of `context` and `Level.empty_bridge` for
    levels written that way. Raises `ContextError`.
    """
    task = _get(context, "the context", "task_context", dict)
    environment = _get(context, "the context", "semantic_environment", dict)
    materials = _materials(_get(task, "task_context", "available_materials", list), "available_materials")
    anchors = tuple(sorted((node for node in save.nodes if node.fixed), key=lambda node: node.id))
    by_id = {node.id: node for node in anchors}
    if LEFT_ANCHOR_ID not in by_id or RIGHT_ANCHOR_ID not in by_id or len(by_id) < len(anchors):
        raise ContextError("the save: anchors 1 (left) and 2 (right) have to be there, and every id once")
    left, right = by_id[LEFT_ANCHOR_ID], by_id[RIGHT_ANCHOR_ID]
    if (left.x, left.y) != (0.0, 0.0) or right.x <= 0.0:
        raise ContextError(
            f"the save: anchor 1 is at ({left.x}, {left.y}), the origin has to be there, 2 right of it"
        )
    affordances = _get(environment, "semantic_environment", "terrain_affordances", list)
    regions = _get(environment, "semantic_environment", "forbidden_regions", list)
    return Level(
        name=_get(task, "task_context", "levelName", str),
        span_m=right.x,
        dy_m=right.y,
        anchors=anchors,
        vehicles_pg=_vehicles(task),
        materials=materials,
        budget=_number(task, "task_context", "budget_limit"),
        platforms=tuple(
            _platform(item, f"terrain_affordances[{i}]", set(by_id)) for i, item in enumerate(affordances)
        ),
        regions=tuple(_region(item, f"forbidden_regions[{i}]", materials) for i, item in enumerate(regions)),
    )


def _affordance(platform: Platform) -> dict[str, Any]:
    return {
        "type": "center_platform",
        "shape": "rectangular_terrain",
        "x_start": platform.x_start,
        "x_end": platform.x_end,
        "surface_y": platform.surface_y,
        "bottom_y": platform.bottom_y,
        "drivable": True,
        "support_anchor_ids": list(platform.anchor_ids),
    }


def _forbidden(region: Region, admitted: list[str]) -> dict[str, Any]:
    return {
        "type": region.type,
        "shape": "triangle",
        "vertices": [{"x": x, "y": y} for x, y in region.vertices],
        "applies_to": [MATERIALS[t].name for t in region.applies_to] or list(admitted),
    }


def _vehicles(task: dict[str, Any]) -> tuple[float, ...]:
    weights = _get(task, "task_context", "vehicle_weights_pg", list)
    loads = tuple(_finite(weight, f"vehicle_weights_pg[{i}]") for i, weight in enumerate(weights))
    count = _get(task, "task_context", "vehicle_count", int)
    if not loads or min(loads) <= 0.0 or count != len(loads):
        raise ContextError(
            f"vehicle_weights_pg: vehicle_count says {count} positive weights, the list is {list(loads)}"
        )
    return loads


def _materials(names: list[Any], where: str) -> tuple[int, ...]:
    for name in names:
        if not isinstance(name, str) or name not in MATERIAL_BY_NAME:
            raise ContextError(f"{where}: {name!r} is no material, use {', '.join(MATERIAL_BY_NAME)}")
    return tuple(MATERIAL_BY_NAME[name].type for name in names)


def _platform(item: Any, where: str, anchor_ids: set[int]) -> Platform:
    _expect(item, where, "type", "center_platform")
    _expect(item, where, "shape", "rectangular_terrain")
    _expect(item, where, "drivable", True)
    ids = _get(item, where, "support_anchor_ids", list)
    if len(ids) != 2 or any(type(i) is not int or i not in anchor_ids for i in ids):
        raise ContextError(f"{where}: support_anchor_ids {ids} have to be two anchors of the save")
    start, end, surface, bottom = (
        _number(item, where, name) for name in ("x_start", "x_end", "surface_y", "bottom_y")
    )
    if start >= end or bottom >= surface:
        raise ContextError(f"{where}: x_start has to be left of x_end, and bottom_y below surface_y")
    return Platform(start, end, surface, bottom, (ids[0], ids[1]))


def _region(item: Any, where: str, admitted: tuple[int, ...]) -> Region:
    _expect(item, where, "shape", "triangle")
    corners = _get(item, where, "vertices", list)
    if len(corners) != 3:
        raise ContextError(f"{where}: a triangle has 3 vertices, not {len(corners)}")
    a, b, c = (_point(corner, f"{where}.vertices[{i}]") for i, corner in enumerate(corners))
    if (b[0] - a[0]) * (c[1] - a[1]) == (b[1] - a[1]) * (c[0] - a[0]):
        raise ContextError(f"{where}: the triangle {a}, {b}, {c} has no area")
    applies_to = _materials(_get(item, where, "applies_to", list), f"{where}.applies_to")
    if not applies_to:
        raise ContextError(f"{where}: applies_to is empty, list the materials it holds for")
    return Region((a, b, c), () if applies_to == admitted else applies_to, _get(item, where, "type", str))


def _point(item: Any, where: str) -> Point:
    return _number(item, where, "x"), _number(item, where, "y")


def _expect(item: Any, where: str, name: str, wanted: str | bool) -> None:
    if (value := _get(item, where, name, type(wanted))) != wanted:
        raise ContextError(f"{where}: {name} is {value!r}, only {wanted!r} is known")


def _number(item: Any, where: str, name: str) -> float:
    return _finite(item.get(name) if isinstance(item, dict) else None, f"{where}: {name}")


def _finite(value: Any, what: str) -> float:
    if not (type(value) is int or type(value) is float) or not math.isfinite(value):
        raise ContextError(f"{what} has to be a finite number")
    return float(value)


def _get(item: Any, where: str, name: str, kind: type[_T]) -> _T:
    """The field `name` of `item`, of exactly the type `kind` (so that true is no integer)."""
    if not isinstance(item, dict) or type(item.get(name)) is not kind:
        raise ContextError(f"{where}: {name} has to be there and to be {_KINDS[kind]}")
    value: _T = item[name]
    return value


_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "an integer",
    bool: "true or false",
}
