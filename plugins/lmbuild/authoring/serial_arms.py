"""Arms that reach out from a turning base: robot arm, sandpit digger."""

from __future__ import annotations

from linkages import bent, fork, link, rod_x, rod_y, tip, tube
from workshop import Object, Solid, box, cylinder, difference, extrude, hull, sphere, torus, union

FAMILY = "serial_chain"


def robot_arm() -> Object:
    """A base that bolts to a bench, a turning waist, upper arm, forearm, and a wrist with two fingers."""
    it = Object("robot_arm", "robot arm", FAMILY, "robot", aliases=["robotic arm", "articulated robot"])
    it.brief(
        "Build a robot arm.",
        "Build a robot arm of light metal, 0.5 to 0.9 m high, on a base at least 0.3 m wide: a waist that"
        " turns, one upper arm, one forearm, one wrist, two fingers, and three hinge pins.",
        "Build a robot arm that picks things up and puts them down elsewhere: the waist turns it about, "
        "upper arm and forearm raise and reach, the wrist keeps what is held level, and two fingers close"
        " on it.",
    )
    metal = "aluminum"
    plate = hull(box(0.36, 0.36, 0.04).at(z=0.02), box(0.3, 0.3, 0.02).at(z=0.05))
    drum = cylinder(0.12, 0.08, 0.1).at(z=0.1)
    slots = [
        rod_y(0.008, 0.04).turned(x=90).at(sx * 0.16, sy * 0.16, 0.02) for sx in (-1, 1) for sy in (-1, 1)
    ]
    it.part(
        "base",
        difference(union(plate, drum), cylinder(0.014, 0.08).at(z=0.14), *slots),
        role="base",
        material="steel",
    )
    head = fork(0.04, 0.06, 0.024, 0.014, 0.09).at(z=0.13)
    waist = union(cylinder(0.09, 0.04).at(z=0.02), cylinder(0.014, 0.04).at(z=-0.02), head)
    it.part("waist", waist, (0, 0, 0.14), role="waist", material=metal)
    shoulder = (0.0, 0.0, 0.27)
    elbow = tip(shoulder, 0.3, -20)
    wrist = tip(elbow, 0.26, 80)
    upper = link(0.3, 0.04, 0.06, 0.014, cheek=0.02)
    it.part("upper_arm", upper, shoulder, (-20, 0, 0), role="upper arm", material=metal)
    it.part(
        "pin_shoulder", rod_x(0.014, 0.116), shoulder, role="hinge pin", material="steel", direction=(1, 0, 0)
    )
    eye = hull(rod_x(0.04, 0.06), rod_x(0.028, 0.06).at(z=0.2))
    fore = union(eye, fork(0.026, 0.04, 0.016, 0.01, 0.07).at(z=0.26))
    fore = difference(fore, rod_x(0.014, 0.2), rod_x(0.036, 0.04).at(z=0.26), rod_x(0.02, 0.2).at(z=0.1))
    it.part("forearm", fore, elbow, (80, 0, 0), role="forearm", material=metal)
    it.part("pin_elbow", rod_x(0.014, 0.108), elbow, role="hinge pin", material="steel", direction=(1, 0, 0))
    _, y, z = wrist
    palm = union(
        hull(rod_x(0.026, 0.04), box(0.04, 0.04, 0.01).at(z=-0.06)), box(0.16, 0.04, 0.024).at(z=-0.072)
    )
    it.part("wrist", palm - rod_x(0.01, 0.1), wrist, role="wrist", material=metal, direction=(0, 1, 0))
    it.part("pin_wrist", rod_x(0.01, 0.08), wrist, role="hinge pin", material="steel", direction=(1, 0, 0))
    claw = extrude([(0, -0.05), (-0.008, -0.11), (0.004, -0.11), (0.024, -0.06), (0.024, 0), (0, 0)], 0.03)
    finger = claw.turned(x=90)
    it.part(
        "finger_left",
        finger.mirrored(x=1),
        (-0.05, y, z - 0.084),
        role="finger",
        material=metal,
        direction=(0, 1, 0),
    )
    it.part("finger_right", finger, (0.05, y, z - 0.084), role="finger", material=metal, direction=(0, 1, 0))
    it.joint("waist", "revolute", "base", "waist", (0, 0, 0.14), (0, 0, 1), (-2.9, 2.9))
    it.joint("shoulder", "revolute", "pin_shoulder", "upper_arm", shoulder, (1, 0, 0), (-0.6, 1.2))
    it.joint("elbow", "revolute", "pin_elbow", "forearm", elbow, (1, 0, 0), (-0.9, 0.35))
    it.joint("wrist", "revolute", "pin_wrist", "wrist", wrist, (1, 0, 0), (-0.8, 0.4))
    it.joint("grip_left", "prismatic", "wrist", "finger_left", (-0.062, y, z - 0.084), (1, 0, 0), (0, 0.035))
    it.joint(
        "grip_right", "prismatic", "wrist", "finger_right", (0.062, y, z - 0.084), (-1, 0, 0), (0, 0.035)
    )
    it.fix("waist", "pin_shoulder")
    it.fix("upper_arm", "pin_elbow")
    it.fix("forearm", "pin_wrist")
    it.offer("suction cup", cylinder(0.03, 0.03, 0.012))
    it.offer("arm without fork", link(0.3, 0.03, 0.04, 0.014))
    it.require(
        base="carries the arm and bolts to the bench",
        waist="turns the arm about",
        upper_arm="raises the elbow",
        forearm="reaches out",
        wrist="keeps what is held level",
        fingers="hold the workpiece between them",
    )
    it.attribute("dimension", "The arm is 0.5 to 0.9 m high and its base at least 0.3 m wide.")
    it.attribute("count", "There are two fingers and three hinge pins.")
    it.subsystem(
        "arm",
        "carries the wrist to any place within reach",
        ("base", "waist", "upper arm", "forearm", "hinge pins"),
        [("base", "waist", "motion"), ("waist", "upper arm", "motion"), ("upper arm", "forearm", "motion")],
    )
    it.subsystem(
        "gripper",
        "takes hold of a workpiece",
        ("wrist", "fingers"),
        [("wrist", "fingers", "motion")],
    )
    it.motion("waist", "base", "revolute", "turns about", "vertical swivel axis", (-2.9, 2.9))
    it.motion("upper arm", "waist", "revolute", "leans forward and back", "horizontal pin", (-0.6, 1.2))
    it.motion("forearm", "upper arm", "revolute", "rises and sinks", "horizontal pin", (-0.9, 0.35))
    it.motion("wrist", "forearm", "revolute", "nods", "horizontal pin", (-0.8, 0.4))
    it.motion("fingers", "wrist", "prismatic", "close on each other", "across the wrist", (0, 0.035))
    for part in ("base", "waist", "upper arm", "forearm", "wrist", "fingers", "hinge pins"):
        it.made_of(part, "light_metal", "heavy_metal")
    it.human(
        {"pred": "ground_contact", "role": "base"},
        {
            "pred": "clearance",
            "anchor": "fingers",
            "placement": "below",
            "box": [0.1, 0.1, 0.1],
            "min_free": 0.9,
        },
    )
    return it


