"""The tools: what they do, what they refuse and how they say it; scenes that are the same after JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.scene import Instance, Scene
from evalkit_lmbuild.tools import TOOLS, Outcome, Rules, Session, call, offered

Box = list[float]


def box(*size: float) -> dict[str, Any]:
    return {"nodes": [{"id": "a", "op": "box", "size": list(size)}], "output": "a"}


POOL = [
    {"pool_part_id": "P001", "name": "board 400 x 400 x 40", "program": box(0.4, 0.4, 0.04)},
    {"pool_part_id": "P002", "name": "post 40 x 40 x 400", "program": box(0.04, 0.04, 0.4)},
]


@pytest.fixture
def session() -> Session:
    return Session(Scene(Catalogue.of_entries(POOL)), Rules())


def ok(session: Session, name: str, /, **arguments: Any) -> dict[str, Any]:
    outcome = call(session, name, arguments)
    assert outcome.data["ok"], outcome.data["error"]
    return dict(outcome.data)


def error(session: Session, name: str, /, **arguments: Any) -> str:
    before = session.scene.state()
    outcome = call(session, name, arguments)
    assert not outcome.data["ok"]
    assert session.scene.state() == before
    return str(outcome.data["error"])


def place(session: Session, part: str, name: str, *position: float, **rest: Any) -> dict[str, Any]:
    return ok(session, "place_part", part_id=part, instance_id=name, position=list(position), **rest)


def stool(session: Session) -> None:
    """The control scene of the golden scenes in small: a top on four posts."""
    place(session, "P001", "top", 0, 0, 0.42, role="seat", material="ABS")
    for number, (x, y) in enumerate([(-0.15, -0.15), (0.15, -0.15), (-0.15, 0.15), (0.15, 0.15)]):
        place(session, "P002", f"leg{number}", x, y, 0.2, role="leg", material="ABS")


def test_the_nineteen_tools_and_their_tiers() -> None:
    assert len(TOOLS) == 19
    without = {
        tier: {t.name for t in TOOLS} - {t.name for t in offered(Rules(tier=tier))}
        for tier in ("A", "B", "C")
    }
    assert without == {"A": {"create_part"}, "B": set(), "C": {"view_catalog_sheet"}}
    assert "inspect_joint" not in {tool.name for tool in offered(Rules(extras=False))}
    assert {tool.name: tool.meter for tool in TOOLS if tool.meter} == {
        "create_part": "creates",
        "check": "checks",
        "render": "renders",
    }


def test_listing_and_inspecting(session: Session) -> None:
    ok(session, "create_part", name="Post_cap", program=json.dumps(box(0.05, 0.05, 0.01)))
    listed = ok(session, "list_parts", query="POST")["parts"]
    assert listed == [
        {"part_id": "P002", "name": "post 40 x 40 x 400", "size_m": [0.04, 0.04, 0.4]},
        {"part_id": "Post_cap", "name": "Post_cap", "size_m": [0.05, 0.05, 0.01], "created": True},
    ]
    seen = call(session, "inspect_part", {"part_id": "P002"})
    assert seen.data["watertight"] is True
    assert seen.data["surface_area_m2"] == pytest.approx(2 * 0.04 * 0.04 + 4 * 0.04 * 0.4)
    assert seen.pictures[0].draw().startswith(b"\x89PNG")
    report = ok(session, "inspect_part", part_id="Post_cap")["compile_report"]
    assert (report["n_triangles"], report["n_pieces"], report["volume_m3"]) == (12, 1, 2.5e-5)
    assert len(ok(session, "list_materials")["materials"]) == 23


def test_placing_says_what_it_meets(session: Session) -> None:
    place(session, "P001", "low", 0, 0, 0.02)
    touching = place(session, "P002", "post", 0, 0, 0.24)
    assert touching["touches"] == ["low"]
    assert touching["collides"] == []
    assert touching["world_bbox_max"] == [0.02, 0.02, 0.44]
    sunk = place(session, "P001", "sunk", 0.1, 0, 0.0)
    assert sunk["below_ground"] is True
    assert [found["with"] for found in sunk["collides"]] == ["low"]
    of_cores, of_solids = 29.2 * 39.2 * 1.2, 30 * 40 * 2  # cores are thinner by a cell on each side
    assert of_cores <= sunk["collides"][0]["overlap_cm3"] <= of_solids


def test_moving_is_position_then_translation_then_rotation(session: Session) -> None:
    place(session, "P002", "post", 1, 1, 1)
    moved = ok(
        session,
        "move_part",
        instance_id="post",
        position=[0, 0, 0.5],
        translate_by=[0.1, 0, 0],
        rotation=[0, 90, 0],
    )
    assert moved["world_bbox_min"] == [-0.1, -0.02, 0.48]
    assert moved["world_bbox_max"] == [0.3, 0.02, 0.52]


@pytest.mark.parametrize(
    ("anchor", "target_anchor", "centre"),
    [
        ("bottom", "top", (0, 0, 0.04 + 0.2)),
        ("center", "center", (0, 0, 0.02)),
        ("left", "right", (0.2 + 0.02, 0, 0.02)),
        ("back", "front", (0, -0.2 - 0.02, 0.02)),
        ("top", "bottom", (0, 0, -0.2)),
    ],
)
def test_attaching(session: Session, anchor: str, target_anchor: str, centre: Box) -> None:
    place(session, "P001", "low", 0, 0, 0.02)
    place(session, "P002", "post", 2, 2, 2)
    ok(session, "attach", instance_id="post", anchor=anchor, target="low", target_anchor=target_anchor)
    assert session.scene.instances["post"].position == pytest.approx(centre, abs=1e-12)


def test_attaching_to_the_ground_keeps_the_place(session: Session) -> None:
    place(session, "P002", "post", 0.3, -0.2, 2, rotation=[90, 0, 0])
    ok(session, "attach", instance_id="post", anchor="bottom", target="ground", offset=[0, 0, 0.01])
    assert session.scene.instances["post"].position == (0.3, -0.2, 0.03)


def test_measuring(session: Session) -> None:
    place(session, "P001", "low", 0, 0, 0.02)
    place(session, "P001", "high", 0, 0, 0.1)
    found = ok(session, "measure", a="low", b="high")
    assert found["gap_m"] == pytest.approx(0.04)
    assert (found["point_a"][2], found["point_b"][2], found["midpoint"][2]) == (0.04, 0.08, 0.06)
    assert found["touching"] is False
    above = ok(session, "measure", a="ground", b="high")
    assert (above["gap_m"], above["point_a"][2], above["point_b"][2]) == (0.08, 0.0, 0.08)
    assert "itself" in error(session, "measure", a="low", b="low")


def test_checking_a_whole(session: Session) -> None:
    assert ok(session, "check")["n_parts"] == 0
    stool(session)
    found = ok(session, "check")
    assert found["n_collisions"] == 0
    assert found["connected_groups"] == 1
    assert found["resting_on_ground"] == ["leg0", "leg1", "leg2", "leg3"]
    assert found["parts_missing_from_sequence"] == ["top", "leg0", "leg1", "leg2", "leg3"]
    height = (4 * 0.2 * 0.04**2 * 0.4 + 0.42 * 0.4**2 * 0.04) / (4 * 0.04**2 * 0.4 + 0.4**2 * 0.04)
    tilt = math.degrees(math.atan2(0.17, height))
    assert found["stability"]["critical_tilt_deg"] == pytest.approx(tilt, abs=1.0)
    assert found["stability"]["support_margin_m"] == pytest.approx(0.17, abs=0.003)
    place(session, "P002", "floater", 0, 0, 1)
    place(session, "P001", "intruder", 0.1, 0, 0.42)
    worse = ok(session, "check")
    assert worse["not_connected_to_main_group"] == ["floater"]
    assert {worse["collisions"][0]["a"], worse["collisions"][0]["b"]} == {"intruder", "top"}
    assert worse["parts_without_role"] == ["floater", "intruder"]


def test_joints(session: Session) -> None:
    stool(session)
    hinge = {"type": "revolute", "parent": "leg0", "child": "top", "axis": [0, 0, 2]}
    far = ok(session, "add_joint", joint_id="far", **hinge, origin=[2, 2, 2])
    assert len(far["notes"]) == 2
    assert "more than 2 cm" in far["notes"][0]
    assert "no limits" in far["notes"][1]
    assert session.scene.joints["far"].axis == (0.0, 0.0, 1.0)
    again = ok(session, "add_joint", joint_id="near", **hinge, origin=[-0.15, -0.15, 0.4], limits=[0, 1])
    assert again["notes"] == ["'top' has a parent already: 'leg0' by joint 'far'"]
    assert ok(session, "check")["joint_issues"][0]["joint_id"] == "far"
    ok(session, "remove_joint", joint_id="far")
    looked = ok(session, "inspect_joint", joint_id="near")
    assert looked["limits"] == [0.0, 1.0]
    assert "top" in looked["moving_parts"]
    assert "leg0" not in looked["moving_parts"]
    assert looked["origin_distance_m"] == {"parent": 0.0, "child": 0.0}
    assert ok(session, "remove_part", instance_id="leg0") == {"ok": True, "removed_joints": ["near"]}


def test_the_sequence(session: Session) -> None:
    stool(session)
    steps = ["leg0", {"part": "leg1", "direction": [0, 0, -3]}, "top"]
    found = ok(session, "set_assembly_sequence", steps=steps)
    assert found == {"ok": True, "n_steps": 3, "parts_missing_from_sequence": ["leg2", "leg3"]}
    assert session.scene.sequence[1].direction == (0.0, 0.0, -1.0)
    assert "already" in error(session, "set_assembly_sequence", steps=["leg0", "leg0"])
    assert "leg3" in error(session, "set_assembly_sequence", steps=["leg9"])
    ok(session, "remove_part", instance_id="leg1")
    assert [step.part for step in session.scene.sequence] == ["leg0", "top"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("place_part", {"part_id": "P01", "instance_id": "a", "position": [0, 0, 0]}, "did you mean 'P001'"),
        ("place_part", {"part_id": "P001", "instance_id": "top", "position": [0, 0, 0]}, "move_part"),
        ("place_part", {"part_id": "P001", "instance_id": "a b", "position": [0, 0, 0]}, "letters, digits"),
        ("place_part", {"part_id": "P001", "instance_id": "a", "position": [0, 0, 5.5]}, "position[2]"),
        ("place_part", {"part_id": "P001", "instance_id": "a", "position": [0, 0]}, "position"),
        ("place_part", {"part_id": "P001", "instance_id": "a", "position": [0, 0, True]}, "position[2]"),
        (
            "place_part",
            {"part_id": "P001", "instance_id": "a", "position": [0, 0, 0], "material": "stel"},
            "did you mean 'steel'",
        ),
        ("move_part", {"instance_id": "top"}, "nothing to do"),
        ("move_part", {"instance_id": "P001", "position": [0, 0, 0]}, "call place_part first"),
        ("move_part", {"instance_id": "top", "position": [5, 0, 0], "translate_by": [1, 0, 0]}, "outside"),
        ("attach", {"instance_id": "top", "anchor": "top", "target": "top"}, "itself"),
        ("attach", {"instance_id": "top", "anchor": "topp", "target": "ground"}, "anchor"),
        ("remove_part", {"instance_id": "leg9"}, "did you mean"),
        ("set_part_info", {"instance_id": "top", "role": "\x00"}, "printable"),
        ("set_part_info", {"instance_id": "top", "role": "x" * 200}, "characters"),
        ("remove_joint", {"joint_id": "hinge"}, "there is none yet"),
        ("add_joint", {"joint_id": "j", "type": "hinge", "parent": "top", "child": "leg0"}, "type"),
        ("add_joint", {"joint_id": "j", "type": "revolute", "parent": "top", "child": "leg0"}, "origin"),
        (
            "add_joint",
            {"joint_id": "j", "type": "revolute", "parent": "top", "child": "leg0", "origin": [0, 0, 0]},
            "axis",
        ),
        ("add_joint", {"joint_id": "j", "type": "fixed", "parent": "top", "child": "top"}, "same part"),
        (
            "add_joint",
            {"joint_id": "j", "type": "fixed", "parent": "top", "child": "P002"},
            "place_part first",
        ),
        (
            "add_joint",
            {"joint_id": "j", "type": "fixed", "parent": "top", "child": "leg0", "limits": [1, 0]},
            "lower one comes first",
        ),
        ("create_part", {"name": "P001", "program": box(1, 1, 1)}, "choose another name"),
        ("create_part", {"name": "new", "program": "{"}, "JSON"),
        ("create_part", {"name": "new", "program": {"nodes": [], "output": 1}}, "nodes"),
        ("inspect_part", {"part_id": "x"}, "list_parts"),
        ("render", {"views": ["under"]}, "views"),
        ("measure", {"a": "top", "b": "grund"}, "grund"),
        ("list_part", {}, "did you mean 'list_parts'"),
        ("measure", {"a": "qqqqqqq", "b": "top"}, ", top. get_scene lists"),
        ("set_part_info", {"instance_id": "top", "material": "zzz"}, "more. list_materials lists all"),
        ("create_part", {"name": "new", "program": [1]}, "program is [1]; it has to be an object or a text"),
        (
            "remove_part",
            {"instance_id": "top", "colour": 1},
            "there is no argument 'colour'; there are instance_id",
        ),
        ("remove_part", {}, "instance_id is missing"),
        ("move_part", {"instance_id": "top", "position": [0, 0]}, "position has 2 items; it needs 3"),
        (
            "move_part",
            {"instance_id": "top", "position": [0, 0, 6]},
            "position[2] is 6; it has to be at most 5",
        ),
        ("move_part", {"instance_id": "top", "position": "[0, 0, NaN]"}, "it has to be a list"),
        ("set_assembly_sequence", {"steps": [{}]}, "steps[0].part is missing"),
        ("set_assembly_sequence", {"steps": [3]}, "steps[0] is 3; it has to be an object or a text"),
        ("render", {"views": ["under"]}, "views[0] is 'under'; it has to be one of 'cond', 'iso'"),
    ],
)
def test_refusals_say_what_to_do(session: Session, name: str, arguments: Any, words: str) -> None:
    stool(session)
    assert words in error(session, name, **arguments)


def test_nothing_to_see(session: Session) -> None:
    assert "place_part" in error(session, "render")


def test_a_circle_of_joints_is_refused(session: Session) -> None:
    stool(session)
    for number, (parent, child) in enumerate([("leg0", "top"), ("top", "leg1")]):
        ok(session, "add_joint", joint_id=f"j{number}", type="fixed", parent=parent, child=child)
    circle = error(session, "add_joint", joint_id="j2", type="fixed", parent="leg1", child="leg0")
    assert "exchange parent and child" in circle


def test_at_most_eighty_parts(session: Session) -> None:
    for number in range(80):
        place(session, "P002", f"p{number}", 0.1 * (number % 10), 0.1 * (number // 10), 0.2)
    last = {"part_id": "P002", "instance_id": "p80", "position": [0, 0, 3]}
    assert "80 parts" in error(session, "place_part", **last)


def test_eighty_parts_in_one_place_are_checked(session: Session) -> None:
    for number in range(80):
        place(session, "P001", f"p{number}", 0, 0, 0.02)
    found = ok(session, "check")
    assert found["n_collisions"] == 80 * 79 // 2
    assert len(found["collisions"]) == 20


def test_parts_too_large_to_be_checked(session: Session) -> None:
    ok(session, "create_part", name="huge", program=box(3, 3, 3))
    ok(session, "create_part", name="large", program=box(2.9, 2.9, 2.9))
    at = {"position": [0, 0, 0], "instance_id": "new"}
    assert "3 × 3 × 3 m" in error(session, "place_part", part_id="huge", **at)
    for number in range(5):
        session.scene.instances[f"p{number}"] = Instance(f"p{number}", "large", (0.0, 0.0, 2.0))
    assert "146.3 m³" in error(session, "place_part", part_id="large", **at)


def test_dialects_of_programs() -> None:
    clockwise = {
        "nodes": [{"id": "a", "op": "extrude", "polygon": [[0, 0], [0, 1], [1, 1]], "height": 0.1}],
        "output": "a",
    }
    strict, lenient = (Session(Scene(Catalogue()), Rules(tier="C", strict=s)) for s in (True, False))
    assert "clockwise" in error(strict, "create_part", name="wedge", program=clockwise)
    made = ok(lenient, "create_part", name="wedge", program=clockwise)
    assert made["volume_m3"] == pytest.approx(0.05)
    assert made["warnings"]


def test_a_scene_is_the_same_after_json(session: Session) -> None:
    stool(session)
    ok(session, "create_part", name="cap", program=box(0.05, 0.05, 0.01))
    place(session, "cap", "cap0", 0.1 + 0.2, 1 / 3, 0.5, rotation=[0.1234567891, 0, -0.0])
    ok(session, "add_joint", joint_id="j", type="ball", parent="top", child="cap0", origin=[0.3, 0.3, 0.45])
    ok(session, "set_assembly_sequence", steps=["top", "cap0"])
    state = session.scene.state()
    assert state["instances"][-1]["position"] == [0.3, 0.333333, 0.5]
    again = Scene(Catalogue.of_entries(POOL))
    again.restore(json.loads(json.dumps(state)))
    assert again.state() == state
    both: list[Outcome] = [call(Session(s, Rules()), "check", {}) for s in (session.scene, again)]
    assert both[0].data == both[1].data
    assert again.document() == session.scene.document()
    assert set(session.scene.document()["programs"]) == {"P001", "P002", "cap"}


def test_after_the_end(session: Session) -> None:
    session.scene.over = True
    assert error(session, "list_parts") == "the episode has ended"
