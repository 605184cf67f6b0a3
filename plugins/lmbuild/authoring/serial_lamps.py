"""Lamps on arms of pinned links: desk lamp, examination light."""

from __future__ import annotations

from linkages import fork, link, rod_x, rod_y, tip, tube
from workshop import Object, box, cylinder, difference, hull, revolve, union

FAMILY = "serial_chain"


def desk_lamp() -> Object:
    """A weighted base, a turret that swivels, two pinned arms and a trough-shaped shade over a tube."""
    it = Object("desk_lamp", "desk lamp", FAMILY, "desk lamp", aliases=["reading lamp", "task lamp"])
    it.brief(
        "Build a desk lamp.",
        "Build a desk lamp of metal, 0.35 to 0.6 m high: a round base at least 0.18 m across, a turret "
        "that swivels on it, one lower arm, one upper arm, one lampshade with one light tube below it, "
        "and three pivot pins.",
        "Build a desk lamp that brings light to where someone reads: a heavy base keeps it upright, a "
        "turret turns it about, a lower and an upper arm on pivot pins reach forward, and the lampshade "
        "with its light tube tilts at their end.",
    )
    plate = revolve([(0, 0), (0.11, 0), (0.11, 0.016), (0.1, 0.024), (0.05, 0.032), (0, 0.032)])
    it.part(
        "base", plate - cylinder(0.01, 0.04).at(z=0.032), role="base", material="steel", shape="round base"
    )
    head = fork(0.014, 0.016, 0.008, 0.005, 0.04).at(z=0.052)
    turret = union(cylinder(0.03, 0.012).at(z=0.006), cylinder(0.01, 0.02).at(z=-0.01), head)
    it.part("turret", turret, (0, 0, 0.032), role="turret", material="steel")
    foot = (0.0, 0.0, 0.084)
    elbow = tip(foot, 0.24, -30)
    wrist = tip(elbow, 0.24, 70)
    pin = rod_x(0.005, 0.04)
    arm = link(0.24, 0.014, 0.016, 0.005, cheek=0.008)
    it.part("lower_arm", arm, foot, (-30, 0, 0), role="lower arm", material="aluminum", shape="forked arm")
    it.part("pin_foot", pin, foot, role="pivot pin", material="steel", direction=(1, 0, 0))
    it.part("upper_arm", arm, elbow, (70, 0, 0), role="upper arm", material="aluminum", shape="forked arm")
    it.part("pin_elbow", pin, elbow, role="pivot pin", material="steel", direction=(1, 0, 0))
    trough = difference(rod_x(0.052, 0.24), rod_x(0.046, 0.3), box(0.3, 0.2, 0.1).at(z=-0.05))
    ends = box(0.2, 0.02, 0.034).at(z=0.033)
    lug = hull(rod_x(0.014, 0.016).at(z=0.09), box(0.016, 0.028, 0.01).at(z=0.047)) - rod_x(0.005, 0.04).at(
        z=0.09
    )
    shade = union(trough, ends, lug)
    x, y, z = wrist
    it.part("shade", shade, (x, y, z - 0.09), role="lampshade", material="aluminum", direction=(0, 1, 0))
    it.part("pin_wrist", pin, wrist, role="pivot pin", material="steel", direction=(1, 0, 0))
    bulb = rod_x(0.012, 0.2)
    it.part(
        "bulb", bulb, (x, y, z - 0.086), role="light tube", material="soda_lime_glass", direction=(1, 0, 0)
    )
    it.joint("swivel", "revolute", "base", "turret", (0, 0, 0.032), (0, 0, 1), (-2.6, 2.6))
    it.joint("foot", "revolute", "pin_foot", "lower_arm", foot, (1, 0, 0), (-0.5, 0.9))
    it.joint("elbow", "revolute", "pin_elbow", "upper_arm", elbow, (1, 0, 0), (-0.8, 0.4))
    it.joint("wrist", "revolute", "pin_wrist", "shade", wrist, (1, 0, 0), (-0.4, 0.6))
    it.fix("turret", "pin_foot")
    it.fix("lower_arm", "pin_elbow")
    it.fix("upper_arm", "pin_wrist")
    it.fix("shade", "bulb")
    it.offer("cone shade", cylinder(0.07, 0.08, 0.03) - cylinder(0.065, 0.08, 0.025).at(z=-0.004))
    it.offer("thin base", cylinder(0.06, 0.008))
    it.require(
        base="weighs enough that the reaching arms don't tip the lamp",
        turret="lets the arms turn about",
        lower_arm="raises the elbow above the desk",
        upper_arm="reaches over what is read",
        lampshade="keeps the light out of the eyes and sends it down",
        light_tube="gives the light",
    )
    it.attribute("dimension", "The lamp is 0.35 to 0.6 m high; its base is at least 0.18 m across.")
    it.attribute(
        "count", "There is one lower arm, one upper arm and one light tube; there are three pivot pins."
    )
    it.subsystem(
        "arm",
        "puts the light where it is needed and holds it there",
        ("turret", "lower arm", "upper arm", "pivot pins", "base"),
        [
            ("base", "turret", "motion"),
            ("turret", "lower arm", "motion"),
            ("lower arm", "upper arm", "motion"),
        ],
    )
    it.subsystem(
        "light",
        "shines down without glare",
        ("lampshade", "light tube", "upper arm"),
        [("upper arm", "lampshade", "motion"), ("lampshade", "light tube", "load")],
    )
    it.motion("turret", "base", "revolute", "turns about", "vertical swivel axis", (-2.6, 2.6))
    it.motion("lower arm", "turret", "revolute", "leans forward and back", "horizontal pin", (-0.5, 0.9))
    it.motion("upper arm", "lower arm", "revolute", "rises and sinks", "horizontal pin", (-0.8, 0.4))
    it.motion("lampshade", "upper arm", "revolute", "tilts", "horizontal pin", (-0.4, 0.6))
    for part in ("base", "turret", "pivot pins"):
        it.made_of(part, "heavy_metal", "light_metal")
    for part in ("lower arm", "upper arm", "lampshade"):
        it.made_of(part, "light_metal", "heavy_metal", "plastic")
    it.made_of("light tube", "glass", "plastic")
    it.human(
        {"pred": "ground_contact", "role": "base"},
        {"pred": "reachable", "target": "lampshade", "from": "standing"},
        {
            "pred": "clearance",
            "anchor": "light tube",
            "placement": "below",
            "box": [0.2, 0.15, 0.15],
            "min_free": 0.9,
        },
    )
    return it


