"""Moving sets, sweeps of joints and approaches of parts, on small scenes with one possible outcome."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import trimesh
from lmbuild_scenes import bench, box, boxes, cylinder, design_of, mesh_of

from evalkit_lmbuild.design import Design, Joint, Part, Vector
from evalkit_lmbuild.kernel import (
    Field,
    approach,
    moving_set,
    origin_distances,
    origin_ok,
    sweep_free,
    turned,
)
from evalkit_lmbuild.kernel.sweeps import SweepResult

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def hinge(**more: object) -> Joint:
    """A hinge between plank and left trestle of the bench."""
    values = {"axis": Y, "origin": (-0.3, 0.0, 0.46), "limits": (0.0, 1.0), **more}
    return Joint("j", "revolute", "plank", "left", **values)  # type: ignore[arg-type]


def swept(design: Design) -> SweepResult:
    """The sweep of the design's first joint."""
    field = Field(design.parts)
    joint = design.joints[0]
    return sweep_free(field, design, joint, moving_set(design, joint, field.touching()))


def test_origin_distances_are_to_both_surfaces() -> None:
    joint = hinge(origin=(-0.3, 0.0, 0.44))
    design = design_of(bench(), joint)
    assert origin_distances(design, joint) == pytest.approx((0.02, 0.02))
    assert origin_ok(design, joint, 0.0201)
    assert not origin_ok(design, joint, 0.0199)
    assert not origin_ok(design, hinge(origin=(1.0, 1.0, 1.0)))


@pytest.mark.parametrize(("apart", "expected"), [(0.0, True), (0.03, True), (0.05, False)])
def test_a_fixed_joint_without_an_origin_is_as_good_as_the_best_one(apart: float, expected: bool) -> None:
    parts = [box("a", (0, 0, 0), (0.1,) * 3), box("b", (0.1 + apart, 0, 0), (0.1,) * 3)]
    joint = Joint("j", "fixed", "a", "b")
    assert origin_ok(design_of(parts, joint), joint) is expected


TROLLEY = {  # a box on a wheel whose guard hangs from the box and whose cap is on the wheel only
    "box": ((0, 0, 0.5), (1.0, 0.6, 0.2)),
    "wheel": ((0.3, 0.25, 0.2), (0.4, 0.1, 0.4)),
    "guard": ((0.3, 0.325, 0.35), (0.5, 0.05, 0.5)),
    "cap": ((0.3, 0.19, 0.2), (0.1, 0.02, 0.1)),
    "pin": ((0.3, 0.17, 0.2), (0.04, 0.02, 0.04)),
}


def wheel_of_trolley(*others: Joint) -> Design:
    """The trolley with its wheel's joint and others."""
    axle = Joint("axle", "continuous", "box", "wheel", Y, (0.3, 0.25, 0.4))
    return design_of(boxes(TROLLEY), axle, *others)


def test_loose_parts_follow_unless_the_resting_side_holds_them() -> None:
    design = wheel_of_trolley()
    touching = Field(design.parts).touching()
    assert ("guard", "wheel") in touching
    found = moving_set(design, design.joints[0], touching)
    assert found.ids == ("wheel", "cap", "pin")
    assert not found.loop


def test_joints_carry_parts_and_close_loops() -> None:
    bolted = wheel_of_trolley(Joint("bolt", "fixed", "guard", "wheel"))
    touching = Field(bolted.parts).touching()
    assert moving_set(bolted, bolted.joints[0], touching).ids == ("wheel", "guard", "cap", "pin")
    loop = wheel_of_trolley(Joint("weld", "fixed", "wheel", "guard"), Joint("arm", "fixed", "guard", "box"))
    found = moving_set(loop, loop.joints[0], touching)
    assert found.loop
    assert "box" not in found.ids
    beyond = wheel_of_trolley(Joint("weld", "fixed", "wheel", "box"), Joint("arm", "fixed", "box", "guard"))
    assert moving_set(beyond, beyond.joints[0], touching).ids == ("wheel", "cap", "pin")


