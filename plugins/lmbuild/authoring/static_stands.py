"""Things that carry people, pots and pictures: ladder, bridge, plant stand, easel."""

from __future__ import annotations

from math import cos, radians, sin

from static_furniture import strut
from workshop import Object, box, cylinder, extrude, hull, revolve, sphere, union

OAK = "solid_wood_hardwood"
FAMILY = "static_load"


def step_ladder() -> Object:
    """Two A-shaped side frames on cross feet, treads between them, a platform and a rail to hold."""
    it = Object("step_ladder", "step ladder", FAMILY, "ladder", aliases=["stepladder", "household steps"])
    it.brief(
        "Build a step ladder.",
        "Build a step ladder, set up for use, of light metal: two A-shaped side frames, three steps 0.18 to "
        "0.25 m apart, a platform at 0.85 to 1.0 m, and a handrail above it.",
        "Build a step ladder that stands unfolded by itself: a person climbs its steps to a platform at "
        "about waist height and holds on to a handrail above it; rubber feet keep it from slipping and two "
        "rear crossbars keep the side frames parallel.",
    )
    it.part("foot_front", box(0.56, 0.08, 0.028), (0, -0.3, 0.014), role="foot", material="synthetic_rubber")
    it.part("foot_rear", box(0.56, 0.08, 0.028), (0, 0.3, 0.014), role="foot", material="synthetic_rubber")
    rail = box(0.032, 0.06, 0.004)
    frame = union(
        strut((0, -0.3, 0.03), (0, -0.05, 0.918), rail), strut((0, 0.3, 0.03), (0, 0.05, 0.918), rail)
    )
    it.part("frame_left", frame, (-0.2, 0, 0), role="side frame", material="aluminum")
    it.part("frame_right", frame, (0.2, 0, 0), role="side frame", material="aluminum")
    for number, z in enumerate((0.246, 0.47, 0.694), 1):
        slope = -0.3 + 0.25 * (z - 0.03) / 0.888
        it.part(f"step_{number}", box(0.368, 0.1, 0.024), (0, slope, z), role="step", material="aluminum")
    for number, z in enumerate((0.3, 0.6), 1):
        slope = 0.3 - 0.25 * (z - 0.03) / 0.888
        it.part(
            f"crossbar_{number}", box(0.368, 0.024, 0.04), (0, slope, z), role="crossbar", material="aluminum"
        )
    it.part("platform", box(0.44, 0.24, 0.028), (0, 0, 0.934), role="platform", material="aluminum")
    bow = union(
        revolve([(0.18 + 0.014 * cos(radians(a)), 0.014 * sin(radians(a))) for a in range(0, 360, 30)], 180)
        .turned(x=90)
        .at(z=0.2),
        cylinder(0.014, 0.2).at(-0.18, 0, 0.1),
        cylinder(0.014, 0.2).at(0.18, 0, 0.1),
    )
    it.part("handrail", bow, (0, 0.09, 0.948), role="handrail", material="aluminum")
    frames = ("frame_left", "frame_right")
    for each in (
        "foot_front",
        "foot_rear",
        "step_1",
        "step_2",
        "step_3",
        "crossbar_1",
        "crossbar_2",
        "platform",
    ):
        it.fix(each, *frames)
    it.fix("platform", "handrail")
    it.offer("round rung", cylinder(0.014, 0.368).turned(y=90))
    it.offer("straight stile", box(0.032, 0.06, 0.95))
    it.require(
        steps="let a person climb",
        side_frames="carry steps and platform on both sides",
        platform="the place to stand on",
        handrail="something to hold at the top",
        feet="keep it from slipping",
    )
    it.attribute("count", "There are three steps, two side frames and one platform.")
    it.attribute(
        "dimension",
        "Steps are 0.18 to 0.25 m apart; the platform is 0.85 to 1.0 m high.",
        "rise between treads of portable steps, EN 14183",
    )
    it.subsystem(
        "climbing",
        "carries a person up",
        ("steps", "platform", "side frames", "feet"),
        [
            ("steps", "side frames", "load"),
            ("platform", "side frames", "load"),
            ("side frames", "feet", "load"),
        ],
    )
    it.subsystem(
        "holding",
        "steadies a person at the top",
        ("handrail", "platform"),
        [("handrail", "platform", "force")],
    )
    for part in ("steps", "platform", "side frames", "handrail", "crossbars"):
        it.made_of(part, "light_metal")
    it.made_of("feet", "rubber")
    it.human(
        {"pred": "surface", "role": "platform", "min_area_m2": 0.06, "height_range_m": [0.8, 1.05]},
        {"pred": "colocated", "a": "handrail", "b": "platform", "max_gap_m": 0.05},
    )
    return it


