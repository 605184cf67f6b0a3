"""A.3: the hand-built car and door, and the arithmetic of recall and precision."""

import json
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from evalkit_lmbuild.design import Design, Joint, Mesh, Part
from evalkit_lmbuild.facts import Condition, Motion, ObjectFacts
from evalkit_lmbuild.kernel import Field, sweep_free
from evalkit_lmbuild.scoring import moving as moving_module
from evalkit_lmbuild.scoring.kinematics import Expectation, Target, joint_quality, kinematics
from evalkit_lmbuild.scoring.moving import Motions
from evalkit_lmbuild.scoring.targets import targets_of

WHEEL = Expectation(("continuous",), "symmetry", "horizontal", "centre", span=2 * np.pi, moving_frac_max=0.6)
DOOR = Expectation(("revolute",), "pca0", "vertical", "edge", span=np.radians(72), moving_frac_max=0.9)


def box(id: str, centre, size, role=None) -> Part:
    shape = trimesh.creation.box(size)
    mesh = Mesh(np.asarray(shape.vertices, dtype=float), np.asarray(shape.faces, dtype=np.int32))
    return Part(id, mesh, tuple(map(float, centre)), role=role)


def wheel(id: str, centre, radius: float, width: float) -> Part:
    shape = trimesh.creation.cylinder(radius, width, sections=48)
    mesh = Mesh(np.asarray(shape.vertices, dtype=float), np.asarray(shape.faces, dtype=np.int32))
    return Part(id, mesh, tuple(map(float, centre)), (0.0, 90.0, 0.0), role="wheel")


def car(axis=(1.0, 0.0, 0.0), origin_off_y=0.0, body_z=0.3, wheel_x_scale=1.0) -> Design:
    places = [(x * wheel_x_scale, y, 0.12) for y in (-0.35, 0.35) for x in (-0.3, 0.3)]
    parts = [box("body", (0, 0, body_z), (0.5, 1.0, 0.25), "body")]
    parts += [wheel(f"wheel{i}", place, 0.12, 0.08) for i, place in enumerate(places)]
    joints = [
        Joint(f"j{i}", "continuous", "body", f"wheel{i}", axis, (x, y + origin_off_y, z))
        for i, (x, y, z) in enumerate(places)
    ]
    return Design(tuple(parts), tuple(joints))


def door(origin_x=-0.4, limits=(0.0, 1.6)) -> Design:
    parts = (
        box("jamb_l", (-0.435, 0, 1.025), (0.06, 0.12, 2.05), "jamb"),
        box("jamb_r", (0.435, 0, 1.025), (0.06, 0.12, 2.05), "jamb"),
        box("head", (0, 0, 2.08), (0.93, 0.12, 0.06), "head"),
        box("leaf", (0, 0, 1.0), (0.8, 0.04, 2.0), "leaf"),
    )
    joints = (
        Joint("hinge", "revolute", "jamb_l", "leaf", (0, 0, 1), (origin_x, 0, 1), limits),
        Joint("f1", "fixed", "jamb_l", "head"),
        Joint("f2", "fixed", "head", "jamb_r"),
    )
    return Design(parts, joints)


def quality(design: Design, joint: str, expected: Expectation):
    field = Field(design.parts)
    found = next(each for each in design.joints if each.id == joint)
    return joint_quality(Motions(design, field, field.touching()), found, expected)


def test_wheels_of_a_car():
    assert quality(car(), "j0", WHEEL).q > 0.95
    assert quality(car(axis=(0, 0, 1)), "j0", WHEEL).q == 0
    assert quality(car(axis=(0, 1, 0)), "j0", WHEEL).q == 0
    assert quality(car(origin_off_y=0.2), "j0", WHEEL).q < 0.2
    buried = quality(car(body_z=0.2, wheel_x_scale=0.6), "j0", WHEEL)
    assert buried.buried
    assert buried.q == 0


def test_leaf_of_a_door():
    assert quality(door(), "hinge", DOOR).q > 0.9
    assert quality(door(origin_x=0.0), "hinge", DOOR).q < 0.1
    assert 0.1 <= quality(door(limits=(0.0, 0.2)), "hinge", DOOR).range <= 0.3


def test_the_scenes_are_the_shared_ones(lmbuild_data):
    """The numbers above are those of the recorded scenes."""
    scenes = json.loads((lmbuild_data / "golden_scenes.json").read_text())["A3"]
    for name, (centre, size) in scenes["door"]["parts"].items():
        part = door().by_id[name]
        assert part.position == tuple(centre)
        assert part.mesh.size == pytest.approx(size)
    body = scenes["car"]["body"]
    assert car().by_id["body"].position == tuple(body[0])
    assert car().by_id["body"].mesh.size == pytest.approx(body[1])
    wheels = scenes["car"]["wheels"]
    assert sorted(part.position[:2] for part in car().parts[1:]) == sorted(map(tuple, wheels["centres_xy"]))
    assert (wheels["radius"], wheels["width"], wheels["z"]) == (0.12, 0.08, 0.12)
    for expected, given in ((WHEEL, scenes["wheel_expect"]), (DOOR, scenes["door_expect"])):
        assert list(expected.types) == given["types"]
        assert (expected.axis, expected.axis_dir, expected.offset) == tuple(
            given[key] for key in ("axis", "axis_dir", "offset")
        )
        assert expected.moving_frac_max == given["moving_frac_max"]