def test_turned_is_a_rotation() -> None:
    assert turned(Z, math.pi / 2) @ np.array(X) == pytest.approx(Y)
    matrix = turned((0.6, 0.0, 0.8), 1.2)
    assert matrix @ matrix.T == pytest.approx(np.eye(3))
    assert matrix @ np.array([0.6, 0, 0.8]) == pytest.approx([0.6, 0, 0.8])


def flap(limits: tuple[float, float] | None, wall_at: float) -> Design:
    """A flap hinged to a post at x = 0, lying along +x, and a wall at some angle about z from it."""
    x, y = math.cos(wall_at), math.sin(wall_at)
    wall = box("wall", (0.3 * x, 0.3 * y, 0.1), (0.2, 0.05, 0.2), rotation=(0.0, 0.0, math.degrees(wall_at)))
    parts = [
        box("post", (-0.03, 0, 0.1), (0.04, 0.04, 0.2)),
        box("flap", (0.2, 0, 0.1), (0.38, 0.04, 0.2)),
        wall,
    ]
    return design_of(parts, Joint("j", "revolute", "post", "flap", Z, (0.0, 0.0, 0.1), limits))


def test_a_flap_is_free_until_it_meets_a_wall() -> None:
    assert swept(flap((0.0, math.pi / 2), wall_at=math.pi)).free_share == 1.0
    blocked = swept(flap((0.0, math.pi / 2), wall_at=math.pi / 2))
    # Poses at k·90°/8: the one before the last grazes the edges of the wall, less than 2 % of the flap.
    assert [pose.free for pose in blocked.poses] == [True] * 7 + [False]
    assert blocked.free_share == 7 / 8
    assert blocked.poses[-1].blocked_by == "wall"
    assert blocked.buried_share == 0


def test_a_full_turn_is_tried_in_eleven_poses() -> None:
    once_round = swept(flap(None, wall_at=math.pi / 2))
    assert len(once_round.poses) == 11
    assert once_round.poses[2].value == pytest.approx(math.pi / 2)
    assert not once_round.poses[2].free
    assert once_round.poses[0].free
    assert swept(flap((-math.pi, math.pi), wall_at=math.pi / 2)).free_share == once_round.free_share


def test_a_drawer_slides_out_but_not_through_the_back() -> None:
    case = trimesh.util.concatenate(
        [
            trimesh.creation.box(bounds=bounds)
            for bounds in (
                ((-0.2, -0.2, 0), (0.2, 0.2, 0.02)),
                ((-0.2, -0.2, 0.18), (0.2, 0.2, 0.2)),
                ((-0.2, 0.18, 0), (0.2, 0.2, 0.2)),
                ((-0.2, -0.2, 0), (-0.18, 0.2, 0.2)),
                ((0.18, -0.2, 0), (0.2, 0.2, 0.2)),
            )
        ]
    )
    case.apply_translation((0, 0, -0.1))
    parts = [Part("case", mesh_of(case), (0, 0, 0.1)), box("drawer", (0, -0.02, 0.1), (0.34, 0.36, 0.14))]
    origin = (0.0, -0.19, 0.02)
    out = Joint("j", "prismatic", "case", "drawer", (0.0, -1.0, 0.0), origin, (0.0, 0.3))
    back = Joint("j", "prismatic", "case", "drawer", Y, origin, (0.0, 0.3))
    assert swept(design_of(parts, out)).free_share == 1.0
    assert swept(design_of(parts, back)).free_share < 0.3
    both = swept(design_of(parts, Joint("j", "prismatic", "case", "drawer", Y, origin)))
    assert [pose.value for pose in both.poses] == pytest.approx(np.linspace(-0.18, 0.18, 8).tolist())


def test_a_buried_wheel_says_so() -> None:
    parts = [
        box("block", (0, 0, 0.2), (0.5, 0.5, 0.3)),
        cylinder("wheel", (0, 0, 0.2), 0.1, 0.08, (90.0, 0.0, 0.0)),
    ]
    result = swept(design_of(parts, Joint("j", "continuous", "block", "wheel", Y, (0.0, 0.0, 0.2))))
    # All of the wheel's core, which is all but the outermost of its cells.
    assert result.buried_share == pytest.approx(0.84, abs=0.01)
    assert result.free_share == 1.0  # no worse than at rest


