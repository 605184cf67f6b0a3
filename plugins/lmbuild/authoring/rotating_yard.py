"""Things with parts that turn, out of doors: windmill and well."""

from __future__ import annotations

from math import atan2, cos, degrees, hypot, radians, sin

from workshop import Object, Solid, box, cylinder, difference, extrude, hull, revolve, torus, union

OAK = "solid_wood_hardwood"
PINE = "solid_wood_softwood"
FAMILY = "rotating"
BACK = (0, 1, 0)
LEFT = (-1, 0, 0)


def windmill() -> Object:
    """Four sails on a shaft in a head that turns on the tower; a vane behind keeps them in the wind."""
    it = Object("windmill", "garden windmill", FAMILY, "windmill", aliases=["ornamental windmill"])
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
        "Build a well with a windlass: a round wooden curb about 1 m across and 0.4 to 0.6 m high, two "
        "posts, a drum with a rope around it and a crank with a grip, a roof of two panels on two gables "
        "1.5 to 2.0 m above the ground, and a bucket on a ledge.",
        "Build a well with a windlass: a person turns the crank, the drum between two posts winds up the "
        "rope, a bucket stands ready on a ledge of the curb, and a roof keeps the rain out.",
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
        rope="is wound on the drum",
        bucket="holds water",
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
        "winds the rope",
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
