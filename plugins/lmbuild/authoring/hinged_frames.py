"""Leaves that swing on hinges: screen, gate, table."""

from __future__ import annotations

from math import radians

from hinged_cases import FAMILY, OAK, QUARTER
from workshop import Object, box, cylinder, extrude, hull, revolve, sphere, union


def folding_screen() -> Object:
    """A middle panel on feet and two leaves, zigzag, each of a frame with cloth."""
    it = Object("folding_screen", "folding screen", FAMILY, "screen", aliases=["room divider"])
    it.brief(
        "Build a folding screen.",
        "Build a folding screen 1.4 to 1.8 m high: a middle panel on two feet and two leaves, each a wooden "
        "frame filled with fabric, 0.4 to 0.5 m wide, joined by four metal hinges.",
        "Build a folding screen that hides a corner of a room: fabric in a middle panel and two leaves "
        "blocks the view, the leaves swing about upright hinges from flat to folded, and feet under the "
        "middle panel keep it standing in any position.",
    )
    for id, x in (("foot_left", -0.24), ("foot_right", 0.24)):
        it.part(
            id,
            hull(box(0.08, 0.48, 0.01).at(z=-0.015), box(0.08, 0.2, 0.01).at(z=0.015)),
            (x, 0, 0.02),
            role="foot",
            material=OAK,
        )
    opening = box(0.36, 0.1, 1.44)
    it.part(
        "middle",
        box(0.44, 0.028, 1.56) - opening,
        (0, 0, 0.82),
        role="middle panel",
        material=OAK,
        shape="frame",
    )
    it.part(
        "fabric_middle",
        box(0.36, 0.012, 1.44),
        (0, 0, 0.82),
        role="fabric",
        material="cotton_fabric",
        direction=(0, 1, 0),
    )
    places = {"left": (-0.236, 1), "right": (0.236, -1)}
    for side, (x, _) in places.items():
        for level, z in (("lower", 0.4), ("upper", 1.3)):
            it.part(
                f"hinge_{side}_{level}",
                cylinder(0.016, 0.16),
                (x, 0, z),
                role="hinge",
                material="steel",
                shape="barrel",
            )
    frame = box(0.44, 0.028, 1.52) - opening.at(z=0.0)
    for side, (x, sign) in places.items():
        it.part(
            f"leaf_{side}",
            frame.at(-0.236 * sign),
            (x, 0, 0.84),
            (0, 0, 40),
            role="leaf",
            material=OAK,
            shape="frame",
        )
    for side, (x, sign) in places.items():
        it.part(
            f"fabric_{side}",
            box(0.36, 0.012, 1.44).at(-0.236 * sign),
            (x, 0, 0.84),
            (0, 0, 40),
            role="fabric",
            material="cotton_fabric",
            direction=(-0.643, 0.766, 0),
        )
    it.fix("middle", "foot_left", "foot_right", "fabric_middle")
    for side in places:
        it.fix("middle", f"hinge_{side}_lower", f"hinge_{side}_upper")
        it.fix(f"leaf_{side}", f"fabric_{side}")
        x = places[side][0]
        it.joint(
            f"fold_{side}",
            "revolute",
            f"hinge_{side}_upper",
            f"leaf_{side}",
            (x, 0, 1.3),
            (0, 0, 1),
            (round(-radians(40), 3), round(radians(45), 3)),
        )
    it.offer("solid panel", box(0.44, 0.028, 1.52))
    it.offer("round foot", cylinder(0.1, 0.03))
    it.require(
        middle_panel="stands on the feet and carries the leaves",
        leaves="two of them widen the screen and steady it",
        fabric="blocks the view",
        hinges="let the leaves fold",
        feet="keep it standing",
    )
    it.attribute("dimension", "The screen is 1.4 to 1.8 m high; each panel is 0.4 to 0.5 m wide.")
    it.attribute("count", "There are two leaves, four hinges and two feet.")
    it.subsystem(
        "standing", "keeps the screen upright", ("middle panel", "feet"), [("middle panel", "feet", "load")]
    )
    it.subsystem(
        "folding",
        "sets the leaves at an angle",
        ("leaves", "hinges", "middle panel"),
        [("middle panel", "leaves", "motion"), ("hinges", "middle panel", "load")],
    )
    it.subsystem("screening", "blocks the view", ("fabric", "leaves"), [("fabric", "leaves", "load")])
    it.motion(
        "leaves",
        "middle panel",
        "revolute",
        "fold to the front and to the rear",
        "vertical hinge edge",
        (round(-radians(40), 3), round(radians(45), 3)),
    )
    for part in ("middle panel", "leaves", "feet"):
        it.made_of(part, "wood", "light_metal")
    it.made_of("fabric", "textile")
    it.made_of("hinges", "heavy_metal", "light_metal")
    it.human({"pred": "ground_contact", "role": "feet", "min_clusters": 2})
    return it


