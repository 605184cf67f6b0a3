"""Things that carry a load in a house: stool, bookcase, table, bed."""

from __future__ import annotations

from math import cos, radians, sin

from workshop import Object, Solid, box, cylinder, difference, extrude, hull, revolve, union

OAK = "solid_wood_hardwood"
PINE = "solid_wood_softwood"
FAMILY = "static_load"


def strut(start: tuple[float, float, float], end: tuple[float, float, float], size: Solid) -> Solid:
    """A straight bar: the hull of one small solid at both ends."""
    return hull(size.at(*start), size.at(*end))


def milking_stool() -> Object:
    """Three turned legs with tenons in a dished seat, tied by a spider of three arms."""
    it = Object("milking_stool", "milking stool", FAMILY, "stool", aliases=["three-legged stool"])
    it.brief(
        "Build a milking stool.",
        "Build a milking stool. It has a round wooden seat 0.25 to 0.35 m above the ground, at least 0.28 m "
        "across, on three wooden legs that a brace below the seat ties together.",
        "Build a milking stool: a person sits on its seat, the three legs carry the load to the ground even "
        "where it is uneven, and a brace between the legs keeps them from spreading.",
    )
    places = [(0.12 * cos(radians(a)), 0.12 * sin(radians(a))) for a in (-90, 30, 150)]
    turned = ((0, 0), (0.04, 0), (0.04, 0.024), (0.022, 0.08), (0.022, 0.3), (0.014, 0.3), (0.014, 0.336))
    leg = revolve([*turned, (0, 0.336)])
    for name, (x, y) in zip(("leg_front", "leg_right", "leg_left"), places, strict=True):
        it.part(name, leg, (x, y, 0), role="leg", material=OAK)
    arms = [box(0.12, 0.032, 0.024).at(0.06).turned(z=angle) for angle in (-90, 30, 150)]
    posts = [cylinder(0.022, 0.1).at(x, y) for x, y in places]
    spider = difference(union(cylinder(0.035, 0.024), *arms), *posts)
    it.part("brace", spider, (0, 0, 0.14), role="brace", material=OAK)
    holes = [cylinder(0.014, 0.1).at(x, y) for x, y in places]
    dished = ((0, 0), (0.16, 0), (0.17, 0.01), (0.17, 0.03), (0.16, 0.036), (0.14, 0.036), (0.08, 0.028))
    seat = difference(revolve([*dished, (0, 0.026)]), *holes)
    it.part("seat", seat, (0, 0, 0.3), role="seat", material=OAK)
    legs = ("leg_front", "leg_right", "leg_left")
    it.fix("seat", *legs)
    it.fix("brace", *legs)
    it.offer(
        "seat with four holes",
        difference(cylinder(0.17, 0.036), *(cylinder(0.014, 0.1).at(0.1).turned(z=90 * k) for k in range(4))),
    )
    it.offer("square seat", box(0.34, 0.34, 0.036))
    it.require(
        seat="carries the person",
        legs="three of them carry the seat without rocking",
        brace="keeps the legs from spreading",
    )
    it.attribute("dimension", "The seat is 0.25 to 0.35 m above the ground.")
    it.attribute("count", "There are three legs.", "three points always touch an uneven ground")
    it.subsystem(
        "support",
        "carries a sitting person",
        ("seat", "legs", "brace"),
        [("seat", "legs", "load"), ("brace", "legs", "force")],
    )
    for part in ("seat", "legs", "brace"):
        it.made_of(part, "wood")
    it.human(
        {"pred": "surface", "role": "seat", "min_area_m2": 0.05, "height_range_m": [0.23, 0.37]},
        {"pred": "clearance", "anchor": "seat", "placement": "above", "box": "seated_torso", "min_free": 0.9},
    )
    return it


