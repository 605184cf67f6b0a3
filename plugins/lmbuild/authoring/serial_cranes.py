"""Arms that fold sideways: monitor arm, wall crane."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import bent, fork, rod_x
from workshop import Object, Solid, box, cylinder, difference, extrude, hull, revolve, union

FAMILY = "serial_chain"


def flat_link(length: float, radius: float, thick: float, hole: float) -> Solid:
    """A flat bar along −Y from an eye about Z at the origin to another, on top of z = 0."""
    eye = cylinder(radius, thick).at(z=thick / 2)
    drill = cylinder(hole, 3 * thick)
    return difference(hull(eye, eye.at(y=-length)), drill, drill.at(y=-length))


def swung(start: tuple[float, float], length: float, degrees: float) -> tuple[float, float]:
    """The end of a flat link that is turned about Z."""
    return (start[0] + length * sin(radians(degrees)), start[1] - length * cos(radians(degrees)))


def monitor_mount() -> Object:
    """A desk plate with a pillar, a collar that slides on it, two flat arms, a tilting head and a screen."""
    it = Object(
        "monitor_mount", "monitor arm", FAMILY, "monitor arm", aliases=["monitor mount", "monitor stand"]
    )
    it.brief(
        "Build a monitor arm.",
        "Build an articulated monitor arm of light metal, 0.5 to 0.75 m high: a base plate, one pillar, "
        "one height collar, one inner arm and one outer arm, one swivel head, one tilt plate, and one "
        "screen 0.4 to 0.6 m wide.",
        "Build a monitor arm for a desk: a collar sets the height on a pillar, an inner and an outer arm "
        "fold to bring the screen nearer or push it away, and a head and plate turn and tilt it to suit "
        "the eyes.",
    )
    plate = hull(box(0.5, 0.44, 0.024).at(z=0.012), box(0.46, 0.4, 0.01).at(z=0.035))
    it.part(
        "base", plate - cylinder(0.024, 0.03).at(z=0.035), (0, 0.08, 0), role="base plate", material="steel"
    )
    it.part("pillar", cylinder(0.024, 0.56), (0, 0.08, 0.3), role="pillar", material="aluminum")
    bolt = 0.012
    ear = hull(cylinder(0.04, 0.07), box(0.05, 0.06, 0.07).at(y=-0.07))
    collar = difference(
        union(hull(ear, cylinder(0.03, 0.07).at(y=-0.09)), cylinder(bolt, 0.03).at(0, -0.09, 0.05)),
        cylinder(0.024, 0.2),
    )
    it.part("collar", collar, (0, 0.08, 0.4), role="height collar", material="aluminum")
    first = (0.0, -0.01)
    second = swung(first, 0.2, 50)
    third = swung(second, 0.2, -50)
    inner = union(flat_link(0.2, 0.03, 0.03, bolt), cylinder(bolt, 0.06).at(0, -0.2, 0.03))
    it.part("inner_arm", inner, (*first, 0.435), (0, 0, 50), role="inner arm", material="aluminum")
    it.part("outer_arm", inner, (*second, 0.465), (0, 0, -50), role="outer arm", material="aluminum")
    mast = difference(cylinder(0.03, 0.05).at(z=0.025), cylinder(bolt, 0.06).at(z=0.0))
    jaw = fork(0.02, 0.04, 0.012, 0.008, 0.05).turned(x=90).at(0, -0.075, 0.025)
    it.part("head", union(mast, jaw), (*third, 0.495), role="swivel head", material="aluminum")
    nod = (third[0], third[1] - 0.075, 0.52)
    tongue = hull(rod_x(0.02, 0.04), box(0.04, 0.01, 0.04).at(y=-0.035))
    tilt = difference(union(tongue, box(0.12, 0.01, 0.12).at(y=-0.045)), rod_x(0.008, 0.1))
    it.part("plate", tilt, nod, role="tilt plate", material="aluminum", direction=(0, 1, 0))
    it.part("pin", rod_x(0.008, 0.07), nod, role="tilt pin", material="steel", direction=(1, 0, 0))
    frame = box(0.52, 0.024, 0.31)
    screen = union(
        difference(frame, box(0.5, 0.01, 0.29).at(y=-0.012)),
        hull(box(0.3, 0.01, 0.2), box(0.2, 0.01, 0.14).at(y=0.012)).at(y=0.012),
    )
    place = (nod[0], nod[1] - 0.05 - 0.029, nod[2])
    it.part("screen", screen, place, role="screen", material="ABS", direction=(0, 1, 0))
    it.joint("height", "prismatic", "pillar", "collar", (0, 0.104, 0.4), (0, 0, 1), (-0.25, 0.12))
    it.joint("inner", "revolute", "collar", "inner_arm", (*first, 0.435), (0, 0, 1), (-1.2, 0.6))
    it.joint("outer", "revolute", "inner_arm", "outer_arm", (*second, 0.465), (0, 0, 1), (-0.6, 1.2))
    it.joint("turn", "revolute", "outer_arm", "head", (*third, 0.495), (0, 0, 1), (-0.5, 0.8))
    it.joint("tilt", "revolute", "pin", "plate", nod, (1, 0, 0), (-0.25, 0.25))
    it.fix("base", "pillar")
    it.fix("head", "pin")
    it.fix("plate", "screen")
    it.offer("short arm", flat_link(0.12, 0.03, 0.03, bolt))
    it.offer("clamp", difference(box(0.08, 0.1, 0.1), box(0.1, 0.08, 0.06).at(y=-0.03)))
    it.require(
        base_plate="keeps the arm on the desk when the screen is pulled forward",
        pillar="carries the collar at the height of the eyes",
        height_collar="sets the height",
        inner_arm="swings over the desk",
        outer_arm="brings the screen nearer",
        swivel_head="turns the screen",
        tilt_plate="tilts the screen",
        screen="is looked at",
    )
    it.attribute("dimension", "The screen is 0.4 to 0.6 m wide; the whole is 0.5 to 0.75 m high.")
    it.attribute("count", "There is one inner arm, one outer arm and one screen.")
    it.subsystem(
        "carrying arm",
        "holds the screen where it is put",
        ("base plate", "pillar", "height collar", "inner arm", "outer arm"),
        [
            ("base plate", "pillar", "load"),
            ("pillar", "height collar", "motion"),
            ("height collar", "inner arm", "motion"),
            ("inner arm", "outer arm", "motion"),
        ],
    )
    it.subsystem(
        "aim",
        "turns the screen to the eyes",
        ("swivel head", "tilt plate", "screen"),
        [("swivel head", "tilt plate", "motion"), ("tilt plate", "screen", "load")],
    )
    it.motion("height collar", "pillar", "prismatic", "slides up and down", "vertical", (-0.25, 0.12))
    it.motion("inner arm", "height collar", "revolute", "swings sideways", "vertical pin", (-1.2, 0.6))
    it.motion("outer arm", "inner arm", "revolute", "folds", "vertical pin", (-0.6, 1.2))
    it.motion("swivel head", "outer arm", "revolute", "turns", "vertical swivel axis", (-0.5, 0.8))
    it.motion("tilt plate", "swivel head", "revolute", "tilts", "horizontal pin", (-0.25, 0.25))
    for part in (
        "base plate",
        "pillar",
        "height collar",
        "inner arm",
        "outer arm",
        "swivel head",
        "tilt plate",
    ):
        it.made_of(part, "light_metal", "heavy_metal")
    it.made_of("screen", "plastic", "light_metal", "glass")
    it.human(
        {"pred": "ground_contact", "role": "base plate"},
        {"pred": "reachable", "target": "screen", "from": "standing"},
        {
            "pred": "clearance",
            "anchor": "screen",
            "placement": "front",
            "box": [0.5, 0.4, 0.3],
            "min_free": 0.9,
        },
    )
    return it


def wall_crane() -> Object:
    """A wall column with two brackets, a swinging inner jib, an outer jib on its end, trolley and hook."""
    it = Object(
        "wall_crane",
        "articulated wall crane",
        FAMILY,
        "jib crane",
        aliases=["wall jib crane", "jib crane"],
        free_standing=False,
    )
    it.brief(
        "Build an articulated wall crane.",
        "Build an articulated wall crane of steel, 1.8 to 2.4 m high: one wall column, two brackets, one "
        "inner jib, one outer jib, one trolley on the outer jib, and one hook that is lowered from it.",
        "Build a wall crane that lifts things in any place before a wall: an inner jib swings on two "
        "brackets of a wall column, an outer jib folds at its end, a trolley runs along the outer jib, "
        "and a hook hangs from the trolley and goes up and down.",
    )
    steel = "steel"
    web = [(-0.1, 0), (0.1, 0), (0.1, 0.02), (0.02, 0.02), (0.02, 0.1), (0.1, 0.1), (0.1, 0.12), (-0.1, 0.12)]
    section = [*web, (-0.1, 0.1), (-0.02, 0.1), (-0.02, 0.02), (-0.1, 0.02)]
    it.part("foot", box(0.8, 0.96, 0.04), (0, 0, 0.02), role="foot plate", material=steel)
    it.part("column", extrude(section, 2.0), (0, 0.3, 1.04), role="wall column", material=steel)
    lug = hull(cylinder(0.06, 0.04), box(0.16, 0.04, 0.04).at(y=0.12))
    bracket = difference(union(lug, box(0.16, 0.02, 0.16).at(y=0.15)), cylinder(0.018, 0.1))
    it.part("bracket_lower", bracket, (0, 0.14, 1.4), role="bracket", material=steel, direction=(0, 1, 0))
    pins = [cylinder(0.018, 0.06).at(z=-0.01), cylinder(0.018, 0.06).at(z=0.41)]
    beam = hull(box(0.06, 0.04, 0.1).at(0, -0.05, 0.3), box(0.06, 0.04, 0.06).at(0, -0.6, 0.32))
    stay = bent(box(0.03, 0.03, 0.03), (0, -0.04, 0.06), (0, -0.5, 0.29))
    knuckle = union(cylinder(0.06, 0.06).at(0, -0.66, 0.32), cylinder(0.018, 0.12).at(0, -0.66, 0.38))
    inner = union(cylinder(0.05, 0.36).at(z=0.2), *pins, beam, stay, knuckle)
    it.part("inner_jib", inner, (0, 0.14, 1.4), (0, 0, -30), role="inner jib", material=steel)
    it.part("bracket_upper", bracket, (0, 0.14, 1.8), role="bracket", material=steel)
    elbow = swung((0.0, 0.14), 0.66, -30)
    tee = [(-0.05, 0), (0.05, 0), (0.05, 0.016), (0.012, 0.016), (0.012, 0.1), (-0.012, 0.1), (-0.012, 0.016)]
    runway = extrude([*tee, (-0.05, 0.016)], 0.6).turned(x=90).at(y=-0.33)
    outer = union(difference(cylinder(0.06, 0.1).at(z=0.05), cylinder(0.018, 0.3)), runway)
    it.part("outer_jib", outer, (*elbow, 1.75), role="outer jib", material=steel)
    run = (elbow[0], elbow[1] - 0.4)
    hollow = union(box(0.108, 0.3, 0.07).at(z=0.029), box(0.04, 0.3, 0.2).at(z=0.13))
    shelf = union(*(box(0.03, 0.1, 0.014).at(x, 0, 0.023) for x in (-0.045, 0.045)))
    clamp = difference(box(0.14, 0.1, 0.11).at(z=0.021), hollow)
    channel = difference(box(0.04, 0.06, 0.16).at(x=0.09, z=0.03), box(0.04, 0.03, 0.2).at(x=0.1, z=0.03))
    trolley = union(clamp, shelf, channel)
    it.part("trolley", trolley, (*run, 1.75), role="trolley", material=steel, direction=(0, 1, 0))
    bow = revolve([(0.045, -0.015), (0.075, -0.015), (0.075, 0.015), (0.045, 0.015)], 250)
    shank = union(box(0.03, 0.03, 0.5), bow.turned(x=90).turned(y=-90).at(z=-0.31))
    place = (run[0] + 0.095, run[1], 1.67)
    it.part("hook", shank, place, role="hook", material=steel, direction=(-1, 0, 0))
    it.joint("inner", "revolute", "bracket_lower", "inner_jib", (0, 0.14, 1.4), (0, 0, 1), (-0.9, 1.2))
    it.joint("outer", "revolute", "inner_jib", "outer_jib", (*elbow, 1.76), (0, 0, 1), (-1.5, 1.2))
    it.joint("run", "prismatic", "outer_jib", "trolley", (*run, 1.76), (0, 1, 0), (-0.15, 0.2))
    it.joint("hoist", "prismatic", "trolley", "hook", (place[0], place[1], 1.75), (0, 0, 1), (-0.25, 0))
    it.fix("foot", "column")
    it.fix("column", "bracket_lower", "bracket_upper")
    it.offer("plain beam", box(0.08, 0.6, 0.08))
    it.offer("ring", revolve([(0.045, -0.015), (0.075, -0.015), (0.075, 0.015), (0.045, 0.015)]))
    it.require(
        wall_column="takes the pull of the jibs into the wall",
        brackets="hold the inner jib above and below",
        inner_jib="swings before the wall",
        outer_jib="folds, so that places close to the wall are reached too",
        trolley="runs along the outer jib",
        hook="takes the load up",
    )
    it.attribute("dimension", "The crane is 1.8 to 2.4 m high.")
    it.attribute("count", "There are two brackets, one inner jib, one outer jib, one trolley and one hook.")
    it.subsystem(
        "jibs",
        "reach every place before the wall",
        ("wall column", "brackets", "inner jib", "outer jib"),
        [
            ("wall column", "brackets", "load"),
            ("brackets", "inner jib", "motion"),
            ("inner jib", "outer jib", "motion"),
        ],
    )
    it.subsystem(
        "hoist",
        "lifts the load and moves it in and out",
        ("outer jib", "trolley", "hook"),
        [("outer jib", "trolley", "motion"), ("trolley", "hook", "motion")],
    )
    it.motion("inner jib", "brackets", "revolute", "swings before the wall", "vertical pin", (-0.9, 1.2))
    it.motion("outer jib", "inner jib", "revolute", "folds", "vertical pin", (-1.5, 1.2))
    it.motion("trolley", "outer jib", "prismatic", "runs in and out", "along the outer jib", (-0.15, 0.2))
    it.motion("hook", "trolley", "prismatic", "goes down and up", "vertical", (-0.25, 0))
    for part in ("wall column", "brackets", "inner jib", "outer jib", "trolley", "hook", "foot plate"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.human(
        {
            "pred": "clearance",
            "anchor": "hook",
            "placement": "below",
            "box": [0.5, 0.5, 1.0],
            "min_free": 0.9,
        },
        {"pred": "colocated", "a": "hook", "b": "trolley"},
    )
    return it
