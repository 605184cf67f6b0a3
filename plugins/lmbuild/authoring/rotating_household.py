"""Things with parts that turn, in a house: lazy Susan, potter's wheel, table fan, coffee grinder."""

from __future__ import annotations

from workshop import Object, box, cylinder, difference, extrude, hull, revolve, sphere, torus, union

OAK = "solid_wood_hardwood"
FAMILY = "rotating"
BACK = (0, 1, 0)


def lazy_susan() -> Object:
    """A tray that turns on a pin and a bearing ring over a base with rubber feet."""
    it = Object("lazy_susan", "lazy Susan", FAMILY, "turntable", aliases=["revolving serving tray"])
    it.brief(
        "Build a lazy Susan.",
        "Build a lazy Susan: a round wooden tray 0.35 to 0.5 m across with a rim, a smaller base on four "
        "rubber feet, a steel pin with a cap, a steel bearing ring, and two knobs on the rim.",
        "Build a lazy Susan for a dining table: dishes stand on a round tray that turns on a pin, a bearing "
        "ring carries the tray near its edge, and a base with feet stays where it is.",
    )
    for number in range(4):
        x, y = ((0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1))[number]
        it.part(
            f"foot_{number + 1}",
            cylinder(0.016, 0.01, 0.012),
            (x, y, 0.005),
            role="foot",
            material="silicone_rubber",
        )
    profile = ((0, 0), (0.15, 0), (0.16, 0.008), (0.16, 0.016), (0.152, 0.02), (0, 0.02))
    seat = torus(0.12, 0.006).at(z=0.022)
    base = difference(revolve(profile), cylinder(0.006, 0.1), seat)
    it.part("base", base, (0, 0, 0.01), role="base", material=OAK)
    it.part("ring", torus(0.12, 0.006), (0, 0, 0.032), role="bearing ring", material="steel")
    it.part("pin", cylinder(0.006, 0.05), (0, 0, 0.035), role="pin", material="steel")
    dish = ((0, 0), (0.2, 0), (0.22, 0.012), (0.22, 0.034), (0.21, 0.034), (0.204, 0.014), (0, 0.014))
    sockets = [cylinder(0.005, 0.02).turned(y=90).at(side * 0.216, 0, 0.02) for side in (-1, 1)]
    tray = difference(revolve(dish), cylinder(0.006, 0.1), *sockets)
    it.part("tray", tray, (0, 0, 0.038), role="tray", material=OAK)
    cap = revolve(((0, 0), (0.014, 0), (0.016, 0.006), (0.01, 0.014), (0, 0.016))) - cylinder(
        0.006, 0.008
    ).at(z=0.004)
    it.part("cap", cap, (0, 0, 0.052), role="cap", material="steel")
    peg = union(
        cylinder(0.005, 0.014).at(z=-0.003), cylinder(0.008, 0.012).at(z=0.01), sphere(0.012).at(z=0.022)
    )
    for name, side in (("left", -1), ("right", 1)):
        it.part(
            f"knob_{name}",
            peg.turned(y=90 * side),
            (side * 0.216, 0, 0.058),
            role="knob",
            material=OAK,
            direction=(-side, 0, 0),
        )
    it.fix("base", "foot_1", "foot_2", "foot_3", "foot_4", "ring", "pin")
    it.fix("pin", "cap")
    it.fix("tray", "knob_left", "knob_right")
    it.joint("turn", "continuous", "pin", "tray", (0, 0, 0.045), (0, 0, 1))
    it.offer("square tray", box(0.4, 0.4, 0.014) + (box(0.4, 0.4, 0.03) - box(0.38, 0.38, 0.1)).at(z=0.01))
    it.offer("caster", hull(cylinder(0.02, 0.016).turned(y=90), box(0.03, 0.03, 0.004).at(z=0.03)))
    it.require(
        tray="carries the dishes and turns",
        base="stays on the table",
        pin="keeps the tray centred",
        bearing_ring="carries the tray so that it turns easily",
        feet="don't slip or scratch",
        knobs="turn the tray",
    )
    it.attribute("dimension", "The tray is 0.35 to 0.5 m across.")
    it.attribute("count", "There are four feet and two knobs.")
    it.attribute("count", "There is one tray on one pin.")
    it.subsystem(
        "turning tray",
        "brings every dish to everyone",
        ("tray", "pin", "bearing ring", "knobs"),
        [("pin", "tray", "motion"), ("tray", "bearing ring", "load"), ("knobs", "tray", "force")],
    )
    it.subsystem(
        "support",
        "stands on the table",
        ("base", "feet", "bearing ring"),
        [("bearing ring", "base", "load"), ("base", "feet", "load")],
    )
    it.motion("tray", "base", "continuous", "turns about the pin", "vertical")
    for part in ("tray", "base"):
        it.made_of(part, "wood", "plastic", "glass")
    for part in ("pin", "bearing ring"):
        it.made_of(part, "heavy_metal", "plastic")
    it.made_of("cap", "heavy_metal", "wood", "plastic")
    it.made_of("knobs", "wood", "heavy_metal", "plastic")
    it.made_of("feet", "rubber", "plastic")
    it.human(
        {"pred": "surface", "role": "tray", "min_area_m2": 0.09, "height_range_m": [0.02, 0.12]},
        {"pred": "grip", "role": "knobs"},
    )
    return it