def bookcase() -> Object:
    """Shelves housed in grooves of two sides, on a plinth with a cut-out, under a cornice."""
    it = Object("bookcase", "bookcase", FAMILY, "bookcase", aliases=["bookshelf"])
    it.brief(
        "Build a bookcase.",
        "Build a bookcase of wood, 1.5 to 2.0 m high, 0.7 to 0.9 m wide and 0.25 to 0.35 m deep: two side "
        "panels, a back panel, a top panel, four shelves between the sides, and a plinth below.",
        "Build a bookcase: its shelves carry rows of books, the side panels bring their weight down to a "
        "plinth that keeps it off the floor, and the back panel keeps the whole from racking sideways.",
    )
    arch = cylinder(0.2, 0.4).turned(x=90).at(z=-0.176)
    it.part(
        "plinth",
        box(0.76, 0.26, 0.08) - box(0.712, 0.212, 0.2) - arch,
        (0, 0, 0.04),
        role="plinth",
        material=OAK,
    )
    it.part("bottom", box(0.8, 0.28, 0.024), (0, 0, 0.092), role="bottom panel", material=OAK, shape="board")
    levels = (0.4, 0.72, 1.04, 1.36)
    grooves = [box(0.016, 0.4, 0.024).at(0.012, 0, z - 0.904) for z in levels]
    side = difference(box(0.024, 0.28, 1.6), *grooves)
    it.part("left", side, (-0.388, 0, 0.904), role="side panel", material=OAK, shape="grooved board")
    it.part(
        "right", side.mirrored(x=1), (0.388, 0, 0.904), role="side panel", material=OAK, shape="grooved board"
    )
    it.part(
        "back",
        box(0.8, 0.012, 1.6),
        (0, 0.146, 0.904),
        role="back panel",
        material="plywood",
        shape="sheet",
        direction=(0, -1, 0),
    )
    for number, z in enumerate(levels, 1):
        it.part(
            f"shelf_{number}",
            box(0.768, 0.276, 0.024),
            (0, 0.002, z),
            role="shelf",
            material=OAK,
            direction=(0, 1, 0),
        )
    it.part("top", box(0.84, 0.312, 0.024), (0, 0.0, 1.716), role="top panel", material=OAK, shape="board")
    profile = ((0, 0), (0, 0.05), (-0.044, 0.05), (-0.04, 0.036), (-0.024, 0.02), (-0.02, 0))
    cornice = extrude(profile, 0.84).turned(x=90, z=90)
    it.part("cornice", cornice, (0, -0.116, 1.728), role="cornice", material=OAK)
    it.fix("plinth", "bottom")
    it.fix("bottom", "left", "right")
    it.fix("back", "bottom", "left", "right")
    for number in (1, 2, 3, 4):
        it.fix(f"shelf_{number}", "left", "right", "back")
    it.fix("top", "left", "right", "back", "cornice")
    it.offer("thin shelf", box(0.768, 0.2, 0.012))
    it.offer("side without grooves", box(0.024, 0.28, 1.6))
    it.require(
        side_panels="carry the shelves",
        shelves="carry the books",
        back_panel="keeps the case square",
        plinth="keeps the lowest board off the floor",
        top_panel="closes the case and ties the sides together",
    )
    it.attribute("dimension", "The bookcase is 1.5 to 2.0 m high, 0.7 to 0.9 m wide and 0.25 to 0.35 m deep.")
    it.attribute("count", "There are four shelves between two side panels.")
    it.subsystem(
        "storage",
        "carries books",
        ("shelves", "side panels", "plinth"),
        [("shelves", "side panels", "load"), ("side panels", "plinth", "load")],
    )
    it.subsystem(
        "stiffening",
        "keeps the case from racking",
        ("back panel", "side panels", "top panel"),
        [("back panel", "side panels", "force"), ("top panel", "side panels", "force")],
    )
    for part in ("side panels", "shelves", "back panel", "top panel", "bottom panel", "plinth", "cornice"):
        it.made_of(part, "wood")
    it.human({"pred": "surface", "role": "shelves", "min_area_m2": 0.15, "height_range_m": [0.3, 1.5]})
    return it


