"""Closed forms that the engines have to reproduce, and the parts of the model one by one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

sys.path.insert(0, str(Path(__file__).parent))

import lmbuild_mechanisms as mechanisms

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.simulation import Settings
from evalkit_lmbuild.simulation.boxes import boxes_of
from evalkit_lmbuild.simulation.building import build
from evalkit_lmbuild.simulation.groups import joint_tree
from evalkit_lmbuild.simulation.masses import joined, mass_of
from evalkit_lmbuild.simulation.model import Model
from evalkit_lmbuild.simulation.shapes import hull_of, wheel_of
from evalkit_lmbuild.simulation.world import open_world

G = 9.81


@pytest.fixture(params=["mujoco", "pybullet"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of one engine, strict; PyBullet is an extra."""
    if request.param == "pybullet":
        pytest.importorskip("pybullet")
    return Settings(engine=request.param)


def _model(design: Design, settings: Settings) -> Model:
    return build(design, mechanisms.exact_contacts(design), settings)[0]


def _without_armature(model: Model) -> Model:
    bodies = tuple(
        replace(
            body, freedoms=tuple(replace(f, stiffness=0.0, damping=0.0, armature=0.0) for f in body.freedoms)
        )
        for body in model.bodies
    )
    return replace(model, bodies=bodies)


def test_a_pendulum_swings_as_its_closed_form(settings: Settings) -> None:
    post = mechanisms.box("post", (0, 0, 0.5), (0.2, 0.2, 1.0))
    bar = mechanisms.box("bar", (0.25, 0.2, 0.8), (0.5, 0.02, 0.02))
    hinge = Joint("hinge", "continuous", "post", "bar", (0.0, 1.0, 0.0), (0.0, 0.2, 0.8))
    model = _without_armature(_model(Design((post, bar), (hinge,)), replace(settings, free_standing=False)))
    world = open_world(model, settings.engine)
    world.step(1)
    start = world.energy()
    per_kg = (0.5**2 + 0.02**2) / 12 + 0.25**2
    quarter_s = float(ellipk(0.5)) * np.sqrt(per_kg / (G * 0.25))  # from level, so the modulus is sin 45°
    world.step(round(1000 * quarter_s) - 1)
    assert world.reading(1, 0)[0] == pytest.approx(np.pi / 2, abs=0.02)
    fall_j = model.bodies[1].mass.kg * G * 0.25
    for _ in range(20):
        world.step(100)
        assert abs(world.energy() - start) < 0.01 * fall_j
    world.close()


def test_friction_holds_up_to_the_weight_and_no_further(settings: Settings) -> None:
    slab = Design((mechanisms.box("slab", (0, 0, 0.02), (0.4, 0.4, 0.04)),))
    model = _model(slab, settings)
    for push, travel in ((0.9, 0.0), (1.2, 0.5 * 0.2 * G * 0.5**2)):
        world = open_world(model, settings.engine)
        world.step(200)
        before = world.root()[0]
        world.push(np.array([push * model.mass_kg * G, 0.0, 0.0]))
        world.step(500)
        assert world.root()[0][0] - before[0] == pytest.approx(travel, abs=0.02)
        world.close()


def test_a_dropped_part_falls_freely(settings: Settings) -> None:
    parts = (
        mechanisms.box("block", (0, 0, 0.1), (0.4, 0.4, 0.2)),
        mechanisms.box("loose", (0, 1, 3), (0.1, 0.1, 0.1)),
    )
    model = _model(Design(parts), settings)
    world = open_world(model, settings.engine)
    start = world.energy()
    world.step(600)
    assert world.energy() == pytest.approx(start, abs=0.05), "what falls gains no energy"
    world.close()


def test_a_branch_goes_on_like_its_origin(settings: Settings) -> None:
    model = _model(mechanisms.lid(), settings)
    world = open_world(model, settings.engine)
    world.step(300)
    branch = world.branch()
    for each in (world, branch):
        each.aim(1, 0, np.array([0.3]))
        each.step(200)
    assert world.reading(1, 0)[0] == branch.reading(1, 0)[0] > 0.1
    world.close()
    branch.close()


