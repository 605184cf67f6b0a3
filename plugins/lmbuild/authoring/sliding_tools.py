"""Tools and fittings with parts that slide: bench vise, bolt, telescopic stand, paper cutter."""

from __future__ import annotations

from math import cos, radians, sin

from workshop import Object, box, cylinder, difference, extrude, hull, revolve, sphere, torus, union

OAK = "solid_wood_hardwood"
FAMILY = "sliding"
BACK = (0, 1, 0)


def bench_vise() -> Object:
    """A body with a channel, a jaw on a hollow bar that slides in it, a screw that turns in the jaw."""
    it = Object("bench_vise", "bench vise", FAMILY, "vise", aliases=["bench vice"])
    it.brief(
        "Build a bench vise.",
        "Build a bench vise of steel, 0.15 to 0.25 m high, with a fixed jaw on a body, a moving jaw on a "
        "slide bar, two jaw plates, a screw and a handle with a ball at both ends; the base has four holes.",
        "Build a bench vise: turning the handle turns the screw, the moving jaw slides in the body towards "
        "the fixed jaw and away from it, and two plates grip the workpiece between them.",
    )
    bolts = [cylinder(0.006, 0.1).at(0.075, 0).turned(z=angle) for angle in (45, 135, 225, 315)]
    it.part("base", difference(cylinder(0.096, 0.016), *bolts), (0, 0, 0.008), role="base", material="steel")
    foot = hull(cylinder(0.06, 0.008).at(z=0.004), box(0.09, 0.13, 0.008).at(z=0.036))
    block = union(foot, box(0.09, 0.13, 0.064).at(z=0.072), box(0.12, 0.036, 0.05).at(0, -0.047, 0.125))
    body = block - box(0.042, 0.4, 0.042).at(z=0.072)
    it.part("body", body, (0, 0, 0.016), role="fixed jaw", material="steel", shape="vise body")
    nut = box(0.02, 0.03, 0.029) - cylinder(0.008, 0.1).turned(x=90).at(z=0.0025)
    it.part("nut", nut, (0, 0.04, 0.0815), role="nut", material="steel", direction=(0, -1, 0))
    plate = box(0.12, 0.01, 0.04)
    it.part("plate_fixed", plate, (0, -0.07, 0.144), role="jaw plate", material="steel")
    bar = box(0.04, 0.19, 0.04).at(0, -0.005, 0.072) - box(0.024, 0.4, 0.034).at(0, 0, 0.065)
    jaw = box(0.12, 0.04, 0.11).at(0, -0.115, 0.095) - cylinder(0.007, 0.4).turned(x=90).at(z=0.068)
    it.part("jaw", union(jaw, bar), (0, 0, 0.016), role="moving jaw", material="steel", direction=BACK)
    it.part("plate_moving", plate, (0, -0.09, 0.144), role="jaw plate", material="steel")
    rod = union(cylinder(0.007, 0.21).at(z=0.075), cylinder(0.014, 0.03).at(z=-0.015))
    screw = rod.turned(x=-90) - cylinder(0.005, 0.1).turned(y=90).at(0, -0.015)
    it.part("screw", screw, (0, -0.135, 0.084), role="screw", material="steel", direction=BACK)
    sideways = (-1, 0, 0)
    it.part(
        "handle",
        cylinder(0.005, 0.13).turned(y=90),
        (0, -0.15, 0.084),
        role="handle",
        material="steel",
        direction=sideways,
    )
    ball = sphere(0.009) - cylinder(0.005, 0.02).turned(y=90).at(-0.007)
    for name, x, turn in (("left", -0.062, 180), ("right", 0.062, 0)):
        it.part(f"ball_{name}", ball, (x, -0.15, 0.084), (0, 0, turn), role="handle ball", material="steel")
    it.fix("base", "body")
    it.fix("body", "nut", "plate_fixed")
    it.fix("jaw", "plate_moving")
    it.fix("screw", "handle")
    it.fix("handle", "ball_left", "ball_right")
    it.joint("slide", "prismatic", "body", "jaw", (0, -0.04, 0.1085), (0, -1, 0), (0, 0.08))
    it.joint("turn", "continuous", "jaw", "screw", (0, -0.135, 0.084), (0, -1, 0))
    it.offer("plain jaw", box(0.12, 0.04, 0.11))
    it.offer("hex bolt", union(cylinder(0.006, 0.04), cylinder(0.01, 0.006).at(z=0.023)))
    it.require(
        fixed_jaw="the workpiece is pressed against it",
        moving_jaw="presses the workpiece",
        screw="turns rotation into pressure",
        nut="holds the thread in the body",
        handle="gives the hand leverage",
        jaw_plates="grip without marring the jaws",
        base="is bolted to the bench",
    )
    it.attribute("dimension", "The vise is 0.15 to 0.25 m high.")
    it.attribute("count", "There are two jaw plates, one screw, one handle and two handle balls.")
    it.attribute("material", "Jaws, screw and base are of steel.")
    it.subsystem(
        "clamping",
        "holds a workpiece",
        ("fixed jaw", "moving jaw", "jaw plates", "base"),
        [
            ("fixed jaw", "moving jaw", "motion"),
            ("jaw plates", "moving jaw", "force"),
            ("fixed jaw", "base", "load"),
        ],
    )
    it.subsystem(
        "drive",
        "moves the jaw with the force of a screw",
        ("handle", "screw", "nut"),
        [("handle", "screw", "torque"), ("screw", "moving jaw", "force"), ("nut", "screw", "force")],
        "a screw is an inclined plane round an axis",
    )
    it.motion(
        "moving jaw", "fixed jaw", "prismatic", "slides to and from the fixed jaw", "horizontal", (0, 0.08)
    )
    it.motion("screw", "moving jaw", "continuous", "turns in the moving jaw", "screw axis, horizontal")
    for part in ("fixed jaw", "moving jaw", "screw", "nut", "jaw plates", "base", "handle", "handle balls"):
        it.made_of(part, "heavy_metal")
    it.human(
        {"pred": "part_present", "role": "handle"},
        {"pred": "colocated", "a": "handle", "b": "screw", "max_gap_m": 0.02},
    )
    return it