def exam_light() -> Object:
    """A weighted foot and mast, a turning head, a balanced boom, a drop arm and a dish on a yoke."""
    it = Object("exam_light", "examination light", FAMILY, "examination light", aliases=["dental light"])
    it.brief(
        "Build an examination light.",
        "Build an examination light 1.2 to 1.8 m high: a heavy round foot, one mast, a swivel head, one "
        "boom with one counterweight, one drop arm, one yoke, and one reflector with a lens and two "
        "handles.",
        "Build an examination light as dentists use it: a boom, balanced by a counterweight, swings over "
        "the patient from a mast with a heavy foot, and a reflector behind a lens hangs on a drop arm and"
        " yoke and is aimed by its handles.",
    )
    foot = revolve([(0, 0), (0.3, 0), (0.3, 0.03), (0.26, 0.06), (0.06, 0.08), (0, 0.08)])
    it.part("foot", foot - cylinder(0.03, 0.06).at(z=0.08), role="foot", material="steel")
    it.part("mast", cylinder(0.03, 1.23), (0, 0, 0.665), role="mast", material="steel")
    top = 1.28
    sleeve = union(tube(0.044, 0.03, 0.1).at(z=-0.05), cylinder(0.044, 0.02).at(z=0.01))
    head = union(sleeve, fork(0.03, 0.04, 0.016, 0.01, 0.06).at(z=0.08))
    it.part("head", head, (0, 0, top), role="swivel head", material="aluminum")
    hinge = (0.0, 0.0, top + 0.08)
    ear = fork(0.024, 0.03, 0.014, 0.008, 0.06).turned(x=90).at(y=-0.7)
    beam = hull(box(0.04, 0.9, 0.04).at(0, -0.19, 0), box(0.03, 0.96, 0.03).at(0, -0.17, 0))
    boom = difference(union(beam, ear), rod_x(0.01, 0.2))
    it.part("boom", boom, hinge, role="boom", material="aluminum")
    it.part("pin_boom", rod_x(0.01, 0.08), hinge, role="hinge pin", material="steel", direction=(1, 0, 0))
    weight = difference(rod_y(0.08, 0.14), box(0.04, 0.5, 0.04))
    it.part(
        "counterweight",
        weight,
        (0, 0.185, hinge[2]),
        role="counterweight",
        material="steel",
        direction=(0, -1, 0),
    )
    joint = (0.0, -0.7, hinge[2])
    drop = union(link(0.3, 0.02, 0.03, 0.008), cylinder(0.024, 0.03).at(z=0.335))
    drop = difference(drop, rod_x(0.008, 0.1).at(z=0.3))
    it.part("drop_arm", drop, joint, (180, 0, 0), role="drop arm", material="aluminum", direction=(0, 1, 0))
    it.part("pin_arm", rod_x(0.008, 0.058), joint, role="hinge pin", material="steel", direction=(1, 0, 0))
    neck = (0.0, -0.7, joint[2] - 0.35)
    ears = fork(0.024, 0.03, 0.014, 0.008, 0.05).turned(x=180).at(z=-0.07)
    it.part(
        "yoke",
        union(cylinder(0.024, 0.02).at(z=-0.01), ears),
        neck,
        role="yoke",
        material="aluminum",
        direction=(0, 1, 0),
    )
    aim = (0.0, -0.7, neck[2] - 0.07)
    outer = [(0.142, -0.13), (0.15, -0.13), (0.15, -0.12), (0.07, -0.045), (0, -0.036)]
    bowl = revolve([*outer, (0, -0.046), (0.065, -0.055)])
    lug = hull(rod_x(0.024, 0.03), box(0.03, 0.04, 0.01).at(z=-0.035))
    bosses = [box(0.03, 0.03, 0.02).at(side * 0.147, 0, -0.12) for side in (-1, 1)]
    dish = difference(union(bowl, lug, *bosses), rod_x(0.008, 0.1))
    it.part("reflector", dish, aim, role="reflector", material="aluminum", direction=(0, 1, 0))
    it.part("pin_aim", rod_x(0.008, 0.058), aim, role="hinge pin", material="steel", direction=(1, 0, 0))
    it.part(
        "lens",
        cylinder(0.15, 0.01),
        (0, -0.7, aim[2] - 0.135),
        role="lens",
        material="acrylic_PMMA",
        direction=(0, 1, 0),
    )
    grip = union(rod_x(0.01, 0.1), rod_x(0.014, 0.07).at(x=0.015))
    for name, side in (("left", -1), ("right", 1)):
        it.part(
            f"handle_{name}",
            grip if side > 0 else grip.mirrored(x=1),
            (side * 0.212, -0.7, aim[2] - 0.12),
            role="handle",
            material="ABS",
            direction=(-side, 0, 0),
        )
    it.joint("swing", "revolute", "mast", "head", (0, 0, top), (0, 0, 1), (-2.8, 2.8))
    it.joint("boom", "revolute", "pin_boom", "boom", hinge, (1, 0, 0), (-0.2, 0.25))
    it.joint("arm", "revolute", "pin_arm", "drop_arm", joint, (1, 0, 0), (-0.5, 0.4))
    it.joint("yoke", "revolute", "drop_arm", "yoke", neck, (0, 0, 1), (-1.5, 1.5))
    it.joint("aim", "revolute", "pin_aim", "reflector", aim, (1, 0, 0), (-0.5, 0.5))
    it.fix("foot", "mast")
    it.fix("head", "pin_boom")
    it.fix("boom", "counterweight", "pin_arm")
    it.fix("yoke", "pin_aim")
    it.fix("reflector", "lens", "handle_left", "handle_right")
    it.offer("small foot", cylinder(0.12, 0.03))
    it.offer("flat reflector", cylinder(0.15, 0.02))
    it.require(
        foot="keeps the light upright with the boom stretched out",
        mast="holds the boom above the patient",
        swivel_head="lets the boom swing away",
        boom="reaches over the patient",
        counterweight="balances the reflector",
        drop_arm="brings the light down",
        yoke="lets the reflector turn and nod",
        reflector="throws the light into the mouth",
        lens="closes and spreads the light",
        handles="aim the light without touching what is hot",
    )
    it.attribute("dimension", "The light is 1.2 to 1.8 m high.")
    it.attribute("count", "There is one mast, one counterweight and one lens; there are two handles.")
    it.subsystem(
        "balanced boom",
        "holds the light wherever it is put",
        ("foot", "mast", "swivel head", "boom", "counterweight"),
        [
            ("foot", "mast", "load"),
            ("mast", "swivel head", "motion"),
            ("swivel head", "boom", "motion"),
            ("counterweight", "boom", "load"),
        ],
    )
    it.subsystem(
        "aimed light",
        "puts a bright spot where the dentist looks",
        ("drop arm", "yoke", "reflector", "lens", "handles"),
        [
            ("drop arm", "yoke", "motion"),
            ("yoke", "reflector", "motion"),
            ("handles", "reflector", "force"),
            ("reflector", "lens", "load"),
        ],
    )
    it.motion("swivel head", "mast", "revolute", "swings about", "vertical swivel axis", (-2.8, 2.8))
    it.motion("boom", "swivel head", "revolute", "rises and sinks", "horizontal pin", (-0.2, 0.25))
    it.motion("drop arm", "boom", "revolute", "swings to and fro", "horizontal pin", (-0.5, 0.4))
    it.motion("yoke", "drop arm", "revolute", "turns about", "vertical swivel axis", (-1.5, 1.5))
    it.motion("reflector", "yoke", "revolute", "nods", "horizontal pin", (-0.5, 0.5))
    for part in ("foot", "mast", "swivel head", "boom", "counterweight", "drop arm", "yoke", "reflector"):
        it.made_of(part, "light_metal", "heavy_metal")
    it.made_of("lens", "plastic", "glass")
    it.made_of("handles", "plastic", "rubber")
    it.human(
        {"pred": "grip", "role": "handles"},
        {"pred": "reachable", "target": "handles", "from": "standing"},
        {
            "pred": "clearance",
            "anchor": "lens",
            "placement": "below",
            "box": [0.5, 0.5, 0.5],
            "min_free": 0.9,
        },
    )
    return it
