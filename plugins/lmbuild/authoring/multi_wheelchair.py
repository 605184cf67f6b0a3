"""A wheelchair."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import bent, caster_fork, rod_x, rod_y, tube, tyre
from workshop import Object, Solid, box, cylinder, difference, hull, sphere, torus, union

FAMILY = "multi_joint"


def wheelchair() -> Object:
    """Large wheels with push rims on an axle, casters, a tube frame, seat, arms, footrests, brakes."""
    it = Object("wheelchair", "wheelchair", FAMILY, "wheelchair", aliases=["manual wheelchair"])
    it.brief(
        "Build a wheelchair.",
        "Build a manual wheelchair: a tube frame with two rear wheels 0.55 to 0.65 m across on one axle, "
        "each with a push rim, two caster wheels in caster forks in front, a seat 0.4 to 0.55 m high, a "
        "backrest, two armrests, two footrests that fold up and two brake levers.",
        "Build a wheelchair: whoever sits in it drives it by the push rims of the rear wheels and steers "
        "it on front casters that swivel; footrests fold out of the way for getting up, and brake levers "
        "hold it then.",
    )
    alloy = "aluminum"
    ring = tube(0.3, 0.262, 0.036).turned(y=90)
    spokes = [box(0.012, 0.024, 0.54).turned(x=angle) for angle in (0, 60, 120)]
    rear = difference(union(ring, rod_x(0.03, 0.044), *spokes), rod_x(0.012, 0.1))
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
            (side * 0.332, 0.16, 0.3),
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
    guard = hull(box(0.012, 0.164, 0.02).at(z=0.01), box(0.012, 0.12, 0.02).at(z=0.188))
    for name, side in sides.items():
        spot = (side * 0.216, -0.02, 0.502)
        it.part(f"guard_{name}", guard, spot, role="side guard", material="ABS")
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
        it.fix("frame", f"guard_{name}", f"armrest_{name}", f"grip_{name}", f"hanger_{name}")
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
    it.made_of("side guards", "plastic", "textile")
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
