"""Things that roll: hand cart and wheelbarrow."""

from __future__ import annotations

from itertools import pairwise

from workshop import Object, Solid, box, cylinder, hull, union

OAK = "solid_wood_hardwood"
PINE = "solid_wood_softwood"
FAMILY = "rotating"
RIGHT, LEFT = (1, 0, 0), (-1, 0, 0)


def spoked_wheel(radius: float, width: float, bore: float, spokes: int) -> Solid:
    """A wheel about the X axis: a flat tread, a rim, spokes and a hub with a bore."""
    rim = cylinder(radius, width) - cylinder(radius - 0.024, 2 * width)
    hub = cylinder(2.6 * bore, width)
    spoke = box(radius - 0.012, 0.024, 0.5 * width).at((radius - 0.012) / 2)
    arms = [spoke.turned(z=360 * k / spokes) for k in range(spokes)]
    return (union(rim, hub, *arms) - cylinder(bore, 2 * width)).turned(y=90)


def hand_cart() -> Object:
    """A deck with boards around it on two axles, a wheel at each end, a push bar behind."""
    it = Object("hand_cart", "hand cart", FAMILY, "cart", aliases=["platform cart"])
    it.brief(
        "Build a hand cart.",
        "Build a hand cart with four wheels: a wooden deck 0.8 to 1.1 m long and 0.5 to 0.7 m wide with "
        "four side boards, two steel axles under bearers, and a push bar on two posts 0.8 to 1.0 m above "
        "the ground.",
        "Build a hand cart: a person pushes it by a bar at hand height behind the deck, four wheels turn "
        "freely on two axles so that it rolls straight, and boards keep the load on the deck.",
    )
    wheel = spoked_wheel(0.12, 0.08, 0.01, 5)
    axle = cylinder(0.01, 0.66).turned(y=90)
    for place, y in (("front", -0.28), ("back", 0.28)):
        for side, x in (("left", -0.27), ("right", 0.27)):
            it.part(f"wheel_{place}_{side}", wheel, (x, y, 0.12), role="wheel", material="synthetic_rubber")
        it.part(f"axle_{place}", axle, (0, y, 0.12), role="axle", material="steel", direction=RIGHT)
    saddle = box(0.42, 0.06, 0.15) - hull(
        cylinder(0.01, 1).turned(y=90).at(z=-0.065), cylinder(0.01, 1).turned(y=90).at(z=-0.1)
    )
    for place, y in (("front", -0.28), ("back", 0.28)):
        it.part(f"bearer_{place}", saddle, (0, y, 0.185), role="bearer", material=OAK)
    it.part("perch", box(0.06, 0.5, 0.03), (0, 0, 0.245), role="perch", material=OAK)
    it.part("deck", box(0.6, 0.96, 0.024), (0, 0, 0.272), role="deck", material="plywood")
    collar = cylinder(0.02, 0.012).turned(y=90) - cylinder(0.01, 0.1).turned(y=90)
    for place, y in (("front", -0.28), ("back", 0.28)):
        for side, x in (("left", -0.32), ("right", 0.32)):
            it.part(f"collar_{place}_{side}", collar, (x, y, 0.12), role="collar", material="steel")
            it.fix(f"axle_{place}", f"collar_{place}_{side}")
            name = f"wheel_{place}_{side}"
            it.joint(
                f"turn_{name}", "continuous", f"axle_{place}", name, (0.27 * x / 0.32, y, 0.12), (1, 0, 0)
            )
    for side, x in (("left", -0.29), ("right", 0.29)):
        it.part(f"board_{side}", box(0.02, 0.96, 0.1), (x, 0, 0.334), role="side board", material=PINE)
    for place, y in (("front", -0.47), ("back", 0.47)):
        it.part(f"board_{place}", box(0.56, 0.02, 0.1), (0, y, 0.334), role="end board", material=PINE)
    foot, head = box(0.04, 0.06, 0.02).at(y=0.43, z=0.294), cylinder(0.03, 0.04).turned(y=90).at(0, 0.56, 0.9)
    post = (
        hull(foot, head)
        - cylinder(0.016, 0.1).turned(y=90).at(0, 0.56, 0.9)
        - box(0.1, 0.02, 0.1).at(0, 0.47, 0.334)
    )
    for side, x in (("left", -0.2), ("right", 0.2)):
        it.part(f"post_{side}", post, (x, 0, 0), role="post", material=OAK)
    bar = cylinder(0.016, 0.48).turned(y=90)
    it.part("push_bar", bar, (0, 0.56, 0.9), role="push bar", material=OAK, direction=RIGHT)
    for place in ("front", "back"):
        it.fix(f"bearer_{place}", f"axle_{place}", "perch", "deck")
    it.fix("deck", "board_left", "board_right", "board_front", "board_back", "post_left", "post_right")
    it.fix("push_bar", "post_left", "post_right")
    it.fix("board_back", "board_left", "board_right", "post_left", "post_right")
    it.fix("board_front", "board_left", "board_right")
    it.offer("caster", union(cylinder(0.04, 0.03).turned(y=90), box(0.06, 0.06, 0.004).at(z=0.06)))
    it.offer("drawbar", cylinder(0.016, 0.9))
    it.require(
        wheels="let the cart roll",
        axles="carry the wheels",
        deck="carries the load",
        bearers="hold the axles to the deck",
        push_bar="the cart is pushed by it",
    )
    it.attribute("dimension", "The deck is 0.8 to 1.1 m long and 0.5 to 0.7 m wide.")
    it.attribute(
        "dimension", "The push bar is 0.8 to 1.0 m above the ground.", "elbow height of a standing adult"
    )
    it.attribute("count", "There are four wheels, two axles, two bearers and two posts.")
    it.attribute("count", "There are two side boards and two end boards.")
    it.subsystem(
        "rolling gear",
        "lets the loaded cart roll",
        ("wheels", "axles", "bearers"),
        [("axles", "wheels", "motion"), ("axles", "bearers", "load")],
    )
    it.subsystem(
        "pushing",
        "takes the push of a person",
        ("push bar", "posts", "deck"),
        [("push bar", "posts", "force"), ("posts", "deck", "force")],
    )
    it.subsystem(
        "loading",
        "carries goods",
        ("deck", "side boards", "end boards", "bearers"),
        [("side boards", "deck", "load"), ("end boards", "deck", "load"), ("deck", "bearers", "load")],
    )
    it.motion("wheels", "axles", "continuous", "roll", "axle")
    for part in ("deck", "bearers", "perch", "side boards", "end boards", "posts"):
        it.made_of(part, "wood")
    it.made_of("push bar", "wood", "heavy_metal", "light_metal")
    it.made_of("wheels", "rubber", "wood", "plastic")
    for part in ("axles", "collar"):
        it.made_of(part, "heavy_metal")
    it.human(
        {"pred": "reachable", "target": "push bar"},
        {"pred": "grip", "role": "push bar"},
        {"pred": "surface", "role": "deck", "min_area_m2": 0.4, "height_range_m": [0.2, 0.5]},
    )
    return it


