"""Things with parts that slide in a house: chest of drawers, wardrobe, window, abacus."""

from __future__ import annotations

from workshop import Object, Solid, box, cylinder, difference, extrude, hull, revolve, union

OAK = "solid_wood_hardwood"
PINE = "solid_wood_softwood"
FAMILY = "sliding"


def chest_of_drawers() -> Object:
    """A carcass on turned feet; three drawers run on wooden runners, each 1 mm above its own."""
    it = Object("chest_of_drawers", "chest of drawers", FAMILY, "chest", aliases=["dresser"])
    it.brief(
        "Build a chest of drawers.",
        "Build a chest of drawers of wood, 0.75 to 0.95 m high, 0.7 to 0.9 m wide and 0.4 to 0.5 m deep, "
        "with three drawers one above the other, each with one handle, on four feet.",
        "Build a chest of drawers: each drawer is pulled out towards the front by its handle and slides on "
        "runners that the side panels carry; feet keep the case off the floor.",
    )
    turned = ((0, 0), (0.024, 0), (0.034, 0.02), (0.034, 0.04), (0.022, 0.06), (0.03, 0.08), (0, 0.08))
    for name, x, y in (("fl", -0.34, -0.17), ("fr", 0.34, -0.17), ("bl", -0.34, 0.17), ("br", 0.34, 0.17)):
        it.part(f"foot_{name}", revolve(turned), (x, y, 0), role="foot", material=OAK)
    it.part("bottom", box(0.8, 0.44, 0.02), (0, 0, 0.09), role="bottom panel", material=OAK)
    for name, x in (("left", -0.39), ("right", 0.39)):
        it.part(f"side_{name}", box(0.02, 0.44, 0.7), (x, 0, 0.45), role="side panel", material=OAK)
    it.part("back", box(0.76, 0.012, 0.7), (0, 0.214, 0.45), role="back panel", material="plywood")
    tray = box(0.744, 0.4, 0.2) - box(0.712, 0.364, 0.2).at(0, 0.002, 0.012)
    drawer = difference(
        tray,
        box(0.8, 0.01, 0.006).at(0, -0.2, 0.084),
        box(0.8, 0.01, 0.006).at(0, -0.2, -0.084),
    )
    bar = cylinder(0.008, 0.16).turned(y=90).at(y=-0.028)
    feet = [hull(cylinder(0.012, 0.004).turned(x=90).at(x, -0.002), box(0.012, 0.008, 0.012).at(x, -0.026))
            for x in (-0.06, 0.06)]  # fmt: skip
    for number in (1, 2, 3):
        z = 0.1 + 0.232 * (number - 1)
        for name, x in (("left", -0.372), ("right", 0.372)):
            runner = f"runner_{name}_{number}"
            it.part(runner, box(0.016, 0.38, 0.02), (x, 0, z + 0.01), role="runner", material=OAK)
            it.fix(f"side_{name}", runner)
        it.part(
            f"drawer_{number}",
            drawer,
            (0, -0.02, z + 0.121),
            role="drawer",
            material=OAK,
            direction=(0, 1, 0),
        )
        it.part(
            f"handle_{number}",
            union(bar, *feet),
            (0, -0.22, z + 0.121),
            role="handle",
            material="steel",
            direction=(0, 1, 0),
        )
        it.joint(
            f"slide_{number}",
            "prismatic",
            f"runner_left_{number}",
            f"drawer_{number}",
            (-0.37, -0.02, z + 0.02),
            (0, -1, 0),
            (0, 0.28),
        )
        it.fix(f"drawer_{number}", f"handle_{number}")
    it.part("top", box(0.84, 0.464, 0.024), (0, 0, 0.812), role="top panel", material=OAK)
    it.fix("bottom", "foot_fl", "foot_fr", "foot_bl", "foot_br", "side_left", "side_right", "back")
    it.fix("back", "side_left", "side_right")
    it.fix("top", "side_left", "side_right", "back")
    it.offer("tall drawer", box(0.744, 0.4, 0.3) - box(0.712, 0.364, 0.3).at(0, 0.002, 0.012))
    it.offer("drawer front", box(0.744, 0.018, 0.2))
    it.require(
        drawers="hold the content and come out",
        handles="to pull the drawers by",
        side_panels="carry the runners",
        runners="guide and carry the drawers",
        top_panel="closes the case above",
        feet="keep the case off the floor",
    )
    it.attribute("dimension", "The chest is 0.75 to 0.95 m high, 0.7 to 0.9 m wide and 0.4 to 0.5 m deep.")
    it.attribute("count", "There are three drawers, three handles, six runners and four feet.")
    it.attribute("count", "Two side panels stand on one bottom panel.")
    it.subsystem(
        "drawers",
        "store things and bring them to the front",
        ("drawers", "runners", "handles"),
        [("runners", "drawers", "motion"), ("handles", "drawers", "force")],
    )
    it.subsystem(
        "case",
        "carries the drawers",
        ("runners", "side panels", "bottom panel", "back panel", "feet"),
        [
            ("runners", "side panels", "load"),
            ("side panels", "bottom panel", "load"),
            ("back panel", "side panels", "force"),
            ("bottom panel", "feet", "load"),
        ],
    )
    it.motion(
        "drawers",
        "side panels",
        "prismatic",
        "slide out to the front",
        "horizontal, front to back",
        (0, 0.25),
    )
    for part in ("drawers", "side panels", "back panel", "top panel", "bottom panel", "runners", "feet"):
        it.made_of(part, "wood")
    it.made_of("handles", "heavy_metal", "light_metal", "wood", "ceramic")
    it.human(
        {"pred": "surface", "role": "top panel", "min_area_m2": 0.25, "height_range_m": [0.7, 1.0]},
        {"pred": "grip", "role": "handles"},
    )
    return it