def test_ball_and_cylindrical_joints_are_swept_and_fixed_ones_not() -> None:
    post, arm = box("post", (0, 0, 0.1), (0.1, 0.1, 0.2)), box("arm", (0, 0, 0.35), (0.04, 0.04, 0.28))
    ball = swept(design_of([post, arm], Joint("j", "ball", "post", "arm", None, (0.0, 0.0, 0.205))))
    assert len(ball.poses) == 8
    assert ball.free_share == 1.0
    # The arm ends 1 cm above the post: the least of the downward slides hardly enters it.
    slide = Joint("j", "cylindrical", "post", "arm", Z, (0.0, 0.0, 0.2), (-0.1, 0.1))
    both = swept(design_of([post, arm], slide))
    assert sorted({pose.motion for pose in both.poses}) == ["slide", "turn"]
    assert [pose.free for pose in both.poses if pose.motion == "slide"] == [False] * 3 + [True] * 5
    assert swept(design_of([post, arm], Joint("j", "fixed", "post", "arm"))).poses == ()


def test_a_turned_part_is_swept_like_voxels_of_the_turned_mesh() -> None:
    resting = box("wall", (0.1, 0.12, 0.1), (0.3, 0.1, 0.2))
    moving = box("bar", (0.2, 0, 0.1), (0.3, 0.06, 0.2))
    joint = Joint("j", "revolute", "wall", "bar", Z, (0.0, 0.0, 0.1), (0.0, 0.8))
    pose = swept(design_of([resting, moving], joint)).poses[-1]
    turn = turned(Z, 0.8)
    x, y, z = (turn @ np.array([0.2, 0, 0.1])).tolist()
    there = Part("bar", moving.mesh, (x, y, z), (0.0, 0.0, math.degrees(0.8)))
    field = Field([resting, there])
    assert pose.extra_cells > 0
    # Counting stops soon after the limit, so the sweep can only be below.
    assert pose.extra_cells <= 1.2 * field.deep("bar", "wall") / field.pitch**3


def test_a_sweep_of_many_cells_looks_at_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = flap((0.0, math.pi / 2), wall_at=1.4)
    every = swept(blocked)
    monkeypatch.setattr("evalkit_lmbuild.kernel.sweeps.MOVING_CELLS", 10_000)
    some = swept(blocked)
    assert [pose.free for pose in some.poses] == [pose.free for pose in every.poses]
    assert every.free_share < 1


def cup(part_id: str = "cup", turn: Vector = (0.0, 0.0, 0.0)) -> Part:
    """A cup with walls of 2 cm, open above, 0.2 wide and high."""
    outer = trimesh.creation.box(bounds=((-0.1, -0.1, -0.1), (0.1, 0.1, -0.08)))
    walls = [
        trimesh.creation.box(bounds=bounds)
        for bounds in (
            ((-0.1, -0.1, -0.1), (-0.08, 0.1, 0.1)),
            ((0.08, -0.1, -0.1), (0.1, 0.1, 0.1)),
            ((-0.1, -0.1, -0.1), (0.1, -0.08, 0.1)),
            ((-0.1, 0.08, -0.1), (0.1, 0.1, 0.1)),
        )
    ]
    return Part(part_id, mesh_of(trimesh.util.concatenate([outer, *walls])), (0.0, 0.0, 0.1), turn)


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)),
        ((0.0, 90.0, 0.0), (-1.0, 0.0, 0.0)),
        ((0.0, -90.0, 0.0), (1.0, 0.0, 0.0)),
        ((90.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        ((-90.0, 0.0, 0.0), (0.0, -1.0, 0.0)),
    ],
)
def test_the_one_way_into_a_cup_is_found(turn: Vector, expected: Vector) -> None:
    field = Field([cup(turn=turn), box("core", (0, 0, 0.1), (0.12, 0.12, 0.12))])
    assert approach(field, "core", ["cup"], None, on_floor=False) == pytest.approx(expected)
    assert approach(field, "core", ["cup"], X, on_floor=False) == pytest.approx(expected)


