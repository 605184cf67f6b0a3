"""Machines of the workshop: drill press, lathe."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import rod_x, rod_y, tube
from workshop import Object, Solid, box, cylinder, difference, extrude, hull, sphere, torus, union

FAMILY = "multi_joint"


def drill_press() -> Object:
    """Base and column, a table that slides on it, a head with quill, chuck, feed lever and motor."""
    it = Object(
        "drill_press", "bench drill press", FAMILY, "drill press", aliases=["pillar drill", "bench drill"]
    )
    it.brief(
        "Build a bench drill press.",
        "Build a bench drill press 0.8 to 1.1 m high: a base, one column, one work table that slides on "
        "the column, a head, one quill with one chuck and one drill bit, one feed lever with three "
        "spokes, one motor and one pulley cover.",
        "Build a bench drill press: the work table is set to the height of the work, the feed lever moves"
        " the quill down, the motor turns the chuck with its drill bit, and the column on its base keeps "
        "the bit square to the table.",
    )
    iron = "steel"
    foot = hull(box(0.3, 0.46, 0.03).at(z=0.015), box(0.26, 0.4, 0.01).at(z=0.035))
    collar = cylinder(0.055, 0.05).at(0, 0.12, 0.065)
    it.part("base", union(foot, collar) - cylinder(0.035, 0.1).at(0, 0.12, 0.07), role="base", material=iron)
    it.part("column", cylinder(0.035, 0.82), (0, 0.12, 0.43), role="column", material=iron)
    slots = [
        box(0.012, 0.08, 0.1).turned(z=a).at(-0.06 * sin(radians(a)), -0.18 + 0.06 * cos(radians(a)), 0.03)
        for a in (45, 135, 225, 315)
    ]
    table = union(
        tube(0.055, 0.035, 0.06),
        box(0.08, 0.1, 0.03).at(0, -0.09, 0.005),
        cylinder(0.11, 0.024).at(0, -0.18, 0.032),
    )
    table = difference(table, cylinder(0.012, 0.1).at(0, -0.18, 0.03), cylinder(0.035, 0.1), *slots)
    it.part("table", table, (0, 0.12, 0.41), role="work table", material=iron)
    head = hull(box(0.16, 0.3, 0.16).at(0, 0.03, 0), box(0.1, 0.32, 0.14).at(0, 0.02, 0))
    holes = [
        cylinder(0.035, 0.14).at(0, 0.12, -0.01),
        cylinder(0.018, 0.3).at(0, -0.06, 0),
        rod_x(0.012, 0.06).at(0.07, -0.06, -0.02),
    ]
    it.part("head", difference(head, *holes), (0, 0, 0.78), role="head", material=iron)
    it.part("quill", cylinder(0.018, 0.2), (0, -0.06, 0.76), role="quill", material=iron)
    chuck = union(cylinder(0.014, 0.03, 0.022).at(z=-0.045), cylinder(0.022, 0.03).at(z=-0.015))
    it.part("chuck", chuck, (0, -0.06, 0.66), role="chuck", material=iron, direction=(0, 1, 0))
    it.part(
        "bit", cylinder(0.007, 0.06), (0, -0.06, 0.57), role="drill bit", material=iron, direction=(0, 1, 0)
    )
    cover = hull(
        cylinder(0.075, 0.06).at(y=0.11),
        cylinder(0.06, 0.06).at(y=-0.06),
        cylinder(0.04, 0.075).at(0, 0.05, 0.0075),
    )
    it.part("cover", cover, (0, 0, 0.89), role="pulley cover", material="ABS")
    motor = union(cylinder(0.06, 0.2), cylinder(0.04, 0.22), box(0.06, 0.03, 0.1).at(0, -0.055, 0))
    it.part("motor", motor, (0, 0.25, 0.76), role="motor", material=iron, direction=(0, -1, 0))
    arms = [
        union(cylinder(0.006, 0.12).at(z=0.07), sphere(0.016).at(z=0.14)).turned(x=a) for a in (30, 150, 270)
    ]
    feed = union(
        rod_x(0.012, 0.06).at(-0.015), rod_x(0.026, 0.03).at(0.015), *(arm.at(x=0.018) for arm in arms)
    )
    it.part("feed", feed, (0.08, -0.06, 0.76), role="feed lever", material=iron, direction=(-1, 0, 0))
    it.joint("table", "prismatic", "column", "table", (0, 0.085, 0.41), (0, 0, 1), (-0.22, 0.08))
    it.joint("quill", "prismatic", "head", "quill", (0, -0.06, 0.71), (0, 0, 1), (-0.07, 0))
    it.joint("chuck", "continuous", "quill", "chuck", (0, -0.06, 0.66), (0, 0, 1))
    it.joint("feed", "revolute", "head", "feed", (0.08, -0.06, 0.76), (1, 0, 0), (0, 3.5))
    it.fix("base", "column")
    it.fix("column", "head")
    it.fix("head", "motor", "cover")
    it.fix("chuck", "bit")
    it.offer("square table", box(0.2, 0.2, 0.024))
    it.offer("crank with one spoke", union(rod_x(0.02, 0.03), cylinder(0.006, 0.14).at(z=0.07)))
    it.require(
        base="keeps the machine on the bench",
        column="carries the head and guides the table",
        work_table="carries the work",
        head="guides the quill",
        quill="moves the chuck down",
        chuck="holds the bit",
        feed_lever="is turned to lower the quill",
        motor="turns the chuck",
    )
    it.attribute("dimension", "The drill press is 0.8 to 1.1 m high.")
    it.attribute("count", "There is one quill, one chuck and one feed lever.")
    it.subsystem(
        "feed",
        "presses the turning bit into the work",
        ("feed lever", "head", "quill", "chuck", "drill bit"),
        [("feed lever", "quill", "motion"), ("quill", "chuck", "motion"), ("chuck", "drill bit", "load")],
    )
    it.subsystem(
        "support of the work",
        "holds the work square below the bit",
        ("work table", "column", "base"),
        [("column", "work table", "motion"), ("column", "base", "load")],
    )
    it.subsystem("drive", "turns the chuck", ("motor", "pulley cover", "head"), [("motor", "head", "force")])
    it.motion("work table", "column", "prismatic", "slides up and down", "vertical", (-0.22, 0.08))
    it.motion("quill", "head", "prismatic", "goes down", "vertical", (-0.07, 0))
    it.motion("chuck", "quill", "continuous", "turns", "vertical spin axis")
    it.motion("feed lever", "head", "revolute", "is turned", "horizontal axis", (0, 3.5))
    for part in (
        "base",
        "column",
        "work table",
        "head",
        "quill",
        "chuck",
        "drill bit",
        "feed lever",
        "motor",
    ):
        it.made_of(part, "heavy_metal", "light_metal")
    it.made_of("pulley cover", "plastic", "light_metal")
    it.human(
        {"pred": "surface", "role": "work table", "min_area_m2": 0.02},
        {"pred": "reachable", "target": "feed lever", "from": "standing"},
        {"pred": "clearance", "anchor": "drill bit", "placement": "below", "box": [0.04, 0.04, 0.03]},
    )
    return it


def _handwheel(axle: float) -> Solid:
    """A rim on spokes about X with a crank knob, and an axle that reaches 3 cm to −X."""
    spokes = [box(0.008, 0.012, 0.1).turned(x=a) for a in (0, 60, 120)]
    ring = union(torus(0.05, 0.008).turned(y=90), *spokes, rod_x(0.016, 0.024))
    return union(ring, rod_x(axle, 0.05).at(-0.02), rod_x(0.008, 0.04).at(0.02, 0, 0.05))


def lathe() -> Object:
    """A bed on feet, headstock with spindle and chuck, carriage, cross slide, tailstock, handwheels."""
    it = Object("lathe", "bench lathe", FAMILY, "lathe", aliases=["turning lathe", "metal lathe"])
    it.brief(
        "Build a bench lathe.",
        "Build a bench lathe 0.8 to 1.1 m long: a bed on two feet, one headstock with one spindle and one"
        " chuck, one carriage with one cross slide and one tool post, one tailstock, two handwheels and "
        "one motor.",
        "Build a bench lathe: the chuck on its spindle turns the work, a carriage runs along the bed and "
        "its cross slide feeds the tool into the work, and a tailstock, set along the bed, holds the "
        "other end.",
    )
    iron = "steel"
    leg = hull(box(0.16, 0.26, 0.02).at(z=0.01), box(0.1, 0.13, 0.02).at(z=0.07))
    for name, x in (("left", -0.34), ("right", 0.34)):
        it.part(f"foot_{name}", leg, (x, 0, 0), role="foot", material=iron)
    ways = [
        (-0.06, 0),
        (0.06, 0),
        (0.06, 0.08),
        (0.028, 0.08),
        (0.028, 0.03),
        (-0.028, 0.03),
        (-0.028, 0.08),
        (-0.06, 0.08),
    ]
    bed = extrude(ways, 0.9).turned(x=90, z=90)
    it.part("bed", bed, (0, 0, 0.08), role="bed", material=iron)
    house = hull(box(0.18, 0.14, 0.1).at(z=0.05), rod_x(0.06, 0.16).at(z=0.14))
    it.part(
        "headstock", house - rod_x(0.016, 0.3).at(z=0.12), (-0.36, 0, 0.16), role="headstock", material=iron
    )
    spindle = union(rod_x(0.016, 0.22).at(-0.09), rod_x(0.03, 0.02).at(0.01))
    it.part("spindle", spindle, (-0.27, 0, 0.28), role="spindle", material=iron, direction=(-1, 0, 0))
    jaws = [box(0.02, 0.016, 0.03).at(0.06, 0, 0.026).turned(x=a) for a in (0, 120, 240)]
    it.part(
        "chuck",
        union(rod_x(0.05, 0.05).at(0.025), *jaws),
        (-0.25, 0, 0.28),
        role="chuck",
        material=iron,
        direction=(-1, 0, 0),
    )
    saddle = union(box(0.18, 0.19, 0.03).at(z=0.015), box(0.12, 0.024, 0.1).at(0, -0.083, -0.035))
    apron = saddle - rod_y(0.008, 0.06).at(0, -0.08, -0.045)
    it.part("carriage", apron, (-0.02, 0, 0.16), role="carriage", material=iron)
    slide = hull(box(0.1, 0.14, 0.02).at(z=0.01), box(0.08, 0.12, 0.006).at(z=0.021))
    it.part("cross_slide", slide, (-0.02, 0, 0.19), role="cross slide", material=iron)
    it.part(
        "tool_post",
        box(0.044, 0.044, 0.036) - box(0.06, 0.03, 0.012).at(y=0.012),
        (-0.02, -0.02, 0.232),
        role="tool post",
        material=iron,
    )
    tail = union(
        hull(box(0.14, 0.12, 0.03).at(z=0.015), rod_x(0.036, 0.12).at(z=0.12)),
        rod_x(0.02, 0.04).at(-0.08, 0, 0.12),
        cylinder(0.02, 0.04, 0).turned(y=-90).at(-0.12, 0, 0.12),
    )
    it.part(
        "tailstock",
        tail - rod_x(0.008, 0.06).at(0.06, 0, 0.12),
        (0.3, 0, 0.16),
        role="tailstock",
        material=iron,
    )
    wheel = _handwheel(0.008)
    it.part("wheel_tail", wheel, (0.385, 0, 0.28), role="handwheel", material=iron, direction=(-1, 0, 0))
    it.part(
        "wheel_carriage",
        wheel,
        (-0.02, -0.12, 0.115),
        (0, 0, -90),
        role="handwheel",
        material=iron,
        direction=(0, 1, 0),
    )
    motor = union(rod_x(0.055, 0.18), rod_x(0.04, 0.2), box(0.1, 0.03, 0.06).at(0, -0.055, 0))
    it.part("motor", motor, (-0.36, 0.14, 0.22), role="motor", material=iron, direction=(0, -1, 0))
    it.joint("spindle", "continuous", "headstock", "spindle", (-0.27, 0, 0.28), (1, 0, 0))
    it.joint("carriage", "prismatic", "bed", "carriage", (-0.02, -0.045, 0.16), (1, 0, 0), (-0.06, 0.1))
    it.joint("cross", "prismatic", "carriage", "cross_slide", (-0.02, 0, 0.19), (0, 1, 0), (-0.04, 0.04))
    it.joint("tailstock", "prismatic", "bed", "tailstock", (0.3, -0.045, 0.16), (1, 0, 0), (-0.04, 0.08))
    it.joint("wheel_tail", "continuous", "tailstock", "wheel_tail", (0.36, 0, 0.28), (1, 0, 0))
    it.joint("wheel_carriage", "continuous", "carriage", "wheel_carriage", (-0.02, -0.095, 0.115), (0, 1, 0))
    it.fix("bed", "foot_left", "foot_right", "headstock")
    it.fix("headstock", "motor")
    it.fix("spindle", "chuck")
    it.fix("cross_slide", "tool_post")
    it.offer("bed without a gap", box(0.9, 0.12, 0.08))
    it.offer("face plate", rod_x(0.07, 0.02))
    it.require(
        bed="guides carriage and tailstock",
        headstock="carries the spindle",
        spindle="turns the chuck",
        chuck="grips the work",
        carriage="moves the tool along the work",
        cross_slide="moves the tool into the work",
        tool_post="holds the tool",
        tailstock="steadies the far end of the work",
        motor="drives the spindle",
    )
    it.attribute("dimension", "The lathe is 0.8 to 1.1 m long.")
    it.attribute("count", "There are two feet and two handwheels.")
    it.subsystem(
        "work drive",
        "turns the work",
        ("motor", "headstock", "spindle", "chuck"),
        [("motor", "headstock", "force"), ("headstock", "spindle", "motion"), ("spindle", "chuck", "load")],
    )
    it.subsystem(
        "tool feed",
        "moves the tool along and into the work",
        ("bed", "carriage", "cross slide", "tool post", "handwheels"),
        [
            ("bed", "carriage", "motion"),
            ("carriage", "cross slide", "motion"),
            ("cross slide", "tool post", "load"),
        ],
    )
    it.subsystem(
        "far support",
        "holds the far end",
        ("tailstock", "bed", "feet"),
        [("bed", "tailstock", "motion"), ("bed", "feet", "load")],
    )
    it.motion("spindle", "headstock", "continuous", "turns", "spindle")
    it.motion("carriage", "bed", "prismatic", "runs along the bed", "along the bed", (-0.06, 0.1))
    it.motion("cross slide", "carriage", "prismatic", "feeds the tool", "across the bed", (-0.04, 0.04))
    it.motion("tailstock", "bed", "prismatic", "is set along the bed", "along the bed", (-0.04, 0.08))
    it.motion("handwheels", "carriage", "continuous", "are turned", "shaft")
    for part in (
        "bed",
        "feet",
        "headstock",
        "spindle",
        "chuck",
        "carriage",
        "cross slide",
        "tool post",
        "tailstock",
        "handwheels",
        "motor",
    ):
        it.made_of(part, "heavy_metal", "light_metal")
    it.human(
        {"pred": "reachable", "target": "handwheels", "from": "standing"},
        {"pred": "clearance", "anchor": "tool post", "placement": "above", "box": [0.1, 0.1, 0.2]},
    )
    return it
