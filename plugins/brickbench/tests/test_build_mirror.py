"""Mirrored assemblies: the geometry is the reflection, and what was joined stays joined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from evalkit_brickbench.build import Assembly, BuildError, at, clashes, connections, move, spin
from evalkit_brickbench.build._pose import Axis
from evalkit_brickbench.build._symmetry import own_reflection
from evalkit_brickbench.parts.providers import providers
from evalkit_brickbench.parts.wheels import WheelCatalogue

pytestmark = pytest.mark.usefixtures("wheel_catalogue")

FURTHEST_LDU, MEAN_LDU = 2.0, 0.05
"""How well vertices agree: each mesh is inset by itself, and that of 2780 isn't quite symmetric."""


def _vertices(model: Assembly) -> np.ndarray:
    meshes = providers().meshes
    clouds = []
    for part in model.parts:
        mesh = meshes.mesh(part.stem)
        assert mesh is not None
        clouds.append(part.pose.apply(mesh.vertices))
    return np.concatenate(clouds)


def _side() -> Assembly:
    """A lopsided piece: a wing, a slope turned about two axes, a pin, a piece within."""
    detail = Assembly("detail")
    plate = detail.add("3022", color="blue")
    detail.attach("3024", to=plate.stud[0], by="hole[0]", color="yellow")
    side = Assembly("side")
    wing = side.add("41769", at(-3, 1), color="white")
    side.attach(detail, to=wing.stud[0], by=plate.hole[1], yaw=90)
    side.add("3040b", at(4, 4, 2) @ spin(35) @ spin(20, "x"), color="red")
    beam = side.add("32316", at(9, 0) @ spin(15))
    side.attach("2780", to=beam.socket[4], by="pin[0]", color="black")
    side.add(detail, at(-9, 2) @ spin(50), color="green")
    return side


@pytest.mark.parametrize(("axis", "plane"), [("x", 0.0), ("x", 25.0), ("y", -10.0), ("z", 7.0)])
def test_geometry_is_the_reflection(axis: Axis, plane: float) -> None:
    side = _side()
    image = side.mirror(axis, plane, "other side")
    assert image.name == "other side"
    assert all(np.linalg.det(part.pose.rotation) > 0.999 for part in image.parts)
    row = "xyz".index(axis)
    expected = _vertices(side)
    expected[:, row] = 2 * plane - expected[:, row]
    found = _vertices(image)
    for one, other in ((expected, found), (found, expected)):
        distances = cKDTree(other).query(one)[0]
        assert distances.max() < FURTHEST_LDU
        assert distances.mean() < MEAN_LDU


def test_parts_become_their_counterparts_and_keep_colours() -> None:
    image = _side().mirror()
    assert [part.stem for part in image.parts] == [
        "41770",
        "3022",
        "3024",
        "3040b",
        "32316",
        "2780",
        "3022",
        "3024",
    ]
    assert [part.color for part in image.parts] == [part.color for part in _side().parts]
    names = [member.assembly.name for member in image.members if member.assembly is not None]
    assert names == ["detail mirrored", "detail mirrored"]
    within = [member.assembly for member in image.members if member.assembly is not None]
    assert within[0] is within[1]


def test_joints_stay_exact() -> None:
    side = _side()
    image = side.mirror("z", 3)
    before, after = connections(side), connections(image)
    assert len(before) == len(after) >= 3
    assert max(joint.residual_ldu for joint in after) < 1e-8
    assert not clashes(image)


def test_mirroring_twice_gives_the_same_again() -> None:
    side = _side()
    again = side.mirror("x", 5).mirror("x", 5)
    for one, other in zip(side.parts, again.parts, strict=True):
        assert one.stem == other.stem
        assert np.allclose(one.pose.matrix, other.pose.matrix, atol=0.06)


@pytest.mark.parametrize("stem", ["87087", "6005", "3811", "3641"])
def test_symmetric_parts_beside_the_data_are_their_own_image(
    wheel_catalogue: WheelCatalogue, stem: str
) -> None:
    assert wheel_catalogue.mirror_image(stem) is None
    model = Assembly("symmetric")
    model.add(stem, move(7, 3, 1) @ spin(25))
    image = model.mirror("z", 4)
    assert image.parts[0].stem == stem
    expected, found = _vertices(model), _vertices(image)
    expected[:, 2] = 8 - expected[:, 2]
    distances = cKDTree(found).query(expected)[0]
    assert distances.max() < FURTHEST_LDU
    at_ends = [{tuple(np.round(c.position, 3) + 0.0) for c in m.connectors} for m in (model, image)]
    assert {(x, y, round(8 - z, 3)) for x, y, z in at_ends[0]} == at_ends[1]


@pytest.mark.parametrize("stem", ["41769", "43722", "3188", "50304", "3818"])
def test_left_and_right_parts_are_not_taken_for_symmetric(stem: str) -> None:
    assert own_reflection(stem) is None


@pytest.mark.parametrize("stem", ["6126a", "30414"])
def test_parts_without_a_mirror_image_are_named(stem: str) -> None:
    model = Assembly("odd")
    model.add(stem, move(1))
    with pytest.raises(BuildError, match=f"no mirror image is known of {stem} "):
        model.mirror()
    with pytest.raises(BuildError, match="no mirror at 'w'"):
        model.mirror("w")  # type: ignore[arg-type]


def test_images_without_some_connectors_are_read(wheel_catalogue: WheelCatalogue) -> None:
    image = wheel_catalogue.mirror_image("10124")  # some connectors of its image are missing
    assert image is not None
    assert -1 in image.connectors