def test_bodies_root_and_tree() -> None:
    cart = mechanisms.cart()
    tree = joint_tree(cart, mechanisms.exact_contacts(cart), 0.0)
    assert tree.bodies[tree.root] == ("body",), "the heaviest one joint away from the floor"
    assert len(tree.links) == 4
    fixed = mechanisms.cart("fixed")
    assert len(joint_tree(fixed, mechanisms.exact_contacts(fixed), 0.0).bodies) == 1
    bars = mechanisms.four_bar()
    tree = joint_tree(bars, mechanisms.exact_contacts(bars), 0.0)
    assert tree.bodies[tree.root] == ("plate",)
    assert [link.joint.id for link in tree.loops] == ["right"]
    doubled = replace(
        mechanisms.lid(), joints=(*mechanisms.lid().joints, Joint("weld", "fixed", "box", "lid"))
    )
    tree = joint_tree(doubled, mechanisms.exact_contacts(doubled), 0.0)
    assert [joint.id for joint in tree.inert] == ["hinge"]


def test_masses_are_those_of_textbooks() -> None:
    part = mechanisms.box("a", (1, 2, 3), (0.2, 0.3, 0.4))
    mass = mass_of(part.world, 0.024)
    assert mass.kg == pytest.approx(24)
    assert mass.centre == pytest.approx([1, 2, 3])
    assert np.diag(mass.inertia) == pytest.approx(np.array([0.09 + 0.16, 0.04 + 0.16, 0.04 + 0.09]) * 2)
    halves = [
        mechanisms.box("l", (-0.1, 0, 0), (0.2, 0.3, 0.4)),
        mechanisms.box("r", (0.1, 0, 0), (0.2, 0.3, 0.4)),
    ]
    whole = mechanisms.box("w", (0, 0, 0), (0.4, 0.3, 0.4))
    together = joined([mass_of(half.world, 0.024) for half in halves])
    assert together.inertia == pytest.approx(mass_of(whole.world, 0.048).inertia, abs=1e-6)
    inside_out = replace(part.mesh, faces=part.mesh.faces[:, ::-1].copy())
    assert mass_of(inside_out, 0.024).kg == pytest.approx(24), "a mesh that is no solid weighs like its hull"


def test_wheels_are_round_and_centred() -> None:
    y = np.array([0.0, 1.0, 0.0])
    points = mechanisms.wheel("w", (0, 0, 0), 0.05, 0.03).world.vertices
    wheel = wheel_of(points, y, np.zeros(3))
    assert wheel is not None
    assert (wheel.radius, wheel.half_width) == pytest.approx((0.05, 0.015))
    assert wheel_of(points, y, np.array([0.02, 0.0, 0.0])) is None, "off centre"
    assert wheel_of(points * [1.0, 1.0, 0.6], y, np.zeros(3)) is None, "not round"


def test_hulls_are_bounded_inset_and_never_flat() -> None:
    random = np.random.default_rng(0).normal(size=(5000, 3))
    ball = hull_of(random / np.linalg.norm(random, axis=1)[:, None])
    assert len(ball.points) <= 512
    cube = hull_of(np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]))
    inner = cube.inset(0.0005).points
    assert inner.min(axis=0) == pytest.approx([0.0005] * 3)
    assert inner.max(axis=0) == pytest.approx([0.9995] * 3)
    sheet = hull_of(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    assert np.ptp(sheet.points[:, 2]) == pytest.approx(0.0005)
    assert np.ptp(sheet.inset(0.0005).points[:, 2]) > 0


def test_boxes_fill_a_case_exactly() -> None:
    case = replace(mechanisms.cased(front=False).parts[0], rotation=(0.0, 0.0, 30.0))
    hulls = boxes_of(case)
    assert hulls is not None
    assert len(hulls) <= 18
    volumes = [np.prod(np.linalg.norm(h.points[[1, 2, 4]] - h.points[0], axis=1)) for h in hulls]
    assert sum(volumes) == pytest.approx(2 * 0.4 * 0.4 * 0.02 + 2 * 0.02 * 0.4 * 0.26 + 0.36 * 0.02 * 0.26)
    wheel = boxes_of(mechanisms.wheel("w", (0, 0, 0), 0.05, 0.03))
    assert wheel is not None
    assert len(wheel) == 1, "a convex part is its own hull"


def test_servos_are_sized_by_what_they_carry() -> None:
    model = _model(mechanisms.lid(), Settings())
    servo = model.bodies[1].freedoms[0]
    arm = np.linalg.norm([0.3, 0.3, 0.02]) / 2
    assert servo.stiffness == pytest.approx(100 * 1.8 * G * arm)
    assert servo.damping == pytest.approx(2 * servo.stiffness / 60)
    assert servo.armature == pytest.approx(servo.stiffness / 3600)
    free = model.released(["hinge"]).bodies[1].freedoms[0]
    assert (free.stiffness, free.damping) == (0.0, 0.0)
    assert free.armature == pytest.approx(0.01 * 1.8 * arm**2)