def footbridge() -> Object:
    """Two girders from abutment to abutment, planks across, posts and rails on both sides."""
    it = Object("footbridge", "footbridge", FAMILY, "bridge", aliases=["garden bridge"])
    it.brief(
        "Build a footbridge.",
        "Build a wooden footbridge 2.0 to 2.4 m long and 0.8 to 1.1 m wide: two abutments, two main beams "
        "with arched undersides, a deck of eleven planks, and a handrail on three posts on either side.",
        "Build a footbridge for a garden brook: people walk over its deck planks, two beams carry the deck "
        "from one abutment to the other, and handrails on posts keep people from falling off.",
    )
    for name, x in (("left", -0.96), ("right", 0.96)):
        it.part(
            f"abutment_{name}",
            hull(box(0.32, 1.0, 0.1).at(z=0.05), box(0.24, 0.96, 0.02).at(z=0.19)),
            (x, 0, 0),
            role="abutment",
            material=OAK,
        )
    under = [(1.1 - 0.22 * k, 0.1 * (1 - ((1.1 - 0.22 * k) / 0.84) ** 2)) for k in range(11)]
    curve = [(x, max(0.0, z)) for x, z in under]
    girder = extrude([(-1.1, 0.2), *reversed(curve), (1.1, 0.2)], 0.08).turned(x=90)
    for name, y in (("front", -0.36), ("back", 0.36)):
        it.part(f"beam_{name}", girder, (0, y, 0.2), role="main beam", material=OAK)
    for k in range(11):
        it.part(
            f"plank_{k + 1}", box(0.184, 0.92, 0.04), (0.2 * k - 1, 0, 0.42), role="deck plank", material=OAK
        )
    post = box(0.072, 0.072, 0.8).at(z=0.4)
    for name, y in (("front", -0.4), ("back", 0.4)):
        for place, x in (("left", -1.0), ("middle", 0.0), ("right", 1.0)):
            it.part(f"post_{name}_{place}", post, (x, y, 0.44), role="post", material=OAK)
    for name, y in (("front", -0.4), ("back", 0.4)):
        rail = hull(box(2.16, 0.096, 0.02), cylinder(0.03, 2.16).turned(y=90).at(z=0.024))
        it.part(f"rail_{name}", rail, (0, y, 1.25), role="handrail", material=OAK)
        inner = 0.348 if y > 0 else -0.348
        it.part(
            f"guard_{name}",
            box(2.08, 0.032, 0.1),
            (0, inner, 0.85),
            role="guard board",
            material=OAK,
            direction=(0, 1 if y > 0 else -1, 0),
        )
    for name in ("front", "back"):
        it.fix(f"beam_{name}", "abutment_left", "abutment_right", *(f"plank_{k + 1}" for k in range(11)))
        for place, plank in (("left", 1), ("middle", 6), ("right", 11)):
            it.fix(f"plank_{plank}", f"post_{name}_{place}")
            it.fix(f"rail_{name}", f"post_{name}_{place}")
            it.fix(f"guard_{name}", f"post_{name}_{place}")
    it.offer("straight girder", box(2.2, 0.08, 0.2))
    it.offer("round post", cylinder(0.04, 0.8))
    it.require(
        abutments="carry the beams at both banks",
        main_beams="span from bank to bank",
        deck_planks="what people walk on",
        handrails="keep people from falling off",
        posts="carry the handrails",
    )
    it.attribute("dimension", "The bridge is 2.0 to 2.4 m long and 0.8 to 1.1 m wide.")
    it.attribute("count", "There are eleven deck planks, two main beams and six posts.")
    it.subsystem(
        "span",
        "carries people across",
        ("deck planks", "main beams", "abutments"),
        [("deck planks", "main beams", "load"), ("main beams", "abutments", "load")],
    )
    it.subsystem(
        "guard",
        "keeps people on the deck",
        ("handrails", "posts", "deck planks"),
        [("handrails", "posts", "force"), ("posts", "deck planks", "force")],
    )
    for part in ("abutments", "main beams", "deck planks", "posts", "handrails", "guard board"):
        it.made_of(part, "wood")
    it.human({"pred": "surface", "role": "deck planks", "min_area_m2": 0.12, "height_range_m": [0.2, 0.6]})
    return it