def wardrobe() -> Object:
    """Two doors that hang in the grooves of a lower and an upper rail, one in front of the other."""
    it = Object("wardrobe", "sliding-door wardrobe", FAMILY, "wardrobe", aliases=["closet"])
    it.brief(
        "Build a sliding-door wardrobe.",
        "Build a wardrobe with two sliding doors. It is made of wood, 1.8 to 2.1 m high, 1.1 to 1.4 m wide "
        "and 0.55 to 0.65 m deep, with a shelf and a clothes rod inside and a recessed cup in each door.",
        "Build a wardrobe whose doors slide sideways past each other in grooved rails below and above them; "
        "clothes hang inside from a rod under a shelf.",
    )
    frame = box(1.12, 0.52, 0.08) - box(1.08, 0.48, 0.2) - box(0.8, 0.8, 0.04).at(z=-0.04)
    it.part("plinth", frame, (0, 0, 0.04), role="plinth", material=OAK)
    it.part("bottom", box(1.2, 0.6, 0.02), (0, 0, 0.09), role="bottom panel", material=OAK)
    for name, x in (("left", -0.59), ("right", 0.59)):
        it.part(f"side_{name}", box(0.02, 0.6, 1.78), (x, 0, 0.99), role="side panel", material=OAK)
    it.part("back", box(1.16, 0.012, 1.78), (0, 0.294, 0.99), role="back panel", material="plywood")
    it.part("rod", cylinder(0.016, 1.16).turned(y=90), (0, 0.04, 1.52), role="clothes rod", material="steel")
    it.part("shelf", box(1.16, 0.46, 0.02), (0, 0.058, 1.6), role="shelf", material=OAK)
    grooves = [(0.029, 0.051), (-0.011, 0.011)]
    ring = [(0.07, 0), (0.07, 0.024)]
    for low, high in grooves:
        ring += [(high, 0.024), (high, 0.008), (low, 0.008), (low, 0.024)]
    rail = extrude([(-0.03, 0), *ring, (-0.03, 0.024)], 1.16).turned(x=90, z=90).turned(z=180)
    it.part("rail_lower", rail, (0, -0.23, 0.1), role="lower rail", material="aluminum")
    cup = revolve(((0, 0), (0.03, 0), (0.03, 0.012), (0.026, 0.012), (0.022, 0.004), (0, 0.004)))
    for name, x, y, pocket in (("front", -0.281, -0.27, -0.22), ("rear", 0.281, -0.23, 0.22)):
        door = box(0.596, 0.02, 1.756) - cylinder(0.03, 0.024).turned(x=90).at(pocket, -0.01)
        it.part(f"door_{name}", door, (x, y, 0.987), role="door", material=OAK)
        it.part(
            f"cup_{name}",
            cup.turned(x=90),
            (x + pocket, y + 0.002, 0.987),
            role="handle cup",
            material="steel",
            direction=(0, 1, 0),
        )
        it.fix(f"door_{name}", f"cup_{name}")
    it.part("rail_upper", rail.mirrored(z=1), (0, -0.23, 1.88), role="upper rail", material="aluminum")
    it.part("top", box(1.2, 0.6, 0.02), (0, 0, 1.89), role="top panel", material=OAK)
    it.joint(
        "slide_front", "prismatic", "rail_lower", "door_front", (-0.3, -0.27, 0.109), (1, 0, 0), (0, 0.52)
    )
    it.joint("slide_rear", "prismatic", "rail_lower", "door_rear", (0.3, -0.23, 0.109), (1, 0, 0), (-0.52, 0))
    it.fix("bottom", "plinth", "side_left", "side_right", "back", "rail_lower")
    it.fix("back", "side_left", "side_right", "shelf")
    it.fix("shelf", "side_left", "side_right")
    it.fix("rod", "side_left", "side_right")
    it.fix("top", "side_left", "side_right", "back", "rail_upper")
    it.offer("hinged door", box(0.596, 0.02, 1.756) + cylinder(0.012, 1.6).at(0.298))
    it.offer("rail with one groove", box(1.16, 0.04, 0.024) - box(1.2, 0.022, 0.016).at(z=0.008))
    it.require(
        doors="close the front and slide past each other",
        lower_rail="guides the doors below",
        upper_rail="keeps the doors upright",
        shelf="carries folded clothes",
        clothes_rod="clothes hang from it",
        side_panels="carry shelf, rod and top",
        handle_cups="move the doors without standing in each other's way",
    )
    it.attribute(
        "dimension",
        "The wardrobe is 1.8 to 2.1 m high, 1.1 to 1.4 m wide and 0.55 to 0.65 m deep.",
        "clothes on hangers are about half a metre wide",
    )
    it.attribute("count", "There are two doors, two handle cups and two side panels.")
    it.subsystem(
        "doors",
        "open one half of the front at a time",
        ("doors", "lower rail", "upper rail", "handle cups"),
        [
            ("lower rail", "doors", "motion"),
            ("upper rail", "doors", "force"),
            ("handle cups", "doors", "force"),
        ],
    )
    it.subsystem(
        "storage",
        "holds clothes",
        ("clothes rod", "shelf", "side panels", "bottom panel", "plinth"),
        [
            ("clothes rod", "side panels", "load"),
            ("shelf", "side panels", "load"),
            ("side panels", "bottom panel", "load"),
            ("bottom panel", "plinth", "load"),
        ],
    )
    it.motion("doors", "lower rail", "prismatic", "slide sideways past each other", "horizontal", (0, 0.5))
    for part in ("side panels", "back panel", "top panel", "bottom panel", "plinth", "shelf"):
        it.made_of(part, "wood")
    it.made_of("doors", "wood", "glass")
    for part in ("lower rail", "upper rail", "clothes rod", "handle cups"):
        it.made_of(part, "light_metal", "heavy_metal")
    it.human(
        {"pred": "reachable", "target": "handle cups"},
        {"pred": "reachable", "target": "clothes rod"},
    )
    return it


