"""Where simulations go wrong: flush contacts, masked collisions, ejections, hostile designs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import lmbuild_mechanisms as mechanisms

from evalkit_lmbuild.design import Design, Joint, Mesh, Part
from evalkit_lmbuild.kernel import Field
from evalkit_lmbuild.simulation import Actuate, Roll, Settings, simulate, world
from evalkit_lmbuild.simulation.building import build
from evalkit_lmbuild.simulation.errors import EngineMissingError
from evalkit_lmbuild.simulation.settling import settle

SLIDE = [Actuate(("slide",))]


@pytest.fixture(params=["mujoco", "pybullet"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of one engine, strict; PyBullet is an extra."""
    if request.param == "pybullet":
        pytest.importorskip("pybullet")
    return Settings(engine=request.param)


def test_a_flush_drawer_sticks_in_the_strict_protocol_only() -> None:
    flush = mechanisms.drawer(-1e-5, 0.001)
    contacts = mechanisms.exact_contacts(flush)
    strict = simulate(flush, contacts, SLIDE, Settings()).motions[0]
    inset = simulate(flush, contacts, SLIDE, Settings(protocol="inset")).motions[0]
    assert 0.4 < strict.score < 0.7
    assert inset.score > 0.98
    assert strict.flush == inset.flush == (("floor", "drawer"),)


def test_inset_agrees_where_nothing_is_flush(settings: Settings) -> None:
    inset = replace(settings, protocol="inset")
    flap, lid = mechanisms.flap(), mechanisms.lid()
    assert (
        simulate(flap, mechanisms.exact_contacts(flap), [Actuate(("hinge",))], inset).motions[0].score < 0.2
    )
    assert simulate(lid, mechanisms.exact_contacts(lid), [Actuate(("hinge",))], inset).motions[0].score > 0.95


def test_a_closed_case_masks_the_collision(settings: Settings) -> None:
    closed, opened = mechanisms.cased(front=True), mechanisms.cased(front=False)
    masked = simulate(closed, Field(closed.parts), SLIDE, settings).motions[0]
    assert masked.score > 0.95, "parity: hulls that overlap don't collide"
    assert masked.status == "masked"
    assert [(pair.moving, pair.resting, pair.free_share) for pair in masked.masked] == [
        ("drawer", "case", 0.0)
    ]
    free = simulate(opened, Field(opened.parts), SLIDE, settings).motions[0]
    assert free.status == "works"
    assert free.masked[0].free_share == 1.0


def test_boxes_tell_closed_from_open(settings: Settings) -> None:
    boxes = replace(settings, collision="boxes")
    closed, opened = mechanisms.cased(front=True), mechanisms.cased(front=False)
    assert simulate(closed, Field(closed.parts), SLIDE, boxes).motions[0].score < 0.1
    assert simulate(opened, Field(opened.parts), SLIDE, boxes).motions[0].score > 0.95


def test_a_drawer_that_starts_outside_needs_boxes(settings: Settings) -> None:
    outside = mechanisms.cased(front=False, start_out_m=0.34)
    contacts = mechanisms.exact_contacts(outside)
    assert simulate(outside, contacts, SLIDE, settings).motions[0].score < 0.1
    boxes = replace(settings, collision="boxes")
    assert simulate(outside, contacts, SLIDE, boxes).motions[0].score > 0.95


def test_overlaps_that_collide_are_unstable(settings: Settings) -> None:
    parts = (
        mechanisms.box("floor", (0, 0, 0.05), (0.4, 0.4, 0.1)),
        mechanisms.box("sunk", (0, 0, 0.12), (0.1, 0.1, 0.08)),
    )
    slide = Joint("slide", "prismatic", "floor", "sunk", (1.0, 0.0, 0.0), (0.0, 0.0, 0.1), (0.0, 0.1))
    design = Design(parts, (slide,))
    model, _ = build(design, mechanisms.exact_contacts(design), settings)
    assert len(model.excluded) == 1, "parts that overlap don't collide"
    loose = replace(model, excluded=frozenset())
    ejected = world.open_world(loose, settings.engine)
    settled = settle(ejected, loose)
    ejected.close()
    assert settled.status == "unstable", settled
    assert settled.reason


