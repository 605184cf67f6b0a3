"""Recorded scenes through the tools, as an agent builds them; `test_lmbuild_tools` has their siblings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.scene import Scene
from evalkit_lmbuild.tools import Rules, Session, call


@pytest.fixture(scope="module")
def golden(lmbuild_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((lmbuild_data / "golden_scenes.json").read_text())
    return found


def box(size: Sequence[float]) -> dict[str, Any]:
    return {"nodes": [{"id": "a", "op": "box", "size": size}], "output": "a"}


class Builder:
    """Creates and places boxes."""

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self.session = Session(Scene(catalogue or Catalogue()), Rules())

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = call(self.session, tool, arguments).data
        assert found["ok"], found
        return dict(found)

    def boxes(self, parts: Mapping[str, Any]) -> None:
        for name, (centre, size) in parts.items():
            self.ok("create_part", name=f"{name}_part", program=box(size))
            self.ok("place_part", part_id=f"{name}_part", instance_id=name, position=centre)

    def joint(self, joint: Mapping[str, Any]) -> dict[str, Any]:
        return self.ok("add_joint", joint_id="joint", **joint)


def variant(golden: Mapping[str, Any], name: str) -> tuple[Builder, Mapping[str, Any]]:
    chosen = next(one for one in golden["variants"] if one["name"] == name)
    builder = Builder()
    builder.boxes(golden["control"]["parts"])
    builder.boxes(chosen.get("add", {}))
    return builder, chosen


def test_the_control(golden: Mapping[str, Any]) -> None:
    builder = Builder()
    builder.boxes(golden["control"]["parts"])
    found = builder.ok("check")
    assert found["connected_groups"] == golden["control"]["expect"]["n_components"]
    assert found["n_collisions"] == golden["control"]["expect"]["n_colliding"]
    assert found["stability"]["critical_tilt_deg"] > 0


def test_a_floating_part(golden: Mapping[str, Any]) -> None:
    builder, _ = variant(golden, "floating_part")
    assert builder.ok("check")["not_connected_to_main_group"] == ["floater"]


def test_an_interpenetration(golden: Mapping[str, Any]) -> None:
    builder, _ = variant(golden, "interpenetration")
    assert builder.ok("check")["n_collisions"] > 0


def test_an_origin_off_the_boundary(golden: Mapping[str, Any]) -> None:
    builder, chosen = variant(golden, "joint_origin_off_boundary")
    assert builder.joint(chosen["joint"])["notes"]
    assert builder.ok("check")["joint_issues"]


def test_the_moving_set(golden: Mapping[str, Any]) -> None:
    chosen = golden["moving_set"]
    builder = Builder()
    builder.boxes(chosen["parts"])
    builder.joint(chosen["joint"])
    found = builder.ok("inspect_joint", joint_id="joint")
    assert sorted(found["moving_parts"]) == sorted(chosen["expect"]["moving set"])
    assert found["loop"] is chosen["expect"]["loop"]
    builder.ok("add_joint", joint_id="weld", type="fixed", parent="chassis", child="wheel")
    assert builder.ok("inspect_joint", joint_id="joint")["loop"] is True


def test_the_desk(golden: Mapping[str, Any]) -> None:
    desk = golden["smoke_desk"]
    drawer = {"pool_part_id": "P001", "name": "drawer", "program": box([0.4, 0.4, 0.092])}
    builder = Builder(Catalogue.of_entries([drawer]))
    for name, (_, size) in ((n, text.split(" ", 1)) for n, text in desk["create"].items()):
        builder.ok("create_part", name=name, program=box(json.loads(size)))
    for name, position in desk["place"].items():
        place = json.loads(position.partition(" at ")[2]) if isinstance(position, str) else position
        part = "P001" if name == "drawer" else name.rstrip("0123456789")
        role = desk["roles"].get(name, desk["roles"]["leg*"])
        builder.ok(
            "place_part",
            part_id=part,
            instance_id=name,
            position=place,
            role=role,
            material=desk["material"],
        )
    slide = {"type": "prismatic", "parent": "top", "child": "drawer"}
    builder.joint({**slide, "axis": [0, -1, 0], "origin": [0.2, 0, 0.72], "limits": [0, 0.3]})
    builder.ok("set_assembly_sequence", steps=desk["sequence"].split(","))
    found = builder.ok("check")
    assert found["connected_groups"] == 1
    assert found["n_collisions"] == 0
    assert found["joint_issues"] == []
    assert found["parts_missing_from_sequence"] == []