def garden_gate() -> Object:
    """Two posts on a ground frame; a braced frame with pickets hangs from pintles by two straps."""
    it = Object("garden_gate", "garden gate", FAMILY, "gate", aliases=["picket gate"])
    it.brief(
        "Build a garden gate.",
        "Build a free-standing wooden garden gate 1.2 to 1.5 m high and about 1.2 m wide: two posts on two "
        "foot beams with a sill between them, a gate frame with a diagonal brace and seven pickets, two "
        "metal hinges with straps, and one latch.",
        "Build a garden gate that stands by itself: a framed gate with pickets fills the way between two "
        "posts, hangs on hinges at one post, swings to the front by 90 degrees, and is held shut at the "
        "other post by a latch that a hand can grip.",
    )
    for id, x in (("beam_left", -0.56), ("beam_right", 0.56)):
        it.part(id, box(0.1, 0.96, 0.08), (x, 0, 0.04), role="foot beam", material=OAK)
    it.part("sill", box(1.02, 0.1, 0.08), (0, 0, 0.04), role="sill", material=OAK)
    post = box(0.1, 0.1, 1.2).at(z=0.6) + hull(
        box(0.12, 0.12, 0.02).at(z=1.21), box(0.01, 0.01, 0.01).at(z=1.255)
    )
    for id, x in (("post_left", -0.56), ("post_right", 0.56)):
        it.part(id, post, (x, 0, 0.08), role="post", material=OAK)
    pintle = union(cylinder(0.012, 0.08), box(0.064, 0.012, 0.08).at(0.042, -0.012))
    for id, z in (("hinge_lower", 0.34), ("hinge_upper", 1.0)):
        it.part(id, pintle, (0.5, -0.044, z), role="hinge", material="steel", direction=(0, 1, 0))
    bars = [box(0.976, 0.04, 0.08).at(z=z) for z in (-0.33, 0.33)]
    stiles = [box(0.08, 0.04, 0.96).at(x) for x in (-0.448, 0.448)]
    brace = hull(box(0.08, 0.04, 0.01).at(0.38, 0, -0.29), box(0.08, 0.04, 0.01).at(-0.38, 0, 0.29))
    it.part("frame", union(*bars, *stiles, brace), (0, -0.012, 0.67), role="gate frame", material=OAK)
    for k in range(7):
        picket = extrude([(-0.035, -0.5), (0.035, -0.5), (0.035, 0.46), (0, 0.5), (-0.035, 0.46)], 0.024)
        it.part(
            f"picket_{k + 1}",
            picket.turned(x=90),
            (0.13 * k - 0.39, 0.02, 0.68),
            role="picket",
            material=OAK,
            direction=(0, -1, 0),
        )
    for id, z in (("strap_lower", 0.34), ("strap_upper", 1.0)):
        it.part(
            id,
            hull(box(0.01, 0.012, 0.06).at(0.114), box(0.01, 0.012, 0.02).at(-0.115)),
            (0.369, -0.038, z),
            role="strap",
            material="steel",
            direction=(0, 1, 0),
        )
    latch = union(
        box(0.2, 0.02, 0.032).at(z=0.0), box(0.06, 0.032, 0.032).at(0.07, 0.026), sphere(0.018).at(0.1)
    )
    it.part("latch", latch, (-0.46, -0.074, 0.9), role="latch", material="steel", direction=(0, 1, 0))
    it.fix("beam_left", "post_left", "sill")
    it.fix("beam_right", "post_right", "sill")
    it.fix("post_right", "hinge_lower", "hinge_upper")
    it.fix("frame", *(f"picket_{k + 1}" for k in range(7)), "strap_lower", "strap_upper", "latch")
    it.joint("swing", "revolute", "hinge_upper", "frame", (0.5, -0.044, 1.0), (0, 0, 1), (0, QUARTER))
    it.offer("flat-topped picket", box(0.07, 0.024, 1.0))
    it.offer("round post", cylinder(0.05, 1.25))
    it.require(
        posts="carry the gate and its latch",
        gate_frame="fills the way and swings",
        pickets="keep animals in",
        hinges="let the gate swing",
        latch="keeps the gate shut",
        foot_beams="keep the posts upright without digging",
    )
    it.attribute("dimension", "The gate is 1.2 to 1.5 m high and 1.0 to 1.4 m wide.")
    it.attribute("count", "There are two posts, two hinges, seven pickets and one latch.")
    it.subsystem(
        "standing",
        "keeps the posts upright",
        ("posts", "foot beams", "sill"),
        [("posts", "foot beams", "load"), ("sill", "foot beams", "force")],
    )
    it.subsystem(
        "passage",
        "opens and closes the way",
        ("gate frame", "pickets", "hinges", "latch", "posts"),
        [
            ("posts", "gate frame", "motion"),
            ("pickets", "gate frame", "load"),
            ("latch", "gate frame", "force"),
            ("hinges", "posts", "load"),
        ],
    )
    it.motion("gate frame", "posts", "revolute", "swings to the front", "vertical, at one post", (0, QUARTER))
    for part in ("posts", "gate frame", "pickets", "foot beams", "sill"):
        it.made_of(part, "wood")
    for part in ("hinges", "straps", "latch"):
        it.made_of(part, "heavy_metal", "light_metal")
    it.human({"pred": "reachable", "target": "latch", "from": "standing", "reach_m": 0.7})
    return it


