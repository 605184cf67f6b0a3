"""Cases that open on hinges: box, cupboard, toolbox."""

from __future__ import annotations

from workshop import Object, box, cylinder, difference, extrude, hull, revolve, union

OAK = "solid_wood_hardwood"
FAMILY = "hinged"
QUARTER = 1.57
"""A quarter turn as claims give it, rad."""


def keepsake_box() -> Object:
    """Four panels on a bottom, a lid with a raised field, a turned knob."""
    it = Object("keepsake_box", "keepsake box", FAMILY, "box", aliases=["box with a hinged lid"])
    it.brief(
        "Build a keepsake box.",
        "Build a keepsake box with a hinged lid. It is a rectangular wooden box 0.3 to 0.5 m wide and 0.15 "
        "to 0.25 m high, with a bottom, four side panels, one lid, and a knob on the lid.",
        "Build a keepsake box with a hinged lid: things lie on its bottom between the side panels, the lid "
        "turns about a hinge along its back edge by at least 90 degrees, and a knob at the front lifts it.",
    )
    it.part("bottom", box(0.4, 0.26, 0.012), (0, 0, 0.006), role="bottom", material="plywood", shape="board")
    for id, y in (("front", -0.124), ("back", 0.124)):
        it.part(
            id, box(0.4, 0.012, 0.188), (0, y, 0.106), role="side panel", material="plywood", shape="board"
        )
    for id, x in (("left", -0.194), ("right", 0.194)):
        it.part(
            id, box(0.012, 0.236, 0.188), (x, 0, 0.106), role="side panel", material="plywood", shape="board"
        )
    field = hull(box(0.32, 0.18, 0.001).at(z=0.012), box(0.36, 0.22, 0.001).at(z=0.005))
    it.part(
        "lid",
        box(0.416, 0.268, 0.012) + field,
        (0, -0.004, 0.206),
        role="lid",
        material="plywood",
        shape="cover",
    )
    turned = [(0, 0), (0.008, 0), (0.008, 0.01), (0.016, 0.016), (0.018, 0.022), (0.014, 0.03), (0, 0.032)]
    it.part("knob", revolve(turned), (0, -0.08, 0.2185), role="knob", material=OAK)
    it.fix("bottom", "front", "back", "left", "right")
    for end in ("left", "right"):
        it.fix(end, "front", "back")
    it.joint("hinge", "revolute", "back", "lid", (0, 0.13, 0.2), (-1, 0, 0), (0, 1.75))
    it.fix("lid", "knob")
    it.offer("round box", cylinder(0.2, 0.2) - cylinder(0.19, 0.2).at(z=0.012))
    it.offer("flat cover", box(0.5, 0.3, 0.012))
    it.require(
        bottom="carries the content",
        side_panels="four of them hold the content in",
        lid="closes the box",
        knob="lifts the lid",
    )
    it.attribute("dimension", "The box is 0.15 to 0.25 m high.")
    it.attribute("count", "There are four side panels and one lid.")
    it.subsystem(
        "storage", "holds small things", ("bottom", "side panels"), [("side panels", "bottom", "load")]
    )
    it.subsystem(
        "closure",
        "opens and closes",
        ("lid", "knob", "side panels"),
        [("knob", "lid", "force"), ("side panels", "lid", "motion")],
    )
    it.motion("lid", "side panels", "revolute", "opens upwards", "back edge", (0, QUARTER))
    for part in ("side panels", "lid", "bottom"):
        it.made_of(part, "wood")
    it.made_of("knob", "wood", "heavy_metal", "light_metal", "ceramic", "plastic")
    it.human({"pred": "grip", "role": "knob"})
    return it


