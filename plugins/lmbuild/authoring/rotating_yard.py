"""Things with parts that turn, out of doors: hand cart, wheelbarrow, windmill, well windlass."""

from __future__ import annotations

from math import atan2, cos, degrees, hypot, radians, sin

from workshop import Object, Solid, box, cylinder, difference, extrude, hull, revolve, torus, union

OAK = "solid_wood_hardwood"
PINE = "solid_wood_softwood"
FAMILY = "rotating"
BACK = (0, 1, 0)
RIGHT, LEFT = (1, 0, 0), (-1, 0, 0)


def spoked_wheel(radius: float, width: float, bore: float, spokes: int) -> Solid:
    """A wheel about the X axis: a flat tread, a rim, spokes and a hub with a bore."""
    rim = cylinder(radius, width) - cylinder(radius - 0.024, 2 * width)
    hub = cylinder(2.6 * bore, width)
    spoke = box(radius - 0.012, 0.024, 0.5 * width).at((radius - 0.012) / 2)
    arms = [spoke.turned(z=360 * k / spokes) for k in range(spokes)]
    return (union(rim, hub, *arms) - cylinder(bore, 2 * width)).turned(y=90)


def hand_cart() -> Object:
    """A deck with boards around it on two axles, a wheel at each end, a push bar behind."""
    it = Object("hand_cart", "hand cart", FAMILY, "cart", aliases=["platform cart"])
    it.brief(
        "Build a hand cart with four wheels.",
        "Build a hand cart with four wheels: a wooden deck 0.8 to 1.1 m long and 0.5 to 0.7 m wide with "
        "four side boards, two steel axles under bearers, and a push bar on two posts 0.8 to 1.0 m above "
        "the ground.",
        "Build a hand cart: a person pushes it by a bar at hand height behind the deck, four wheels turn "
        "freely on two axles so that it rolls straight, and boards keep the load on the deck.",
    )
    wheel = spoked_wheel(0.12, 0.08, 0.01, 5)
    axle = cylinder(0.01, 0.66).turned(y=90)
    for place, y in (("front", -0.28), ("back", 0.28)):
        for side, x in (("left", -0.27), ("right", 0.27)):
            it.part(f"wheel_{place}_{side}", wheel, (x, y, 0.12), role="wheel", material="synthetic_rubber")
        it.part(f"axle_{place}", axle, (0, y, 0.12), role="axle", material="steel", direction=RIGHT)
    saddle = box(0.42, 0.06, 0.15) - hull(
        cylinder(0.01, 1).turned(y=90).at(z=-0.065), cylinder(0.01, 1).turned(y=90).at(z=-0.1)
    )
    for place, y in (("front", -0.28), ("back", 0.28)):
        it.part(f"bearer_{place}", saddle, (0, y, 0.185), role="bearer", material=OAK)
    it.part("perch", box(0.06, 0.5, 0.03), (0, 0, 0.245), role="perch", material=OAK)
    it.part("deck", box(0.6, 0.96, 0.024), (0, 0, 0.272), role="deck", material="plywood")
    collar = cylinder(0.02, 0.012).turned(y=90) - cylinder(0.01, 0.1).turned(y=90)
    for place, y in (("front", -0.28), ("back", 0.28)):
        for side, x in (("left", -0.32), ("right", 0.32)):
            it.part(f"collar_{place}_{side}", collar, (x, y, 0.12), role="collar", material="steel")
            it.fix(f"axle_{place}", f"collar_{place}_{side}")
            name = f"wheel_{place}_{side}"
            it.joint(
                f"turn_{name}", "continuous", f"axle_{place}", name, (0.27 * x / 0.32, y, 0.12), (1, 0, 0)
            )
    for side, x in (("left", -0.29), ("right", 0.29)):
        it.part(f"board_{side}", box(0.02, 0.96, 0.1), (x, 0, 0.334), role="side board", material=PINE)
    for place, y in (("front", -0.47), ("back", 0.47)):
        it.part(f"board_{place}", box(0.56, 0.02, 0.1), (0, y, 0.334), role="end board", material=PINE)
    foot, head = box(0.04, 0.06, 0.02).at(y=0.43, z=0.294), cylinder(0.03, 0.04).turned(y=90).at(0, 0.56, 0.9)
    post = (
        hull(foot, head)
        - cylinder(0.016, 0.1).turned(y=90).at(0, 0.56, 0.9)
        - box(0.1, 0.02, 0.1).at(0, 0.47, 0.334)
    )
    for side, x in (("left", -0.2), ("right", 0.2)):
        it.part(f"post_{side}", post, (x, 0, 0), role="post", material=OAK)
    bar = cylinder(0.016, 0.48).turned(y=90)
    it.part("push_bar", bar, (0, 0.56, 0.9), role="push bar", material=OAK, direction=RIGHT)
    for place in ("front", "back"):
        it.fix(f"bearer_{place}", f"axle_{place}", "perch", "deck")
    it.fix("deck", "board_left", "board_right", "board_front", "board_back", "post_left", "post_right")
    it.fix("push_bar", "post_left", "post_right")
    it.fix("board_back", "board_left", "board_right", "post_left", "post_right")
    it.fix("board_front", "board_left", "board_right")
    it.offer("caster", union(cylinder(0.04, 0.03).turned(y=90), box(0.06, 0.06, 0.004).at(z=0.06)))
    it.offer("drawbar", cylinder(0.016, 0.9))
    it.require(
        wheels="let the cart roll",
        axles="carry the wheels",
        deck="carries the load",
        bearers="hold the axles to the deck",
        push_bar="the cart is pushed by it",
    )
    it.attribute("dimension", "The deck is 0.8 to 1.1 m long and 0.5 to 0.7 m wide.")
    it.attribute(
        "dimension", "The push bar is 0.8 to 1.0 m above the ground.", "elbow height of a standing adult"
    )
    it.attribute("count", "There are four wheels, two axles, two bearers and two posts.")
    it.attribute("count", "There are two side boards and two end boards.")
    it.subsystem(
        "rolling gear",
        "lets the loaded cart roll",
        ("wheels", "axles", "bearers"),
        [("axles", "wheels", "motion"), ("axles", "bearers", "load")],
    )
    it.subsystem(
        "pushing",
        "takes the push of a person",
        ("push bar", "posts", "deck"),
        [("push bar", "posts", "force"), ("posts", "deck", "force")],
    )
    it.subsystem(
        "loading",
        "carries goods",
        ("deck", "side boards", "end boards", "bearers"),
        [("side boards", "deck", "load"), ("end boards", "deck", "load"), ("deck", "bearers", "load")],
    )
    it.motion("wheels", "axles", "continuous", "roll", "axle")
    for part in ("deck", "bearers", "perch", "side boards", "end boards", "posts"):
        it.made_of(part, "wood")
    it.made_of("push bar", "wood", "heavy_metal", "light_metal")
    it.made_of("wheels", "rubber", "wood", "plastic")
    for part in ("axles", "collar"):
        it.made_of(part, "heavy_metal")
    it.human(
        {"pred": "reachable", "target": "push bar"},
        {"pred": "grip", "role": "push bar"},
        {"pred": "surface", "role": "deck", "min_area_m2": 0.4, "height_range_m": [0.2, 0.5]},
    )
    return it


