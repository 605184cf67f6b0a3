"""An office chair."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import bent, caster_fork, fork, rod_x, tube, tyre
from workshop import Object, box, cylinder, difference, hull, union

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