def test_a_top_heavy_object_fell_and_moves_nothing(settings: Settings) -> None:
    parts = (
        mechanisms.box("post", (0, 0, 0.5), (0.1, 0.1, 1.0)),
        mechanisms.box("arm", (0.4, 0, 1.05), (0.8, 0.1, 0.1)),
        mechanisms.box("knob", (0, 0, 1.2), (0.04, 0.04, 0.04)),
    )
    turn = Joint("turn", "continuous", "arm", "knob", (0.0, 0.0, 1.0), (0.0, 0.0, 1.15))
    design = Design(parts, (turn,))
    result = simulate(design, mechanisms.exact_contacts(design), [Actuate(("turn",))], settings)
    assert result.settled.status == "fell"
    assert (result.motions[0].score, result.motions[0].status) == (0.0, "fell")
    mounted = replace(settings, free_standing=False)
    assert (
        simulate(design, mechanisms.exact_contacts(design), [Actuate(("turn",))], mounted).motions[0].score
        > 0.95
    )


def test_a_loose_part_that_drops_does_no_harm(settings: Settings) -> None:
    lid = mechanisms.lid()
    design = replace(lid, parts=(*lid.parts, mechanisms.box("loose", (1, 1, 1), (0.1, 0.1, 0.1))))
    result = simulate(design, mechanisms.exact_contacts(design), [Actuate(("hinge",))], settings)
    assert result.settled.rests
    assert result.motions[0].score > 0.95


def test_no_log_file_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lid = mechanisms.lid()
    result = simulate(lid, mechanisms.exact_contacts(lid), [Actuate(("hinge",), targets=(1.0,))])
    assert result.settled.rests
    model, _ = build(lid, mechanisms.exact_contacts(lid), Settings())
    wild = world.open_world(model, "mujoco")
    wild.aim(1, 0, np.array([1e12]))
    wild.step(200)
    assert "MuJoCo" in wild.alarm(), "a blow-up is noticed although MuJoCo resets itself"
    assert list(tmp_path.iterdir()) == []


def test_unfit_designs_are_answered_in_one_line() -> None:
    sound = mechanisms.box("a", (0, 0, 0.1), (0.2, 0.2, 0.2))
    cases = {
        "no parts": Design(),
        "isn't a number": Design((sound, mechanisms.box("b", (float("nan"), 0, 0), (0.1, 0.1, 0.1)))),
        "from the origin": Design((sound, mechanisms.box("b", (1e6, 0, 0), (0.1, 0.1, 0.1)))),
        "isn't there: gone": Design((sound,), (Joint("j", "fixed", "a", "gone"),)),
        "ties part a to itself": Design((sound,), (Joint("j", "fixed", "a", "a"),)),
        "moving joints": Design(
            (sound, mechanisms.box("b", (0, 0, 0.4), (0.1, 0.1, 0.1))),
            tuple(Joint(f"j{i}", "ball", "a", "b", None, (0.0, 0.0, 0.3)) for i in range(100)),
        ),
        "axis": Design(
            (sound, mechanisms.box("b", (0, 0, 0.4), (0.1, 0.1, 0.1))),
            (Joint("j", "revolute", "a", "b", (0.0, 0.0, 0.0), (0.0, 0.0, 0.3)),),
        ),
    }
    for reason, design in cases.items():
        result = simulate(design, Field(design.parts), [])
        assert result.settled.status == "unfit"
        assert reason in result.settled.reason
        assert "\n" not in result.settled.reason


def test_requests_about_nothing_are_refused() -> None:
    lid = mechanisms.lid()
    for motion, named in ((Actuate(("gone",)), "gone"), (Roll(("gone",)), "gone"), (Actuate(()), "no joint")):
        with pytest.raises(ValueError, match=named):
            simulate(lid, mechanisms.exact_contacts(lid), [motion])


def test_flat_straight_and_pointlike_parts_are_simulated(settings: Settings) -> None:
    def mesh(points: list[list[float]], faces: list[list[int]]) -> Mesh:
        return Mesh(np.array(points, dtype=np.float64), np.array(faces, dtype=np.int32))

    sheet = mesh([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.1, 0.1, 0]], [[0, 1, 2], [2, 1, 3]])
    line = mesh([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]], [[0, 1, 2]])
    point = mesh([[0, 0, 0]] * 3, [[0, 1, 2]])
    parts = (
        mechanisms.box("block", (0, 0, 0.1), (0.2, 0.2, 0.2)),
        Part("sheet", sheet, (0.0, 0.0, 0.3)),
        Part("line", line, (0.0, 0.0, 0.4)),
        Part("point", point, (0.0, 0.0, 0.5)),
    )
    names = ("sheet", "line", "point")
    joints = tuple(
        Joint(name, "revolute", "block", name, (0.0, 0.0, 1.0), (0.0, 0.0, 0.25)) for name in names
    )
    design = Design(parts, joints)
    result = simulate(design, Field(parts), [Actuate((name,)) for name in names], settings)
    assert result.settled.rests
    assert all(np.isfinite(motion.score) for motion in result.motions)