def wheelbarrow() -> Object:
    """One wheel in front, two bent shafts that end in grips, a tray, two legs behind."""
    it = Object("wheelbarrow", "wheelbarrow", FAMILY, "barrow", aliases=["garden barrow"])
    it.brief(
        "Build a wheelbarrow.",
        "Build a wheelbarrow 1.3 to 1.7 m long: a steel tray on two wooden shafts with a rubber grip at each "
        "end, one spoked wheel 0.3 to 0.4 m across in front, and two legs behind.",
        "Build a wheelbarrow: the load lies in a tray between one wheel in front and two legs behind; a "
        "person lifts the grips of the shafts and pushes, and the wheel turns on its axle.",
    )
    leg = union(
        hull(box(0.04, 0.06, 0.01).at(z=0.338), box(0.04, 0.06, 0.01).at(0.02, 0.02, 0.01)),
        box(0.14, 0.14, 0.012).at(0.012, 0.012, 0.006),
    )
    it.part("leg_left", leg.mirrored(x=1), (-0.185, 0.2, 0), role="leg", material="steel")
    it.part("leg_right", leg, (0.185, 0.2, 0), role="leg", material="steel")
    it.part(
        "wheel",
        spoked_wheel(0.18, 0.08, 0.012, 6),
        (0, -0.62, 0.18),
        role="wheel",
        material="synthetic_rubber",
    )
    axle = cylinder(0.012, 0.26).turned(y=90)
    it.part("axle", axle, (0, -0.62, 0.18), role="axle", material="steel", direction=RIGHT)
    bends = ((0.1, -0.62, 0.18), (0.16, -0.26, 0.36), (0.19, 0.3, 0.36), (0.27, 0.6, 0.52))
    lug = box(0.034, 0.034, 0.034)
    runs = [hull(lug.at(*a), lug.at(*b)) for a, b in zip(bends, bends[1:], strict=False)]
    end = cylinder(0.016, 0.22).turned(x=90).at(0.27, 0.71, 0.52)
    shaft = union(*runs, end) - cylinder(0.012, 1).turned(y=90).at(0, -0.62, 0.18)
    it.part(
        "shaft_left", shaft.mirrored(x=1), role="shaft", material=OAK, direction=RIGHT, shape="bent shaft"
    )
    it.part("shaft_right", shaft, role="shaft", material=OAK, direction=LEFT, shape="bent shaft")
    it.part("crossbar", box(0.36, 0.04, 0.02), (0, -0.22, 0.387), role="crossbar", material=OAK)
    it.part("crossbar_back", box(0.4, 0.04, 0.02), (0, 0.2, 0.387), role="crossbar", material=OAK)
    outside = hull(box(0.4, 0.5, 0.01).at(z=0.005), box(0.6, 0.8, 0.01).at(0, -0.03, 0.235))
    inside = hull(box(0.37, 0.47, 0.01).at(z=0.017), box(0.57, 0.77, 0.01).at(0, -0.03, 0.245))
    it.part("tray", outside - inside, (0, 0, 0.397), role="tray", material="steel")
    sleeve = (cylinder(0.021, 0.13) - cylinder(0.016, 0.2)).turned(x=90)
    for side, x in (("left", -0.27), ("right", 0.27)):
        it.part(
            f"grip_{side}",
            sleeve,
            (x, 0.755, 0.52),
            role="grip",
            material="natural_rubber",
            direction=(0, -1, 0),
        )
        it.fix(f"shaft_{side}", "axle", f"leg_{side}", "crossbar", "crossbar_back", f"grip_{side}")
    it.fix("tray", "crossbar", "crossbar_back")
    it.joint("turn", "continuous", "axle", "wheel", (0, -0.62, 0.18), (1, 0, 0))
    it.offer("flat tray", box(0.6, 0.8, 0.02))
    it.offer("straight shaft", cylinder(0.016, 1.4))
    it.require(
        wheel="carries the front and rolls",
        axle="carries the wheel",
        tray="holds the load",
        shafts="join wheel, tray and grips",
        grips="are lifted and pushed by a person",
        legs="let the barrow stand by itself",
    )
    it.attribute("dimension", "The barrow is 1.3 to 1.7 m long and its wheel 0.3 to 0.4 m across.")
    it.attribute("count", "There are two legs, two shafts and two grips.")
    it.attribute("count", "There is one wheel, one tray and one axle.")
    it.subsystem(
        "rolling",
        "carries the front end along",
        ("wheel", "axle", "shafts"),
        [("axle", "wheel", "motion"), ("shafts", "axle", "load")],
    )
    it.subsystem(
        "carrying",
        "holds the load",
        ("tray", "crossbars", "shafts", "legs"),
        [("tray", "crossbars", "load"), ("crossbars", "shafts", "load"), ("shafts", "legs", "load")],
    )
    it.subsystem(
        "lifting",
        "lets a person lift and push",
        ("grips", "shafts", "tray"),
        [("grips", "shafts", "force"), ("shafts", "tray", "force")],
        "a lever whose load lies between fulcrum and hands",
    )
    it.motion("wheel", "axle", "continuous", "turns on its axle", "axle")
    it.made_of("tray", "heavy_metal", "light_metal", "plastic", "wood")
    it.made_of("shafts", "wood", "heavy_metal", "light_metal")
    it.made_of("crossbars", "wood", "heavy_metal")
    it.made_of("legs", "heavy_metal", "light_metal", "wood")
    it.made_of("axle", "heavy_metal")
    it.made_of("wheel", "rubber", "plastic", "wood")
    it.made_of("grips", "rubber", "plastic", "wood")
    it.human(
        {"pred": "grip", "role": "grips"},
        {"pred": "reachable", "target": "grips"},
    )
    it.human({"pred": "surface", "role": "tray", "min_area_m2": 0.15, "height_range_m": [0.35, 0.7]})
    return it