def sand_digger() -> Object:
    """A ride-on digger for the sandpit: ring foot, turning seat carriage, boom, stick, bucket and levers."""
    it = Object("sand_digger", "sandpit digger", FAMILY, "digger", aliases=["sand digger", "ride-on digger"])
    it.brief(
        "Build a sandpit digger.",
        "Build a ride-on sandpit digger of metal for a child: a ring-shaped foot at least 0.6 m across, a"
        " pedestal, a carriage that turns on it, one seat 0.3 to 0.45 m high, one boom, one stick, one "
        "bucket and two levers.",
        "Build a ride-on digger for a sandpit: a child sits on the seat, a carriage turns on a pedestal "
        "over a broad ring-shaped foot, and boom, stick and bucket reach down into the sand, worked by "
        "two levers.",
    )
    spokes = [box(0.64, 0.06, 0.024).turned(z=angle).at(z=0.012) for angle in (0, 90)]
    foot = union(torus(0.33, 0.02).at(z=0.02), *spokes, cylinder(0.1, 0.03).at(z=0.015))
    it.part("foot", foot, role="foot ring", material="steel")
    post = union(tube(0.05, 0.018, 0.16).at(z=0.08), tube(0.09, 0.018, 0.02).at(z=0.15))
    it.part("pedestal", post, (0, 0, 0.03), role="pedestal", material="steel")
    horn = fork(0.03, 0.04, 0.02, 0.01, 0.09).turned(x=90).at(0, -0.28, 0.05)
    carriage = union(
        cylinder(0.09, 0.02).at(z=0.01),
        cylinder(0.018, 0.08).at(z=-0.04),
        box(0.08, 0.34, 0.06).at(0, -0.02, 0.05),
        box(0.3, 0.06, 0.06).at(0, -0.08, 0.05),
        horn,
    )
    it.part("carriage", carriage, (0, 0, 0.19), role="carriage", material="steel")
    pan = hull(box(0.28, 0.22, 0.02).at(z=0.01), box(0.24, 0.18, 0.01).at(z=0.035))
    seat = union(pan, hull(box(0.28, 0.02, 0.02).at(0, 0.1, 0.02), box(0.2, 0.02, 0.02).at(0, 0.13, 0.16)))
    mount = box(0.12, 0.12, 0.06).at(0, 0, -0.03)
    it.part("seat", union(seat, mount), (0, 0.06, 0.33), role="seat", material="polyethylene_PE")
    hip = (0.0, -0.28, 0.24)
    knee, bow = (0.0, -0.66, 0.52), (0.0, -0.38, 0.54)
    way = [(0.0, q[1] - hip[1], q[2] - hip[2]) for q in (hip, bow, knee)]
    end = hull(rod_x(0.026, 0.08).at(*way[2]), rod_x(0.026, 0.08).at(0, way[2][1] + 0.1, way[2][2] + 0.008))
    beam = union(bent(rod_x(0.03, 0.04), *way), end)
    gap = hull(rod_x(0.04, 0.04).at(*way[2]), rod_x(0.04, 0.04).at(0, way[2][1] - 0.1, way[2][2]))
    boom = difference(beam, gap, rod_x(0.01, 0.2), rod_x(0.01, 0.2).at(*way[2]))
    it.part("boom", boom, hip, role="boom", material="steel", direction=(0, 1, 0))
    pin = rod_x(0.01, 0.1)
    it.part("pin_boom", pin, hip, role="pivot pin", material="steel", direction=(1, 0, 0))
    stick = link(0.3, 0.026, 0.04, 0.01)
    it.part("stick", stick, knee, (160, 0, 0), role="stick", material="steel", direction=(0, 1, 0))
    it.part("pin_stick", pin, knee, role="pivot pin", material="steel", direction=(1, 0, 0))
    tooth = tip(knee, 0.3, 160)
    it.part("bucket", _bucket(), tooth, role="bucket", material="steel", direction=(0, 1, 0))
    it.part("pin_bucket", pin, tooth, role="pivot pin", material="steel", direction=(1, 0, 0))
    lever = union(hull(sphere(0.02).at(z=0.3), cylinder(0.01, 0.02).at(z=0.05)), rod_x(0.03, 0.02))
    lever = difference(lever, rod_x(0.01, 0.1))
    for name, side in (("left", -1), ("right", 1)):
        place = (side * 0.16, -0.08, 0.24)
        it.part(
            f"axle_{name}", rod_x(0.01, 0.04), (side * 0.17, -0.08, 0.24), role="lever pin", material="steel"
        )
        it.part(f"lever_{name}", lever, place, role="lever", material="steel", direction=(-side, 0, 0))
        it.fix("carriage", f"axle_{name}")
        it.joint(f"lever_{name}", "revolute", f"axle_{name}", f"lever_{name}", place, (1, 0, 0), (-0.2, 0.4))
    it.fix("foot", "pedestal")
    it.fix("carriage", "seat", "pin_boom")
    it.fix("boom", "pin_stick")
    it.fix("stick", "pin_bucket")
    it.joint("slew", "continuous", "pedestal", "carriage", (0, 0, 0.19), (0, 0, 1))
    it.joint("boom", "revolute", "pin_boom", "boom", hip, (1, 0, 0), (-0.4, 0.2))
    it.joint("stick", "revolute", "pin_stick", "stick", knee, (1, 0, 0), (-0.5, 0.3))
    it.joint("bucket", "revolute", "pin_bucket", "bucket", (0.03, *tooth[1:]), (1, 0, 0), (-0.3, 0.9))
    it.offer("fork of four prongs", union(*(box(0.02, 0.02, 0.16).at(0.05 * k - 0.075) for k in range(4))))
    it.offer("stool seat", cylinder(0.14, 0.03))
    it.require(
        foot_ring="keeps the digger upright whichever way the boom points",
        pedestal="raises the carriage above the sand",
        carriage="turns with the child and the boom",
        seat="the child sits on it",
        boom="reaches out",
        stick="reaches down",
        bucket="takes up the sand",
        levers="the child holds and works them",
    )
    it.attribute("dimension", "The seat is 0.3 to 0.45 m high; the foot is at least 0.6 m across.")
    it.attribute("count", "There is one bucket; there are two levers and three pivot pins.")
    it.subsystem(
        "digging arm",
        "takes up sand and lifts it",
        ("carriage", "boom", "stick", "bucket", "pivot pins"),
        [("carriage", "boom", "motion"), ("boom", "stick", "motion"), ("stick", "bucket", "motion")],
    )
    it.subsystem(
        "turning seat",
        "carries the child and turns with the arm",
        ("foot ring", "pedestal", "carriage", "seat"),
        [("seat", "carriage", "load"), ("pedestal", "carriage", "motion"), ("pedestal", "foot ring", "load")],
    )
    it.subsystem(
        "control", "is moved by the child's hands", ("levers", "carriage"), [("carriage", "levers", "motion")]
    )
    it.motion("carriage", "pedestal", "continuous", "turns all round", "vertical swivel axis")
    it.motion("boom", "carriage", "revolute", "lifts", "horizontal pin", (-0.4, 0.2))
    it.motion("stick", "boom", "revolute", "reaches and draws in", "horizontal pin", (-0.5, 0.3))
    it.motion("bucket", "stick", "revolute", "curls", "horizontal pin", (-0.3, 0.9))
    it.motion("levers", "carriage", "revolute", "are pulled and pushed", "horizontal pin", (-0.2, 0.4))
    for part in ("foot ring", "pedestal", "carriage", "boom", "stick", "bucket", "levers", "pivot pins"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.made_of("seat", "plastic", "wood")
    it.human(
        {"pred": "surface", "role": "seat", "min_area_m2": 0.04, "height_range_m": [0.28, 0.45]},
        {"pred": "reachable", "target": "levers", "from": "seat", "reach_m": 0.7},
    )
    return it


def _bucket() -> Solid:
    """A scoop that opens backward, hung from a lug at the origin."""
    side = [(-0.09, -0.1), (-0.02, -0.17), (0.08, -0.15), (0.06, -0.05), (-0.07, -0.05)]
    body = extrude(side, 0.16).turned(x=90, z=90)
    hollow = [(-0.08, -0.098), (-0.014, -0.16), (0.2, -0.15), (0.2, -0.06), (-0.06, -0.06)]
    room = extrude(hollow, 0.14).turned(x=90, z=90)
    lugs = [hull(rod_x(0.026, 0.02), box(0.02, 0.06, 0.01).at(z=-0.055)).at(x=side) for side in (-0.03, 0.03)]
    return difference(union(body - room, *lugs), rod_x(0.01, 0.2))