def role(part: Part) -> str | None:
    return part.role


def test_recall_and_precision():
    target = Target("wheel", "rolls", WHEEL, slots=4)
    design = car()
    field = Field(design.parts)
    whole = kinematics(design, field, [target], role, field.touching())
    assert whole.score == pytest.approx(1.0)
    half = replace(design, joints=design.joints[:2])
    found = kinematics(half, field, [target], role, field.touching())
    assert found.evidence["recall"] == pytest.approx(0.5)
    assert found.evidence["precision"] == pytest.approx(1.0)
    assert found.score == pytest.approx(2 / 3)


def test_a_joint_that_nobody_asked_for_counts_half():
    design = car()
    field = Field(design.parts)
    target = Target("wheel", "rolls", WHEEL, slots=4)
    extra = Joint("odd", "revolute", "wheel0", "body", (0, 0, 1), (0, 0, 0.3), (0, 1))
    found = kinematics(
        replace(design, joints=(*design.joints, extra)), field, [target], role, field.touching()
    )
    assert found.evidence["joints"]["odd"] <= 0.5
    assert found.score < 1.0


def test_a_joint_is_swept_once_for_all_it_is_compared_with(monkeypatch):
    swept = []

    def counted(field, design, joint, moving, limit):
        swept.append(joint.id)
        return sweep_free(field, design, joint, moving, limit)

    monkeypatch.setattr(moving_module, "sweep_free", counted)
    design = car()
    field = Field(design.parts)
    looser = replace(WHEEL, moving_frac_max=0.7)
    targets = [Target("wheel", "turn", WHEEL, 4), Target("wheel", "slide", looser, 4)]
    kinematics(design, field, targets, role, field.touching())
    assert swept == ["j0", "j1", "j2", "j3"]


def test_sweeps_have_an_account_that_does_not_depend_on_the_order(monkeypatch):
    design = car()
    big = Joint("big", "continuous", "wheel0", "body", (0, 0, 1), (0, 0, 0.3))
    monkeypatch.setattr(moving_module, "SWEEP_LIMIT", 5 * 7e5)
    reasons = []
    for joints in ((big, *design.joints), (*design.joints, big)):
        mixed = replace(design, joints=joints)
        field = Field(mixed.parts)
        motions = Motions(mixed, field, field.touching())
        found = {joint.id: joint_quality(motions, joint, WHEEL) for joint in joints}
        reasons.append({name: each.reason for name, each in sorted(found.items())})
        assert all(found[joint.id].free == 1 for joint in design.joints)
        assert found["big"].free == 0
        assert found["big"].as_dict()["reason"] == "sweeping big would look at more than 7e+05 cells"
    assert reasons[0] == reasons[1]


def test_no_targets_and_no_joints():
    design = car()
    field = Field(design.parts)
    assert kinematics(design, field, [], role, field.touching()).score is None
    still = replace(design, joints=())
    target = Target("wheel", "rolls", WHEEL, slots=4)
    assert kinematics(still, field, [target], role, field.touching()).score == 0.0


def facts(reference: Design | None, *motions: Motion) -> ObjectFacts:
    return ObjectFacts("x", "x", (Condition("name_only", "Build x."),), motions=motions, reference=reference)


def test_a_reference_meets_its_own_targets():
    for design in (car(), door()):
        targets = targets_of(facts(design), role, str)
        field = Field(design.parts)
        assert kinematics(design, field, targets, role, field.touching()).score > 0.95


def test_targets_from_reference_and_claims():
    claim = Motion("K1", "wheel", "body", "revolute", "rolls", "axle")
    steers = Motion("K2", "wheel", "body", "prismatic", "slides on its axle")
    unseen = Motion("K3", "engine", "body", "continuous", "runs")
    (rolls, slides) = targets_of(facts(car(), claim, steers, unseen), role, str)
    assert (rolls.component, rolls.motion, rolls.slots) == ("wheel", "rolls", 4)
    assert rolls.expectation.axis == "symmetry"
    assert rolls.expectation.axis_dir == "horizontal"
    assert rolls.expectation.offset == "centre"
    assert rolls.expectation.span == pytest.approx(2 * np.pi)
    assert (slides.motion, slides.slots) == ("slides on its axle", 1)
    (alone,) = targets_of(facts(None, claim), role, str)
    assert alone.expectation == Expectation(("revolute",), "symmetry", "horizontal", "centre")
