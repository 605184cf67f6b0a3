"""Devices with a hinge or a pin: laptop, nutcracker."""

from __future__ import annotations

from hinged_cases import FAMILY, OAK, QUARTER
from workshop import Object, box, cylinder, difference, hull, revolve, sphere, union


def laptop() -> Object:
    """A flat case with keyboard and touchpad let in, a lid with the screen on two barrels."""
    it = Object("laptop", "laptop", FAMILY, "computer", aliases=["notebook computer"])
    it.brief(
        "Build a laptop.",
        "Build an opened laptop: a metal case 0.3 to 0.4 m wide with a keyboard, a touchpad and four rubber "
        "feet, and a lid of about the same size that holds a glass screen, on two hinges along the rear "
        "edge.",
        "Build an opened laptop: someone types on a keyboard and points with a touchpad in its case, looks "
        "at a screen in its lid, tilts the lid to suit the eyes and closes it down onto the case; feet keep "
        "it from slipping.",
    )
    for id, x, y in (
        ("foot_fl", -0.14, -0.1),
        ("foot_fr", 0.14, -0.1),
        ("foot_bl", -0.14, 0.1),
        ("foot_br", 0.14, 0.1),
    ):
        it.part(id, cylinder(0.014, 0.008, 0.016), (x, y, 0.004), role="foot", material="silicone_rubber")
    rounded = hull(*(cylinder(0.012, 0.02).at(x, y) for x in (-0.158, 0.158) for y in (-0.108, 0.108)))
    pockets = (box(0.3, 0.1, 0.008).at(0, 0.02, 0.006), box(0.1, 0.068, 0.008).at(0, -0.074, 0.006))
    it.part("case", difference(rounded, *pockets), (0, 0, 0.018), role="case", material="aluminum")
    rows = [box(0.3, 0.004, 0.004).at(0, -0.03 + 0.02 * k, 0.004) for k in range(4)]
    columns = [box(0.004, 0.1, 0.004).at(-0.125 + 0.025 * k, 0, 0.004) for k in range(11)]
    keys = difference(box(0.3, 0.1, 0.008), union(*rows, *columns))
    it.part("keyboard", keys, (0, 0.02, 0.024), role="keyboard", material="ABS")
    it.part(
        "touchpad", box(0.1, 0.068, 0.008), (0, -0.074, 0.024), role="touchpad", material="tempered_glass"
    )
    for id, x in (("hinge_left", -0.1), ("hinge_right", 0.1)):
        it.part(
            id,
            cylinder(0.008, 0.06).turned(y=90),
            (x, 0.108, 0.036),
            role="hinge",
            material="steel",
            shape="barrel",
        )
    cover = hull(
        *(cylinder(0.012, 0.012).turned(x=90).at(x, 0, z) for x in (-0.158, 0.158) for z in (0.02, 0.208))
    )
    leaf = cover - box(0.308, 0.012, 0.18).at(0, -0.006, 0.116)
    it.part("lid", leaf, (0, 0.108, 0.036), (-15, 0, 0), role="lid", material="aluminum")
    it.part(
        "screen",
        box(0.308, 0.006, 0.18).at(0, -0.003, 0.116),
        (0, 0.108, 0.036),
        (-15, 0, 0),
        role="screen",
        material="tempered_glass",
        direction=(0, 0.966, -0.259),
    )
    it.fix(
        "case",
        "foot_fl",
        "foot_fr",
        "foot_bl",
        "foot_br",
        "keyboard",
        "touchpad",
        "hinge_left",
        "hinge_right",
    )
    it.joint("tilt", "revolute", "hinge_left", "lid", (-0.1, 0.108, 0.036), (1, 0, 0), (-0.4, 1.7))
    it.fix("lid", "screen")
    it.offer("flat case", box(0.34, 0.24, 0.02))
    it.offer("keyboard without gaps", box(0.3, 0.1, 0.008))
    it.require(
        case="carries keyboard and touchpad",
        keyboard="to type on",
        touchpad="to point with",
        lid="holds the screen and closes the case",
        screen="to look at",
        hinges="let the lid tilt and hold it there",
    )
    it.attribute("dimension", "Case and lid are 0.3 to 0.4 m wide and 0.2 to 0.28 m deep.")
    it.attribute("count", "There are four feet and two hinges.")
    it.subsystem(
        "input",
        "takes what is typed and pointed",
        ("keyboard", "touchpad", "case"),
        [("keyboard", "case", "force"), ("touchpad", "case", "force")],
    )
    it.subsystem(
        "display",
        "shows at a comfortable angle",
        ("screen", "lid", "hinges", "case"),
        [("screen", "lid", "load"), ("case", "lid", "motion"), ("hinges", "case", "load")],
    )
    it.motion(
        "lid", "case", "revolute", "tilts, and closes onto the case", "rear edge of the case", (-0.4, QUARTER)
    )
    it.made_of("case", "light_metal", "plastic")
    it.made_of("lid", "light_metal", "plastic")
    it.made_of("screen", "glass", "plastic")
    it.made_of("keyboard", "plastic")
    it.made_of("touchpad", "glass", "plastic")
    it.made_of("hinges", "heavy_metal", "light_metal")
    it.made_of("feet", "rubber")
    it.human({"pred": "surface", "role": "keyboard", "min_area_m2": 0.02, "height_range_m": [0.01, 0.06]})
    return it