def potters_wheel() -> Object:
    """A shaft between a cup on a beam and a bearing in the table; flywheel below, throwing head above."""
    it = Object("potters_wheel", "potter's kick wheel", FAMILY, "pottery wheel", aliases=["potter's wheel"])
    it.brief(
        "Build a potter's kick wheel.",
        "Build a potter's kick wheel: a wooden stand with four posts and a table 0.65 to 0.75 m high, a "
        "steel shaft with a heavy flywheel below and a round throwing head above the table, a splash pan, "
        "and a seat 0.45 to 0.6 m high in front.",
        "Build a potter's kick wheel: a sitting potter kicks the flywheel, which keeps the shaft and the "
        "throwing head turning; a cup and a bearing hold the shaft, and a pan keeps water off the table.",
    )
    sled = hull(box(0.1, 1.36, 0.04).at(z=0.02), box(0.1, 1.2, 0.04).at(z=0.06))
    for name, x in (("left", -0.36), ("right", 0.36)):
        it.part(f"sled_{name}", sled, (x, -0.2, 0), role="runner foot", material=OAK, shape="sled")
    it.part("beam", box(0.82, 0.14, 0.06), (0, 0, 0.11), role="beam", material=OAK)
    cup = revolve(((0, 0), (0.05, 0), (0.036, 0.04), (0.016, 0.04), (0.016, 0.01), (0, 0.01)))
    it.part("cup", cup, (0, 0, 0.14), role="bearing cup", material="steel")
    spindle = revolve(
        (
            (0, 0),
            (0.016, 0),
            (0.016, 0.05),
            (0.06, 0.05),
            (0.06, 0.066),
            (0.02, 0.066),
            (0.02, 0.63),
            (0, 0.63),
        )
    )
    it.part("shaft", spindle, (0, 0, 0.15), role="shaft", material="steel")
    rim = revolve(((0.02, 0.066), (0.1, 0.066), (0.14, 0.072), (0.28, 0.066), (0.28, 0.13), (0.02, 0.12)))
    it.part("flywheel", rim, (0, 0, 0.15), role="flywheel", material=OAK)
    posts = {"fl": (-0.36, -0.3), "fr": (0.36, -0.3), "bl": (-0.36, 0.3), "br": (0.36, 0.3)}
    for name, (x, y) in posts.items():
        it.part(f"post_{name}", box(0.06, 0.06, 0.6), (x, y, 0.38), role="post", material=OAK)
    table = box(0.84, 0.72, 0.03) - cylinder(0.04, 0.1)
    it.part("table", table, (0, 0, 0.695), role="table board", material=OAK)
    flange = revolve(((0.02, -0.02), (0.04, -0.02), (0.04, 0), (0.07, 0), (0.06, 0.012), (0.02, 0.012)))
    it.part("bearing", flange, (0, 0, 0.71), role="bearing", material="steel")
    wall = ((0.21, 0), (0.25, 0), (0.25, 0.08), (0.242, 0.08), (0.242, 0.008), (0.21, 0.008))
    it.part("pan", revolve(wall), (0, 0, 0.71), role="splash pan", material="polyethylene_PE")
    disc = ((0, 0.03), (0.02, 0.03), (0.02, 0), (0.04, 0), (0.15, 0.02), (0.15, 0.042), (0, 0.042))
    it.part("head", revolve(disc), (0, 0, 0.75), role="throwing head", material="aluminum")
    for name, x in (("left", -0.36), ("right", 0.36)):
        leg = box(0.06, 0.06, 0.42)
        it.part(f"seat_post_{name}", leg, (x, -0.72, 0.29), role="seat post", material=OAK)
    saddle = box(0.84, 0.26, 0.05) - cylinder(0.5, 0.3, 0.5).turned(x=90).at(z=0.51)
    it.part("seat", saddle, (0, -0.72, 0.525), role="seat", material=OAK)
    for name, letter in (("left", "l"), ("right", "r")):
        it.fix(f"sled_{name}", "beam", f"post_f{letter}", f"post_b{letter}", f"seat_post_{name}")
    it.fix("beam", "cup")
    it.fix("table", *(f"post_{name}" for name in posts), "bearing", "pan")
    it.fix("shaft", "flywheel", "head")
    it.fix("seat", "seat_post_left", "seat_post_right")
    it.joint("turn", "continuous", "cup", "shaft", (0, 0, 0.15), (0, 0, 1))
    it.offer("square bat", box(0.3, 0.3, 0.012))
    it.offer("pedal", hull(box(0.1, 0.2, 0.01), box(0.06, 0.3, 0.01)))
    it.require(
        throwing_head="the clay turns on it",
        shaft="joins flywheel and throwing head",
        flywheel="is kicked and stores the motion",
        bearing="holds the shaft upright",
        bearing_cup="carries the weight of all that turns",
        seat="the potter sits on it",
        splash_pan="catches water and slip",
        posts="carry the table board",
    )
    it.attribute("dimension", "The table board is 0.65 to 0.75 m high, the seat 0.45 to 0.6 m.")
    it.attribute("count", "There are four posts and two seat posts.")
    it.attribute("count", "There is one flywheel, one shaft and one throwing head.")
    it.subsystem(
        "drive",
        "turns the clay",
        ("flywheel", "shaft", "throwing head", "bearing cup", "bearing"),
        [
            ("bearing cup", "shaft", "motion"),
            ("flywheel", "shaft", "torque"),
            ("shaft", "throwing head", "torque"),
            ("bearing", "shaft", "force"),
        ],
        "a heavy rim keeps turning between kicks by its inertia",
    )
    it.subsystem(
        "stand",
        "carries wheel and pan",
        ("posts", "beam", "runner feet", "splash pan", "bearing cup"),
        [("posts", "runner feet", "load"), ("beam", "runner feet", "load"), ("bearing cup", "beam", "load")],
    )
    it.subsystem(
        "seating",
        "carries the potter",
        ("seat", "seat posts", "runner feet"),
        [("seat", "seat posts", "load"), ("seat posts", "runner feet", "load")],
    )
    it.motion("shaft", "bearing cup", "continuous", "turns with flywheel and head", "vertical shaft")
    for part in ("posts", "beam", "runner feet", "seat", "seat posts", "table board"):
        it.made_of(part, "wood", "heavy_metal")
    for part in ("shaft", "bearing", "bearing cup"):
        it.made_of(part, "heavy_metal")
    it.made_of("flywheel", "wood", "heavy_metal")
    it.made_of("throwing head", "light_metal", "heavy_metal", "wood")
    it.made_of("splash pan", "plastic", "light_metal")
    it.human(
        {"pred": "surface", "role": "seat", "min_area_m2": 0.08, "height_range_m": [0.45, 0.6]},
        {"pred": "clearance", "anchor": "seat", "placement": "above", "box": "seated_torso", "min_free": 0.8},
        {"pred": "reachable", "target": "throwing head", "from": "seat", "reach_m": 0.9},
    )
    return it


