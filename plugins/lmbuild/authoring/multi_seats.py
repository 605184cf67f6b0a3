"""Things to sit in that roll: office chair, wheelchair."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import bent, caster_fork, fork, rod_x, rod_y, tube, tyre
from workshop import Object, Solid, box, cylinder, difference, hull, sphere, torus, union

FAMILY = "multi_joint"


def office_chair() -> Object:
    """Casters under a star, a column with a piston, a swivel plate, seat, arms and a tilting back."""
    it = Object("office_chair", "office chair", FAMILY, "chair", aliases=["swivel chair", "desk chair"])
    it.brief(
        "Build an office chair.",
        "Build an office chair: a star base with five caster wheels in five caster forks, a column with a"
        " piston that sets the seat 0.4 to 0.55 m high, a swivel plate, a padded seat, a backrest that "
        "tilts, and two armrests.",
        "Build an office chair for work at a desk: it rolls on casters in any direction, a piston in the "
        "column sets its height, the seat turns about with whoever sits on it, and the backrest leans "
        "back with the sitter while armrests carry the forearms.",
    )
    metal, plastic = "aluminum", "polypropylene_PP"
    places = [(0.27 * cos(radians(a)), 0.27 * sin(radians(a))) for a in (-90, -18, 54, 126, 198)]
    caster = caster_fork(0.03, 0.04, 0.008, 0.01, 0.01)
    for number, (x, y) in enumerate(places, 1):
        it.part(
            f"wheel_{number}",
            tyre(0.03, 0.04, 0.008),
            (x, y + 0.01, 0.03),
            role="caster wheel",
            material=plastic,
        )
        it.part(
            f"fork_{number}",
            caster,
            (x, y + 0.01, 0.03),
            role="caster fork",
            material=metal,
            direction=(-1, 0, 0),
        )
    leg = hull(box(0.06, 0.06, 0.04).at(0.04, 0, 0.02), cylinder(0.024, 0.024).at(0.27, 0, 0.012))
    star = union(cylinder(0.06, 0.06).at(z=0.03), *(leg.turned(z=a) for a in (-90, -18, 54, 126, 198)))
    drills = [cylinder(0.01, 0.2).at(x, y) for x, y in places]
    it.part(
        "star",
        difference(star, cylinder(0.03, 0.2), *drills),
        (0, 0, 0.078),
        role="star base",
        material=metal,
    )
    it.part("column", tube(0.03, 0.014, 0.22), (0, 0, 0.19), role="column", material="steel")
    piston = union(cylinder(0.014, 0.22).at(z=-0.11), cylinder(0.04, 0.01).at(z=-0.005))
    it.part("piston", piston, (0, 0, 0.39), role="piston", material="steel")
    lug = hull(rod_x(0.014, 0.06).at(0, 0.14, 0.015), box(0.06, 0.02, 0.028).at(0, 0.1, 0.015))
    mount = union(box(0.2, 0.22, 0.04).at(z=0.02), lug) - rod_x(0.006, 0.1).at(0, 0.14, 0.015)
    it.part("swivel", mount, (0, 0, 0.39), role="swivel plate", material="steel")
    seat = hull(
        box(0.44, 0.42, 0.02).at(z=0.01), box(0.48, 0.46, 0.02).at(z=0.04), box(0.42, 0.4, 0.01).at(z=0.06)
    )
    it.part("seat", seat, (0, 0, 0.43), role="seat", material="polyurethane_foam")
    hinge = (0.0, 0.14, 0.405)
    ears = fork(0.014, 0.06, 0.012, 0.006, 0.04).turned(x=90)
    spine = bent(box(0.05, 0.02, 0.02), (0, 0.04, 0), (0, 0.14, 0), (0, 0.14, 0.55))
    back = union(ears, spine, box(0.08, 0.02, 0.02).at(y=0.04))
    it.part("back_bar", back, hinge, role="back bar", material="steel", direction=(0, -1, 0))
    it.part("pin", rod_x(0.006, 0.09), hinge, role="hinge pin", material="steel", direction=(1, 0, 0))
    shell = hull(
        box(0.42, 0.03, 0.36).at(z=0.22),
        box(0.3, 0.03, 0.5).at(z=0.25),
        box(0.3, 0.01, 0.4).at(0, -0.025, 0.24),
    )
    it.part(
        "backrest",
        shell,
        (0, 0.255, 0.56),
        role="backrest",
        material="polyurethane_foam",
        direction=(0, 1, 0),
    )
    arm = union(
        bent(box(0.024, 0.05, 0.024), (0.112, 0, 0), (0.272, 0, 0), (0.272, 0, 0.25)),
        hull(box(0.07, 0.24, 0.02).at(0.272, 0, 0.272), box(0.05, 0.2, 0.01).at(0.272, 0, 0.285)),
    )
    for name, side in (("left", -1), ("right", 1)):
        it.part(
            f"armrest_{name}",
            arm if side > 0 else arm.mirrored(x=1),
            (0, -0.02, 0.412),
            role="armrest",
            material=plastic,
            direction=(-side, 0, 0),
        )
        it.fix("swivel", f"armrest_{name}")
    for number, (x, y) in enumerate(places, 1):
        it.joint(f"caster_{number}", "continuous", "star", f"fork_{number}", (x, y, 0.078), (0, 0, 1))
        it.joint(
            f"roll_{number}",
            "continuous",
            f"fork_{number}",
            f"wheel_{number}",
            (x, y + 0.01, 0.03),
            (1, 0, 0),
        )
    it.joint("height", "prismatic", "column", "piston", (0, 0, 0.3), (0, 0, 1), (-0.06, 0.06))
    it.joint("turn", "continuous", "piston", "swivel", (0, 0, 0.39), (0, 0, 1))
    it.joint("tilt", "revolute", "pin", "back_bar", (0.036, *hinge[1:]), (1, 0, 0), (-0.3, 0))
    it.fix("star", "column")
    it.fix("swivel", "seat", "pin")
    it.fix("back_bar", "backrest")
    it.offer("base of four arms", union(*(leg.turned(z=90 * k) for k in range(4))))
    it.offer("glide foot", cylinder(0.02, 0.03, 0.012))
    it.require(
        seat="carries the person",
        backrest="supports the back",
        armrests="carry the forearms",
        star_base="keeps the chair from tipping whichever way it is leaned",
        caster_wheels="let it roll",
        column="carries the seat and guides the piston",
    )
    it.attribute(
        "dimension", "The seat is 0.4 to 0.55 m above the floor.", "seat heights as in EN 1335, rounded"
    )
    it.attribute(
        "count",
        "There are five caster wheels in five caster forks, and two armrests.",
        "five feet, as EN 1335 asks against tipping",
    )
    it.subsystem(
        "rolling base",
        "lets the chair roll in any direction",
        ("star base", "caster forks", "caster wheels"),
        [("star base", "caster forks", "motion"), ("caster forks", "caster wheels", "motion")],
    )
    it.subsystem(
        "height and turn",
        "sets the height and lets the sitter turn",
        ("column", "piston", "swivel plate", "seat"),
        [
            ("column", "piston", "motion"),
            ("piston", "swivel plate", "motion"),
            ("swivel plate", "seat", "load"),
        ],
    )
    it.subsystem(
        "support of the upper body",
        "leans back with the sitter",
        ("back bar", "backrest", "armrests", "swivel plate"),
        [
            ("swivel plate", "back bar", "motion"),
            ("back bar", "backrest", "load"),
            ("armrests", "swivel plate", "load"),
        ],
    )
    it.motion("caster wheels", "caster forks", "continuous", "roll", "axle")
    it.motion("caster forks", "star base", "continuous", "swivel", "vertical swivel axis")
    it.motion("piston", "column", "prismatic", "slides up and down", "vertical", (-0.06, 0.06))
    it.motion("swivel plate", "piston", "continuous", "turns about", "vertical swivel axis")
    it.motion("back bar", "swivel plate", "revolute", "leans back", "horizontal hinge", (-0.3, 0))
    for part in ("star base", "caster forks", "column", "piston", "swivel plate", "back bar", "hinge pin"):
        it.made_of(part, "light_metal", "heavy_metal", "plastic")
    it.made_of("caster wheels", "plastic", "rubber")
    it.made_of("seat", "foam", "textile")
    it.made_of("backrest", "foam", "textile")
    it.made_of("armrests", "plastic", "foam")
    it.human(
        {"pred": "surface", "role": "seat", "min_area_m2": 0.14, "height_range_m": [0.4, 0.55]},
        {"pred": "clearance", "anchor": "seat", "placement": "above", "box": "seated_torso", "min_free": 0.9},
        {"pred": "reachable", "target": "armrests", "from": "seat"},
    )
    it.human({"pred": "ground_contact", "role": "caster wheels", "min_clusters": 5})
    return it


def wheelchair() -> Object:
    """Large wheels with push rims on an axle, casters, a tube frame, seat, arms, footrests, brakes."""
    it = Object("wheelchair", "wheelchair", FAMILY, "wheelchair", aliases=["manual wheelchair"])
    it.brief(
        "Build a manual wheelchair.",
        "Build a manual wheelchair: a tube frame with two rear wheels 0.55 to 0.65 m across on one axle, "
        "each with a push rim, two caster wheels in caster forks in front, a seat 0.4 to 0.55 m high, a "
        "backrest, two armrests, two footrests that fold up and two brake levers.",
        "Build a wheelchair: whoever sits in it drives it by the push rims of the rear wheels and steers "
        "it on front casters that swivel; footrests fold out of the way for getting up, and brake levers "
        "hold it then.",
    )
    alloy = "aluminum"
    ring = tube(0.3, 0.262, 0.03).turned(y=90)
    spokes = [box(0.012, 0.024, 0.54).turned(x=angle) for angle in (0, 60, 120)]
    rear = difference(union(ring, rod_x(0.03, 0.04), *spokes), rod_x(0.012, 0.1))
    sides = {"left": -1, "right": 1}
    for name, side in sides.items():
        it.part(
            f"wheel_{name}", rear, (side * 0.29, 0.16, 0.3), role="rear wheel", material="synthetic_rubber"
        )
    it.part("axle", rod_x(0.012, 0.64), (0, 0.16, 0.3), role="axle", material="steel", direction=(1, 0, 0))
    bolts = [
        rod_x(0.008, 0.02).at(-0.014).turned(x=a).at(0, 0.28 * sin(radians(a)), 0.28 * cos(radians(a)))
        for a in (0, 90, 180, 270)
    ]
    rim = union(torus(0.28, 0.009).turned(y=90), *bolts)
    caster = caster_fork(0.08, 0.044, 0.008, 0.012, 0.02)
    for name, side in sides.items():
        spot = (side * 0.2, -0.23, 0.08)
        it.part(
            f"caster_{name}", tyre(0.08, 0.044, 0.008), spot, role="caster wheel", material="synthetic_rubber"
        )
        it.part(f"fork_{name}", caster, spot, role="caster fork", material=alloy, direction=(-1, 0, 0))
    it.part("frame", _wheelchair_frame(), role="frame", material=alloy)
    for name, side in sides.items():
        it.part(
            f"rim_{name}",
            rim if side > 0 else rim.mirrored(x=1),
            (side * 0.329, 0.16, 0.3),
            role="push rim",
            material=alloy,
            direction=(-side, 0, 0),
        )
        it.fix(f"wheel_{name}", f"rim_{name}")
    it.part(
        "seat",
        hull(box(0.392, 0.4, 0.03).at(z=0.02), box(0.36, 0.36, 0.05).at(z=0.025)),
        (0, -0.02, 0.502),
        role="seat",
        material="polyurethane_foam",
    )
    it.part(
        "backrest",
        box(0.456, 0.03, 0.36),
        (0, 0.189, 0.73),
        role="backrest",
        material="polyester_mesh",
        direction=(0, 1, 0),
    )
    rest = union(
        box(0.02, 0.03, 0.2).at(0, -0.12, 0.1),
        box(0.02, 0.03, 0.2).at(0, 0.08, 0.1),
        hull(box(0.05, 0.3, 0.02).at(0, -0.02, 0.21), box(0.04, 0.28, 0.01).at(0, -0.02, 0.225)),
    )
    for name, side in sides.items():
        it.part(
            f"armrest_{name}", rest, (side * 0.216, 0, 0.502), role="armrest", material="polyurethane_foam"
        )
        sleeve = rod_y(0.02, 0.1) - box(0.024, 0.2, 0.024)
        spot = (side * 0.216, 0.32, 0.93)
        it.part(
            f"grip_{name}",
            sleeve,
            spot,
            role="push handle",
            material="synthetic_rubber",
            direction=(0, -1, 0),
        )
        lever = union(
            rod_x(0.016, 0.012),
            hull(rod_x(0.01, 0.012), rod_x(0.008, 0.012).at(0, -0.06, 0.13)),
            sphere(0.016).at(0, -0.06, 0.14),
        ) - rod_x(0.008, 0.1)
        it.part(
            f"brake_{name}",
            lever,
            (side * 0.244, -0.2, 0.49),
            role="brake lever",
            material="steel",
            direction=(-side, 0, 0),
        )
        bar = box(0.024, 0.024, 0.024)
        hanger = union(
            bent(bar, (0.026, 0.026, 0.36), (0.026, 0.026, 0.33), (0.026, 0.03, 0)),
            box(0.04, 0.03, 0.03).at(0.01, 0.03, 0),
            rod_y(0.008, 0.05).at(0, -0.005, 0),
        )
        it.part(
            f"hanger_{name}",
            hanger if side > 0 else hanger.mirrored(x=1),
            (side * 0.19, -0.45, 0.13),
            role="footrest hanger",
            material=alloy,
            direction=(0, 1, 0),
        )
        plate = union(
            rod_y(0.016, 0.03),
            hull(box(0.02, 0.12, 0.012).at(-0.02, -0.05, 0), box(0.02, 0.1, 0.012).at(-0.15, -0.05, 0)),
        ) - rod_y(0.008, 0.2)
        it.part(
            f"footrest_{name}",
            plate if side > 0 else plate.mirrored(x=1),
            (side * 0.19, -0.45, 0.13),
            role="footrest",
            material="ABS",
            direction=(0, 1, 0),
        )
        it.joint(f"rear_{name}", "continuous", "axle", f"wheel_{name}", (side * 0.29, 0.16, 0.3), (1, 0, 0))
        it.joint(
            f"swivel_{name}", "continuous", "frame", f"fork_{name}", (side * 0.2, -0.25, 0.178), (0, 0, 1)
        )
        it.joint(
            f"roll_{name}",
            "continuous",
            f"fork_{name}",
            f"caster_{name}",
            (side * 0.2, -0.23, 0.08),
            (1, 0, 0),
        )
        it.joint(
            f"brake_{name}",
            "revolute",
            "frame",
            f"brake_{name}",
            (side * 0.244, -0.2, 0.49),
            (1, 0, 0),
            (-0.3, 0.3),
        )
        flip = (0.0, 1.4) if side > 0 else (-1.4, 0.0)
        it.joint(
            f"flip_{name}",
            "revolute",
            f"hanger_{name}",
            f"footrest_{name}",
            (side * 0.19, -0.45, 0.13),
            (0, 1, 0),
            flip,
        )
        it.fix("frame", f"armrest_{name}", f"grip_{name}", f"hanger_{name}")
    it.fix("frame", "axle", "seat", "backrest")
    it.offer("solid wheel", rod_x(0.3, 0.03))
    it.offer("bench seat", box(0.8, 0.4, 0.05))
    return _wheelchair_claims(it)


def _wheelchair_frame() -> Solid:
    """Two side frames of square tube, cross tubes below the seat, sockets, and stubs for what turns."""
    bar = box(0.024, 0.024, 0.024)
    side = union(
        bent(bar, (0.216, 0.216, 0.3), (0.216, 0.216, 0.93), (0.216, 0.37, 0.93)),
        bent(bar, (0.216, 0.216, 0.49), (0.216, -0.4, 0.49)),
        bent(bar, (0.216, 0.216, 0.32), (0.216, -0.25, 0.22), (0.216, -0.25, 0.49)),
        box(0.03, 0.09, 0.05).at(0.216, 0.165, 0.315),
        cylinder(0.024, 0.052).at(0.2, -0.25, 0.204),
        rod_x(0.008, 0.03).at(0.24, -0.2, 0.49),
    )
    socket = cylinder(0.012, 0.06).at(0.2, -0.25, 0.19)
    slot = union(rod_x(0.012, 0.2).at(0.2, 0.16, 0.3), box(0.2, 0.024, 0.04).at(0.2, 0.16, 0.28))
    half = difference(side, socket, slot)
    cross = [box(0.43, 0.024, 0.024).at(0, y, 0.49) for y in (0.1, -0.16)]
    return union(half, half.mirrored(x=1), *cross)


def _wheelchair_claims(it: Object) -> Object:
    """What a wheelchair has to have and to do."""
    it.require(
        rear_wheels="carry most of the weight and drive the chair",
        push_rims="are turned by hand",
        caster_wheels="let the chair turn",
        seat="carries the person",
        backrest="supports the back",
        footrests="keep the feet off the ground",
        brake_levers="hold the chair when someone gets up",
        frame="joins everything",
    )
    it.attribute("dimension", "The rear wheels are 0.55 to 0.65 m across; the seat is 0.4 to 0.55 m high.")
    it.attribute("count", "There are two rear wheels, two push rims and two caster wheels; two footrests.")
    it.subsystem(
        "drive",
        "moves the chair by hand",
        ("rear wheels", "push rims", "axle", "frame"),
        [("push rims", "rear wheels", "force"), ("axle", "rear wheels", "motion"), ("frame", "axle", "load")],
    )
    it.subsystem(
        "steering casters",
        "carry the front and let it turn",
        ("caster wheels", "caster forks", "frame"),
        [("frame", "caster forks", "motion"), ("caster forks", "caster wheels", "motion")],
    )
    it.subsystem(
        "seating",
        "supports a sitting person",
        ("seat", "backrest", "armrests", "footrest hangers", "footrests", "frame"),
        [
            ("seat", "frame", "load"),
            ("backrest", "frame", "load"),
            ("footrest hangers", "footrests", "motion"),
        ],
    )
    it.motion("rear wheels", "frame", "continuous", "roll", "axle")
    it.motion("caster wheels", "caster forks", "continuous", "roll", "axle")
    it.motion("caster forks", "frame", "continuous", "swivel", "vertical swivel axis")
    it.motion("footrests", "footrest hangers", "revolute", "fold up", "lengthwise pin", (0, 1.4))
    it.motion(
        "brake levers", "frame", "revolute", "are pulled back and pushed", "horizontal pin", (-0.3, 0.3)
    )
    for part in ("frame", "footrest hangers", "axle", "push rims", "caster forks", "brake levers"):
        it.made_of(part, "light_metal", "heavy_metal")
    it.made_of("rear wheels", "rubber", "plastic")
    it.made_of("caster wheels", "rubber", "plastic")
    it.made_of("seat", "foam", "textile")
    it.made_of("backrest", "textile", "foam")
    it.made_of("armrests", "foam", "plastic")
    it.made_of("footrests", "plastic", "light_metal")
    it.human(
        {"pred": "surface", "role": "seat", "min_area_m2": 0.12, "height_range_m": [0.4, 0.58]},
        {"pred": "clearance", "anchor": "seat", "placement": "above", "box": [0.36, 0.3, 0.6]},
        {"pred": "reachable", "target": "push rims", "from": "seat", "reach_m": 0.8},
    )
    it.human(
        {"pred": "reachable", "target": "brake levers", "from": "seat"},
        {"pred": "ground_contact", "min_clusters": 4},
    )
    return it
