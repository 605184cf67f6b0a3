"""The small catalogue against the large one, and its solids."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit_brickbench.parts.small import ALIASES, PARTS, SmallCatalogue
from evalkit_brickbench.parts.small_meshes import SmallMeshes
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Mesh

STEMS = sorted(PARTS)


def test_a_brick_by_hand() -> None:
    catalogue = SmallCatalogue()
    brick = catalogue.connectors("3004")
    assert brick.subtypes == ("bar", "hole", "hole", "post", "stud", "stud")
    assert brick.origins.tolist() == [
        [0, 14, 0],
        [-10, 24, 0],
        [10, 24, 0],
        [0, 24, 0],
        [-10, 0, 0],
        [10, 0, 0],
    ]
    assert brick.extras.tolist() == [10, 0, 0, 0, 0, 0]
    assert catalogue.title("3004") == "brick 1x2"


def test_names() -> None:
    catalogue = SmallCatalogue()
    resolved = catalogue.resolve("3023")
    assert resolved is not None
    assert resolved.stem == "3023b"
    assert catalogue.resolve("no-such-part") is None
    assert catalogue.title("no-such-part") is None
    assert catalogue.bounds("no-such-part") is None
    with pytest.raises(KeyError):
        catalogue.connectors("no-such-part")


@pytest.mark.parametrize("stem", STEMS)
def test_connectors_and_bounds_equal_the_large_catalogue(stem: str, wheel_catalogue: WheelCatalogue) -> None:
    ours, theirs = SmallCatalogue().connectors(stem), wheel_catalogue.connectors(stem)
    assert ours.subtypes == theirs.subtypes
    for name in ("kinds", "polarities", "origins", "frames", "extras"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(SmallCatalogue().bounds(stem), wheel_catalogue.bounds(stem))


@pytest.mark.parametrize("stem", sorted(ALIASES))
def test_aliases_equal_the_large_catalogue(stem: str, wheel_catalogue: WheelCatalogue) -> None:
    ours, theirs = SmallCatalogue().resolve(stem), wheel_catalogue.resolve(stem)
    assert ours is not None
    assert theirs is not None
    assert ours.stem == theirs.stem
    np.testing.assert_array_equal(ours.pose, theirs.pose)


def _volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_volumes_of_simple_solids() -> None:
    meshes = SmallMeshes()
    stud = 4 * 8 * 36 * np.sin(np.pi / 8)  # a prism of sixteen sides: half the sine of 22.5° for each
    volumes = {
        "3070b": 20 * 20 * 8 - 12 * 12 * 4,
        "3005": 20 * 20 * 24 - 12 * 12 * 20 + stud,
        "3001": 80 * 40 * 24 - 72 * 32 * 20 + 8 * stud,
        "3705": 79 * (12 * 4 * 2 - 4 * 4),
        # The 45° face takes away a prism of 20 × 20 / 2.
        "3040b": 20 * 40 * 24 - 20 * 20 * 20 / 2 - 12 * 32 * 6 + stud,
    }
    for stem, volume in volumes.items():
        mesh = meshes.mesh(stem)
        assert mesh is not None
        assert _volume(mesh) == pytest.approx(volume), stem


@pytest.mark.parametrize("stem", [stem for stem in STEMS if PARTS[stem].shape not in ("technic", "bush")])
def test_solids_are_closed_and_fill_their_bounds(stem: str) -> None:
    mesh = SmallMeshes().mesh(stem)
    assert mesh is not None
    edges = mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    forward = sorted(map(tuple, edges.tolist()))
    assert len(set(forward)) == len(forward)
    assert forward == sorted((b, a) for a, b in forward)
    corners = [mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)]
    np.testing.assert_allclose(corners, SmallCatalogue().bounds(stem), atol=1e-9)
    assert mesh.inset_ldu == 0.0


def test_parts_without_a_solid() -> None:
    assert SmallMeshes().mesh("3713") is None
    assert SmallMeshes().mesh("no-such-part") is None
