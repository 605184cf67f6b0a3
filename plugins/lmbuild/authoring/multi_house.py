"""Things with several kinds of joints that stand indoors: refrigerator, microscope."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import bent, rod_x
from workshop import Object, box, cylinder, difference, extrude, hull, union

FAMILY = "multi_joint"


def refrigerator() -> Object:
    """A case on feet, two doors above that open to either side, shelves, a freezer drawer below."""
    it = Object("refrigerator", "refrigerator", FAMILY, "refrigerator", aliases=["fridge", "fridge-freezer"])
    it.brief(
        "Build a refrigerator.",
        "Build a refrigerator 1.6 to 1.9 m high and 0.6 to 0.8 m wide on four feet: a case with two doors"
        " side by side above, each with a handle, three shelves behind them, and one freezer drawer below"
        " with a handle of its own.",
        "Build a refrigerator: two doors open to either side and give free access to the shelves, a "
        "freezer drawer below pulls out on the floor of its compartment, and handles are there to open "
        "all three.",
    )
    foot = cylinder(0.03, 0.06, 0.024)
    for name, x, y in (("fl", -0.28, -0.2), ("fr", 0.28, -0.2), ("rl", -0.28, 0.24), ("rr", 0.28, 0.24)):
        it.part(f"foot_{name}", foot, (x, y, 0.03), role="foot", material="polypropylene_PP")
    upper = box(0.6, 0.54, 1.0).at(0, -0.05, 1.14)
    lower = box(0.6, 0.54, 0.44).at(0, -0.05, 0.33)
    case = difference(box(0.68, 0.6, 1.64).at(z=0.88), upper, lower)
    it.part("case", case, role="case", material="steel")
    for number, z in enumerate((0.9, 1.15, 1.4), 1):
        it.part(
            f"shelf_{number}",
            box(0.6, 0.44, 0.016),
            (0, 0, z),
            role="shelf",
            material="tempered_glass",
            direction=(0, 1, 0),
        )
        it.fix("case", f"shelf_{number}")
    panel = hull(box(0.334, 0.04, 1.08), box(0.31, 0.02, 1.06).at(y=-0.02))
    handle = bent(
        box(0.024, 0.024, 0.024), (0, 0.018, 0.2), (0, -0.024, 0.2), (0, -0.024, -0.2), (0, 0.018, -0.2)
    )
    for name, side in (("left", -1), ("right", 1)):
        it.part(
            f"door_{name}",
            panel,
            (side * 0.173, -0.32, 1.15),
            role="door",
            material="steel",
            direction=(0, 1, 0),
        )
        it.part(
            f"handle_{name}",
            handle,
            (side * 0.04, -0.38, 1.1),
            role="door handle",
            material="stainless_steel",
            direction=(0, 1, 0),
        )
        it.fix(f"door_{name}", f"handle_{name}")
        swing = (0.0, 1.9) if side > 0 else (-1.9, 0.0)
        it.joint(
            f"hinge_{name}", "revolute", "case", f"door_{name}", (side * 0.34, -0.3, 1.15), (0, 0, 1), swing
        )
    front = hull(box(0.68, 0.04, 0.5), box(0.65, 0.02, 0.48).at(y=-0.02))
    tray = box(0.56, 0.46, 0.3).at(0, 0.25, -0.06) - box(0.53, 0.43, 0.3).at(0, 0.25, -0.045)
    it.part(
        "drawer",
        union(front, tray),
        (0, -0.32, 0.32),
        role="freezer drawer",
        material="ABS",
        direction=(0, 1, 0),
    )
    grip = handle.turned(y=90)
    it.part(
        "handle_drawer",
        grip,
        (0, -0.38, 0.47),
        role="drawer handle",
        material="stainless_steel",
        direction=(0, 1, 0),
    )
    it.joint("pull", "prismatic", "case", "drawer", (0, -0.3, 0.1), (0, -1, 0), (0, 0.36))
    it.fix("drawer", "handle_drawer")
    it.fix("case", "foot_fl", "foot_fr", "foot_rl", "foot_rr")
    it.offer("single door", box(0.68, 0.04, 1.08))
    it.offer(
        "wire shelf",
        difference(box(0.6, 0.44, 0.016), *(box(0.04, 0.38, 0.1).at(0.08 * k - 0.24) for k in range(7))),
    )
    it.require(
        case="keeps the cold in",
        doors="close the upper compartment",
        shelves="carry the food",
        freezer_drawer="holds frozen food",
        door_handles="open the doors",
        drawer_handle="pulls the drawer out",
        feet="level the case",
    )
    it.attribute("dimension", "The refrigerator is 1.6 to 1.9 m high and 0.6 to 0.8 m wide.")
    it.attribute("count", "There are two doors, three shelves, one freezer drawer and four feet.")
    it.subsystem(
        "cooling compartment",
        "keeps food at hand behind doors",
        ("case", "doors", "shelves", "door handles"),
        [("case", "doors", "motion"), ("shelves", "case", "load"), ("door handles", "doors", "force")],
    )
    it.subsystem(
        "freezer",
        "keeps frozen food in a drawer",
        ("freezer drawer", "drawer handle", "case", "feet"),
        [
            ("case", "freezer drawer", "motion"),
            ("drawer handle", "freezer drawer", "force"),
            ("case", "feet", "load"),
        ],
    )
    it.motion("doors", "case", "revolute", "open to either side", "vertical outer edge", (0, 1.9))
    it.motion("freezer drawer", "case", "prismatic", "pulls out", "forward", (0, 0.36))
    for part in ("case", "doors", "door handles", "drawer handle"):
        it.made_of(part, "heavy_metal", "light_metal", "plastic")
    it.made_of("shelves", "glass", "plastic", "heavy_metal")
    it.made_of("freezer drawer", "plastic", "heavy_metal")
    it.made_of("feet", "plastic", "rubber")
    it.human(
        {"pred": "reachable", "target": "door handles", "from": "standing"},
        {"pred": "grip", "role": "drawer handle"},
        {"pred": "clearance", "anchor": "doors", "placement": "front", "box": [0.5, 0.4, 1.0]},
    )
    it.human({"pred": "ground_contact", "role": "feet"})
    return it


def microscope() -> Object:
    """A base and arm, a stage, a tube that racks up and down, a nosepiece, objectives, a mirror."""
    it = Object(
        "microscope", "microscope", FAMILY, "microscope", aliases=["light microscope", "school microscope"]
    )
    it.brief(
        "Build a microscope.",
        "Build a school microscope 0.3 to 0.45 m high: a base, one arm, one stage with a hole, one body "
        "tube with an eyepiece, a nosepiece with three objectives, two focus knobs and one mirror.",
        "Build a school microscope: a mirror sends light up through the stage, a turning nosepiece brings"
        " one of its objectives over the specimen, focus knobs move the body tube, and one looks into the"
        " eyepiece.",
    )
    metal = "aluminum"
    shoe = hull(
        box(0.15, 0.12, 0.024).at(0, 0.04, 0.012),
        box(0.1, 0.2, 0.024).at(0, 0, 0.012),
        box(0.09, 0.15, 0.01).at(z=0.029),
    )
    post = box(0.016, 0.03, 0.06).at(0.038, -0.03, 0.056)
    it.part(
        "base",
        difference(union(shoe, post), rod_x(0.005, 0.1).at(0.04, -0.03, 0.074)),
        role="base",
        material="steel",
    )
    bow = [(0.04, 0), (0.1, 0), (0.1, 0.1), (0.085, 0.24), (0.07, 0.27), (0.04, 0.27)]
    arm = extrude(bow, 0.04).turned(x=90, z=90) - rod_x(0.006, 0.1).at(0, 0.066, 0.11)
    it.part("arm", arm, (0, 0, 0.034), role="arm", material=metal)
    stage = difference(
        union(box(0.13, 0.12, 0.01), box(0.04, 0.02, 0.03).at(0, 0.05, -0.018)),
        cylinder(0.01, 0.1).at(y=-0.01),
    )
    it.part("stage", stage, (0, -0.02, 0.13), role="stage", material="steel", direction=(0, 1, 0))
    rack = union(cylinder(0.02, 0.17).at(0, -0.03, 0.265), box(0.03, 0.056, 0.08).at(0, 0.012, 0.26))
    it.part("tube", rack, role="body tube", material=metal, direction=(0, 1, 0))
    it.part(
        "eyepiece",
        union(cylinder(0.016, 0.02).at(z=0.01), cylinder(0.02, 0.02, 0.017).at(z=0.03)),
        (0, -0.03, 0.35),
        role="eyepiece",
        material="ABS",
    )
    it.part(
        "nosepiece",
        hull(cylinder(0.032, 0.006), cylinder(0.026, 0.012)),
        (0, -0.014, 0.174),
        role="nosepiece",
        material="steel",
        direction=(0, 1, 0),
    )
    lens = union(cylinder(0.005, 0.01, 0.008).at(z=-0.021), cylinder(0.008, 0.016).at(z=-0.008))
    for number, angle in enumerate((-90, 30, 150), 1):
        x, y = 0.016 * cos(radians(angle)), 0.016 * sin(radians(angle)) - 0.014
        it.part(
            f"objective_{number}",
            lens,
            (x, y, 0.168),
            role="objective",
            material="steel",
            direction=(0, 1, 0),
        )
        it.fix("nosepiece", f"objective_{number}")
    knob = hull(rod_x(0.02, 0.012), rod_x(0.017, 0.02))
    it.part(
        "knob_right",
        union(rod_x(0.006, 0.1), knob.at(0.034)),
        (0, 0.066, 0.144),
        role="focus knob",
        material="ABS",
        direction=(-1, 0, 0),
    )
    it.part(
        "knob_left",
        knob - rod_x(0.006, 0.1),
        (-0.034, 0.066, 0.144),
        role="focus knob",
        material="ABS",
        direction=(1, 0, 0),
    )
    glass = union(cylinder(0.024, 0.008), rod_x(0.005, 0.03).at(0.032), rod_x(0.006, 0.014).at(0.023))
    it.part(
        "mirror",
        glass,
        (0, -0.03, 0.074),
        (-30, 0, 0),
        role="mirror",
        material="soda_lime_glass",
        direction=(1, 0, 0),
    )
    it.joint("rack", "prismatic", "arm", "tube", (0, 0.04, 0.26), (0, 0, 1), (0, 0.04))
    it.joint("revolver", "continuous", "tube", "nosepiece", (0, -0.014, 0.18), (0, 0, 1))
    it.joint("focus", "continuous", "arm", "knob_right", (0.02, 0.066, 0.144), (1, 0, 0))
    it.joint("mirror", "revolute", "base", "mirror", (0.034, -0.03, 0.074), (1, 0, 0), (-0.6, 0.9))
    it.fix("base", "arm")
    it.fix("arm", "stage")
    it.fix("tube", "eyepiece")
    it.fix("knob_right", "knob_left")
    it.offer("stage without a hole", box(0.13, 0.12, 0.01))
    it.offer("long tube", cylinder(0.02, 0.26))
    it.require(
        base="keeps the microscope from tipping",
        arm="carries stage and tube, and is where it is held",
        stage="carries the specimen",
        body_tube="holds eyepiece and objectives apart",
        eyepiece="is looked into",
        nosepiece="changes objectives",
        objectives="magnify",
        focus_knobs="bring the image into focus",
        mirror="sends light through the specimen",
    )
    it.attribute("dimension", "The microscope is 0.3 to 0.45 m high.")
    it.attribute("count", "There are three objectives and two focus knobs.")
    it.subsystem(
        "optics",
        "magnifies what lies on the stage",
        ("eyepiece", "body tube", "nosepiece", "objectives"),
        [
            ("eyepiece", "body tube", "load"),
            ("body tube", "nosepiece", "motion"),
            ("nosepiece", "objectives", "load"),
        ],
    )
    it.subsystem(
        "focus",
        "moves the tube up and down",
        ("focus knobs", "arm", "body tube"),
        [("arm", "focus knobs", "motion"), ("focus knobs", "body tube", "motion")],
    )
    it.subsystem(
        "lighting",
        "lights the specimen from below",
        ("mirror", "base", "stage", "arm"),
        [("base", "mirror", "motion"), ("stage", "arm", "load")],
    )
    it.motion("body tube", "arm", "prismatic", "racks up and down", "vertical", (0, 0.04))
    it.motion("nosepiece", "body tube", "continuous", "turns", "vertical")
    it.motion("focus knobs", "arm", "continuous", "are turned", "shaft across the arm")
    it.motion("mirror", "base", "revolute", "tilts", "horizontal pin", (-0.6, 0.9))
    for part in ("base", "arm", "stage", "body tube", "nosepiece", "objectives"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.made_of("eyepiece", "plastic", "light_metal", "glass")
    it.made_of("focus knobs", "plastic", "light_metal")
    it.made_of("mirror", "glass", "plastic")
    it.human(
        {"pred": "grip", "role": "focus knobs"},
        {"pred": "surface", "role": "stage", "min_area_m2": 0.008},
        {"pred": "clearance", "anchor": "eyepiece", "placement": "above", "box": [0.2, 0.2, 0.2]},
    )
    return it
