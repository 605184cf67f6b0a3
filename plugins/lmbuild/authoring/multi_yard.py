"""Things with several kinds of joints that belong outdoors: scooter, tower crane."""

from __future__ import annotations

from linkages import bent, caster_fork, fork, rod_x, tube, tyre
from workshop import Object, Solid, box, cylinder, difference, hull, revolve, union

FAMILY = "multi_joint"


def scooter() -> Object:
    """A deck on two rear wheels, a steered fork with a wheel, column, handlebar and brake pedal."""
    it = Object(
        "scooter", "three-wheeled kick scooter", FAMILY, "scooter", aliases=["kick scooter", "scooter"]
    )
    it.brief(
        "Build a three-wheeled kick scooter.",
        "Build a three-wheeled kick scooter 0.7 to 0.95 m high: a deck on two rear wheels on one axle, "
        "one front wheel in a fork, a steering column with a handlebar and two grips, and one brake pedal"
        " above the rear of the deck.",
        "Build a kick scooter for a child that stands by itself: one foot stands on the deck while the "
        "other pushes, the handlebar turns column, fork and front wheel to steer, and a pedal at the rear"
        " is stepped on to brake.",
    )
    for name, side in (("left", -1), ("right", 1)):
        it.part(
            f"wheel_{name}",
            tyre(0.06, 0.036, 0.008),
            (side * 0.1, 0.22, 0.06),
            role="rear wheel",
            material="synthetic_rubber",
        )
    it.part("axle", rod_x(0.008, 0.24), (0, 0.22, 0.06), role="axle", material="steel", direction=(1, 0, 0))
    it.part(
        "wheel_front",
        tyre(0.06, 0.036, 0.008),
        (0, -0.36, 0.06),
        role="front wheel",
        material="synthetic_rubber",
    )
    steerer = union(caster_fork(0.06, 0.036, 0.008, 0.014, 0.0), cylinder(0.014, 0.1).at(z=0.128))
    it.part("fork", steerer, (0, -0.36, 0.06), role="fork", material="aluminum", direction=(-1, 0, 0))
    board = hull(box(0.14, 0.36, 0.02), box(0.1, 0.46, 0.016), box(0.12, 0.4, 0.026))
    neck = bent(box(0.05, 0.03, 0.03), (0, -0.2, 0), (0, -0.31, 0.07), (0, -0.34, 0.08))
    head = cylinder(0.026, 0.09).at(0, -0.36, 0.083)
    lugs = union(*(box(0.02, 0.06, 0.06).at(x, 0.21, -0.025) for x in (-0.05, 0.05)))
    stop = hull(rod_x(0.012, 0.04).at(0, 0.23, 0.02), box(0.04, 0.03, 0.01).at(0, 0.22, 0))
    slot = union(rod_x(0.008, 0.3).at(0, 0.22, -0.04), box(0.3, 0.016, 0.04).at(0, 0.22, -0.06))
    solid = union(board, neck, head, lugs, stop)
    deck = difference(
        solid, slot, cylinder(0.014, 0.2).at(0, -0.36, 0.1), rod_x(0.006, 0.1).at(0, 0.23, 0.02)
    )
    it.part("deck", deck, (0, 0, 0.1), role="deck", material="aluminum")
    top = 0.228
    column = union(cylinder(0.02, 0.58).at(z=0.29), box(0.05, 0.05, 0.05).at(z=0.59))
    column = difference(column, cylinder(0.014, 0.03), rod_x(0.012, 0.1).at(z=0.59))
    it.part("column", column, (0, -0.36, top), role="steering column", material="aluminum")
    it.part(
        "handlebar",
        rod_x(0.012, 0.42),
        (0, -0.36, top + 0.59),
        role="handlebar",
        material="steel",
        direction=(1, 0, 0),
    )
    for name, side in (("left", -1), ("right", 1)):
        grip = tube(0.018, 0.012, 0.1).turned(y=90)
        it.part(
            f"grip_{name}",
            grip,
            (side * 0.16, -0.36, top + 0.59),
            role="grip",
            material="synthetic_rubber",
            direction=(-side, 0, 0),
        )
        it.fix("handlebar", f"grip_{name}")
        it.joint(f"roll_{name}", "continuous", "axle", f"wheel_{name}", (side * 0.1, 0.22, 0.06), (1, 0, 0))
    pivot = (0.0, 0.23, 0.12)
    pedal = union(
        fork(0.012, 0.04, 0.01, 0.006, 0.032).turned(x=90),
        hull(box(0.06, 0.02, 0.012).at(y=0.035), box(0.08, 0.05, 0.008).at(y=0.09)),
    )
    it.part("pedal", pedal, pivot, role="brake pedal", material="steel", direction=(0, -1, 0))
    it.part("pin", rod_x(0.006, 0.07), pivot, role="pedal pin", material="steel", direction=(1, 0, 0))
    it.joint("roll_front", "continuous", "fork", "wheel_front", (0, -0.36, 0.06), (1, 0, 0))
    it.joint("steer", "revolute", "deck", "fork", (0, -0.36, 0.138), (0, 0, 1), (-0.8, 0.8))
    it.joint("brake", "revolute", "pin", "pedal", (0.025, *pivot[1:]), (1, 0, 0), (-0.25, 0))
    it.fix("deck", "axle", "pin")
    it.fix("fork", "column")
    it.fix("column", "handlebar")
    it.offer("deck without neck", board)
    it.offer("short column", cylinder(0.02, 0.3))
    it.require(
        deck="the rider stands on it",
        rear_wheels="carry the rear",
        front_wheel="is steered",
        fork="holds the front wheel",
        steering_column="passes the turn of the handlebar on",
        handlebar="is held and turned",
        grips="give the hands a hold",
        brake_pedal="is stepped on to brake",
    )
    it.attribute("dimension", "The scooter is 0.7 to 0.95 m high.")
    it.attribute("count", "There are two rear wheels, one front wheel and two grips.")
    it.subsystem(
        "steering",
        "turns the front wheel",
        ("handlebar", "steering column", "fork", "front wheel", "grips"),
        [
            ("handlebar", "steering column", "force"),
            ("steering column", "fork", "force"),
            ("fork", "front wheel", "motion"),
            ("grips", "handlebar", "force"),
        ],
    )
    it.subsystem(
        "running gear",
        "carries the rider",
        ("deck", "axle", "rear wheels", "fork"),
        [("deck", "axle", "load"), ("axle", "rear wheels", "motion"), ("deck", "fork", "motion")],
    )
    it.subsystem("brake", "slows the scooter", ("brake pedal", "deck"), [("deck", "brake pedal", "motion")])
    it.motion("rear wheels", "axle", "continuous", "roll", "axle")
    it.motion("front wheel", "fork", "continuous", "rolls", "axle")
    it.motion("fork", "deck", "revolute", "steers", "upright steering axis", (-0.8, 0.8))
    it.motion("brake pedal", "deck", "revolute", "is stepped on", "horizontal pin", (-0.25, 0))
    for part in ("deck", "fork", "steering column", "handlebar", "axle", "brake pedal"):
        it.made_of(part, "light_metal", "heavy_metal")
    it.made_of("rear wheels", "rubber", "plastic")
    it.made_of("front wheel", "rubber", "plastic")
    it.made_of("grips", "rubber", "foam", "plastic")
    it.human(
        {"pred": "grip", "role": "grips"},
        {"pred": "surface", "role": "deck", "min_area_m2": 0.04, "height_range_m": [0.06, 0.16]},
        {
            "pred": "clearance",
            "anchor": "deck",
            "placement": "above",
            "box": [0.2, 0.2, 0.6],
            "min_free": 0.8,
        },
    )
    it.human({"pred": "ground_contact", "min_clusters": 3})
    return it