def cabinet() -> Object:
    """A case on a plinth with a shelf; the door lies on its front and turns on two barrels at a corner."""
    it = Object("cabinet", "cupboard", FAMILY, "cupboard", aliases=["small cabinet with one door"])
    it.brief(
        "Build a cupboard.",
        "Build a wooden cupboard 0.7 to 0.95 m high, 0.45 to 0.6 m wide and 0.35 to 0.45 m deep: a plinth, "
        "two side panels, a bottom, a back and a top panel, one shelf, and one door with a knob on two "
        "metal hinges.",
        "Build a cupboard for a hallway: things stand on a shelf and on its bottom, a door in front keeps "
        "dust out, swings sideways by at least 90 degrees on hinges at one side, and is pulled by a knob at "
        "the other; a plinth keeps the case off the floor.",
    )
    it.part("plinth", box(0.46, 0.32, 0.08) - box(0.42, 0.28, 0.2), (0, 0, 0.04), role="plinth", material=OAK)
    it.part("bottom", box(0.5, 0.36, 0.02), (0, 0, 0.09), role="bottom panel", material=OAK, shape="board")
    for id, x in (("left", -0.24), ("right", 0.24)):
        it.part(id, box(0.02, 0.36, 0.7), (x, 0, 0.45), role="side panel", material=OAK, shape="board")
    it.part(
        "back", box(0.46, 0.012, 0.7), (0, 0.174, 0.45), role="back panel", material="plywood", shape="sheet"
    )
    it.part("shelf", box(0.46, 0.32, 0.02), (0, 0.008, 0.45), role="shelf", material=OAK, shape="board")
    edge = hull(box(0.54, 0.4, 0.012).at(z=-0.006), box(0.52, 0.38, 0.012).at(z=0.006))
    it.part("top", edge, (0, -0.004, 0.812), role="top panel", material=OAK, shape="edged board")
    for id, z in (("hinge_lower", 0.2), ("hinge_upper", 0.7)):
        it.part(id, cylinder(0.008, 0.06), (0.25, -0.18, z), role="hinge", material="steel", shape="barrel")
    field = hull(box(0.34, 0.001, 0.5).at(y=-0.014), box(0.4, 0.001, 0.56).at(y=-0.009))
    it.part(
        "door",
        box(0.498, 0.02, 0.684) + field,
        (0.001, -0.19, 0.45),
        role="door",
        material=OAK,
        direction=(0, 1, 0),
    )
    turned = [(0, 0), (0.008, 0), (0.008, 0.012), (0.018, 0.02), (0.018, 0.028), (0, 0.034)]
    it.part(
        "knob",
        revolve(turned).turned(x=90),
        (-0.225, -0.2, 0.47),
        role="knob",
        material="steel",
        direction=(0, 1, 0),
    )
    it.fix("bottom", "plinth", "left", "right", "back")
    it.fix("shelf", "left", "right", "back")
    it.fix("top", "left", "right", "back")
    it.fix("back", "left", "right")
    it.fix("right", "hinge_lower", "hinge_upper")
    it.joint("swing", "revolute", "hinge_upper", "door", (0.25, -0.18, 0.7), (0, 0, 1), (0, 1.75))
    it.fix("door", "knob")
    it.offer("glazed door", box(0.498, 0.02, 0.684) - box(0.4, 0.1, 0.58))
    it.offer("strap", box(0.12, 0.004, 0.03))
    it.require(
        door="closes the front",
        side_panels="carry shelf and top",
        shelf="what things stand on",
        hinges="let the door swing",
        knob="to pull the door by",
    )
    it.attribute("dimension", "The cupboard is 0.7 to 0.95 m high and 0.35 to 0.45 m deep.")
    it.attribute("count", "There is one door on two hinges, and one shelf.")
    it.subsystem(
        "storage",
        "holds things",
        ("shelf", "side panels", "bottom panel", "plinth"),
        [
            ("shelf", "side panels", "load"),
            ("side panels", "bottom panel", "load"),
            ("bottom panel", "plinth", "load"),
        ],
    )
    it.subsystem(
        "closure",
        "opens and closes the front",
        ("door", "hinges", "knob", "side panels"),
        [("knob", "door", "force"), ("side panels", "door", "motion"), ("hinges", "side panels", "load")],
    )
    it.motion(
        "door",
        "side panels",
        "revolute",
        "swings open to the front",
        "vertical, along one side edge",
        (0, QUARTER),
    )
    for part in ("door", "side panels", "shelf", "back panel", "top panel", "bottom panel", "plinth"):
        it.made_of(part, "wood")
    it.made_of("hinges", "heavy_metal", "light_metal")
    it.made_of("knob", "wood", "heavy_metal", "light_metal", "ceramic", "plastic")
    it.human(
        {"pred": "grip", "role": "knob"}, {"pred": "colocated", "a": "knob", "b": "door", "max_gap_m": 0.02}
    )
    return it