def trestle_table() -> Object:
    """Two trestles of foot, posts and bearer, a stretcher that lies on the feet, braces and a top."""
    it = Object("trestle_table", "trestle table", FAMILY, "table", aliases=["refectory table"])
    it.brief(
        "Build a trestle table.",
        "Build a trestle table of wood, 0.70 to 0.78 m high, with a top 1.4 to 1.8 m long and 0.7 to 0.9 m "
        "wide, on two trestles: each has one foot, two posts and one bearer. A stretcher joins the feet.",
        "Build a trestle table: people sit at its top with room for their legs, two trestles carry the top "
        "on bearers, posts and broad feet, and a stretcher with braces keeps them from falling lengthwise.",
    )
    half = ((0.36, 0), (0.36, 0.03), (0.2, 0.08), (-0.2, 0.08), (-0.36, 0.03), (-0.36, 0))
    foot = extrude([*half, (-0.2, 0), (-0.16, 0.016), (0.16, 0.016), (0.2, 0)], 0.1).turned(x=90, z=90)
    sides = {"left": -0.5, "right": 0.5}
    for name, x in sides.items():
        it.part(f"foot_{name}", foot, (x, 0, 0), role="foot", material=OAK)
    it.part("stretcher", box(1.24, 0.08, 0.1), (0, 0, 0.13), role="stretcher", material=OAK, shape="beam")
    for name, x in sides.items():
        for place, y in (("front", -0.08), ("back", 0.08)):
            it.part(
                f"post_{name}_{place}", box(0.072, 0.072, 0.552), (x, y, 0.356), role="post", material=OAK
            )
    bearer = hull(box(0.072, 0.6, 0.02).at(z=0.024), box(0.072, 0.4, 0.02).at(z=-0.024))
    for name, x in sides.items():
        it.part(f"bearer_{name}", bearer, (x, 0, 0.666), role="bearer", material=OAK)
    for name, x in sides.items():
        side = 1 if x > 0 else -1
        brace = strut((side * 0.29, 0, 0.19), (side * 0.449, 0, 0.66), box(0.03, 0.04, 0.02))
        it.part(f"brace_{name}", brace, role="brace", material=OAK)
    it.part(
        "top",
        box(1.6, 0.8, 0.04)
        & hull(
            cylinder(0.1, 0.1).at(-0.7, -0.3),
            cylinder(0.1, 0.1).at(0.7, -0.3),
            cylinder(0.1, 0.1).at(-0.7, 0.3),
            cylinder(0.1, 0.1).at(0.7, 0.3),
        ),
        (0, 0, 0.72),
        role="tabletop",
        material=OAK,
    )
    for name in sides:
        it.fix(f"foot_{name}", "stretcher", f"post_{name}_front", f"post_{name}_back")
        it.fix(f"bearer_{name}", f"post_{name}_front", f"post_{name}_back", f"brace_{name}", "top")
        it.fix("stretcher", f"post_{name}_front", f"post_{name}_back", f"brace_{name}")
    it.offer("single leg", cylinder(0.03, 0.7))
    it.offer("round top", cylinder(0.45, 0.04))
    it.require(
        tabletop="the surface people work and eat at",
        posts="carry the top",
        feet="broad enough that the table doesn't tip sideways",
        bearers="hold the top to the posts",
        stretcher="joins the trestles",
    )
    it.attribute(
        "dimension",
        "The top is 0.70 to 0.78 m above the floor, the usual height of a table.",
        "heights of dining tables as in EN 1729 and EN 12521, rounded",
    )
    it.attribute("count", "There are two feet, four posts and two bearers.")
    it.subsystem(
        "support",
        "carries the top",
        ("tabletop", "bearers", "posts", "feet"),
        [("tabletop", "bearers", "load"), ("bearers", "posts", "load"), ("posts", "feet", "load")],
    )
    it.subsystem(
        "bracing",
        "keeps the trestles upright",
        ("stretcher", "braces", "bearers"),
        [("stretcher", "braces", "force"), ("braces", "bearers", "force")],
    )
    for part in ("tabletop", "posts", "feet", "bearers", "stretcher", "braces"):
        it.made_of(part, "wood")
    it.human(
        {"pred": "surface", "role": "tabletop", "min_area_m2": 0.9, "height_range_m": [0.68, 0.8]},
        {
            "pred": "clearance",
            "anchor": "tabletop",
            "placement": "below",
            "box": "seated_legs",
            "min_free": 0.8,
        },
    )
    return it