def barrel_bolt() -> Object:
    """A round bolt in two guides on a door; at rest it sits in a keeper on the jamb beside it."""
    it = Object("barrel_bolt", "sliding-bolt lock", FAMILY, "lock", aliases=["bolt lock"])
    it.brief(
        "Build a sliding-bolt lock.",
        "Build a sliding-bolt door lock on a sample board 0.3 to 0.5 m wide: a piece of door and a piece of "
        "jamb stand side by side on a base. On the door are a steel back plate with two guides and a round "
        "bolt with a knob; one keeper is on the jamb.",
        "Build a sliding-bolt door lock on a sample board: the bolt is pushed by its knob through two guides "
        "on the door into a keeper on the jamb and drawn back again.",
    )
    it.part("base", box(0.4, 0.14, 0.024), (-0.04, 0, 0.012), role="base", material=OAK)
    it.part("door", box(0.26, 0.024, 0.24), (-0.1, 0, 0.144), role="door", material=OAK)
    moulding = ((-0.04, -0.012), (0.04, -0.012), (0.04, 0.012), (0.02, 0.028), (-0.02, 0.028), (-0.04, 0.012))
    it.part("jamb", extrude(moulding, 0.26), (0.08, 0, 0.154), role="jamb", material=OAK)
    corners = [(x, z) for x in (-0.075, 0.075) for z in (-0.022, 0.022)]
    bores = [cylinder(0.003, 0.1).turned(x=90).at(x, 0, z) for x, z in corners]
    it.part(
        "plate",
        difference(box(0.18, 0.006, 0.06), *bores),
        (-0.07, -0.015, 0.15),
        role="back plate",
        material="steel",
        direction=BACK,
    )
    bridge = hull(cylinder(0.014, 0.016).turned(y=90).at(0, -0.014), box(0.016, 0.004, 0.044).at(0, -0.002))
    guide = bridge - cylinder(0.008, 0.1).turned(y=90).at(0, -0.014)
    for name, x in (("outer", -0.128), ("inner", -0.012)):
        it.part(f"guide_{name}", guide, (x, -0.018, 0.15), role="guide", material="steel", direction=BACK)
    keeper = hull(cylinder(0.02, 0.036).turned(y=90).at(0, -0.02), box(0.036, 0.004, 0.06).at(0, -0.002))
    it.part(
        "keeper",
        keeper - cylinder(0.009, 0.1).turned(y=90).at(0, -0.02),
        (0.066, -0.012, 0.15),
        role="keeper",
        material="steel",
        direction=BACK,
    )
    rod = union(cylinder(0.008, 0.23), sphere(0.008).at(z=0.115)).turned(y=90)
    it.part(
        "bolt",
        rod - cylinder(0.004, 0.02).turned(x=90).at(-0.012, -0.012),
        (-0.03, -0.032, 0.15),
        role="bolt",
        material="steel",
        direction=(1, 0, 0),
    )
    ball = revolve(
        ((0, 0), (0.004, 0), (0.004, 0.02), (0.01, 0.026), (0.01, 0.034), (0.006, 0.04), (0, 0.04))
    )
    it.part("knob", ball.turned(x=90), (-0.042, -0.034, 0.15), role="knob", material="steel", direction=BACK)
    for number, (x, z) in enumerate(corners, 1):
        screw = revolve(((0, -0.006), (0.003, -0.006), (0.003, 0), (0.006, 0), (0.003, 0.003), (0, 0.003)))
        place = (-0.07 + x, -0.018, 0.15 + z)
        it.part(f"screw_{number}", screw.turned(x=90), place, role="screw", material="steel", direction=BACK)
    it.fix("base", "door", "jamb")
    it.fix("plate", "door", "guide_outer", "guide_inner", *(f"screw_{k}" for k in (1, 2, 3, 4)))
    it.fix("jamb", "keeper")
    it.fix("bolt", "knob")
    it.joint("slide", "prismatic", "guide_inner", "bolt", (-0.012, -0.032, 0.15), (1, 0, 0), (-0.06, 0))
    it.offer("square bolt", box(0.23, 0.016, 0.016))
    it.offer("hook", torus(0.02, 0.004) - box(0.03, 0.03, 0.03).at(0.015, 0.015))
    it.require(
        bolt="reaches from the door into the keeper",
        guides="lead the bolt on the door",
        keeper="takes the bolt on the jamb",
        knob="moves the bolt",
        back_plate="carries the guides",
        door="carries the bolt",
        jamb="carries the keeper",
    )
    it.attribute("dimension", "The sample board is 0.3 to 0.5 m wide.")
    it.attribute("count", "There are two guides, one bolt, one knob and one keeper.")
    it.attribute("count", "Four screws hold the back plate.")
    it.subsystem(
        "bolting",
        "carries the bolt into the keeper and back",
        ("bolt", "guides", "keeper", "knob"),
        [("guides", "bolt", "motion"), ("knob", "bolt", "force"), ("bolt", "keeper", "force")],
    )
    it.subsystem(
        "mounting",
        "holds the lock on door and jamb",
        ("back plate", "screws", "door", "jamb", "base"),
        [("back plate", "door", "load"), ("door", "base", "load"), ("jamb", "base", "load")],
    )
    it.motion("bolt", "guides", "prismatic", "slides into the keeper and back", "horizontal", (-0.06, 0))
    for part in ("bolt", "guides", "keeper", "knob", "back plate", "screws"):
        it.made_of(part, "heavy_metal")
    for part in ("door", "jamb", "base"):
        it.made_of(part, "wood")
    it.human(
        {"pred": "grip", "role": "knob"}, {"pred": "colocated", "a": "bolt", "b": "keeper", "max_gap_m": 0.01}
    )
    return it