def wheelbarrow() -> Object:
    """One wheel in front, two bent shafts that end in grips, a tray, two legs behind."""
    it = Object("wheelbarrow", "wheelbarrow", FAMILY, "barrow", aliases=["garden barrow"])
    it.brief(
        "Build a wheelbarrow.",
        "Build a wheelbarrow 1.3 to 1.7 m long: a steel tray on two wooden shafts with a rubber grip at each "
        "end, one spoked wheel 0.3 to 0.4 m across in front, and two legs behind.",
        "Build a wheelbarrow: the load lies in a tray between one wheel in front and two legs behind; a "
        "person lifts the grips of the shafts and pushes, and the wheel turns on its axle.",
    )
    leg = union(
        hull(box(0.04, 0.06, 0.01).at(z=0.338), box(0.04, 0.06, 0.01).at(0.02, 0.02, 0.01)),
        box(0.14, 0.14, 0.012).at(0.012, 0.012, 0.006),
    )
    it.part("leg_left", leg.mirrored(x=1), (-0.185, 0.2, 0), role="leg", material="steel")
    it.part("leg_right", leg, (0.185, 0.2, 0), role="leg", material="steel")
    it.part(
        "wheel",
        spoked_wheel(0.18, 0.08, 0.012, 6),
        (0, -0.62, 0.18),
        role="wheel",
        material="synthetic_rubber",
    )
    axle = cylinder(0.012, 0.26).turned(y=90)
    it.part("axle", axle, (0, -0.62, 0.18), role="axle", material="steel", direction=RIGHT)
    bends = ((0.1, -0.62, 0.18), (0.16, -0.26, 0.36), (0.19, 0.3, 0.36), (0.27, 0.6, 0.52))
    lug = box(0.034, 0.034, 0.034)
    runs = [hull(lug.at(*a), lug.at(*b)) for a, b in pairwise(bends)]
    end = cylinder(0.016, 0.22).turned(x=90).at(0.27, 0.71, 0.52)
    shaft = union(*runs, end) - cylinder(0.012, 1).turned(y=90).at(0, -0.62, 0.18)
    it.part(
        "shaft_left", shaft.mirrored(x=1), role="shaft", material=OAK, direction=RIGHT, shape="bent shaft"
    )
    it.part("shaft_right", shaft, role="shaft", material=OAK, direction=LEFT, shape="bent shaft")
    it.part("crossbar", box(0.36, 0.04, 0.02), (0, -0.22, 0.387), role="crossbar", material=OAK)
    it.part("crossbar_back", box(0.4, 0.04, 0.02), (0, 0.2, 0.387), role="crossbar", material=OAK)
    outside = hull(box(0.4, 0.5, 0.01).at(z=0.005), box(0.6, 0.8, 0.01).at(0, -0.03, 0.235))
    inside = hull(box(0.37, 0.47, 0.01).at(z=0.017), box(0.57, 0.77, 0.01).at(0, -0.03, 0.245))
    it.part("tray", outside - inside, (0, 0, 0.397), role="tray", material="steel")
    sleeve = (cylinder(0.021, 0.13) - cylinder(0.016, 0.2)).turned(x=90)
    for side, x in (("left", -0.27), ("right", 0.27)):
        it.part(
            f"grip_{side}",
            sleeve,
            (x, 0.755, 0.52),
            role="grip",
            material="natural_rubber",
            direction=(0, -1, 0),
        )
        it.fix(f"shaft_{side}", "axle", f"leg_{side}", "crossbar", "crossbar_back", f"grip_{side}")
    it.fix("tray", "crossbar", "crossbar_back")
    it.joint("turn", "continuous", "axle", "wheel", (0, -0.62, 0.18), (1, 0, 0))
    it.offer("flat tray", box(0.6, 0.8, 0.02))
    it.offer("straight shaft", cylinder(0.016, 1.4))
    it.require(
        wheel="carries the front and rolls",
        axle="carries the wheel",
        tray="holds the load",
        shafts="join wheel, tray and grips",
        grips="are lifted and pushed by a person",
        legs="let the barrow stand by itself",
    )
    it.attribute("dimension", "The barrow is 1.3 to 1.7 m long and its wheel 0.3 to 0.4 m across.")
    it.attribute("count", "There are two legs, two shafts and two grips.")
    it.attribute("count", "There is one wheel, one tray and one axle.")
    it.subsystem(
        "rolling",
        "carries the front end along",
        ("wheel", "axle", "shafts"),
        [("axle", "wheel", "motion"), ("shafts", "axle", "load")],
    )
    it.subsystem(
        "carrying",
        "holds the load",
        ("tray", "crossbars", "shafts", "legs"),
        [("tray", "crossbars", "load"), ("crossbars", "shafts", "load"), ("shafts", "legs", "load")],
    )
    it.subsystem(
        "lifting",
        "lets a person lift and push",
        ("grips", "shafts", "tray"),
        [("grips", "shafts", "force"), ("shafts", "tray", "force")],
        "a lever whose load lies between fulcrum and hands",
    )
    it.motion("wheel", "axle", "continuous", "turns on its axle", "axle")
    it.made_of("tray", "heavy_metal", "light_metal", "plastic", "wood")
    it.made_of("shafts", "wood", "heavy_metal", "light_metal")
    it.made_of("crossbars", "wood", "heavy_metal")
    it.made_of("legs", "heavy_metal", "light_metal", "wood")
    it.made_of("axle", "heavy_metal")
    it.made_of("wheel", "rubber", "plastic", "wood", "heavy_metal")
    it.made_of("grips", "rubber", "plastic", "wood")
    it.human(
        {"pred": "grip", "role": "grips"},
        {"pred": "reachable", "target": "grips"},
    )
    it.human({"pred": "surface", "role": "tray", "min_area_m2": 0.15, "height_range_m": [0.35, 0.7]})
    return it