def toolbox() -> Object:
    """A steel box with a lift-out tray, a gabled lid with a handle, two latches that swing up."""
    it = Object("toolbox", "toolbox", FAMILY, "toolbox", aliases=["tool chest"])
    it.brief(
        "Build a toolbox.",
        "Build a metal toolbox 0.4 to 0.6 m long, 0.2 to 0.3 m deep and 0.25 to 0.4 m high: a bottom, four "
        "side panels, a tray to lift out, a hinged lid with one handle on top, and two latches at the front.",
        "Build a toolbox: tools lie in it and small things in a tray on ledges that is lifted out, the lid "
        "turns back about its rear edge by at least 90 degrees, latches that swing up hold it shut, and a "
        "handle on top carries the whole.",
    )
    steel = "steel"
    it.part("bottom", box(0.48, 0.24, 0.012), (0, 0, 0.006), role="bottom", material=steel, shape="sheet")
    for id, y in (("front", -0.114), ("back", 0.114)):
        it.part(id, box(0.48, 0.012, 0.16), (0, y, 0.092), role="side panel", material=steel, shape="sheet")
    for id, x in (("left", -0.234), ("right", 0.234)):
        it.part(id, box(0.012, 0.216, 0.16), (x, 0, 0.092), role="side panel", material=steel, shape="sheet")
    for id, x in (("ledge_left", -0.218), ("ledge_right", 0.218)):
        it.part(id, box(0.02, 0.2, 0.012), (x, 0, 0.1), role="ledge", material=steel, shape="bar")
    tray = difference(
        box(0.44, 0.19, 0.048),
        box(0.2, 0.166, 0.048).at(-0.11, 0, 0.012),
        box(0.2, 0.166, 0.048).at(0.11, 0, 0.012),
    )
    it.part("tray", tray, (0, 0, 0.13), role="tray", material="ABS")
    outer = [(-0.12, 0), (0.12, 0), (0.12, 0.04), (0.06, 0.08), (-0.06, 0.08), (-0.12, 0.04)]
    inner = [
        (-0.108, -0.01),
        (0.108, -0.01),
        (0.108, 0.035),
        (0.056, 0.068),
        (-0.056, 0.068),
        (-0.108, 0.035),
    ]
    roof = extrude(outer, 0.48) - extrude(inner, 0.456)
    it.part("lid", roof.turned(x=90, z=90), (0, 0, 0.172), role="lid", material=steel)
    bow = union(
        cylinder(0.012, 0.16).turned(y=90).at(z=0.044),
        box(0.024, 0.024, 0.05).at(-0.068, 0, 0.025),
        box(0.024, 0.024, 0.05).at(0.068, 0, 0.025),
    )
    it.part("handle", bow, (0, 0, 0.252), role="handle", material="ABS")
    clip = union(box(0.04, 0.012, 0.06), cylinder(0.008, 0.04).turned(y=90).at(0, -0.006, -0.022))
    for id, x in (("latch_left", -0.15), ("latch_right", 0.15)):
        it.part(id, clip, (x, -0.126, 0.17), role="latch", material=steel, direction=(0, 1, 0))
    it.fix("bottom", "front", "back", "left", "right")
    for end in ("left", "right"):
        it.fix(end, "front", "back", f"ledge_{end}")
        it.fix(f"ledge_{end}", "tray")
    it.joint("hinge", "revolute", "back", "lid", (0, 0.12, 0.172), (-1, 0, 0), (0, 1.75))
    it.fix("lid", "handle")
    for side, x in (("left", -0.15), ("right", 0.15)):
        it.joint(f"clip_{side}", "revolute", "lid", f"latch_{side}", (x, -0.12, 0.2), (-1, 0, 0), (0, 1.6))
    it.offer("flat cover", box(0.48, 0.24, 0.012))
    it.offer("open tray", box(0.44, 0.19, 0.03) - box(0.42, 0.17, 0.03).at(z=0.01))
    it.require(
        bottom="carries the tools",
        side_panels="four of them keep the tools in",
        lid="closes the box",
        handle="to carry it by",
        latches="keep the lid shut",
        tray="keeps small things apart",
    )
    it.attribute("dimension", "The toolbox is 0.4 to 0.6 m long and 0.25 to 0.4 m high.")
    it.attribute("count", "There are four side panels, two latches and one lid.")
    it.subsystem(
        "storage",
        "holds tools",
        ("bottom", "side panels", "tray", "ledges"),
        [("side panels", "bottom", "load"), ("tray", "ledges", "load"), ("ledges", "side panels", "load")],
    )
    it.subsystem(
        "closure",
        "opens, closes and stays shut",
        ("lid", "latches", "side panels"),
        [("side panels", "lid", "motion"), ("lid", "latches", "motion")],
    )
    it.subsystem("carrying", "carries the whole", ("handle", "lid"), [("handle", "lid", "load")])
    it.motion("lid", "side panels", "revolute", "opens upwards and back", "back edge", (0, QUARTER))
    it.motion(
        "latches",
        "lid",
        "revolute",
        "swing up to release the lid",
        "horizontal, at their upper edge",
        (0, 1.2),
    )
    for part in ("bottom", "side panels", "lid", "latches", "ledges"):
        it.made_of(part, "heavy_metal", "light_metal")
    for part in ("handle", "tray"):
        it.made_of(part, "plastic", "heavy_metal", "light_metal")
    it.human({"pred": "grip", "role": "handle"}, {"pred": "part_present", "role": "latches"})
    return it