def test_from_below_only_what_stands_on_the_floor() -> None:
    field = Field([cup(turn=(180.0, 0.0, 0.0)), box("core", (0, 0, 0.09), (0.12, 0.12, 0.16))])
    assert approach(field, "core", ["cup"], None, on_floor=False) is None
    assert approach(field, "core", ["cup"], None, on_floor=True) == pytest.approx(Z)


def test_a_declared_direction_is_taken_if_it_works() -> None:
    field = Field([cup(), box("core", (0, 0, 0.1), (0.12, 0.12, 0.12))])
    steep = approach(field, "core", ["cup"], (0.0, 0.1, -3.0), on_floor=False)
    assert steep == pytest.approx(np.array([0, 0.1, -3]) / math.hypot(0.1, 3))
    assert approach(field, "core", [], (0.0, 2.0, 0.0), on_floor=False) == (0.0, 1.0, 0.0)


def test_sealed_in_there_is_no_way() -> None:
    field = Field(
        [cup(), box("lid", (0, 0, 0.21), (0.2, 0.2, 0.02)), box("core", (0, 0, 0.1), (0.12, 0.12, 0.12))]
    )
    assert approach(field, "core", ["cup", "lid"], None, on_floor=True) is None


@pytest.fixture(scope="module")
def golden(lmbuild_data: Path) -> dict[str, object]:
    import json

    found = json.loads((lmbuild_data / "golden_scenes.json").read_text())
    assert isinstance(found, dict)
    return found


def test_golden_moving_set(golden: dict[str, dict[str, dict[str, object]]]) -> None:
    scene = golden["moving_set"]
    joint = Joint("j", **scene["joint"])  # type: ignore[arg-type]
    parts = boxes(scene["parts"])  # type: ignore[arg-type]
    design = design_of(parts, joint)
    field = Field(parts)
    assert all(field.deep(*pair) == 0 for pair in field.touching())
    assert ("fender", "wheel") in field.touching()
    found = moving_set(design, joint, field.touching())
    assert found.ids == ("wheel", "hubcap")
    assert not found.loop
    assert sum(map(field.volume, found.ids)) < 0.1 * sum(map(field.volume, field.parts))
    tied = design_of(parts, joint, Joint("weld", "fixed", "chassis", "wheel"))
    assert moving_set(tied, joint, field.touching()).loop


def test_golden_blocked_sweep(golden: dict[str, dict[str, object]]) -> None:
    variant = next(v for v in golden["variants"] if v["name"] == "blocked_sweep")  # type: ignore[index]
    parts = boxes({**golden["control"]["parts"], **variant["add"]})  # type: ignore[dict-item, index]
    result = swept(design_of(parts, Joint("j", **variant["joint"])))  # type: ignore[index]
    assert result.free_share < 1
    assert {pose.blocked_by for pose in result.poses if not pose.free} == {"top"}


def test_golden_wheels_of_a_car(golden: dict[str, dict[str, object]]) -> None:
    car = golden["A3"]["car"]
    wheels: dict[str, object] = car["wheels"]  # type: ignore[index]
    centre, size = car["body"]  # type: ignore[index]
    for buried in (False, True):
        x, y = wheels["centres_xy"][0]  # type: ignore[index]
        at = (x * (0.6 if buried else 1.0), y, wheels["z"])
        body = box("body", (centre[0], centre[1], 0.2) if buried else centre, size)
        wheel = cylinder("wheel", at, wheels["radius"], wheels["width"], (0.0, 90.0, 0.0))  # type: ignore[arg-type]
        joint = Joint("j", "continuous", "body", "wheel", X, at)  # type: ignore[arg-type]
        result = swept(design_of([body, wheel], joint))
        assert (result.buried_share > 0.2) is buried
        assert buried or result.free_share == 1.0