def test_eighty_parts_in_one_place_are_one_body() -> None:
    parts = tuple(mechanisms.box(f"p{i}", (0, 0, 0.1), (0.2, 0.2, 0.2)) for i in range(80))
    result = simulate(Design(parts), mechanisms.exact_contacts(Design(parts)), [])
    assert result.settled.rests
    assert len(result.bodies) == 1


def test_joints_in_a_circle_are_cut_once(settings: Settings) -> None:
    parts = tuple(mechanisms.box(name, (0.3 * i, 0, 0.1), (0.2, 0.2, 0.2)) for i, name in enumerate("abc"))
    up = (0.0, 0.0, 1.0)
    joints = tuple(
        Joint(f"{a}{b}", "revolute", a, b, up, (x, 0.0, 0.1))
        for a, b, x in (("a", "b", 0.15), ("b", "c", 0.45), ("c", "a", 0.3))
    )
    design = Design(parts, joints)
    result = simulate(design, mechanisms.exact_contacts(design), [Actuate(("bc",))], settings)
    assert len(result.dropped_loops) == 1
    assert np.isfinite(result.motions[0].score)


def test_too_much_work_is_refused_and_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_lmbuild.simulation import running

    lid = mechanisms.lid()
    monkeypatch.setitem(running.MAX_WORK, "mujoco", 1e4)
    result = simulate(lid, mechanisms.exact_contacts(lid), [Actuate(("hinge",)), Roll(("lid",))])
    assert [motion.status for motion in result.motions] == ["unfit", "unfit"]
    assert "contacts" in result.motions[0].reason


def test_sweeps_of_masked_pairs_have_an_account(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_lmbuild.simulation import running

    closed = mechanisms.cased(front=True)
    monkeypatch.setattr(running, "SWEEP_LIMIT", 1e5)
    found = simulate(closed, Field(closed.parts), SLIDE).motions[0]
    assert found.score > 0.95
    assert [pair.free_share for pair in found.masked] == [None]


def test_what_was_reached_before_the_work_ran_out_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_lmbuild.simulation import running

    lid = mechanisms.lid()
    contacts = mechanisms.exact_contacts(lid)
    asked = Actuate(("hinge",), targets=(0.5, 1.0, 1.5))
    monkeypatch.setattr(running, "REACHED", 2.0)  # every target is driven to
    free = simulate(lid, contacts, [asked]).motions[0]
    assert len(free.attempts) == 3
    monkeypatch.setattr(running._Stage, "_runs", lambda stage, steps: 2)
    cut = simulate(lid, contacts, [asked]).motions[0]
    assert cut.attempts == free.attempts[:2]
    assert cut.score == max(attempt.score for attempt in free.attempts[:2]) > 0.9
    assert any("2 runs" in note for note in cut.notes)


def test_no_motion_depends_on_what_others_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    from evalkit_lmbuild.simulation import running

    lid = mechanisms.lid()
    contacts = mechanisms.exact_contacts(lid)
    costly = Actuate(("hinge",), targets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    modest = Actuate(("hinge",), targets=(1.0,))
    monkeypatch.setattr(running, "REACHED", 2.0)
    unlimited = simulate(lid, contacts, [costly, modest]).motions
    monkeypatch.setitem(running.MAX_WORK, "mujoco", 2.5e5)
    orders = [simulate(lid, contacts, order).motions for order in ([costly, modest], [modest, costly])]
    assert orders[0] == orders[1][::-1]
    assert 0 < len(orders[0][0].attempts) < len(unlimited[0].attempts)
    assert orders[0][1].score == unlimited[1].score


def test_a_missing_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("evalkit_lmbuild.simulation.world_pybullet", "evalkit_lmbuild.simulation._pybullet_pieces"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "pybullet", None)
    lid = mechanisms.lid()
    with pytest.raises(EngineMissingError, match="pip install"):
        simulate(lid, mechanisms.exact_contacts(lid), [], Settings(engine="pybullet"))


def test_pybullet_refuses_more_links_than_it_has() -> None:
    pytest.importorskip("pybullet")
    parts = tuple(mechanisms.box(f"p{i}", (0.3 * i, 0, 0.1), (0.31, 0.2, 0.2)) for i in range(130))
    result = simulate(
        Design(parts), mechanisms.exact_contacts(Design(parts)), [], Settings(engine="pybullet")
    )
    assert result.settled.status == "unfit"
    assert "PyBullet takes 127" in result.settled.reason