def plant_stand() -> Object:
    """A column on a heavy foot, with three dishes on brackets at three heights."""
    it = Object("plant_stand", "plant stand", FAMILY, "stand", aliases=["flower stand"])
    it.brief(
        "Build a plant stand.",
        "Build a metal plant stand 0.8 to 1.1 m high: a round base at least 0.3 m across, a column, and "
        "three round trays 0.18 to 0.25 m across on brackets at three different heights.",
        "Build a plant stand: each of three trays holds a flower pot and catches its water, brackets carry "
        "the trays from a column at different heights so that every plant gets light, and a broad base "
        "keeps the stand upright although the pots hang out to the sides.",
    )
    foot = (
        (0, 0),
        (0.22, 0),
        (0.22, 0.012),
        (0.1, 0.04),
        (0.04, 0.06),
        (0.02, 0.06),
        (0.02, 0.02),
        (0, 0.02),
    )
    it.part("base", revolve(foot), role="base", material="steel")
    it.part("column", cylinder(0.02, 0.9), (0, 0, 0.47), role="column", material="steel")
    arm = hull(box(0.03, 0.03, 0.024).at(0.03), cylinder(0.03, 0.024).at(0.17))
    bracket = union(cylinder(0.036, 0.06).at(z=-0.018), arm) - cylinder(0.02, 0.2)
    dish = revolve([(0, 0), (0.09, 0), (0.11, 0.04), (0.1, 0.04), (0.084, 0.012), (0, 0.012)])
    for number, (angle, z) in enumerate(((-90, 0.26), (30, 0.5), (150, 0.74)), 1):
        it.part(f"bracket_{number}", bracket, (0, 0, z), (0, 0, angle), role="bracket", material="steel")
        reach = (0.17 * cos(radians(angle)), 0.17 * sin(radians(angle)), z + 0.012)
        it.part(f"tray_{number}", dish, reach, role="tray", material="steel")
    it.part(
        "finial",
        sphere(0.032) - cylinder(0.02, 0.05).at(z=-0.035),
        (0, 0, 0.93),
        role="finial",
        material="steel",
    )
    it.fix("base", "column")
    it.fix("column", "bracket_1", "bracket_2", "bracket_3", "finial")
    for number in (1, 2, 3):
        it.fix(f"bracket_{number}", f"tray_{number}")
    it.offer("flat disc", cylinder(0.1, 0.012))
    it.offer("square base", box(0.2, 0.2, 0.02))
    it.require(
        base="keeps the stand upright",
        column="carries all brackets",
        trays="hold the pots and their water",
        brackets="hold the trays out from the column",
    )
    it.attribute("count", "There are three trays on three brackets.")
    it.attribute("dimension", "The stand is 0.8 to 1.1 m high; its base is at least 0.3 m across.")
    it.attribute("shape", "The trays are at three different heights.")
    it.subsystem(
        "carrying",
        "holds pots in the light",
        ("trays", "brackets", "column", "base"),
        [("trays", "brackets", "load"), ("brackets", "column", "load"), ("column", "base", "load")],
    )
    for part in ("base", "column", "brackets", "finial"):
        it.made_of(part, "heavy_metal", "light_metal", "wood")
    it.made_of("trays", "heavy_metal", "light_metal", "ceramic", "plastic")
    it.human({"pred": "surface", "role": "trays", "min_area_m2": 0.02, "height_range_m": [0.2, 0.9]})
    return it


