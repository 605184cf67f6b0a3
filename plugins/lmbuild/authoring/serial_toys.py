"""Chains of equal links: folding rule, pull-along caterpillar."""

from __future__ import annotations

from math import cos, radians, sin

from linkages import rod_x, rod_y
from workshop import Object, box, cylinder, difference, hull, revolve, sphere, union

FAMILY = "serial_chain"


def folding_rule() -> Object:
    """A carpenter's rule of five riveted leaves, half unfolded, its first leaf held upright by a stand."""
    it = Object(
        "folding_rule",
        "folding rule",
        FAMILY,
        "measuring rule",
        aliases=["carpenter's rule", "folding ruler"],
    )
    it.brief(
        "Build a folding rule.",
        "Build a wooden folding rule, half unfolded on a stand: five leaves, each 0.2 to 0.3 m long and "
        "hinged to the next by rivets, an end cap on the last, and a stand that holds the first leaf "
        "upright.",
        "Build a folding rule as a shop shows it: a stand holds its first leaf, each further leaf turns "
        "on the rivet of the one before, so that it unfolds for measuring and folds up for the pocket, "
        "and a cap keeps the end of the scale from wearing.",
    )
    foot = hull(box(0.24, 0.3, 0.02).at(z=0.01), box(0.2, 0.24, 0.02).at(z=0.03))
    post = box(0.06, 0.06, 0.06).at(z=0.07)
    slot = box(0.012, 0.032, 0.08).at(z=0.1)
    it.part("stand", difference(union(foot, post), slot), role="stand", material="solid_wood_hardwood")
    length, width, thick = 0.22, 0.032, 0.012
    marks = [box(0.02, 0.012, 0.003).at(0.008, -width / 2, 0.02 * k) for k in range(1, 11)]
    bar = difference(
        hull(rod_x(width / 2, thick), rod_x(width / 2, thick).at(z=length)), rod_x(0.006, 0.1), *marks
    )
    leaf = union(bar, rod_x(0.006, thick).at(x=thick, z=length))
    first = union(leaf, box(thick, width, 0.04).at(z=-0.006)) - rod_x(0.006, 0.1)
    foot_at = (0.0, 0.0, 0.086)
    it.part("leaf_1", first, foot_at, role="leaf", material="solid_wood_hardwood", shape="first leaf")
    leans = (75.0, -50.0, 60.0, -20.0)
    x, y, z = 0.0, 0.0, foot_at[2] + length
    pivots = []
    for number, lean in enumerate(leans, 2):
        even = number % 2 == 0
        x = thick if even else 0.0
        pivots.append((thick / 2, y, z))
        solid = leaf.mirrored(x=1) if even else leaf
        it.part(
            f"leaf_{number}",
            solid,
            (x, y, z),
            (lean, 0, 0),
            role="leaf",
            material="solid_wood_hardwood",
            direction=(-1 if even else 1, 0, 0),
        )
        y, z = y - length * sin(radians(lean)), z + length * cos(radians(lean))
    pocket = hull(rod_x(width / 2, thick), rod_x(width / 2, thick).at(z=-0.1))
    cap = difference(box(0.024, 0.044, 0.03).at(z=0.006), pocket)
    it.part("cap", cap, (x, y, z), (leans[-1], 0, 0), role="end cap", material="steel")
    for number, pivot in enumerate(pivots, 2):
        it.joint(
            f"rivet_{number}",
            "revolute",
            f"leaf_{number - 1}",
            f"leaf_{number}",
            pivot,
            (1, 0, 0),
            (-0.5, 0.5),
        )
    it.fix("stand", "leaf_1")
    it.fix("leaf_5", "cap")
    it.offer("leaf with two holes", bar - rod_x(0.006, 0.1).at(z=length))
    it.offer("flat stand", box(0.2, 0.2, 0.02))
    it.require(
        leaves="carry the scale and fold on one another",
        end_cap="keeps the end of the scale from wearing",
        stand="holds the rule upright",
    )
    it.attribute("dimension", "Each leaf is 0.2 to 0.3 m long.")
    it.attribute("count", "There are five leaves.")
    it.attribute("shape", "Each leaf has marks at equal distances along one edge.")
    it.subsystem(
        "scale",
        "measures, and folds up for the pocket",
        ("leaves", "end cap"),
        [("leaves", "leaves", "motion"), ("end cap", "leaves", "load")],
    )
    it.subsystem("display", "holds the rule upright", ("stand", "leaves"), [("leaves", "stand", "load")])
    it.motion("leaves", "leaves", "revolute", "unfold", "rivet, horizontal on this stand", (-0.5, 0.5))
    it.made_of("leaves", "wood", "plastic", "light_metal")
    it.made_of("end cap", "heavy_metal", "light_metal")
    it.made_of("stand", "wood", "plastic", "heavy_metal")
    it.human(
        {"pred": "ground_contact", "role": "stand"},
        {"pred": "reachable", "target": "leaves", "from": "standing"},
    )
    return it