def nutcracker() -> Object:
    """A lever between two cheeks on a base presses a jaw down onto a cupped anvil."""
    it = Object("nutcracker", "nutcracker", FAMILY, "nutcracker", aliases=["lever nutcracker"])
    it.brief(
        "Build a nutcracker.",
        "Build a lever nutcracker 0.3 to 0.5 m long: a wooden base, a steel anvil with a hollow, two steel "
        "cheeks, a lever on a pin between them with a jaw below it, and a wooden handle at the lever's end.",
        "Build a nutcracker for the table: a nut lies in a hollow of the anvil, a hand presses the handle "
        "of a long lever down, the lever turns about a pin held by two cheeks, and a jaw below it cracks "
        "the nut; a base keeps it all from tipping.",
    )
    steel = "steel"
    plan = hull(cylinder(0.06, 0.024).at(-0.16), box(0.04, 0.12, 0.024).at(0.14))
    it.part("base", plan, (0, 0, 0.012), role="base", material=OAK)
    it.part(
        "anvil",
        cylinder(0.03, 0.04, 0.024) - sphere(0.024).at(z=0.034),
        (-0.02, 0, 0.044),
        role="anvil",
        material=steel,
    )
    ear = hull(box(0.06, 0.012, 0.02).at(z=0.01), cylinder(0.02, 0.012).turned(x=90).at(z=0.092))
    for id, y in (("cheek_front", -0.026), ("cheek_back", 0.026)):
        it.part(
            id,
            ear - cylinder(0.008, 0.1).turned(x=90).at(z=0.092),
            (0.1, y, 0.024),
            role="cheek",
            material=steel,
        )
    it.part(
        "jaw",
        cylinder(0.016, 0.036, 0.024).turned(x=180) - sphere(0.02).at(z=-0.03),
        (-0.02, 0, 0.082),
        role="jaw",
        material=steel,
    )
    arm = hull(cylinder(0.016, 0.024).turned(x=90).at(0.1), box(0.02, 0.024, 0.024).at(-0.17, 0, 0.004))
    it.part(
        "lever", arm - cylinder(0.008, 0.1).turned(x=90).at(0.1), (0, 0, 0.116), role="lever", material=steel
    )
    it.part(
        "pin",
        cylinder(0.008, 0.08).turned(x=90),
        (0.1, 0, 0.116),
        role="pin",
        material=steel,
        direction=(0, 1, 0),
    )
    grip = [(0, 0), (0.012, 0), (0.016, 0.03), (0.014, 0.08), (0.018, 0.11), (0.01, 0.12), (0, 0.12)]
    it.part(
        "handle",
        revolve(grip).turned(y=-90),
        (-0.18, 0, 0.12),
        role="handle",
        material=OAK,
        direction=(1, 0, 0),
    )
    it.fix("base", "anvil", "cheek_front", "cheek_back")
    it.fix("pin", "cheek_front", "cheek_back")
    it.joint("turn", "revolute", "pin", "lever", (0.1, 0, 0.116), (0, 1, 0), (0, 1.2))
    it.fix("lever", "jaw", "handle")
    it.offer("flat anvil", cylinder(0.03, 0.04))
    it.offer("short lever", box(0.14, 0.024, 0.024))
    it.require(
        base="keeps it on the table",
        anvil="the nut lies on it",
        lever="multiplies the force of the hand",
        jaw="presses on the nut",
        handle="to press the lever by",
        cheeks="two of them hold the pin",
        pin="the lever turns about it",
    )
    it.attribute("dimension", "The nutcracker is 0.3 to 0.5 m long.")
    it.attribute(
        "shape", "The handle is at least twice as far from the pin as the jaw is.", "law of the lever"
    )
    it.subsystem(
        "cracking",
        "presses a nut",
        ("lever", "jaw", "anvil", "handle", "pin", "cheeks"),
        [
            ("handle", "lever", "force"),
            ("lever", "jaw", "force"),
            ("pin", "lever", "motion"),
            ("pin", "cheeks", "force"),
        ],
    )
    it.subsystem(
        "standing",
        "keeps anvil and cheeks in place",
        ("base", "anvil", "cheeks"),
        [("anvil", "base", "force"), ("cheeks", "base", "force")],
    )
    it.motion(
        "lever", "cheeks", "revolute", "swings up from the anvil", "horizontal, along the pin", (0, 1.0)
    )
    for part in ("anvil", "lever", "jaw", "pin", "cheeks"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.made_of("base", "wood", "heavy_metal", "light_metal")
    it.made_of("handle", "wood", "plastic")
    it.human(
        {"pred": "grip", "role": "handle"}, {"pred": "colocated", "a": "jaw", "b": "anvil", "max_gap_m": 0.06}
    )
    return it