def easel() -> Object:
    """An H-frame: long feet and crossbars, two uprights with braces, a mast, ledge and clamp for a canvas."""
    it = Object("easel", "painter's easel", FAMILY, "easel", aliases=["H-frame easel", "studio easel"])
    it.brief(
        "Build a painter's easel.",
        "Build a wooden studio easel 1.5 to 1.9 m high: two long feet, two crossbars, two uprights with "
        "braces behind them, a mast in the middle, a ledge 0.45 to 0.65 m above the floor with a canvas on "
        "it, and a clamp above the canvas.",
        "Build a studio easel: a ledge carries a canvas at a height to paint at, a mast behind it and a "
        "clamp on its upper edge hold it still, and uprights braced on long feet keep it all from tipping "
        "while someone paints.",
    )
    for name, x in (("left", -0.24), ("right", 0.24)):
        it.part(
            f"foot_{name}",
            box(0.064, 0.56, 0.04) + cylinder(0.032, 0.04).at(y=-0.28),
            (x, 0, 0.02),
            role="foot",
            material=OAK,
        )
    it.part("crossbar_front", box(0.6, 0.072, 0.04), (0, 0.04, 0.06), role="crossbar", material=OAK)
    it.part("crossbar_rear", box(0.6, 0.072, 0.04), (0, 0.22, 0.06), role="crossbar", material=OAK)
    for name, x in (("left", -0.2), ("right", 0.2)):
        it.part(f"upright_{name}", box(0.04, 0.06, 1.2), (x, 0.04, 0.68), role="upright", material=OAK)
        brace = strut((x, 0.21, 0.09), (x, 0.08, 0.64), box(0.032, 0.02, 0.02))
        it.part(f"brace_{name}", brace, role="brace", material=OAK)
    it.part("mast", box(0.06, 0.06, 1.6), (0, 0.04, 0.88), role="centre mast", material=OAK)
    it.part(
        "rail", box(0.52, 0.028, 0.06), (0, 0.084, 1.2), role="top rail", material=OAK, direction=(0, -1, 0)
    )
    profile = ((0.012, 0), (0.012, 0.04), (-0.072, 0.04), (-0.072, 0.06), (-0.092, 0.06), (-0.092, 0.016))
    ledge = extrude(profile, 0.68).turned(x=90, z=90)
    it.part("ledge", ledge, (0, -0.002, 0.5), role="ledge", material=OAK, direction=(0, 1, 0))
    it.part("canvas", box(0.56, 0.024, 0.64), (0, -0.002, 0.86), role="canvas", material="cotton_fabric")
    clamp = box(0.1, 0.06, 0.06).at(y=-0.02) - box(0.2, 0.024, 0.024).at(y=-0.002, z=-0.018)
    it.part("clamp", clamp, (0, 0, 1.192), role="clamp", material=OAK)
    for name in ("left", "right"):
        it.fix(f"foot_{name}", "crossbar_front", "crossbar_rear")
        it.fix("crossbar_front", f"upright_{name}")
        it.fix(f"brace_{name}", "crossbar_rear", f"upright_{name}")
        it.fix("rail", f"upright_{name}")
        it.fix("ledge", f"upright_{name}")
    it.fix("mast", "crossbar_front", "rail", "ledge", "canvas", "clamp")
    it.fix("canvas", "ledge", "clamp")
    it.offer("flat ledge", box(0.68, 0.1, 0.02))
    it.offer("round mast", cylinder(0.02, 1.6))
    it.require(
        uprights="carry the ledge",
        ledge="carries the canvas",
        centre_mast="what the canvas leans on and the clamp holds to",
        clamp="holds the upper edge of the canvas",
        feet="long enough that the easel doesn't tip",
        canvas="what is painted",
    )
    it.attribute("dimension", "The easel is 1.5 to 1.9 m high; its ledge is 0.45 to 0.65 m above the floor.")
    it.attribute("count", "There are two feet, two uprights and one clamp.")
    it.subsystem(
        "holding",
        "holds a canvas still",
        ("canvas", "ledge", "clamp", "centre mast"),
        [("canvas", "ledge", "load"), ("clamp", "centre mast", "force")],
    )
    it.subsystem(
        "standing",
        "keeps the easel upright",
        ("uprights", "crossbars", "feet", "braces"),
        [
            ("uprights", "crossbars", "load"),
            ("crossbars", "feet", "load"),
            ("braces", "uprights", "force"),
        ],
    )
    for part in ("uprights", "ledge", "centre mast", "clamp", "feet", "crossbars", "braces", "top rail"):
        it.made_of(part, "wood")
    it.made_of("canvas", "textile")
    it.human({"pred": "surface", "role": "ledge", "min_area_m2": 0.04, "height_range_m": [0.4, 0.7]})
    return it