def caterpillar() -> Object:
    """A head on four wheels draws three round segments, each on two wheels and hooked to the one before."""
    it = Object(
        "caterpillar", "pull-along caterpillar", FAMILY, "pull toy", aliases=["toy caterpillar", "pull toy"]
    )
    it.brief(
        "Build a pull-along caterpillar.",
        "Build a pull-along wooden caterpillar 0.4 to 0.6 m long: a head on four wheels with two feelers "
        "and a nose, and three segments on two wheels each, coupled one behind the other so that they "
        "bend sideways.",
        "Build a pull-along caterpillar for a small child: its head is drawn along, its segments follow "
        "and bend sideways at their couplings like a train, and all of them roll on wheels.",
    )
    wood = "solid_wood_hardwood"
    wheel = difference(
        revolve(
            [(0, -0.012), (0.024, -0.012), (0.03, -0.008), (0.03, 0.008), (0.024, 0.012), (0, 0.012)]
        ).turned(y=90),
        rod_x(0.006, 0.1),
    )
    ball = sphere(0.044).at(z=0.066)
    chassis = difference(
        box(0.06, 0.052, 0.036).at(z=0.04), rod_x(0.006, 0.1).at(z=0.03), box(0.1, 0.012, 0.02).at(z=0.02)
    )
    ledge = union(box(0.028, 0.05, 0.01).at(0, 0.049, 0.047), cylinder(0.005, 0.02).at(0, 0.06, 0.052))
    tongue = difference(box(0.028, 0.05, 0.01).at(0, -0.049, 0.057), cylinder(0.005, 0.1).at(0, -0.06, 0.057))
    trunk = union(ball, chassis)
    nose = hull(ball, sphere(0.04).at(0, -0.09, 0.074))
    room = union(rod_x(0.006, 0.1).at(0, -0.09, 0.03), box(0.1, 0.012, 0.02).at(0, -0.09, 0.02))
    drills = [cylinder(0.006, 0.02).at(x, -0.09, 0.11) for x in (-0.018, 0.018)]
    block = difference(box(0.06, 0.052, 0.036).at(0, -0.09, 0.04), room)
    head = difference(
        union(nose, block, trunk, ledge),
        room,
        rod_x(0.006, 0.1).at(z=0.03),
        box(0.1, 0.012, 0.02).at(z=0.02),
        *drills,
    )

    def axle(name: str, y: float) -> None:
        for side, x in (("left", -0.045), ("right", 0.045)):
            it.part(f"wheel_{name}_{side}", wheel, (x, y, 0.03), role="wheel", material=wood)
            it.fix(f"axle_{name}", f"wheel_{name}_{side}")
        it.part(
            f"axle_{name}", rod_x(0.006, 0.12), (0, y, 0.03), role="axle", material=wood, direction=(1, 0, 0)
        )

    axle("front", -0.21)
    axle("1", -0.12)
    it.part("head", head, (0, -0.12, 0), role="head", material=wood)
    for number in (2, 3, 4):
        y = 0.12 * (number - 2)
        axle(str(number), y)
        last = number == 4
        solid = union(trunk, tongue) if last else union(trunk, tongue, ledge)
        it.part(
            f"segment_{number}",
            solid,
            (0, y, 0),
            role="segment",
            material=wood,
            shape="tail" if last else "segment",
        )
    feeler = union(cylinder(0.006, 0.06).at(z=0.03), sphere(0.012).at(z=0.066))
    for side, x in (("left", -0.018), ("right", 0.018)):
        it.part(f"feeler_{side}", feeler, (x, -0.21, 0.1), role="feeler", material=wood)
    snout = union(rod_y(0.008, 0.02), sphere(0.014).at(y=-0.016))
    it.part("nose", snout, (0, -0.258, 0.074), role="nose", material=wood, direction=(0, 1, 0))
    it.fix("head", "feeler_left", "feeler_right", "nose")
    for name, y, body in (
        ("front", -0.21, "head"),
        ("1", -0.12, "head"),
        ("2", 0.0, "segment_2"),
        ("3", 0.12, "segment_3"),
        ("4", 0.24, "segment_4"),
    ):
        it.joint(f"axle_{name}", "continuous", body, f"axle_{name}", (0, y, 0.03), (1, 0, 0))
    for number, before in ((2, "head"), (3, "segment_2"), (4, "segment_3")):
        place = (0, 0.12 * (number - 2) - 0.06, 0.052)
        it.joint(f"coupling_{number}", "revolute", before, f"segment_{number}", place, (0, 0, 1), (-0.4, 0.4))
    it.offer("wheel without a hole", rod_x(0.03, 0.024))
    it.offer("cube segment", box(0.08, 0.08, 0.08))
    it.require(
        head="is drawn along and shows the way",
        segments="follow the head and bend with it",
        wheels="let the caterpillar roll",
        axles="carry the wheels",
        feelers="make it a caterpillar",
    )
    it.attribute("dimension", "The caterpillar is 0.4 to 0.6 m long.")
    it.attribute("count", "There are ten wheels on five axles, three segments and two feelers.")
    it.subsystem(
        "running gear",
        "lets the toy roll",
        ("wheels", "axles", "head", "segments"),
        [("head", "axles", "motion"), ("axles", "wheels", "load"), ("segments", "axles", "motion")],
    )
    it.subsystem("body", "bends like a caterpillar", ("head", "segments"), [("head", "segments", "motion")])
    it.motion("wheels", "segments", "continuous", "roll", "axle")
    it.motion("segments", "head", "revolute", "bend sideways", "vertical pin of the coupling", (-0.4, 0.4))
    for part in ("head", "segments", "wheels", "axles", "feelers", "nose"):
        it.made_of(part, "wood", "plastic")
    it.human(
        {"pred": "ground_contact", "role": "wheels"},
        {"pred": "colocated", "a": "head", "b": "segments", "max_gap_m": 0.02},
    )
    return it
