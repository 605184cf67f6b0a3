"""Measuring, describing, checking and drawing assemblies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.build import (
    Assembly,
    BuildError,
    Part,
    at,
    check,
    clashes,
    connections,
    connectors,
    describe,
    measure,
    move,
    name,
    parts,
    spin,
    view,
)

pytestmark = pytest.mark.usefixtures("wheel_catalogue")


def test_measure_boxes() -> None:
    assert measure("3001").size == (80, 28, 40)
    assert measure(Part("3001")).low == (-40, -4, -20)
    model = Assembly("m")
    turned = model.add("3001", at(2, 0, 3) @ spin(90))
    assert measure(turned).low == (20, -28, -40)
    assert measure(turned).middle == (40, -14, 0)
    model.add("3001")
    assert measure(model).size == (100, 52, 80)
    assert str(measure("3001")) == "80 x 28 x 40 LDU (4 x 2 studs, 3.5 plates high with its studs)"
    with pytest.raises(BuildError, match="has no parts to measure"):
        measure(Assembly("empty"))


def test_measure_distances() -> None:
    model = Assembly("m")
    one, other = model.add("3001"), model.add("3001", move(100, -24, 3))
    found = measure(one, other)
    assert found.offset == (100, -24, 3)
    assert found.gap == (20, -4, -37)
    assert found.length == pytest.approx((100**2 + 24**2 + 9) ** 0.5)
    assert found.angle_deg is None
    assert measure(one.stud[0], other.stud[0]).angle_deg == 0
    assert measure(one.stud[0], model.add("3001", spin(90, "x")).stud[0]).angle_deg == pytest.approx(90)


def test_describe() -> None:
    assert describe("3001").splitlines() == [
        "3001 brick 2x4",
        "size: 80 x 28 x 40 LDU (4 x 2 studs, 3.5 plates high with its studs)",
        "connectors: 8 stud, 8 hole, 3 tube",
    ]
    model = Assembly("m")
    brick = model.add("3001", color="red")
    model.add("3001", at(4), color="red")
    assert describe(model).splitlines()[0] == "m: 2 parts in 2 members"
    assert describe(model).splitlines()[2] == "  2 x 3001 brick 2x4, colour 4"
    assert describe(brick.stud[0]).splitlines() == [
        "stud[0] of 3001: stud at (-30, 0, -10), axis (0, -1, 0)",
        "fits hole, tube; free to choose: yaw",
    ]
    assert "fits hinge_on of type 9; free to choose: flip, yaw" in describe(Part("60616a").hinge_in[0])
    assert "fits axle, bar; free to choose: flip, yaw, slide" in describe(Part("3713").cross[0])
    assert len(connectors("3001")) == 19
    assert name(brick) == "brick 2x4"
    assert [str(part) for part in parts(model)][1] == "#1 3001 (brick 2x4) at (80, 0, 0)"


def test_connections_name_parts_and_connectors() -> None:
    model = Assembly("m")
    base = model.add("3001")
    model.add("3003", at(-1, 0, 3) @ move(x=1))
    joints = connections(model)
    assert [joint.one_connector for joint in joints] == ["stud[0]", "stud[1]", "stud[2]", "stud[3]"]
    assert {joint.family for joint in joints} == {"stud"}
    assert all(joint.residual_ldu == pytest.approx(1) for joint in joints)
    assert all(joint.one.chain[-1] is base for joint in joints)


def test_clashes_depend_on_the_profile() -> None:
    model = Assembly("m")
    one = model.add("3001")
    other = model.add("3001", move(y=-24 + 0.7))
    assert not clashes(model)
    (clash,) = clashes(model, "bricknet-0.1.0")
    assert (clash.one.chain[-1], clash.other.chain[-1]) == (one, other)
    assert clash.kind == "surface"
    other.pose = move(y=-20)
    assert len(clashes(model)) == 1
    assert "boxes share" in str(clashes(model)[0])
    other.pose = move()
    assert clashes(model)[0].kind == "duplicate"


def test_check_tells_what_is_wrong() -> None:
    model = Assembly("m")
    model.add("3001", color="red")
    model.add("3001", at(0, 0, 3), color="blue")
    good = check(model)
    assert good.ok
    assert good.stable
    assert len(good.components) == 1
    assert "2 parts of 1 kind, 1 component" in str(good)
    high = model.add("3001", at(0, 0, 12))
    bad = check(model)
    assert not bad.ok
    assert bad.stable is False
    assert bad.components[1][0].chain[-1] is high
    assert "in the air" in bad.text
    high.pose = at(0, 0, 4)
    assert [clash.other.chain[-1] for clash in check(model).clashes] == [high]
    with pytest.raises(BuildError, match="has no parts"):
        check(Assembly("empty"))


def test_view_draws(tmp_path: Path) -> None:
    from PIL import Image

    model = Assembly("m")
    model.add("3001", color="red")
    sheet = Image.open(view(model, tmp_path / "sheet.png"))
    assert sheet.width > sheet.height
    front = Image.open(view(model, tmp_path / "front.png", side=0, size_px=128))
    assert front.size == (128, 128)
    red, green, blue = (np.asarray(front.convert("RGB"))[..., band].astype(int) for band in range(3))
    assert ((red > 100) & (red > 2 * green) & (red > 2 * blue)).sum() > 1000
    with pytest.raises(BuildError, match="no side 8"):
        view(model, tmp_path / "x.png", side=8)