def table_fan() -> Object:
    """A motor on a column, a rotor on its shaft between two guards of rings and bars."""
    it = Object("table_fan", "table fan", FAMILY, "fan", aliases=["desk fan"])
    it.brief(
        "Build a table fan.",
        "Build a table fan 0.4 to 0.6 m high: a heavy round base with a speed knob, a column, a motor "
        "housing, a shaft, a rotor with four blades 0.25 to 0.35 m across, and a front and a rear guard.",
        "Build a table fan: the motor turns a rotor whose slanted blades blow air forwards, guards in front "
        "and behind keep fingers out, and a heavy base with a knob keeps it from tipping.",
    )
    dome = ((0, 0), (0.14, 0), (0.14, 0.016), (0.06, 0.034), (0, 0.04))
    base = difference(
        revolve(dome),
        cylinder(0.014, 0.05).at(0, 0.03, 0.035),
        cylinder(0.005, 0.02).at(0, -0.09, 0.02),
        cylinder(0.016, 0.02).at(0, -0.09, 0.035),
    )
    it.part("base", base, (0, -0.05, 0), role="base", material="ABS")
    it.part("column", cylinder(0.014, 0.31), (0, -0.02, 0.165), role="column", material="steel")
    dial = revolve(((0, 0), (0.014, 0), (0.012, 0.014), (0, 0.014))) - box(0.004, 0.03, 0.02).at(
        0, 0.012, 0.02
    )
    it.part("knob", union(dial, cylinder(0.005, 0.02)), (0, -0.14, 0.025), role="speed knob", material="ABS")
    shell = revolve(((0, 0), (0.044, 0), (0.052, 0.03), (0.052, 0.1), (0.03, 0.13), (0, 0.13)))
    vents = [box(0.01, 0.02, 0.05).at(0, 0.05, 0.07).turned(z=60 * k) for k in range(6)]
    housing = difference(shell, cylinder(0.005, 0.04), *vents)
    motor = housing.turned(x=-90) - cylinder(0.014, 0.1).at(0, 0.03, -0.07)
    it.part("motor", motor, (0, -0.05, 0.34), role="motor", material="ABS")
    bars = [box(0.13, 0.006, 0.006).at(0.105).turned(y=30 * k) for k in range(12)]
    rings = [torus(radius, 0.004).turned(x=90) for radius in (0.172, 0.11)]
    plate = cylinder(0.044, 0.006).turned(x=90)
    grid = union(plate, *rings, *bars)
    rear = grid - cylinder(0.012, 0.1).turned(x=90)
    it.part("guard_rear", rear, (0, -0.053, 0.34), role="rear guard", material="steel", direction=BACK)
    rod = cylinder(0.005, 0.096).turned(x=90)
    it.part("shaft", rod, (0, -0.078, 0.34), role="shaft", material="steel", direction=BACK)
    blade = box(0.12, 0.005, 0.055).at(0.088).turned(x=28)
    hub = revolve(((0, 0), (0.034, 0), (0.034, 0.03), (0.02, 0.044), (0, 0.044))).turned(x=90).at(y=0.015)
    vanes = [blade.turned(y=90 * k) for k in range(4)]
    rotor = union(hub, *vanes) - cylinder(0.005, 0.06).turned(x=90).at(y=0.004)
    it.part("rotor", rotor, (0, -0.1, 0.34), role="rotor", material="polypropylene_PP", direction=BACK)
    struts = [box(0.008, 0.1, 0.008).at(0.172, 0.05).turned(y=45 * k) for k in range(8)]
    cage = union(grid, *struts) - difference(cylinder(0.2, 0.05), cylinder(0.19, 0.06)).turned(x=90)
    it.part("guard_front", cage, (0, -0.16, 0.34), role="front guard", material="steel", direction=BACK)
    it.fix("base", "column")
    it.fix("column", "motor")
    it.fix("motor", "guard_rear")
    it.fix("guard_rear", "guard_front")
    it.fix("shaft", "rotor")
    it.joint("turn", "continuous", "motor", "shaft", (0, -0.045, 0.34), (0, 1, 0))
    it.joint("speed", "revolute", "base", "knob", (0, -0.14, 0.02), (0, 0, 1), (0, 2.4))
    it.offer("ceiling rod", cylinder(0.014, 0.6))
    it.offer("two-bladed rotor", union(cylinder(0.034, 0.03), box(0.28, 0.05, 0.004)))
    it.require(
        rotor="moves the air",
        shaft="carries the rotor",
        motor="drives the shaft",
        front_guard="keeps fingers out in front",
        rear_guard="keeps fingers out behind",
        column="holds the motor above the table",
        base="keeps the fan from tipping",
        speed_knob="sets the speed",
    )
    it.attribute("dimension", "The fan is 0.4 to 0.6 m high, its rotor 0.25 to 0.35 m across.")
    it.attribute("count", "There is one rotor, one motor, one column and one speed knob.")
    it.subsystem(
        "blowing",
        "moves air forwards",
        ("motor", "shaft", "rotor"),
        [("motor", "shaft", "motion"), ("shaft", "rotor", "torque")],
        "slanted blades push air along the axis they turn about",
    )
    it.subsystem(
        "guarding",
        "keeps hands from the rotor",
        ("front guard", "rear guard", "motor"),
        [("front guard", "rear guard", "force"), ("rear guard", "motor", "force")],
    )
    it.subsystem(
        "stand",
        "stands on a table and is switched there",
        ("base", "column", "speed knob"),
        [("column", "base", "load"), ("base", "speed knob", "motion")],
    )
    it.motion("shaft", "motor", "continuous", "turns with the rotor", "shaft, horizontal")
    it.motion("speed knob", "base", "revolute", "turns to set the speed", "vertical", (0, 2.0))
    it.made_of("rotor", "plastic", "light_metal")
    for part in ("base", "motor", "speed knob"):
        it.made_of(part, "plastic", "light_metal", "heavy_metal")
    for part in ("shaft", "column", "front guard", "rear guard"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.human({"pred": "grip", "role": "speed knob"})
    it.human({"pred": "colocated", "a": "front guard", "b": "rotor", "max_gap_m": 0.06})
    return it


def coffee_grinder() -> Object:
    """A case with a drawer below and a hopper above; a crank turns a cone inside a ring."""
    it = Object("coffee_grinder", "hand-crank coffee grinder", FAMILY, "grinder", aliases=["coffee mill"])
    it.brief(
        "Build a hand-crank coffee grinder.",
        "Build a hand-crank coffee grinder 0.22 to 0.35 m high: a square wooden case on a base, with one "
        "drawer with a knob, a top plate, a bowl for beans, and a steel crank with a turning grip that "
        "drives a burr inside a burr ring.",
        "Build a hand-crank coffee grinder: beans fall from a bowl between a burr and a ring, turning a "
        "crank by its grip grinds them, and the grounds drop into a drawer that pulls out to the front.",
    )
    plinth = hull(box(0.2, 0.2, 0.008).at(z=0.004), box(0.18, 0.18, 0.004).at(z=0.014))
    it.part("base", plinth, role="base", material=OAK)
    walls = box(0.16, 0.16, 0.16) - box(0.136, 0.136, 0.2)
    case = walls - box(0.128, 0.05, 0.076).at(0, -0.08, -0.042)
    it.part("case", case, (0, 0, 0.096), role="case", material=OAK)
    tray = box(0.12, 0.14, 0.066) - box(0.104, 0.112, 0.066).at(0, 0.004, 0.01)
    it.part("drawer", tray, (0, -0.01, 0.05), role="drawer", material=OAK, direction=BACK)
    ball = revolve(((0, 0), (0.006, 0), (0.006, 0.006), (0.012, 0.012), (0.01, 0.02), (0, 0.022))).turned(
        x=90
    )
    it.part("drawer_knob", ball, (0, -0.08, 0.05), role="drawer knob", material="steel", direction=BACK)
    floor = box(0.136, 0.136, 0.012) - cylinder(0.03, 0.1)
    it.part("floor", floor, (0, 0, 0.106), role="partition", material=OAK)
    ring = revolve(
        ((0.0065, -0.006), (0.03, -0.006), (0.03, 0.006), (0.036, 0.006), (0.036, 0.02), (0.02, 0.02))
    )
    it.part("ring", ring, (0, 0, 0.106), role="burr ring", material="steel")
    cone = revolve(((0, -0.006), (0.005, -0.006), (0.0185, 0.02), (0.006, 0.03), (0.006, 0.16), (0, 0.16)))
    flats = [box(0.003, 0.02, 0.1).at(0.0145, 0, 0.03).turned(z=60 * k) for k in range(6)]
    it.part("burr", difference(cone, *flats), (0, 0, 0.106), role="burr", material="steel")
    plate = hull(box(0.19, 0.19, 0.004).at(z=0.002), box(0.17, 0.17, 0.004).at(z=0.01)) - cylinder(0.024, 0.1)
    it.part("plate", plate, (0, 0, 0.176), role="top plate", material=OAK)
    cup = revolve(
        ((0.024, 0), (0.034, 0), (0.07, 0.05), (0.07, 0.056), (0.064, 0.056), (0.03, 0.008), (0.024, 0.008))
    )
    bridge = box(0.056, 0.012, 0.008).at(z=0.004) - cylinder(0.008, 0.1)
    it.part("hopper", union(cup, bridge), (0, 0, 0.188), role="bean bowl", material="steel")
    arm = hull(cylinder(0.012, 0.01), cylinder(0.009, 0.01).at(0.1)) - cylinder(0.006, 0.1)
    lever = arm + cylinder(0.004, 0.04).at(0.1, 0, 0.015)
    it.part("crank", lever, (0, 0, 0.255), role="crank", material="steel")
    knob = ((0.004, 0), (0.01, 0), (0.016, 0.016), (0.012, 0.034), (0.004, 0.036))
    it.part("grip", revolve(knob), (0.1, 0, 0.26), role="grip", material=OAK)
    it.fix("base", "case")
    it.fix("case", "floor", "plate")
    it.fix("floor", "ring")
    it.fix("plate", "hopper")
    it.fix("drawer", "drawer_knob")
    it.fix("burr", "crank")
    it.joint("turn", "continuous", "ring", "burr", (0, 0, 0.1), (0, 0, 1))
    it.joint("spin", "continuous", "crank", "grip", (0.1, 0, 0.265), (0, 0, 1))
    it.joint("slide", "prismatic", "base", "drawer", (0, -0.01, 0.0165), (0, -1, 0), (0, 0.1))
    it.offer("lid", cylinder(0.07, 0.006))
    it.offer("paddle", extrude(((0, 0), (0.05, 0), (0.03, 0.04)), 0.006))
    it.require(
        crank="turns the burr",
        grip="the hand holds it while it goes round",
        burr="grinds the beans",
        burr_ring="the beans are ground against it",
        bean_bowl="feeds the beans",
        drawer="takes the grounds",
        drawer_knob="the drawer is pulled by it",
        case="holds mill and drawer",
    )
    it.attribute("dimension", "The grinder is 0.22 to 0.35 m high.")
    it.attribute("count", "There is one crank, one drawer and one bean bowl.")
    it.subsystem(
        "grinding",
        "turns beans into grounds",
        ("crank", "grip", "burr", "burr ring", "bean bowl"),
        [("grip", "crank", "motion"), ("crank", "burr", "torque"), ("burr ring", "burr", "motion")],
        "the gap between cone and ring narrows downwards",
    )
    it.subsystem(
        "collecting",
        "catches the grounds",
        ("drawer", "drawer knob", "case", "base"),
        [("base", "drawer", "motion"), ("drawer knob", "drawer", "force"), ("case", "base", "load")],
    )
    it.motion("burr", "burr ring", "continuous", "turns with the crank", "vertical shaft")
    it.motion("drawer", "case", "prismatic", "slides out to the front", "horizontal", (0, 0.08))
    it.motion("grip", "crank", "continuous", "turns in the hand", "vertical")
    for part in ("case", "base", "drawer", "top plate", "partition"):
        it.made_of(part, "wood", "heavy_metal")
    for part in ("crank", "burr", "burr ring"):
        it.made_of(part, "heavy_metal", "ceramic")
    it.made_of("bean bowl", "heavy_metal", "light_metal", "wood")
    it.made_of("grip", "wood", "plastic")
    it.made_of("drawer knob", "wood", "heavy_metal", "ceramic")
    it.human(
        {"pred": "grip", "role": "grip"}, {"pred": "colocated", "a": "grip", "b": "crank", "max_gap_m": 0.01}
    )
    return it
