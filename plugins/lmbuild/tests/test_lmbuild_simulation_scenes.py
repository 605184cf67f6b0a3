"""Mechanisms with known behaviour, in both engines and in both protocols."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import lmbuild_mechanisms as mechanisms

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.kernel import Field
from evalkit_lmbuild.simulation import Actuate, Roll, Settings, simulate

WHEELS = tuple(f"wheel{i}" for i in range(4))


@pytest.fixture(params=["mujoco", "pybullet"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of one engine, strict; PyBullet is an extra."""
    if request.param == "pybullet":
        pytest.importorskip("pybullet")
    return Settings(engine=request.param)


def score(design: Design, motion: Actuate | Roll, settings: Settings) -> tuple[float, str]:
    """Score and status of one motion with contacts from the stand-in kernel."""
    result = simulate(design, mechanisms.exact_contacts(design), [motion], settings)
    assert result.settled.rests, result.settled
    return result.motions[0].score, result.motions[0].status


def test_cart_rolls_as_far_as_its_inertia_lets_it(settings: Settings) -> None:
    cart = mechanisms.cart()
    result = simulate(cart, mechanisms.exact_contacts(cart), [Roll(WHEELS)], settings)
    best = result.motions[0].best
    assert best is not None
    assert best.target == pytest.approx(0.5 * 0.981 * 1.5**2)
    # mass M with four wheels of mass m rolls like M + 4·(½ m), whatever the engine adds as armature
    wheel_kg = 1000 * 0.03 * 12 * 0.05**2 * np.sin(np.radians(15))
    total_kg = 12 + 4 * wheel_kg
    rolled = best.target * total_kg / (total_kg + 2 * wheel_kg)
    assert best.reached == pytest.approx(rolled, rel=0.01)
    assert result.motions[0].score == 1.0


def test_a_heavy_drum_rolls_in_a_light_frame(settings: Settings) -> None:
    drum = mechanisms.wheel("drum", (0, 0, 0.2), 0.2, 0.5, sections=16)
    axle = Joint("axle", "continuous", "frame", "drum", (0.0, 1.0, 0.0), (0.0, 0.27, 0.2))
    frame = mechanisms.box("frame", (0, 0.28, 0.2), (0.3, 0.02, 0.06))
    roller = Design((frame, drum), (axle,))
    result = simulate(roller, mechanisms.exact_contacts(roller), [Roll(("drum",))], settings)
    assert result.root == ("drum",)
    best = result.motions[0].best
    assert best is not None
    assert best.reached > 0.5 * best.target, "a cylinder's own inertia costs a third"
    assert (best.score, best.problem) == (1.0, "")
    assert best.tilt_deg < 5


def test_fixed_and_held_wheels_do_not_roll(settings: Settings) -> None:
    assert score(mechanisms.cart("fixed"), Roll(WHEELS), settings) == (
        pytest.approx(0.0, abs=0.01),
        "blocked",
    )


def test_lid_opens(settings: Settings) -> None:
    assert score(mechanisms.lid(), Actuate(("hinge",)), settings) == (pytest.approx(1.0, abs=0.02), "works")


def test_flap_below_a_top_is_blocked(settings: Settings) -> None:
    reached, status = score(mechanisms.flap(), Actuate(("hinge",)), settings)
    assert reached < 0.2
    assert status == "blocked"


def test_a_joint_declared_the_other_way_round_moves_alike(settings: Settings) -> None:
    lid = mechanisms.lid()
    hinge = replace(lid.joints[0], parent="lid", child="box", limits=(-1.6, 0.0))
    turned = replace(lid, joints=(hinge,))
    assert score(turned, Actuate(("hinge",)), settings) == (pytest.approx(1.0, abs=0.02), "works")
    wrong = replace(lid, joints=(replace(hinge, limits=(0.0, 1.6)),))
    assert score(wrong, Actuate(("hinge",)), settings)[1] == "blocked"