def telescopic_stand() -> Object:
    """Two tubes and a rod in each other on a star of three arms; a collar with a knob on each tube."""
    it = Object("telescopic_stand", "telescopic stand", FAMILY, "camera stand", aliases=["extending stand"])
    it.brief(
        "Build a telescopic stand.",
        "Build a telescopic stand for a camera, 0.8 to 1.0 m high when pushed together: a base with three "
        "arms on rubber feet, an outer tube, a middle tube and an inner rod of aluminium, two clamp collars "
        "with a knob each, and a round top plate.",
        "Build a telescopic stand for a camera: its middle tube slides up out of the outer tube and the "
        "inner rod out of the middle tube, collars with knobs clamp them, and three arms keep it upright.",
    )
    spots = [(0.24 * cos(radians(a)), 0.24 * sin(radians(a))) for a in (-90, 30, 150)]
    for number, (x, y) in enumerate(spots, 1):
        it.part(
            f"foot_{number}", cylinder(0.02, 0.012), (x, y, 0.006), role="foot", material="synthetic_rubber"
        )
    hub = cylinder(0.036, 0.1).at(z=0.05)
    arms = [hull(cylinder(0.024, 0.016).at(x, y, 0.008), cylinder(0.02, 0.06).at(z=0.03)) for x, y in spots]
    socket = cylinder(0.02, 0.2).at(z=0.12)
    it.part("base", union(hub, *arms) - socket, (0, 0, 0.012), role="base", material="aluminum")
    outer = cylinder(0.02, 0.6) - cylinder(0.016, 0.7)
    it.part("tube_outer", outer, (0, 0, 0.332), role="outer tube", material="aluminum")
    lower = difference(
        cylinder(0.03, 0.05),
        cylinder(0.02, 0.1).at(z=-0.05),
        cylinder(0.016, 0.2),
        box(0.1, 0.004, 0.1).at(-0.05),
    )
    it.part("collar_lower", lower, (0, 0, 0.632), role="collar", material="polypropylene_PP")
    knob = union(cylinder(0.004, 0.02).at(z=0.01), cylinder(0.012, 0.012, 0.01).at(z=0.018)).turned(x=90)
    it.part(
        "knob_lower", knob, (0, -0.028, 0.632), role="clamp knob", material="polypropylene_PP", direction=BACK
    )
    middle = cylinder(0.015, 0.6) - cylinder(0.011, 0.7)
    it.part("tube_middle", middle, (0, 0, 0.432), role="middle tube", material="aluminum")
    upper = difference(
        cylinder(0.024, 0.04),
        cylinder(0.015, 0.1).at(z=-0.05),
        cylinder(0.011, 0.2),
        box(0.1, 0.004, 0.1).at(-0.05),
    )
    it.part("collar_upper", upper, (0, 0, 0.732), role="collar", material="polypropylene_PP")
    it.part(
        "knob_upper", knob, (0, -0.022, 0.732), role="clamp knob", material="polypropylene_PP", direction=BACK
    )
    it.part("rod", cylinder(0.01, 0.6), (0, 0, 0.532), role="inner rod", material="aluminum")
    table = revolve(
        ((0, 0), (0.03, 0), (0.05, 0.008), (0.05, 0.012), (0.004, 0.012), (0.004, 0.02), (0, 0.02))
    )
    it.part("plate", table, (0, 0, 0.832), role="top plate", material="aluminum")
    it.fix("base", "foot_1", "foot_2", "foot_3", "tube_outer")
    it.fix("tube_outer", "collar_lower")
    it.fix("collar_lower", "knob_lower")
    it.fix("tube_middle", "collar_upper")
    it.fix("collar_upper", "knob_upper")
    it.fix("rod", "plate")
    it.joint("slide_middle", "prismatic", "tube_outer", "tube_middle", (0.0155, 0, 0.6), (0, 0, 1), (0, 0.4))
    it.joint("slide_inner", "prismatic", "tube_middle", "rod", (0.0105, 0, 0.7), (0, 0, 1), (0, 0.4))
    it.offer("short tube", cylinder(0.02, 0.2) - cylinder(0.016, 0.3))
    it.offer("ball head", union(sphere(0.02), cylinder(0.012, 0.03).at(z=-0.02)))
    it.require(
        base="keeps the stand upright",
        outer_tube="carries and guides the middle tube",
        middle_tube="slides out of the outer tube",
        inner_rod="slides out of the middle tube and carries the top plate",
        collars="clamp the tubes at a height",
        clamp_knobs="tighten the collars",
        top_plate="the camera is screwed to it",
        feet="stand on the floor without slipping",
    )
    it.attribute("dimension", "The stand is 0.8 to 1.0 m high when pushed together.")
    it.attribute("count", "There are three feet, two collars and two clamp knobs.")
    it.subsystem(
        "telescope",
        "brings the camera to a height",
        ("outer tube", "middle tube", "inner rod", "top plate"),
        [
            ("outer tube", "middle tube", "motion"),
            ("middle tube", "inner rod", "motion"),
            ("top plate", "inner rod", "load"),
        ],
    )
    it.subsystem(
        "clamping",
        "holds the height",
        ("collars", "clamp knobs", "outer tube", "middle tube"),
        [("clamp knobs", "collars", "force"), ("collars", "middle tube", "force")],
    )
    it.subsystem(
        "support",
        "stands on the floor",
        ("base", "feet", "outer tube"),
        [("outer tube", "base", "load"), ("base", "feet", "load")],
    )
    it.motion("middle tube", "outer tube", "prismatic", "slides upwards", "vertical", (0, 0.35))
    it.motion("inner rod", "middle tube", "prismatic", "slides upwards", "vertical", (0, 0.35))
    for part in ("base", "outer tube", "middle tube", "inner rod", "top plate"):
        it.made_of(part, "light_metal", "heavy_metal")
    for part in ("collars", "clamp knobs"):
        it.made_of(part, "plastic", "light_metal")
    it.made_of("feet", "rubber", "plastic")
    it.human(
        {"pred": "reachable", "target": "top plate"},
        {"pred": "surface", "role": "top plate", "min_area_m2": 0.003, "height_range_m": [0.7, 1.1]},
    )
    return it


