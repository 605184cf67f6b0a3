"""R.3: subsystems, motions, required parts, and what they come to."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from lmbuild_mechanisms import drawer
from lmbuild_operability import (
    OPENING,
    ROLLING,
    WHEELS,
    box,
    lidded,
    named,
    required,
    rolling_chair,
    scorer,
    subject,
    wheel,
)

from evalkit_lmbuild.design import Design, Joint
from evalkit_lmbuild.facts import Connection, HumanCheck, Motion, ObjectFacts, Subsystem
from evalkit_lmbuild.operability import Capability, Link, Operability, operability, whole
from evalkit_lmbuild.operability.linkage import Graph
from evalkit_lmbuild.operability.moving import candidates, rolls
from evalkit_lmbuild.operability.subsystems import connected, required_capability, subsystem_capability
from evalkit_lmbuild.scoring.computed import Scorer
from evalkit_lmbuild.simulation import Actuate, MotionResult, Settings, Settled, SimulationResult

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
INSET = Settings(protocol="inset")


def by_id(result) -> dict[str, dict[str, object]]:
    return {each["id"]: each for each in result.evidence["capabilities"]}


# --- paths -------------------------------------------------------------------------------------------


def chain(length: int) -> list[tuple[str, str]]:
    return [(f"p{i}", f"p{i + 1}") for i in range(length)]


def test_a_path_has_at_most_so_many_hops() -> None:
    graph = Graph([f"p{i}" for i in range(6)], chain(5))
    assert graph.linked(["p0"], ["p4"], 4)
    assert not graph.linked(["p0"], ["p5"], 4)
    assert graph.linked(["p0", "p1"], ["p5"], 4)
    assert not graph.linked(["p0"], ["p4"], 4, frozenset(["p2"]))


@pytest.mark.parametrize("joint", range(4))
def test_a_joint_is_crossed_wherever_it_is_on_the_path(joint: int) -> None:
    graph = Graph([f"p{i}" for i in range(5)], chain(4), [chain(4)[joint]])
    assert graph.linked_by_joint(["p0"], ["p4"])
    assert graph.linked_by_joint(["p4"], ["p0"])


def test_a_joint_beside_the_path_is_not_crossed_by_going_there_and_back() -> None:
    parts = ["start", "middle", "end", "lid"]
    graph = Graph(parts, [("start", "middle"), ("middle", "end"), ("middle", "lid")], [("middle", "lid")])
    assert graph.linked(["start"], ["end"], 4)
    assert not graph.linked_by_joint(["start"], ["end"])
    round_about = Graph(
        [*parts, "x"], [("start", "end"), ("start", "x"), ("start", "lid"), ("lid", "x")], [("lid", "x")]
    )
    assert not round_about.linked_by_joint(["start"], ["end"])


@pytest.mark.parametrize("seed", range(20))
def test_crossing_paths_are_those_that_trying_all_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [f"p{i}" for i in range(7)]
    edges = [(a, b) for i, a in enumerate(parts) for b in parts[:i] if random.random() < 0.3]
    movers = [edge for edge in edges if random.random() < 0.25]
    graph = Graph(parts, edges, movers)
    moving = {frozenset(edge) for edge in movers}

    def paths(path: list[str]):
        if path[-1] in ends:
            yield path
        if len(path) <= 4:
            for other in sorted(graph.near[path[-1]] - set(path)):
                yield from paths([*path, other])

    for start in parts[:3]:
        ends = set(parts[4:6])
        found = [path for path in paths([start]) if any(frozenset(step) in moving for step in pairwise(path))]
        assert graph.linked_by_joint([start], ends) == bool(found)


# --- F -----------------------------------------------------------------------------------------------


def hinged(*, joint: str | None = "revolute"):
    """A board on a post: the board touches the post, and hangs by a hinge where there is one."""
    parts = [
        named(box("post", (0, 0, 0.4), (0.1, 0.1, 0.8)), "post"),
        named(box("board", (0.25, 0, 0.6), (0.4, 0.04, 0.3)), "gate"),
        named(box("knob", (0.4, -0.035, 0.6), (0.03, 0.03, 0.03)), "knob"),
    ]
    joints = [Joint("fix", "fixed", "board", "knob", None, (0.4, -0.02, 0.6))]
    if joint is not None:
        joints.append(Joint("hinge", joint, "post", "board", Z, (0.05, 0.0, 0.6), (0.0, 1.5)))
    return subject(parts, "post", "gate", "knob", joints=joints)


def link(thing, start: str, end: str, carries: str = "motion") -> Link:
    return connected(thing, Connection(start, end, carries))


def test_motion_has_to_cross_a_joint_and_end_on_what_moves() -> None:
    assert link(hinged(), "post", "gate").score == 1.0
    assert link(hinged(), "post", "knob").score == 1.0
    assert link(hinged(), "knob", "gate").score == 0.5
    assert link(hinged(), "gate", "post").score == 0.0
    assert link(hinged(joint="fixed"), "post", "gate").score == 0.0
    assert link(hinged(joint=None), "post", "gate").why == "no joint moves the gate"


def test_load_only_has_to_get_there() -> None:
    assert link(hinged(joint=None), "knob", "post", "load").score == 1.0
    far = [
        named(box("a", (0, 0, 0.1), (0.1, 0.1, 0.2)), "post"),
        named(box("b", (1, 0, 0.1), (0.1, 0.1, 0.2)), "gate"),
    ]
    apart = link(subject(far, "post", "gate"), "post", "gate", "load")
    assert (apart.score, apart.parts) == (0.0, ("a", "b"))
    assert link(subject(far[:1], "post", "gate"), "post", "gate", "load").why == "there is no gate"


def test_a_path_is_four_hops_at_most_between_the_nearest_parts() -> None:
    row = [named(box(f"p{i}", (0.1 * i, 0, 0.05), (0.1, 0.1, 0.1)), "link") for i in range(8)]
    row[0], row[5] = named(row[0], "post"), named(row[5], "gate")
    assert link(subject(row, "post", "gate", "link"), "post", "gate", "load").score == 0.0
    row[4] = named(row[4], "gate")
    assert link(subject(row, "post", "gate", "link"), "post", "gate", "load").score == 1.0


def test_a_subsystem_is_as_good_as_its_weakest_link() -> None:
    closing = Subsystem("F1", "closing", "closes", ("post", "gate"), (Connection("post", "gate", "motion"),))
    assert subsystem_capability(hinged(), closing).score == 1.0
    stiff = subsystem_capability(hinged(joint=None), closing)
    assert stiff.score == 0.0
    assert stiff.weakest.what == "post – gate (motion)"
    wanting = subsystem_capability(hinged(), replace(closing, parts=("post", "gate", "knob"), connections=()))
    assert {each.what: each.score for each in wanting.links} == {
        "post present": 1.0,
        "gate present": 1.0,
        "knob present": 1.0,
        "knob reachable": 1.0,
        "knob chained": 1.0,
    }


def test_a_control_out_of_reach_or_off_the_chain_weakens_its_subsystem() -> None:
    post = named(box("post", (0, 0, 1.4), (0.1, 0.1, 2.8)), "post")
    high = named(box("lever", (0, -0.06, 2.45), (0.02, 0.02, 0.02)), "lever")
    given = Subsystem("F1", "control", "steers", ("post", "lever"))
    reached = subsystem_capability(subject([post, high], "post", "lever"), given)
    assert reached.weakest.what == "lever reachable"
    assert reached.score == pytest.approx(0.5, abs=0.02)
    loose = named(box("lever", (0, -0.3, 1.2), (0.02, 0.02, 0.02)), "lever")
    unchained = subsystem_capability(subject([post, loose], "post", "lever"), given)
    assert (unchained.weakest.what, unchained.score) == ("lever chained", 0.0)
    assert unchained.weakest.parts == ("lever",)


def test_names_of_what_is_not_built_are_left_out() -> None:
    given = Subsystem("F1", "standing", "stands", ("post", "ground"), (Connection("post", "ground", "load"),))
    capability = subsystem_capability(hinged(), given)
    assert [each.what for each in capability.links] == ["post present"]
    assert subsystem_capability(hinged(), replace(given, parts=("user",), connections=())) is None


# --- P -----------------------------------------------------------------------------------------------


def test_required_parts_outside_subsystems_are_one_capability() -> None:
    parts = [named(box("post", (0, 0, 0.4), (0.1, 0.1, 0.8)), "post")]
    made = scorer(
        Design(tuple(parts)),
        required_parts=required("post", "gate", "bolt"),
        subsystems=(Subsystem("F1", "closing", "closes", ("gate",)),),
    )
    found = by_id(operability(made, INSET))
    assert found["P"]["links"] == {"post present": 1.0, "bolt present": 0.0}
    assert found["P"]["score"] == 0.0
    assert found["P"]["why"] == "there is no bolt"
    assert required_capability(subject(parts)) is None


# --- M -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("joint_type", "works"), [("continuous", True), ("fixed", False)])
def test_the_cart_rolls_if_its_wheels_turn(joint_type: str, works: bool) -> None:
    made = scorer(rolling_chair(joint_type), motions=(ROLLING,), subsystems=(WHEELS,))
    result = operability(made, INSET)
    found = by_id(result)
    assert (found["K1"]["score"] > 0.9) == works
    assert found["F1"]["score"] == (1.0 if works else 0.0)
    assert result.score == pytest.approx((found["K1"]["score"] + found["F1"]["score"]) / 2)
    if works:
        simulated = result.evidence["simulation"]
        assert simulated["settled"]["status"] == "rests"
        assert [each["test"] for each in simulated["motions"]] == ["roll"]
    else:
        assert found["K1"]["why"] == "no joint turns the wheels"
        assert "simulation" not in result.evidence


def test_the_lid_opens_and_the_evidence_says_by_which_joint() -> None:
    result = operability(scorer(lidded(), motions=(OPENING,)), INSET)
    assert result.score > 0.9
    assert by_id(result)["K1"]["joints"] == ["hinge"]
    assert by_id(result)["K1"]["parts"] == ["lid"]


def test_claims_that_ask_for_the_same_are_simulated_once() -> None:
    twice = (OPENING, replace(OPENING, id="K2", motion="lets light in"))
    result = operability(scorer(lidded(), motions=twice), INSET)
    assert [each["claims"] for each in result.evidence["simulation"]["motions"]] == [["K1", "K2"]]
    assert by_id(result)["K1"]["score"] == by_id(result)["K2"]["score"] > 0.9


def test_a_motion_of_the_wrong_kind_is_none() -> None:
    sliding = replace(OPENING, joint_type="prismatic")
    result = operability(scorer(lidded(), motions=(sliding,)), INSET)
    assert result.score == 0.0
    assert by_id(result)["K1"]["why"] == "no joint slides the lid"


def test_a_jammed_drawer_is_blocked_and_a_missing_one_missing() -> None:
    claim = Motion("K1", "drawer", "side panel", "prismatic", "slides out")
    free = drawer(0.001, 0.001)
    roles = {part.id: "drawer" if part.id == "drawer" else "side panel" for part in free.parts}
    free = replace(free, parts=tuple(named(part, roles[part.id]) for part in free.parts))
    bar = named(box("bar", (0, -0.16, 0.2), (0.36, 0.02, 0.02)), "bar")
    jammed = replace(
        free, parts=(*free.parts, bar), joints=(*free.joints, Joint("nail", "fixed", "left", "bar"))
    )
    gone = Design(tuple(part for part in free.parts if part.id != "drawer"))
    facts = ObjectFacts("thing", "contraption", (), reference=free, motions=(claim,))
    scores = {
        name: operability(Scorer(each, facts), INSET)
        for name, each in {"free": free, "jammed": jammed, "gone": gone}.items()
    }
    assert scores["free"].score > 0.9
    assert scores["jammed"].score < 0.3
    assert by_id(scores["jammed"])["K1"]["why"].startswith("blocked: ")
    assert by_id(scores["gone"])["K1"]["why"] == "there is no drawer"


def test_both_protocols_are_recorded_apart() -> None:
    flush = drawer(-1e-5, 0.001)
    roles = {"drawer": "drawer"}
    flush = replace(flush, parts=tuple(named(part, roles.get(part.id, "panel")) for part in flush.parts))
    claim = Motion("K1", "drawer", "panel", "prismatic", "slides out")
    both = Operability(scorer(flush, motions=(claim,)))
    inset, strict = both.result(INSET), both.result(Settings(protocol="strict"))
    assert inset.score > 0.95 > 0.6 > strict.score
    assert strict.evidence["simulation"]["motions"][0]["flush"]
    assert strict.evidence["simulation"]["protocol"] == "strict"


def test_an_object_that_falls_moves_nothing_and_says_so() -> None:
    tall = (
        named(box("foot", (0, 0, 0.3), (0.02, 0.02, 0.6)), "foot"),
        named(box("arm", (0.3, 0, 0.65), (0.7, 0.1, 0.1)), "arm"),
        named(box("lid", (0.3, 0, 0.71), (0.1, 0.1, 0.02)), "lid"),
    )
    hinge = Joint("hinge", "revolute", "arm", "lid", Y, (0.25, 0.0, 0.7), (0.0, 1.0))
    claim = Motion("K1", "lid", "arm", "revolute", "opens")
    result = operability(scorer(Design(tall, (hinge,)), motions=(claim,)), INSET)
    assert result.score == 0.0
    assert result.reason.startswith("fell: ")
    assert result.evidence["simulation"]["settled"]["status"] == "fell"


def test_an_unstable_run_is_named_and_never_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = Settled("unstable", "bodies gained 3 J from overlaps")

    def thrown(
        design: Design, field: object, requests: list[Actuate], settings: Settings
    ) -> SimulationResult:
        answers = tuple(MotionResult(each, 0.0, settled.status, settled.reason) for each in requests)
        return SimulationResult(settled, answers, settings)

    monkeypatch.setattr(whole, "simulate", thrown)
    checks = (HumanCheck("H1", ({"pred": "part_present", "role": "lid"},)),)
    result = operability(scorer(lidded(), motions=(OPENING,), human_checks=checks), INSET)
    assert result.reason == "unstable: bodies gained 3 J from overlaps; no motion counts"
    assert by_id(result)["K1"]["score"] == 0.0
    assert by_id(result)["K1"]["why"] == "unstable: bodies gained 3 J from overlaps"
    assert result.score == 0.5


# --- which joint, which test -------------------------------------------------------------------------


def test_candidates_carry_the_component_those_that_hold_it_first() -> None:
    design = rolling_chair()
    swing = Joint("swing", "revolute", "post", "body", Z, (0.0, 0.0, 0.2), (0.0, 1.0))
    post = named(box("post", (0, 0, 0.26), (0.05, 0.05, 0.2)), "post")
    thing = subject((*design.parts, post), "wheels", "frame", "post", joints=(swing, *design.joints))
    assert candidates(thing, ROLLING) == ("axle0", "axle1", "axle2", "axle3", "swing")


def test_only_a_wheel_on_the_ground_is_rolled() -> None:
    thing = subject(rolling_chair().parts, "wheels", "frame")
    assert rolls(thing, ROLLING)
    assert not rolls(thing, replace(ROLLING, moving_part="frame"))
    assert not rolls(thing, replace(ROLLING, joint_type="prismatic"))
    pulley = [
        named(box("post", (0, 0, 0.3), (0.1, 0.1, 0.6)), "post"),
        named(wheel("disc", (0, -0.07, 0.5), 0.1, 0.03), "wheel"),
    ]
    assert not rolls(subject(pulley, "wheel", "post"), replace(ROLLING, moving_part="wheel"))
    leg = named(box("leg", (0.3, 0, 0.06), (0.02, 0.02, 0.12)), "leg")
    barrow = subject((*rolling_chair().parts, leg), "wheels", "frame", "leg")
    assert not rolls(barrow, ROLLING)
    assert rolls(
        subject((*rolling_chair().parts, leg), "wheels", "frame", reference=rolling_chair().parts), ROLLING
    )


@pytest.mark.parametrize("name", ["steering wheel", "handwheel", "flywheel", "hand wheel"])
def test_wheels_that_hands_turn_are_not_rolled(name: str) -> None:
    parts = [named(wheel("disc", (0, 0, 0.1), 0.1, 0.03), name)]
    assert not rolls(subject(parts, name), replace(ROLLING, moving_part=name))


# --- the whole ---------------------------------------------------------------------------------------


def test_the_score_is_the_mean_of_weakest_links() -> None:
    assert Capability("F", "F", (Link("a", 0.8), Link("b", 0.3, "why"), Link("c", 0.3))).weakest.what == "b"
    checks = (
        HumanCheck("H1", ({"pred": "part_present", "role": "lid"}, {"pred": "part_present", "role": "knob"})),
        HumanCheck("H2", ({"pred": "part_present", "role": "lid"},)),
    )
    made = scorer(lidded(), required_parts=required("lid", "knob"), human_checks=checks)
    result = operability(made, INSET)
    assert {key: each["score"] for key, each in by_id(result).items()} == {"H1": 0.0, "H2": 1.0, "P": 0.0}
    assert result.score == pytest.approx(1 / 3)
    assert by_id(result)["H1"]["weakest"] == "knob present"


def test_what_has_no_roles_no_parts_or_no_claims() -> None:
    silent = replace(lidded(), parts=tuple(named(part, None) for part in lidded().parts))
    assert operability(scorer(silent, motions=(OPENING,)), INSET).score == 0.0
    assert operability(scorer(silent, motions=(OPENING,)), INSET).reason == "no part has a role"
    assert operability(Scorer(Design(), ObjectFacts("x", "x", (), motions=(OPENING,))), INSET).score == 0.0
    idle = operability(scorer(lidded()), INSET)
    assert (idle.score, idle.reason) == (None, "the object is claimed to do nothing")


def test_what_can_not_be_put_on_the_lattice_scores_nothing() -> None:
    huge = Design((named(box("slab", (0, 0, 20), (40, 40, 40)), "slab"),))
    facts = ObjectFacts("thing", "contraption", (), required_parts=required("slab"))
    result = operability(Scorer(huge, facts), INSET)
    assert result.score == 0.0
    assert "slab" in result.reason


def test_the_same_twice() -> None:
    made = [
        operability(scorer(rolling_chair(), motions=(ROLLING,), subsystems=(WHEELS,)), INSET) for _ in "ab"
    ]
    assert made[0] == made[1]