def test_drawer_slides_out_and_not_through_the_back(settings: Settings) -> None:
    drawer = mechanisms.drawer(0.001, 0.001)
    assert score(drawer, Actuate(("slide",)), settings) == (pytest.approx(1.0, abs=0.02), "works")
    assert score(drawer, Actuate(("slide",), targets=(-0.2,)), settings)[1] == "blocked"


@pytest.mark.parametrize("joint", ["crank", "left", "rocker"])
def test_four_bar_moves_with_its_loop_kept(settings: Settings, joint: str) -> None:
    design = mechanisms.four_bar()
    kept = replace(settings, loops="kept")
    result = simulate(design, mechanisms.exact_contacts(design), [Actuate((joint,))], kept)
    assert result.motions[0].score > 0.95
    assert result.dropped_loops == ()
    assert simulate(design, mechanisms.exact_contacts(design), [], settings).dropped_loops == ("right",)


def test_ball_and_cylindrical_joints(settings: Settings) -> None:
    assert score(mechanisms.on_a_stand("ball"), Actuate(("joint",)), settings)[0] > 0.95
    pole = mechanisms.on_a_stand("cylindrical", (0.0, 0.1))
    for freedom in ("slide", "turn"):
        result = simulate(
            pole, mechanisms.exact_contacts(pole), [Actuate(("joint",), freedom=freedom)], settings
        )
        assert result.motions[0].score > 0.95
        assert result.motions[0].best is not None
        assert result.motions[0].best.freedom == freedom
        assert "hinge and a slide" in result.motions[0].notes[0]


def test_best_of_candidates(settings: Settings) -> None:
    drawer = mechanisms.drawer(0.001, 0.001)
    stuck = Joint("stuck", "revolute", "floor", "drawer", (0.0, 0.0, 1.0), (0.0, 0.0, 0.12), (0.0, 1.0))
    design = replace(drawer, joints=(drawer.joints[0], stuck))
    result = simulate(design, mechanisms.exact_contacts(design), [Actuate(("stuck", "slide"))], settings)
    assert result.motions[0].best is not None
    assert result.motions[0].best.joint == "slide"
    assert "stuck" in result.motions[0].notes[0]


def test_same_inputs_same_bits(settings: Settings) -> None:
    flap = mechanisms.flap()
    contacts = mechanisms.exact_contacts(flap)
    once = simulate(flap, contacts, [Actuate(("hinge",)), Actuate(("hinge",))], settings)
    again = simulate(flap, contacts, [Actuate(("hinge",)), Actuate(("hinge",))], settings)
    assert once == again
    assert once.motions[0] == once.motions[1], "a motion doesn't depend on those before it"


def test_recorded_scenes(lmbuild_data: Path, settings: Settings) -> None:
    scenes = {
        scene["name"]: scene for scene in json.loads((lmbuild_data / "golden_scenes.json").read_text())["sim"]
    }
    box = mechanisms.box
    spec = scenes["cart"]["wheels"]
    wheels = tuple(
        mechanisms.wheel(f"wheel{i}", centre, spec["radius"], spec["width"], spec["sections"])
        for i, centre in enumerate(spec["centres"])
    )
    for kind, rolls in (("continuous", True), ("fixed", False)):
        joints = tuple(
            Joint(f"a{i}", kind, "body", f"wheel{i}", (0.0, 1.0, 0.0), tuple(centre))
            for i, centre in enumerate(spec["centres"])
        )
        cart = Design((box("body", *scenes["cart"]["body"]), *wheels), joints)
        result = simulate(cart, Field(cart.parts), [Roll(WHEELS)], settings)
        assert (result.motions[0].score > 0.9) is rolls
    lid = scenes["lid"]
    declared = lid["joint"]
    hinge = Joint(
        "hinge",
        declared["type"],
        declared["parent"],
        declared["child"],
        tuple(declared["axis"]),
        tuple(declared["origin"]),
        tuple(declared["limits"]),
    )
    design = Design(tuple(box(name, *part) for name, part in lid["parts"].items()), (hinge,))
    assert simulate(design, Field(design.parts), [Actuate(("hinge",))], settings).motions[0].score > 0.9