def sash(width: float, height: float) -> Solid:
    """A wooden window frame 34 mm thick around one opening, rebated in front of it."""
    stiles = box(width, 0.034, height) - box(width - 0.12, 0.1, height - 0.12)
    return stiles - box(width - 0.1, 0.006, height - 0.1).at(y=-0.017)


def sash_window() -> Object:
    """A window whose two sashes pass each other in two channels of the jambs."""
    it = Object(
        "sash_window", "sash window", FAMILY, "window", aliases=["double-hung window"], free_standing=False
    )
    it.brief(
        "Build a sash window.",
        "Build a sash window of wood and glass, 1.2 to 1.5 m high and 0.7 to 1.0 m wide: a frame of two "
        "jambs, a head and a sill, two sashes with one pane each, and two handles on the lower sash.",
        "Build a sash window: the lower sash is lifted by its handles, the upper one comes down behind it, "
        "both guided by channels in the jambs; the panes let light in and the sill sheds rain.",
    )
    slope = ((-0.12, 0), (0.09, 0), (0.09, 0.05), (-0.08, 0.05), (-0.12, 0.036))
    it.part("sill", extrude(slope, 0.88).turned(x=90, z=90), role="sill", material=OAK)
    ring = [(0, 0), (0.05, 0), (0.05, 0.016), (0.03, 0.016), (0.03, 0.052), (0.05, 0.052), (0.05, 0.088)]
    ring += [(0.03, 0.088), (0.03, 0.124), (0.05, 0.124), (0.05, 0.14), (0, 0.14)]
    jamb = extrude([(x - 0.4, y - 0.07) for x, y in ring], 1.2)
    it.part("jamb_left", jamb, (0, 0, 0.65), role="jamb", material=PINE)
    it.part("jamb_right", jamb.mirrored(x=1), (0, 0, 0.65), role="jamb", material=PINE)
    frame = sash(0.738, 0.62)
    pane = box(0.618, 0.006, 0.5)
    it.part("sash_lower", frame, (0, -0.036, 0.361), role="lower sash", material=PINE)
    it.part("sash_upper", frame, (0, 0.036, 0.939), role="upper sash", material=PINE)
    it.part(
        "pane_lower", pane, (0, -0.036, 0.361), role="pane", material="soda_lime_glass", direction=(0, 1, 0)
    )
    it.part(
        "pane_upper", pane, (0, 0.036, 0.939), role="pane", material="soda_lime_glass", direction=(0, -1, 0)
    )
    lift = hull(box(0.1, 0.004, 0.024).at(y=-0.002), box(0.08, 0.028, 0.008).at(0, -0.014, 0.008))
    hollow = cylinder(0.02, 0.07).turned(y=90).at(0, -0.03, -0.014)
    for name, x in (("left", -0.2), ("right", 0.2)):
        it.part(
            f"handle_{name}",
            lift - hollow,
            (x, -0.053, 0.084),
            role="handle",
            material="steel",
            direction=(0, 1, 0),
        )
    it.part("head", box(0.84, 0.16, 0.05), (0, 0, 1.275), role="head", material=PINE)
    it.joint(
        "slide_lower", "prismatic", "jamb_left", "sash_lower", (-0.369, -0.036, 0.3), (0, 0, 1), (0, 0.54)
    )
    it.joint(
        "slide_upper", "prismatic", "jamb_left", "sash_upper", (-0.369, 0.036, 0.9), (0, 0, 1), (-0.54, 0)
    )
    it.fix("sill", "jamb_left", "jamb_right")
    it.fix("head", "jamb_left", "jamb_right")
    it.fix("sash_lower", "pane_lower", "handle_left", "handle_right")
    it.fix("sash_upper", "pane_upper")
    it.offer("casement frame", box(0.738, 0.034, 1.2) - box(0.618, 0.1, 1.08))
    it.offer("flat sill", box(0.88, 0.2, 0.05))
    it.require(
        lower_sash="slides up to open the window below",
        upper_sash="slides down to open the window above",
        panes="let light through",
        jambs="guide the sashes",
        sill="sheds the rain",
        head="closes the frame above",
        handles="lift the lower sash",
    )
    it.attribute("dimension", "The window is 1.2 to 1.5 m high and 0.7 to 1.0 m wide.")
    it.attribute("count", "There are two panes, two jambs and two handles.")
    it.subsystem(
        "opening",
        "lets air in below and above",
        ("lower sash", "upper sash", "jambs", "handles"),
        [
            ("jambs", "lower sash", "motion"),
            ("jambs", "upper sash", "motion"),
            ("handles", "lower sash", "force"),
        ],
    )
    it.subsystem(
        "frame",
        "holds the window in the wall",
        ("sill", "jambs", "head"),
        [("head", "jambs", "load"), ("jambs", "sill", "load")],
    )
    it.subsystem(
        "glazing",
        "lets light in and keeps weather out",
        ("panes", "lower sash", "upper sash"),
        [("panes", "lower sash", "load"), ("panes", "upper sash", "load")],
    )
    it.motion("lower sash", "jambs", "prismatic", "slides up", "vertical", (0, 0.5))
    it.motion("upper sash", "jambs", "prismatic", "slides down", "vertical", (-0.5, 0))
    for part in ("lower sash", "upper sash", "jambs", "head", "sill"):
        it.made_of(part, "wood", "plastic")
    it.made_of("panes", "glass")
    it.made_of("handles", "heavy_metal", "light_metal")
    it.human(
        {"pred": "part_present", "role": "handles"},
        {"pred": "colocated", "a": "handles", "b": "lower sash", "max_gap_m": 0.05},
    )
    return it


