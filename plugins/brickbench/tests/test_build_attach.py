"""Joining by connectors: exact for every family, on real parts at random poses."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit_brickbench.build import (
    Assembly,
    BuildError,
    Connector,
    Part,
    at,
    clashes,
    compatible,
    connections,
    measure,
    move,
    spin,
)
from evalkit_brickbench.build._connectors import FREEDOMS, LISTS, connectors_of_part, family_of
from evalkit_brickbench.build._pose import Pose
from evalkit_brickbench.parts.wheels import WheelCatalogue

pytestmark = pytest.mark.usefixtures("wheel_catalogue")

PARTS = (
    *("3001", "3003", "3022", "3024", "3062b", "6141", "87087", "4733", "3700", "3701", "32316", "32523"),
    *(
        "3673",
        "6558",
        "43093",
        "3749",
        "4274",
        "3706",
        "4519",
        "3713",
        "3482",
        "3483",
        "4624",
        "3641",
        "4600",
    ),
    *("60596", "60616a", "3937", "3938", "2429", "2430", "973", "3818", "3819", "3820", "3815b", "3816c"),
    *("3817c", "3731", "3730", "14417", "57908", "57909", "4871", "60593", "2926", "6157", "3184", "3491"),
)


def _pairs() -> list[tuple[Connector, Connector, str]]:
    """Connectors of these parts that fit: for each pair of types, the first and the last."""
    every = [connector for stem in PARTS for connector in connectors_of_part(stem)]
    found: dict[tuple[str, ...], list[tuple[Connector, Connector, str]]] = {}
    for to in every:
        for by in every:
            family = family_of(to, by)
            if family is not None:
                key = (to.list_name, to.subtype, by.list_name, by.subtype)
                found.setdefault(key, []).append((to, by, family))
    return [pair for pairs in found.values() for pair in (pairs[0], pairs[len(pairs) // 2], pairs[-1])]


def test_every_family_joins_exactly() -> None:
    rng = np.random.default_rng(7)
    families = set()
    for to, by, family in _pairs():
        families.add(family)
        model = Assembly("pair")
        angles = rng.uniform(-180, 180, 3)
        pose = (
            move(*rng.uniform(-500, 500, 3)) @ spin(angles[0]) @ spin(angles[1], "x") @ spin(angles[2], "z")
        )
        base = model.add(Part(to.stem), pose)
        free = {
            "yaw": rng.uniform(-180, 180),
            "pitch": rng.uniform(-180, 180),
            "roll": rng.uniform(-180, 180),
            "flip": bool(rng.integers(2)),
            "slide": rng.uniform(-1, 1),
        }
        chosen = {freedom: free[freedom] for freedom in FREEDOMS[family]}
        added = model.attach(Part(by.stem), to=base.connectors[to.number], by=by, **chosen)
        assert np.allclose(added.pose.rotation @ added.pose.rotation.T, np.eye(3), atol=1e-12)
        joined = {frozenset((to.name, by.name))}
        exact = [
            joint
            for joint in connections(model)
            if frozenset((joint.one_connector, joint.other_connector)) in joined
        ]
        assert exact, (str(to), str(by))
        best = min(exact, key=lambda joint: joint.residual_ldu + joint.residual_rad)
        assert best.family == family
        assert best.residual_ldu < 1e-8
        assert best.residual_rad < 1e-8
    assert families == {"axle", "ball", "fixed", "hinge", "stud"}


def test_typed_lists_count_connectors_in_catalogue_order(wheel_catalogue: WheelCatalogue) -> None:
    brick = Part("3001")
    assert len(brick.stud) == 8
    assert len(brick.hole) == 8
    assert len(brick.tube) == 3
    assert len(brick.pin) == 0
    assert [c.number for c in brick.connectors] == list(range(len(wheel_catalogue.connectors("3001"))))
    assert brick.stud[-1].name == "stud[7]"
    assert [c.name for c in brick.tube[:2]] == ["tube[0]", "tube[1]"]
    assert brick.stud.near(30, 0, 10).position == (30, 0, 10)
    with pytest.raises(IndexError, match=r"no stud\[8\]: there are 0 … 7"):
        brick.stud[8]
    with pytest.raises(IndexError, match=r"no pin\[0\]: there are none at all"):
        brick.pin[0]
    for name, connected in ((c.list_name, c) for stem in PARTS for c in connectors_of_part(stem)):
        assert name in LISTS
        assert Part(connected.stem).connectors.of(name)[connected.index].number == connected.number


def test_studs_stack_square() -> None:
    model = Assembly("stack")
    base = model.add("3001", at(1, 2, 3))
    top = model.attach("3001", to=base.stud[0], by="hole[0]")
    assert top.pose.position.tolist() == [20, -48, 40]
    assert top.pose.rotation.tolist() == np.eye(3).tolist()
    under = model.attach("3001", to=base.hole[0], by="stud[0]", yaw=90)
    assert measure(under).low[1] == 0 - 4
    assert not clashes(model)


def test_pins_go_in_up_to_their_collar() -> None:
    model = Assembly("beams")
    lower = model.add("32523")
    for place, (end, flip) in enumerate([("pin[0]", False), ("pin[1]", False), ("pin[0]", True)]):
        pin = model.attach("3673", to=lower.socket[place], by=end, flip=flip)
        low, high = measure(pin).low[1], measure(pin).high[1]
        # The collar, in the middle of the pin, is half in this beam and half in the next.
        assert (low + high) / 2 in (-10, 10)
    upper = model.attach("32523", to=pin.pin[1], by="socket[2]")
    assert measure(lower, upper).gap[1] == 0
    centred = model.attach("3673", to=upper.socket[0], by="pin[0]", seat=False)
    assert abs(centred.pin[0].position[1] - upper.socket[0].position[1]) < 1e-9


def test_real_pins_between_bricks_do_not_collide() -> None:
    model = Assembly("bricks")
    first = model.add("3700", color="red")
    pin = model.attach("2780", to=first.socket[0], by="pin[0]", color="black")
    second = model.attach("3700", to=pin.pin[1], by="socket[0]", color="blue")
    assert abs(measure(first, second).gap[2]) < 1e-9
    assert not clashes(model)


def test_slide_moves_along_the_axis_and_must_hold() -> None:
    model = Assembly("axle")
    axle = model.add("3706")
    bush = model.attach("3713", to=axle.axle[0], by="cross[0]", slide=30)
    assert np.allclose(bush.pose.position, [30, 0, 0])
    with pytest.raises(BuildError, match=r"slide out of axle\[0\] of 3706"):
        model.attach("3713", to=axle.axle[0], slide=70)


def test_what_does_not_fit_is_refused() -> None:
    model = Assembly("m")
    brick = model.add("3001")
    with pytest.raises(BuildError, match=r"stud\[0\] of 3003 .* doesn't fit stud\[0\] of 3001"):
        model.attach("3003", to=brick.stud[0], by="stud[0]")
    with pytest.raises(BuildError, match="a stud connection has no slide: yaw can be chosen"):
        model.attach("3003", to=brick.stud[0], by="hole[0]", slide=1)
    with pytest.raises(BuildError, match=r"5 connectors of 3003 brick 2x2 fit stud\[0\]"):
        model.attach("3003", to=brick.stud[0])
    with pytest.raises(BuildError, match=r"write it like 'hole\[0\]'"):
        model.attach("3003", to=brick.stud[0], by="hole 0")
    with pytest.raises(BuildError, match="no list of connectors 'hold'"):
        model.attach("3003", to=brick.stud[0], by="hold[0]")
    with pytest.raises(BuildError, match="isn't in other"):
        Assembly("other").attach("3003", to=brick.stud[0], by="hole[0]")
    with pytest.raises(BuildError, match="isn't a connector of 3003"):
        model.attach("3003", to=brick.stud[0], by=Part("3001").hole[0])
    assert len(model.parts) == 1
    assert [c.name for c in compatible(brick.stud[0], "3005")] == ["hole[0]"]
    assert model.attach("3005", to=brick.stud[0]).pose.position.tolist() == [-30, -24, -10]


def test_pieces_join_by_the_connectors_of_their_parts() -> None:
    piece = Assembly("piece")
    foot = piece.add("3005", at(1, 0))
    head = piece.attach("3005", to=foot.stud[0])
    model = Assembly("model")
    base = model.add("3001")
    placed = model.attach(piece, to=base.stud[3], by=foot.hole[0], color="red")
    assert placed.part(foot).pose.position.tolist() == [-10, -24, 10]
    assert placed.part(head).color == 4
    assert placed.part(1).path == "piece"
    assert str(placed.part(1)) == "#1 3005 (brick 1x1) in piece at (-10, -48, 10)"
    assert [c.name for c in placed.stud] == ["stud[0]", "stud[1]"]
    model.attach("3005", to=placed.stud[1])
    assert [joint.residual_ldu for joint in connections(model)] == [0, 0, 0]
    with pytest.raises(BuildError, match="isn't a connector of"):
        model.attach(piece, to=base.stud[0], by=Part("3005").hole[0])
    with pytest.raises(BuildError, match="isn't in piece"):
        placed.part(base)


def test_members_can_be_moved_recoloured_and_removed() -> None:
    model = Assembly("m")
    first, second = model.add("3001"), model.add("3001", at(4), color="red")
    second.pose = at(5) @ second.pose
    second.color = 1
    model.remove(first)
    (part,) = model.parts
    assert (part.index, part.color, part.pose.position.tolist()) == (0, 1, [180, 0, 0])
    with pytest.raises(BuildError, match="isn't a member"):
        model.remove(first)


def test_assemblies_do_not_contain_themselves() -> None:
    inner, outer = Assembly("inner"), Assembly("outer")
    outer.add(inner)
    with pytest.raises(BuildError, match="can't be in inner"):
        inner.add(outer)
    with pytest.raises(BuildError, match="can't be in inner"):
        inner.add(inner)
    with pytest.raises(BuildError, match="can't be a name"):
        Assembly("a/b")


def test_piles_of_pieces_are_refused() -> None:
    piece = Assembly("0")
    piece.add("3005")
    for level in range(17):
        larger = Assembly(str(level + 1))
        larger.add(piece)
        larger.add(piece)
        piece = larger
    with pytest.raises(BuildError, match="more than 100,000 parts"):
        _ = piece.parts


def test_aliases_keep_their_place(wheel_catalogue: WheelCatalogue) -> None:
    known = wheel_catalogue.resolve("109")
    assert known is not None
    assert known.stem == "2910"
    model = Assembly("m")
    placed = model.add("109", at(1))
    assert placed.stem == "2910"
    assert np.array_equal(placed.pose.matrix, (at(1) @ Pose(known.pose)).matrix)