def drop_leaf_table() -> Object:
    """A narrow table on a shelf and bun feet, with a leaf hanging on either side."""
    it = Object(
        "drop_leaf_table",
        "drop-leaf table",
        FAMILY,
        "drop-leaf table",
        aliases=["flap table", "Pembroke table"],
    )
    it.brief(
        "Build a drop-leaf table.",
        "Build a wooden drop-leaf table 0.7 to 0.8 m high, its leaves hanging down: a fixed top 0.35 to 0.5 "
        "m wide, two leaves on four metal hinges, four legs with aprons between them, and a lower shelf on "
        "four feet.",
        "Build a table for a small room, its leaves down: a fixed top to eat at, on legs that aprons hold "
        "square and that stand on a lower shelf with feet; a leaf on either side swings up by 90 degrees "
        "about hinges below the edge of the top and then lies level with it.",
    )
    corners = {"fl": (-0.14, -0.36), "fr": (0.14, -0.36), "bl": (-0.14, 0.36), "br": (0.14, 0.36)}
    bun = revolve([(0, 0), (0.024, 0), (0.04, 0.02), (0.04, 0.036), (0.028, 0.052), (0, 0.052)])
    for name, (x, y) in corners.items():
        it.part(f"foot_{name}", bun, (x, y, 0), role="foot", material=OAK)
    it.part("shelf", box(0.36, 0.82, 0.02), (0, 0, 0.062), role="lower shelf", material=OAK, shape="board")
    turned = [(0, 0), (0.02, 0), (0.014, 0.04), (0.024, 0.24), (0.014, 0.44), (0.02, 0.46), (0, 0.46)]
    leg = revolve(turned) + box(0.048, 0.048, 0.192).at(z=0.552)
    for name, (x, y) in corners.items():
        it.part(f"leg_{name}", leg, (x, y, 0.072), role="leg", material=OAK)
    for id, x in (("apron_left", -0.14), ("apron_right", 0.14)):
        it.part(id, box(0.02, 0.672, 0.1), (x, 0, 0.67), role="apron", material=OAK, shape="board")
    for id, y in (("apron_front", -0.36), ("apron_back", 0.36)):
        it.part(id, box(0.232, 0.02, 0.1), (0, y, 0.67), role="apron", material=OAK, shape="board")
    it.part("top", box(0.4, 0.88, 0.024), (0, 0, 0.732), role="tabletop", material=OAK, shape="board")
    for side, x in (("left", -0.2), ("right", 0.2)):
        for place, y in (("front", -0.3), ("back", 0.3)):
            it.part(
                f"hinge_{side}_{place}",
                cylinder(0.008, 0.08).turned(x=90),
                (x, y, 0.72),
                role="hinge",
                material="steel",
                shape="barrel",
                direction=(0, 0, 1),
            )
    leaf = box(0.024, 0.88, 0.36).at(0.012, 0, -0.18) & hull(
        *(cylinder(0.12, 0.1).turned(y=90).at(0.012, y, -0.24) for y in (-0.32, 0.32)),
        box(0.1, 0.88, 0.02).at(0.012, 0, -0.01),
    )
    it.part("leaf_right", leaf, (0.2, 0, 0.72), role="leaf", material=OAK, direction=(-1, 0, 0))
    it.part("leaf_left", leaf, (-0.2, 0, 0.72), (0, 0, 180), role="leaf", material=OAK, direction=(1, 0, 0))
    it.fix("shelf", *(f"{kind}_{name}" for kind in ("foot", "leg") for name in corners))
    for name, (x, y) in corners.items():
        it.fix(
            f"leg_{name}",
            "apron_left" if x < 0 else "apron_right",
            "apron_front" if y < 0 else "apron_back",
            "top",
        )
    it.fix("top", "apron_left", "apron_right", "apron_front", "apron_back")
    for side, x in (("left", -0.2), ("right", 0.2)):
        it.fix("top", f"hinge_{side}_front", f"hinge_{side}_back")
        it.joint(
            f"lift_{side}",
            "revolute",
            f"hinge_{side}_front",
            f"leaf_{side}",
            (x, -0.3, 0.72),
            (0, 1 if x < 0 else -1, 0),
            (0, QUARTER),
        )
    it.offer("square leg", box(0.048, 0.048, 0.65))
    it.offer("half-round leaf", cylinder(0.44, 0.024) - box(0.88, 0.44, 0.1).at(y=-0.22))
    it.require(
        tabletop="the fixed surface",
        leaves="two of them widen the top",
        hinges="let the leaves swing",
        legs="carry the top",
        aprons="hold the legs square",
        lower_shelf="ties the legs together below",
    )
    it.attribute(
        "dimension",
        "The top is 0.7 to 0.8 m above the floor.",
        "heights of dining tables as in EN 12521, rounded",
    )
    it.attribute("count", "There are two leaves, four hinges, four legs, four aprons and four feet.")
    it.subsystem(
        "support",
        "carries the top",
        ("tabletop", "aprons", "legs", "lower shelf", "feet"),
        [
            ("tabletop", "legs", "load"),
            ("aprons", "legs", "force"),
            ("legs", "lower shelf", "load"),
            ("lower shelf", "feet", "load"),
        ],
    )
    it.subsystem(
        "extension",
        "widens the top",
        ("leaves", "hinges", "tabletop"),
        [("tabletop", "leaves", "motion"), ("hinges", "tabletop", "load")],
    )
    it.motion(
        "leaves",
        "tabletop",
        "revolute",
        "swing up until level with the top",
        "horizontal hinge edge",
        (0, QUARTER),
    )
    for part in ("tabletop", "leaves", "legs", "aprons", "lower shelf", "feet"):
        it.made_of(part, "wood")
    it.made_of("hinges", "heavy_metal", "light_metal")
    it.human({"pred": "surface", "role": "tabletop", "min_area_m2": 0.3, "height_range_m": [0.68, 0.82]})
    return it