def abacus() -> Object:
    """Four rods with four beads each between two uprights; each bead has its own way to go."""
    it = Object("abacus", "abacus", FAMILY, "abacus", aliases=["counting frame"])
    it.brief(
        "Build an abacus.",
        "Build an abacus that stands on a base board, 0.3 to 0.45 m wide and high: four level steel rods "
        "between two uprights, with four wooden beads on each rod.",
        "Build an abacus for children: beads slide sideways along level rods and stay where they are put; "
        "uprights hold the rods and a base keeps the frame from falling over.",
    )
    it.part("base", box(0.4, 0.14, 0.024), (0, 0, 0.012), role="base", material=OAK)
    levels = [0.072 + 0.064 * row for row in range(4)]
    holes = [cylinder(0.004, 0.1).turned(y=90).at(z=z - 0.024) for z in levels]
    post = hull(box(0.024, 0.08, 0.02).at(z=0.01), box(0.024, 0.04, 0.02).at(z=0.294))
    upright = difference(post, *holes)
    it.part("upright_left", upright, (-0.164, 0, 0.024), role="upright", material=OAK)
    bead = difference(
        revolve(((0, -0.012), (0.012, -0.012), (0.02, 0), (0.012, 0.012), (0, 0.012))), cylinder(0.004, 0.1)
    ).turned(y=90)
    sideways = (-1, 0, 0)
    for row, z in enumerate(levels, 1):
        rod = f"rod_{row}"
        it.part(
            rod,
            cylinder(0.004, 0.352).turned(y=90),
            (0, 0, z),
            role="rod",
            material="steel",
            direction=sideways,
        )
        it.fix(rod, "upright_left", "upright_right")
        for column in (1, 2, 3, 4):
            x, name = 0.06 * column - 0.15, f"bead_{row}_{column}"
            it.part(name, bead, (x, 0, z), role="bead", material=OAK, direction=sideways)
            it.joint(f"bead_on_{row}_{column}", "prismatic", rod, name, (x, 0, z), (1, 0, 0), (-0.028, 0.028))
    it.part("upright_right", upright, (0.164, 0, 0.024), role="upright", material=OAK, direction=sideways)
    crest = box(0.4, 0.04, 0.04) & cylinder(0.5, 0.1).turned(x=90).at(z=-0.48)
    it.part("top", crest, (0, 0, 0.348), role="top rail", material=OAK)
    it.fix("base", "upright_left", "upright_right")
    it.fix("top", "upright_left", "upright_right")
    it.offer("round bead", difference(cylinder(0.02, 0.02), cylinder(0.004, 0.1)))
    it.offer("wire", cylinder(0.0015, 0.352))
    it.require(
        beads="are counted and moved",
        rods="carry the beads and guide them",
        uprights="hold the rods at both ends",
        base="keeps the frame upright",
    )
    it.attribute("dimension", "The abacus is 0.3 to 0.45 m wide and high.")
    it.attribute("count", "There are four rods, 16 beads and two uprights.")
    it.subsystem(
        "counting",
        "shows numbers by the place of beads",
        ("beads", "rods"),
        [("rods", "beads", "motion")],
    )
    it.subsystem(
        "frame",
        "holds the rods",
        ("rods", "uprights", "base", "top rail"),
        [("rods", "uprights", "load"), ("uprights", "base", "load"), ("top rail", "uprights", "force")],
    )
    it.motion("beads", "rods", "prismatic", "slide along the rods", "horizontal", (-0.025, 0.025))
    for part in ("uprights", "base", "top rail"):
        it.made_of(part, "wood", "plastic")
    it.made_of("beads", "wood", "plastic", "glass")
    it.made_of("rods", "heavy_metal", "light_metal", "wood")
    it.human({"pred": "grip", "role": "beads"})
    return it