def bed_frame() -> Object:
    """Side and end rails on short legs, slats on ledgers and a centre beam, an arched headboard."""
    it = Object("bed_frame", "bed frame", FAMILY, "bed", aliases=["single bed", "bedstead"])
    it.brief(
        "Build a bed frame.",
        "Build a single bed frame of wood, 1.9 to 2.1 m long and 0.85 to 1.05 m wide, with slats 0.3 to "
        "0.45 m above the floor: two side rails, two end rails, a centre beam, eleven slats, legs and a "
        "headboard.",
        "Build a bed frame for one person: slats carry the mattress, ledgers on the side rails and a centre "
        "beam carry the slats, legs bring the load to the floor, and a headboard at one end is there to "
        "lean on.",
    )
    leg = hull(box(0.1, 0.1, 0.04).at(z=0.26), box(0.08, 0.08, 0.02).at(z=0.01))
    corners = {"fl": (-0.44, -0.95), "fr": (0.44, -0.95), "bl": (-0.44, 0.95), "br": (0.44, 0.95)}
    for name, (x, y) in corners.items():
        it.part(f"leg_{name}", leg, (x, y, 0), role="leg", material=PINE)
    for name, x in (("left", -0.46), ("right", 0.46)):
        it.part(f"side_{name}", box(0.04, 2.0, 0.16), (x, 0, 0.36), role="side rail", material=PINE)
    for name, y in (("foot", -0.98), ("head", 0.98)):
        it.part(f"end_{name}", box(0.88, 0.04, 0.16), (0, y, 0.36), role="end rail", material=PINE)
    it.part("leg_middle", leg, (0, 0, 0), role="leg", material=PINE)
    it.part("beam", box(0.06, 1.92, 0.12), (0, 0, 0.34), role="centre beam", material=PINE)
    for name, x in (("left", -0.42), ("right", 0.42)):
        it.part(f"ledger_{name}", box(0.04, 1.92, 0.04), (x, 0, 0.38), role="ledger", material=PINE)
    for k in range(11):
        it.part(
            f"slat_{k + 1}", box(0.872, 0.08, 0.02), (0, 0.172 * k - 0.86, 0.41), role="slat", material=PINE
        )
    arch = box(0.96, 0.04, 0.68).at(z=0.34) & cylinder(1.2, 0.2).turned(x=90).at(z=-0.52)
    it.part("headboard", arch, (0, 1.02, 0.28), role="headboard", material=PINE)
    for name, end, side in (
        ("fl", "foot", "left"),
        ("fr", "foot", "right"),
        ("bl", "head", "left"),
        ("br", "head", "right"),
    ):
        it.fix(f"leg_{name}", f"side_{side}", f"end_{end}")
        it.fix(f"end_{end}", f"side_{side}")
    it.fix("beam", "end_foot", "end_head", "leg_middle")
    it.fix("side_left", "ledger_left")
    it.fix("side_right", "ledger_right")
    for k in range(11):
        it.fix(f"slat_{k + 1}", "beam", "ledger_left", "ledger_right")
    it.fix("headboard", "end_head", "side_left", "side_right")
    it.offer("short slat", box(0.6, 0.08, 0.02))
    it.offer("round leg", cylinder(0.03, 0.28, 0.045))
    it.require(
        slats="carry the mattress",
        side_rails="carry the slats along both sides",
        end_rails="tie the side rails together",
        legs="keep the bed off the floor",
        headboard="to lean against when sitting",
        centre_beam="keeps the slats from sagging in the middle",
    )
    it.attribute("dimension", "The bed is 1.9 to 2.1 m long; its slats are 0.3 to 0.45 m above the floor.")
    it.attribute("count", "There are eleven slats, two side rails, two end rails and five legs.")
    it.subsystem(
        "lying surface",
        "carries a mattress and a sleeper",
        ("slats", "centre beam", "side rails", "legs"),
        [("slats", "centre beam", "load"), ("slats", "side rails", "load"), ("side rails", "legs", "load")],
    )
    it.subsystem(
        "head end", "gives the back a hold", ("headboard", "end rails"), [("headboard", "end rails", "force")]
    )
    for part in ("slats", "side rails", "end rails", "headboard", "centre beam", "ledger"):
        it.made_of(part, "wood")
    it.made_of("legs", "wood", "heavy_metal", "light_metal")
    it.human(
        {"pred": "surface", "role": "slats", "min_area_m2": 0.05, "height_range_m": [0.3, 0.5]},
        {
            "pred": "clearance",
            "anchor": "slats",
            "placement": "above",
            "box": "seated_torso",
            "min_free": 0.9,
        },
    )
    return it