def paper_cutter() -> Object:
    """A board with a fence; a carriage with a round blade slides on a rail along one side."""
    it = Object("paper_cutter", "paper cutter", FAMILY, "cutter", aliases=["paper trimmer"])
    it.brief(
        "Build a paper cutter.",
        "Build a paper cutter with a sliding carriage: a board 0.3 to 0.5 m wide and deep on four rubber "
        "feet, a fence at its back, a cutting strip, a rail between two end blocks, and on the rail a "
        "carriage with one round steel blade and one knob.",
        "Build a paper cutter with a sliding carriage: sheets lie square on the board against a fence, the "
        "carriage is pushed along its rail by a knob, and its blade rolls over the sheet along a strip.",
    )
    for name, x, y in (("fl", -0.15, -0.2), ("fr", 0.15, -0.2), ("bl", -0.15, 0.2), ("br", 0.15, 0.2)):
        it.part(
            f"foot_{name}",
            cylinder(0.02, 0.012, 0.016),
            (x, y, 0.006),
            role="foot",
            material="silicone_rubber",
        )
    it.part("board", box(0.36, 0.48, 0.02), (0, 0, 0.022), role="board", material="particle_board_MDF")
    it.part(
        "strip", box(0.02, 0.38, 0.004), (0.088, 0, 0.034), role="cutting strip", material="polyethylene_PE"
    )
    bevel = ((-0.01, 0), (0.01, 0), (0.01, 0.012), (-0.004, 0.012), (-0.01, 0.006))
    fence = extrude(bevel, 0.22).turned(x=90, z=90)
    it.part("fence", fence, (-0.05, 0.21, 0.032), role="fence", material="aluminum")
    block = hull(box(0.06, 0.028, 0.004).at(z=0.002), box(0.05, 0.024, 0.004).at(z=0.048))
    notched = block - box(0.03, 0.1, 0.04).at(z=0.058)
    for name, y in (("front", -0.21), ("back", 0.21)):
        it.part(f"block_{name}", notched, (0.124, y, 0.032), role="end block", material="ABS")
    rail = box(0.03, 0.45, 0.016) - cylinder(0.006, 0.5).turned(x=90).at(z=0.008)
    it.part("rail", rail, (0.124, 0, 0.078), role="rail", material="aluminum")
    outer = union(box(0.06, 0.08, 0.04).at(z=0.08), box(0.013, 0.05, 0.04).at(-0.0235, 0, 0.064))
    carriage = (
        outer - box(0.032, 0.1, 0.03).at(z=0.072) - cylinder(0.004, 0.013).turned(y=90).at(-0.0235, 0, 0.061)
    )
    it.part("carriage", carriage, (0.124, -0.12, 0), role="carriage", material="ABS")
    pin = union(cylinder(0.004, 0.017), cylinder(0.008, 0.004).at(z=-0.0105)).turned(y=90)
    disc = revolve(((0.004, -0.002), (0.022, -0.0005), (0.022, 0.0005), (0.004, 0.002))).turned(y=90)
    it.part("blade", disc, (0.0915, -0.12, 0.061), role="blade", material="stainless_steel")
    it.part("pin", pin, (0.0975, -0.12, 0.061), role="blade pin", material="steel", direction=(1, 0, 0))
    grip = ((0, 0), (0.012, 0), (0.01, 0.012), (0.018, 0.028), (0.014, 0.044), (0, 0.048))
    it.part("knob", revolve(grip), (0.124, -0.12, 0.1), role="knob", material="ABS")
    it.fix("board", "foot_fl", "foot_fr", "foot_bl", "foot_br", "strip", "fence", "block_front", "block_back")
    it.fix("rail", "block_front", "block_back")
    it.fix("carriage", "pin", "knob")
    it.joint("slide", "prismatic", "rail", "carriage", (0.124, -0.12, 0.0865), (0, 1, 0), (0, 0.24))
    it.joint("turn", "continuous", "pin", "blade", (0.0915, -0.12, 0.061), (1, 0, 0))
    it.offer("lever arm", hull(cylinder(0.02, 0.02), cylinder(0.01, 0.02).at(0.4)))
    it.offer("straight blade", box(0.38, 0.002, 0.03))
    it.require(
        board="sheets lie on it",
        fence="squares the sheets",
        rail="guides the carriage",
        carriage="carries the blade along the cut",
        blade="cuts",
        knob="pushes the carriage",
        cutting_strip="the blade runs against it",
        end_blocks="hold the rail above the board",
    )
    it.attribute("dimension", "The board is 0.3 to 0.5 m wide and deep.")
    it.attribute("count", "There are four feet and two end blocks.")
    it.attribute("count", "There is one blade, one carriage and one knob.")
    it.subsystem(
        "cutting",
        "cuts along a straight line",
        ("rail", "carriage", "blade", "knob", "cutting strip"),
        [("rail", "carriage", "motion"), ("carriage", "blade", "motion"), ("knob", "carriage", "force")],
    )
    it.subsystem(
        "bed",
        "holds the sheets",
        ("board", "fence", "end blocks", "rail", "feet"),
        [
            ("fence", "board", "force"),
            ("rail", "end blocks", "load"),
            ("end blocks", "board", "load"),
            ("board", "feet", "load"),
        ],
    )
    it.motion("carriage", "rail", "prismatic", "slides along the rail", "horizontal", (0, 0.2))
    it.motion("blade", "carriage", "continuous", "rolls over the sheet", "axle")
    it.made_of("board", "wood", "plastic", "light_metal")
    it.made_of("feet", "rubber")
    it.made_of("blade", "heavy_metal")
    it.made_of("blade pin", "heavy_metal", "light_metal")
    it.made_of("cutting strip", "plastic")
    for part in ("carriage", "knob", "end blocks"):
        it.made_of(part, "plastic", "light_metal")
    for part in ("rail", "fence"):
        it.made_of(part, "light_metal", "heavy_metal")
    it.human(
        {"pred": "surface", "role": "board", "min_area_m2": 0.08, "height_range_m": [0.01, 0.06]},
        {"pred": "grip", "role": "knob"},
    )
    return it