def lattice(width: float, length: float, wall: float, bays: int) -> Solid:
    """A square tube along Z about the origin with windows in its walls and plates at its ends."""
    bay = (length - 2 * wall) / bays
    cuts = [
        box(*size).at(z=bay * (k + 0.5) - bay * bays / 2)
        for k in range(bays)
        for size in (
            (2 * width, width - 2 * wall, bay - wall),
            (width - 2 * wall, 2 * width, bay - wall),
        )
    ]
    return difference(
        box(width, width, length), box(width - 2 * wall, width - 2 * wall, length - 2 * wall), *cuts
    )


def tower_crane() -> Object:
    """A cross with ballast, a lattice mast, a slewing head with cab, two jibs, ties, trolley, hook."""
    it = Object("tower_crane", "model tower crane", FAMILY, "tower crane", aliases=["tower crane"])
    it.brief(
        "Build a model tower crane.",
        "Build a model of a tower crane 0.9 to 1.2 m high: a cross-shaped base with four ballast blocks, "
        "a mast of two lattice pieces, a slewing head with a cab, one jib and one counter-jib with one "
        "counterweight, two ties, one trolley and one hook.",
        "Build a model of a tower crane: a mast on a ballasted base carries a slewing head that turns all"
        " round, a counterweight on the counter-jib balances the jib, a trolley runs along the jib, and a"
        " hook is raised and lowered below it.",
    )
    steel = "steel"
    cross = union(*(box(0.5, 0.06, 0.03).turned(z=a) for a in (45, 135)), box(0.11, 0.11, 0.03))
    it.part("base", cross, (0, 0, 0.015), role="base", material=steel)
    block = hull(box(0.1, 0.1, 0.05), box(0.08, 0.08, 0.07))
    for name, x, y in (("fl", -0.13, -0.13), ("fr", 0.13, -0.13), ("rl", -0.13, 0.13), ("rr", 0.13, 0.13)):
        it.part(f"ballast_{name}", block, (x, y, 0.065), role="ballast block", material="porcelain")
        it.fix("base", f"ballast_{name}")
    tower = lattice(0.08, 0.35, 0.014, 4)
    it.part("mast_lower", tower, (0, 0, 0.205), role="mast", material=steel)
    it.part("mast_upper", tower, (0, 0, 0.555), role="mast", material=steel)
    head = union(
        cylinder(0.045, 0.02).at(z=0.01),
        box(0.08, 0.08, 0.06).at(z=0.05),
        hull(box(0.06, 0.06, 0.01).at(z=0.08), box(0.02, 0.02, 0.05).at(z=0.205)),
    )
    it.part("head", head, (0, 0, 0.73), role="slewing head", material=steel)
    cabin = difference(
        hull(box(0.05, 0.07, 0.07), box(0.05, 0.05, 0.08).at(y=0.01)),
        box(0.08, 0.03, 0.03).at(0, -0.03, 0.01),
    )
    it.part("cab", cabin, (0.065, -0.005, 0.775), role="cab", material="ABS", direction=(-1, 0, 0))
    it.part(
        "counter_jib",
        lattice(0.05, 0.26, 0.01, 3).turned(x=90),
        (0, 0.17, 0.785),
        role="counter-jib",
        material=steel,
        direction=(0, -1, 0),
    )
    jib = union(lattice(0.05, 0.6, 0.01, 6).turned(x=90), box(0.05, 0.6, 0.006).at(z=-0.022))
    it.part("jib", jib, (0, -0.34, 0.785), role="jib", material=steel, direction=(0, 1, 0))
    it.part(
        "counterweight",
        hull(box(0.09, 0.08, 0.08), box(0.07, 0.08, 0.1)),
        (0, 0.255, 0.86),
        role="counterweight",
        material="porcelain",
    )
    rod = box(0.014, 0.02, 0.014)
    for name, reach in (("front", -0.4), ("rear", 0.19)):
        side = -1 if reach < 0 else 1
        tie = bent(rod, (0, side * 0.02, 0.94), (0, reach, 0.817))
        it.part(f"tie_{name}", tie, role="tie", material=steel, direction=(0, -side, 0))
        it.fix("head", f"tie_{name}")
    trolley = difference(
        union(box(0.1, 0.06, 0.05).at(z=-0.005), box(0.03, 0.04, 0.05).at(0.065, 0, -0.005)),
        box(0.068, 0.1, 0.06).at(z=0.03),
        box(0.03, 0.016, 0.1).at(0.075, 0, 0),
    )
    it.part("trolley", trolley, (0, -0.38, 0.76), role="trolley", material=steel, direction=(0, 1, 0))
    bow = revolve([(0.018, -0.008), (0.034, -0.008), (0.034, 0.008), (0.018, 0.008)], 250)
    hook = union(box(0.016, 0.016, 0.34), bow.turned(x=90).turned(y=-90).at(z=-0.196))
    it.part("hook", hook, (0.068, -0.38, 0.62), role="hook", material=steel, direction=(-1, 0, 0))
    it.joint("slew", "continuous", "mast_upper", "head", (0, 0, 0.73), (0, 0, 1))
    it.joint("run", "prismatic", "jib", "trolley", (0, -0.38, 0.76), (0, -1, 0), (-0.18, 0.2))
    it.joint("hoist", "prismatic", "trolley", "hook", (0.06, -0.38, 0.76), (0, 0, 1), (-0.02, 0.2))
    it.fix("base", "mast_lower")
    it.fix("mast_lower", "mast_upper")
    it.fix("head", "cab", "jib", "counter_jib")
    it.fix("jib", "tie_front")
    it.fix("counter_jib", "counterweight", "tie_rear")
    it.offer("solid mast", box(0.08, 0.08, 0.35))
    it.offer("ring", revolve([(0.018, -0.008), (0.034, -0.008), (0.034, 0.008), (0.018, 0.008)]))
    it.require(
        base="spreads the load",
        ballast_blocks="keep the crane from tipping",
        mast="lifts the jib above what is built",
        slewing_head="turns the jibs",
        jib="reaches out over the site",
        counter_jib="carries the counterweight",
        counterweight="balances jib and load",
        trolley="runs along the jib",
        hook="takes the load",
    )
    it.attribute("dimension", "The model is 0.9 to 1.2 m high.")
    it.attribute("count", "There are four ballast blocks, one jib, one counterweight, two ties and one hook.")
    it.subsystem(
        "tower",
        "carries the turning head",
        ("base", "ballast blocks", "mast", "slewing head"),
        [("base", "mast", "load"), ("ballast blocks", "base", "load"), ("mast", "slewing head", "motion")],
    )
    it.subsystem(
        "balanced jib",
        "reaches out without tipping",
        ("slewing head", "jib", "counter-jib", "counterweight", "ties"),
        [("slewing head", "jib", "load"), ("counterweight", "counter-jib", "load"), ("ties", "jib", "force")],
    )
    it.subsystem(
        "hoist",
        "moves the load in, out, up and down",
        ("jib", "trolley", "hook"),
        [("jib", "trolley", "motion"), ("trolley", "hook", "motion")],
    )
    it.motion("slewing head", "mast", "continuous", "turns all round", "vertical swivel axis")
    it.motion("trolley", "jib", "prismatic", "runs along the jib", "along the jib", (-0.18, 0.2))
    it.motion("hook", "trolley", "prismatic", "goes up and down", "vertical", (-0.02, 0.2))
    for part in ("base", "mast", "slewing head", "jib", "counter-jib", "trolley", "hook", "ties"):
        it.made_of(part, "heavy_metal", "light_metal", "plastic")
    it.made_of("ballast blocks", "ceramic", "heavy_metal", source="ballast of cranes is usually concrete")
    it.made_of("counterweight", "ceramic", "heavy_metal", source="ballast of cranes is usually concrete")
    it.made_of("cab", "plastic", "light_metal")
    it.human(
        {"pred": "ground_contact", "role": "base"},
        {"pred": "clearance", "anchor": "hook", "placement": "below", "box": [0.2, 0.2, 0.2]},
    )
    return it
