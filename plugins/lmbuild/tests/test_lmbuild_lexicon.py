"""Which words mean which component: pairs that agree, pairs that must not, and whole objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit_lmbuild.facts import Attribute, Condition, Motion, ObjectFacts, RequiredPart, Subsystem
from evalkit_lmbuild.lexicon import (
    component_of,
    components_of,
    count_in,
    generic,
    normal,
    same,
    understood,
)
from evalkit_lmbuild.lexicon_words import SYNONYMS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Rear Wheels", "rear wheel"),
        ("The Arm-Rests (2x)", "arm rest"),
        ("leg_front_left_2", "leg front left"),
        ("LegFrontLeft", "leg front left"),
        ("leg of the table", "table leg"),
        ("bracket for shelves", "shelf bracket"),
        ("four caster wheels", "caster wheel"),
        ("chassis", "chassis"),
        ("glass lenses", "glass lens"),
        ("user's seat", "user seat"),
        ("drawer with handle", "drawer"),
        ("Rückenlehne", "ruckenlehne"),
        ("batteries", "battery"),
        ("  ", ""),
    ],
)
def test_normal_form(name: str, expected: str) -> None:
    assert " ".join(sorted(normal(name).split())) == " ".join(sorted(expected.split()))


SAME = [
    ("rear left wheel", "wheels"),
    ("rear left wheel", "rear wheels"),
    ("wheel_RL", "rear wheel"),
    ("wheel rear left", "rear wheels"),
    ("back wheel", "rear wheels"),
    ("castor", "caster wheels"),
    ("castor", "wheel"),
    ("front caster wheel assembly", "caster"),
    ("caster fork left", "caster forks"),
    ("hand rim", "push-rims"),
    ("pushrim_L", "push rims"),
    ("tyre", "tire"),
    ("hand wheel", "handwheel"),
    ("cogwheel", "gears"),
    ("door", "door leaf"),
    ("leaf", "door"),
    ("cabinet door left", "doors"),
    ("door panel", "door"),
    ("desktop", "work surface"),
    ("table top", "desktop"),
    ("top", "work surface"),
    ("counter top", "tabletop"),
    ("arm rest left", "armrests"),
    ("armrest", "arm rests"),
    ("seat back", "backrest"),
    ("back", "backrest"),
    ("back", "back panel"),
    ("rear panel", "back panel"),
    ("footplate", "footrests"),
    ("seat cushion", "seat"),
    ("seat board", "seat"),
    ("cover", "lid"),
    ("hinged lid", "lid"),
    ("drawer box", "drawer"),
    ("upper drawer", "drawers"),
    ("drawer pull", "handle"),
    ("hand grip", "handle"),
    ("door handle", "handle"),
    ("table leg", "legs"),
    ("leg4", "leg"),
    ("legs", "leg"),
    ("upright", "post"),
    ("shelf board 3", "shelves"),
    ("pigeon hole", "pigeonholes"),
    ("drawer runner", "rail"),
    ("lead screw", "threaded rod"),
    ("vise jaw", "jaw"),
    ("faucet", "tap"),
    ("mudguard", "fender"),
    ("windshield", "windscreen"),
    ("hood", "bonnet"),
    ("lamp shade", "lampshade"),
    ("propeller blade", "fan blades"),
    ("crane arm", "boom"),
    ("foot pedal", "pedal"),
    ("saddle", "bicycle seat"),
    ("main frame", "frame"),
    ("steel frame", "chassis"),
    ("seat and backrest", "backrest"),
    ("lid/cover", "lid"),
    ("base plate", "base"),
    ("brake assembly", "brakes"),
    ("door bolt", "latch"),
    ("lower-shelf", "bottom shelf"),
]

DIFFERENT = [
    ("hand wheel", "wheel"),
    ("steering wheel", "wheels"),
    ("steering wheel", "rear wheel"),
    ("flywheel", "wheel"),
    ("gear wheel", "wheel"),
    ("grinding wheel", "wheel"),
    ("wheel", "steering wheel"),
    ("front wheel", "rear wheel"),
    ("wheel", "rear wheel"),
    ("wheel hub", "wheel"),
    ("wheel axle", "wheel"),
    ("caster fork", "caster wheel"),
    ("tire", "wheel"),
    ("door handle", "door"),
    ("door frame", "door"),
    ("door hinge", "door"),
    ("drawer front", "drawer"),
    ("drawer runner", "drawer"),
    ("table leaf", "door"),
    ("seat post", "seat"),
    ("seat back", "seat"),
    ("backrest", "armrest"),
    ("left armrest", "right armrest"),
    ("upper shelf", "lower shelf"),
    ("knob", "handle"),
    ("brake lever", "brake"),
    ("brake pad", "brake"),
    ("lamp shade", "lamp arm"),
    ("bed leg rest", "leg"),
    ("headboard", "footboard"),
    ("side panel", "back panel"),
    ("front panel", "side panel"),
    ("key", "keyboard"),
    ("leg rest", "leg"),
    ("hammer head", "head"),
    ("", "wheel"),
    ("part", "wheel"),
]


@pytest.mark.parametrize(("role", "component"), SAME)
def test_words_that_mean_a_component(role: str, component: str) -> None:
    assert same(role, component)


@pytest.mark.parametrize(("role", "component"), DIFFERENT)
def test_words_that_do_not(role: str, component: str) -> None:
    assert not same(role, component)


WHEELCHAIR = ("rear wheel", "caster wheel", "wheel", "caster fork", "seat", "backrest", "push rim", "frame")


@pytest.mark.parametrize(
    ("role", "component"),
    [
        ("rear right wheel", "rear wheel"),
        ("castor_L", "caster wheel"),
        ("wheel", "wheel"),
        ("left wheel", "wheel"),
        ("Seat", "seat"),
        ("seat back", "backrest"),
        ("handrim left", "push rim"),
        ("fork", "caster fork"),
        ("armrest", None),
        ("block", None),
        ("wheel hub", None),
        (None, None),
        ("", None),
    ],
)
def test_the_most_specific_component_of_an_object(role: str | None, component: str | None) -> None:
    assert component_of(role, WHEELCHAIR) == component


def test_a_vaguer_role_counts_only_where_it_is_unmistakable() -> None:
    assert component_of("wheel", ["rear wheel", "seat"]) == "rear wheel"
    assert component_of("wheel", ["rear wheel", "front wheel"]) is None
    assert component_of("front wheel", ["rear wheel"]) is None


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (None, True),
        ("", True),
        ("part", True),
        ("Part_12", True),
        ("main body", True),
        ("left block", True),
        ("component 3", True),
        ("seat", False),
        ("car body", False),
        ("frame", False),
        ("left", True),
        ("top", False),
        ("back", False),
    ],
)
def test_generic_roles(role: str | None, expected: bool) -> None:
    assert generic(role) is expected


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("four wheels", 4),
        ("wheels", 2),
        ("wheel", 1),
        ("a pair of doors", 2),
        ("chassis", 1),
        ("scissors", 1),
        ("6 drawers", 6),
        ("leg (x3)", 1),
        ("glass", 1),
        ("shelves", 2),
        ("9999999999999999999 wheels", 2),
    ],
)
def test_numbers_in_names(name: str, count: int) -> None:
    assert count_in(name) == count


def _desk() -> ObjectFacts:
    return ObjectFacts(
        id="office_desk",
        name="office desk",
        aliases=("writing desk",),
        conditions=(Condition("name_only", "Build an office desk."),),
        required_parts=(
            RequiredPart("P1", "work surface", "to write on"),
            RequiredPart("P2", "legs", "carry it"),
            RequiredPart("P3", "desk", "the whole"),
        ),
        attributes=(
            Attribute("A1", "count", "It has four legs and 3 drawers."),
            Attribute("A2", "dimension", "Two metres of desktop."),
        ),
        subsystems=(
            Subsystem("F1", "storage", "keeps things", ("drawers", "floor", "user's hand", "desktop")),
        ),
        motions=(Motion("K1", "drawer", "carcass", "prismatic", "slides out"),),
    )


def test_components_of_an_object_are_merged_and_counted() -> None:
    components = components_of(_desk())
    assert [(c.name, c.needed, c.claims) for c in components] == [
        ("tabletop", 1, ("P1", "F1")),
        ("leg", 4, ("P2",)),
        ("drawer", 3, ("F1", "K1")),
    ]


def test_an_object_without_claims_has_no_components() -> None:
    assert components_of(ObjectFacts("x", "thing", ())) == ()


def test_names_of_components_mean_themselves() -> None:
    for line in SYNONYMS.strip().splitlines():
        name = line.partition(":")[0].replace("+", " ")
        assert str(understood(name)) == name
        assert normal(name) == name, "words of the table are singular"


def test_hostile_names_are_cut() -> None:
    assert component_of("wheel " * 100_000, ["seat"]) is None
    assert not same("\0\x1b[31m" + "of " * 5000, "of of")


@pytest.mark.parametrize("name", ["wheelchair", "office_desk"])
def test_recorded_sheets_name_their_parts_consistently(lmbuild_data: Path, name: str) -> None:
    """Moving parts, ends of connections and targets of human checks all are components of the sheet."""
    sheet = json.loads((lmbuild_data / "opsheets_sample.json").read_text())[name]
    subsystems = [value for key, value in sheet.items() if key.startswith("F")]
    parts = [part for subsystem in subsystems for part in subsystem["parts"]] + sheet["P"]
    components = list(dict.fromkeys(str(understood(part)) for part in parts))
    asked = [end for value in subsystems for pair in value.get("connections", ()) for end in pair[:2]]
    asked += [motion[0] for motion in sheet.get("K", {"K1": sheet.get("K1")}).values()]
    for key in ("H1", "H2"):
        for predicate in sheet.get(key, ()):
            asked += [predicate[role] for role in ("role", "anchor", "target", "a", "b") if role in predicate]
    assert len(asked) >= 3
    assert {word: component_of(word, components) for word in asked} == {
        word: str(understood(word)) for word in asked
    }