def windmill() -> Object:
    """Four sails on a shaft in a head that turns on the tower; a vane behind keeps them in the wind."""
    it = Object("windmill", "garden windmill", FAMILY, "windmill", aliases=["pinwheel windmill"])
    it.brief(
        "Build a garden windmill.",
        "Build a garden windmill 0.9 to 1.2 m high: a square base, a round tower that narrows upwards, a "
        "head with a roof on a pivot, a shaft with one hub and four lattice sails, and one tail vane.",
        "Build a garden windmill: wind turns its four sails on a level shaft, and a vane behind turns the "
        "head on top of the tower so that the sails face the wind.",
    )
    it.part("base", box(0.44, 0.44, 0.04), (0, 0, 0.02), role="base", material=OAK)
    tower = (
        cylinder(0.16, 0.6, 0.08) - cylinder(0.012, 0.1).at(z=0.29) - box(0.08, 0.2, 0.12).at(0, -0.16, -0.24)
    )
    it.part("tower", tower, (0, 0, 0.34), role="tower", material=PINE)
    it.part("pivot", cylinder(0.012, 0.1), (0, 0, 0.64), role="pivot", material="steel")
    head = difference(
        box(0.12, 0.2, 0.1),
        cylinder(0.012, 0.1).at(z=-0.05),
        cylinder(0.01, 0.4).turned(x=90).at(z=0.028),
    )
    it.part("head", head, (0, 0, 0.692), role="head", material=PINE)
    spindle = cylinder(0.01, 0.26).turned(x=90)
    it.part("shaft", spindle, (0, -0.03, 0.72), role="shaft", material="steel", direction=BACK)
    quarters = (0, 90, 180, 270)
    slots = [box(0.02, 0.012, 0.04).at(0, -0.009, 0.042).turned(y=angle) for angle in quarters]
    hub = difference(cylinder(0.036, 0.03).turned(x=90), cylinder(0.01, 0.1).turned(x=90), *slots)
    it.part("hub", hub, (0, -0.14, 0.72), role="hub", material=OAK, direction=BACK)
    windows = [
        box(0.028, 0.1, 0.044).at(x, 0, z) for x in (0.032, 0.066) for z in (0.14, 0.192, 0.244, 0.296)
    ]
    spar = box(0.02, 0.012, 0.318).at(z=0.181)
    sail = difference(spar + box(0.076, 0.006, 0.212).at(0.048, 0.003, 0.218), *windows)
    for number, angle in enumerate(quarters, 1):
        it.part(
            f"sail_{number}",
            sail,
            (0, -0.149, 0.72),
            (0, angle, 0),
            role="sail",
            material=PINE,
            direction=BACK,
        )
    cap = revolve(((0, 0), (0.036, 0), (0.03, 0.008), (0.012, 0.014), (0, 0.014)))
    it.part("cap", cap.turned(x=90), (0, -0.16, 0.72), role="hub cap", material=OAK, direction=BACK)
    boom = box(0.024, 0.2, 0.016).at(0, 0.1)
    it.part("vane", tail_vane(boom), (0, 0.1, 0.69), role="tail vane", material=PINE, direction=(0, -1, 0))
    gable = extrude(((-0.08, 0), (0.08, 0), (0, 0.07)), 0.22).turned(x=90)
    it.part("roof", gable, (0, 0, 0.742), role="roof", material=PINE)
    it.fix("base", "tower")
    it.fix("tower", "pivot")
    it.fix("head", "roof", "vane")
    it.fix("shaft", "hub")
    it.fix("hub", "sail_1", "sail_2", "sail_3", "sail_4", "cap")
    it.joint("yaw", "continuous", "pivot", "head", (0, 0, 0.66), (0, 0, 1))
    it.joint("turn", "continuous", "head", "shaft", (0, -0.1, 0.72), (0, 1, 0))
    it.offer("plain sail", box(0.08, 0.006, 0.32))
    it.offer("square tower", hull(box(0.3, 0.3, 0.01), box(0.16, 0.16, 0.01).at(z=0.59)))
    it.require(
        sails="take the force of the wind",
        hub="holds the sails to the shaft",
        shaft="turns in the head",
        head="carries the shaft and turns on the tower",
        tail_vane="turns the head into the wind",
        tower="holds the sails above the ground",
        base="keeps the tower upright",
    )
    it.attribute("dimension", "The windmill is 0.9 to 1.2 m high.")
    it.attribute("count", "There are four sails, one hub, one shaft and one tail vane.")
    it.subsystem(
        "rotor",
        "turns wind into rotation",
        ("sails", "hub", "shaft", "head"),
        [("sails", "hub", "torque"), ("hub", "shaft", "torque"), ("head", "shaft", "motion")],
    )
    it.subsystem(
        "yawing",
        "turns the sails into the wind",
        ("tail vane", "head", "pivot", "tower"),
        [("tail vane", "head", "force"), ("pivot", "head", "motion"), ("pivot", "tower", "load")],
        "a vane behind the pivot lies down the wind",
    )
    it.subsystem("support", "stands in the garden", ("tower", "base"), [("tower", "base", "load")])
    it.motion("shaft", "head", "continuous", "turns with the sails", "shaft, horizontal")
    it.motion("head", "tower", "continuous", "turns into the wind", "vertical")
    for part in ("sails", "hub", "head", "tail vane", "roof", "tower", "base", "hub cap"):
        it.made_of(part, "wood", "plastic", "light_metal")
    for part in ("shaft", "pivot"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.human(
        {"pred": "part_present", "role": "sails"},
        {"pred": "colocated", "a": "sails", "b": "hub", "max_gap_m": 0.02},
    )
    return it


def tail_vane(boom: Solid) -> Solid:
    """A boom along +Y with an upright fin at its end."""
    outline = ((0.12, -0.02), (0.3, -0.07), (0.3, 0.09), (0.12, 0.03))
    return union(boom, extrude(outline, 0.008).turned(x=90, z=90))


def well_windlass() -> Object:
    """A drum with a crank between two posts over a round curb, a roof above, a bucket on a ledge."""
    it = Object("well_windlass", "well with a windlass", FAMILY, "well", aliases=["draw well"])
    it.brief(
        "Build a well with a windlass.",
        "Build a well with a windlass: a round wooden curb about 1 m across and 0.4 to 0.6 m high, two posts, "
        "a drum with a rope around it and a crank with a grip, a roof of two panels on two gables 1.5 to "
        "2.0 m above the ground, and a bucket on a ledge.",
        "Build a well with a windlass: a person turns the crank, the drum between two posts winds up the "
        "rope and lifts a bucket that is set down on a ledge of the curb; a roof keeps the rain out.",
    )
    notches = [box(0.08, 0.08, 2).at(x) for x in (-0.52, 0.52)]
    curb = difference(revolve(((0.38, 0), (0.52, 0), (0.5, 0.5), (0.38, 0.5))), *notches)
    it.part("curb", curb, role="curb", material=PINE)
    bore = cylinder(0.016, 1).turned(y=90)
    post = box(0.08, 0.08, 1.4).at(z=0.7) - bore.at(z=1)
    it.part("post_left", post, (-0.52, 0, 0), role="post", material=OAK)
    barrel = revolve(
        (
            (0, -0.56),
            (0.016, -0.56),
            (0.016, -0.44),
            (0.07, -0.44),
            (0.07, 0.44),
            (0.016, 0.44),
            (0.016, 0.66),
            (0, 0.66),
        )
    )
    it.part("drum", barrel.turned(y=90), (0, 0, 1), role="drum", material=OAK, direction=LEFT)
    turns = [torus(0.08, 0.012).at(z=0.018 * k - 0.054) for k in range(7)]
    coil = union(*turns, cylinder(0.08, 0.12)) - cylinder(0.07, 1)
    it.part("rope", coil.turned(y=90), (0, 0, 1), role="rope", material="cotton_fabric", direction=LEFT)
    it.part("post_right", post, (0.52, 0, 0), role="post", material=OAK, direction=LEFT)
    arm = hull(cylinder(0.036, 0.03), cylinder(0.024, 0.03).at(y=-0.24)) - cylinder(0.016, 1)
    pinned = union(arm, cylinder(0.008, 0.15).at(0, -0.24, 0.08))
    it.part("crank", pinned.turned(x=90, z=90), (0.63, 0, 1), role="crank", material="steel", direction=LEFT)
    grip = revolve(((0.008, 0), (0.016, 0), (0.02, 0.06), (0.016, 0.12), (0.008, 0.12)))
    it.part("grip", grip.turned(x=90, z=90), (0.66, 0, 0.76), role="grip", material=OAK, direction=LEFT)
    it.part("ledge", box(0.7, 0.2, 0.03), (0, -0.36, 0.515), role="ledge", material=OAK)
    pail = revolve(((0, 0), (0.08, 0), (0.1, 0.2), (0.092, 0.2), (0.073, 0.01), (0, 0.01)))
    it.part("bucket", pail, (0, -0.37, 0.53), role="bucket", material=PINE)
    bail = revolve(((0.1, -0.006), (0.112, -0.006), (0.112, 0.006), (0.1, 0.006)), 180).turned(x=90)
    it.part("bail", bail, (0, -0.37, 0.724), role="bail", material="steel")
    slope = degrees(atan2(0.3, 0.46))
    gable = extrude(((-0.46, 0), (0.46, 0), (0, 0.3)), 0.06).turned(x=90, z=90)
    for side, x in (("left", -0.52), ("right", 0.52)):
        it.part(f"gable_{side}", gable, (x, 0, 1.4), role="gable", material=OAK)
    length = hypot(0.46, 0.3) + 0.08
    for side, sign in (("front", -1), ("back", 1)):
        along, out = length / 2, 0.01
        y = along * cos(radians(slope)) + out * sin(radians(slope))
        z = 1.7 - along * sin(radians(slope)) + out * cos(radians(slope))
        it.part(
            f"roof_{side}",
            box(1.3, length, 0.02),
            (0, round(sign * y, 6), round(z, 6)),
            (round(-sign * slope, 6), 0, 0),
            role="roof panel",
            material=PINE,
        )
    it.fix("curb", "post_left", "post_right", "ledge")
    it.fix("drum", "rope", "crank")
    it.fix("bucket", "bail")
    it.fix("post_left", "gable_left")
    it.fix("post_right", "gable_right")
    it.fix("roof_front", "roof_back", "gable_left", "gable_right")
    it.fix("roof_back", "gable_left", "gable_right")
    it.joint("turn", "continuous", "post_left", "drum", (-0.52, 0, 1), (1, 0, 0))
    it.joint("spin", "continuous", "crank", "grip", (0.72, 0, 0.76), (1, 0, 0))
    it.offer("pulley", difference(cylinder(0.08, 0.03), torus(0.08, 0.01), cylinder(0.01, 0.1)))
    it.offer("square bucket", box(0.2, 0.2, 0.2) - box(0.18, 0.18, 0.2).at(z=0.01))
    it.require(
        drum="winds the rope",
        crank="turns the drum",
        grip="the hand holds it and it turns in the hand",
        rope="lifts the bucket",
        bucket="brings up water",
        posts="carry the drum",
        curb="keeps people from falling in",
        roof="keeps rain and leaves out",
    )
    it.attribute("dimension", "The curb is 0.4 to 0.6 m high and about 1 m across.")
    it.attribute("dimension", "The roof is 1.5 to 2.0 m above the ground.")
    it.attribute("count", "There are two posts, two gables and two roof panels.")
    it.attribute("count", "There is one drum, one crank and one bucket.")
    it.subsystem(
        "hoisting",
        "lifts the bucket",
        ("crank", "grip", "drum", "rope", "posts"),
        [
            ("crank", "drum", "torque"),
            ("posts", "drum", "motion"),
            ("drum", "rope", "force"),
            ("crank", "grip", "motion"),
        ],
        "wheel and axle: the crank is longer than the drum's radius",
    )
    it.subsystem(
        "curb",
        "guards the shaft and takes the bucket",
        ("curb", "ledge", "bucket"),
        [("bucket", "ledge", "load"), ("ledge", "curb", "load")],
    )
    it.subsystem(
        "roof",
        "covers the well",
        ("roof", "gables", "posts"),
        [("roof", "gables", "load"), ("gables", "posts", "load")],
    )
    it.motion("drum", "posts", "continuous", "turns with the crank", "horizontal axle")
    it.motion("grip", "crank", "continuous", "turns in the hand", "horizontal")
    for part in ("curb", "posts", "drum", "ledge", "gables", "roof", "grip"):
        it.made_of(part, "wood")
    it.made_of("bucket", "wood", "heavy_metal", "plastic")
    it.made_of("crank", "heavy_metal", "wood")
    it.made_of("bail", "heavy_metal")
    it.made_of("rope", "textile")
    it.human(
        {"pred": "reachable", "target": "grip"},
        {"pred": "grip", "role": "grip"},
    )
    return it
