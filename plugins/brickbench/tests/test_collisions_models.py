"""Collisions of real parts: sweeps of bricks, a hand-made wall, real models with known pairs."""

import json
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.collisions import BRICKBENCH, BRICKNET_0_1_0, Profile, VerdictStore, collide
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.parts.meshes import BricklayerMeshes, bricklayer_meshes
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Scene

HERE = Path(__file__).parent
MODELS = (
    "10214-1 - Tower Bridge.mpd",
    "21022-1 - Lincoln Memorial.mpd",
    "40448 - Vintage Car.mpd",
    "6066 - Camouflaged Outpost.mpd",
    "6887-1 - Allied Avenger.mpd",
    "7784 - The Batmobile Ult_V1hXfMw.mpd",
    "928-1 - Galaxy Explorer.mpd",
)


@pytest.fixture(scope="module")
def meshes() -> BricklayerMeshes:
    found = bricklayer_meshes()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def store() -> VerdictStore:
    return VerdictStore(None)


def two(stem: str, offset: np.ndarray) -> Scene:
    return Scene(
        (stem, stem),
        np.zeros(2, dtype=np.int32),
        np.array([np.eye(3)] * 2),
        np.array([np.zeros(3), offset]),
        ("", ""),
        np.zeros(2, dtype=np.int32),
    )


@pytest.mark.parametrize(
    ("stem", "size"), [("3001", (80, 24, 40)), ("3024", (20, 8, 20)), ("3070b", (20, 8, 20))]
)
@pytest.mark.parametrize("axis", range(3))
def test_two_equal_parts_collide_from_just_beyond_one_ldu(
    meshes: BricklayerMeshes, store: VerdictStore, stem: str, size: tuple[int, int, int], axis: int
) -> None:
    for overlap in (0.0, 0.55, 0.95, 1.0, 1.05, 1.5):
        offset = np.zeros(3)
        offset[axis] = size[axis] - overlap
        assert len(collide(two(stem, offset), meshes, None, BRICKBENCH, store)) == (overlap > 1.0), overlap


@pytest.mark.parametrize(("axis", "size"), [(0, 80), (2, 40)])
def test_two_bricks_collide_from_just_beyond_half_an_ldu_in_the_other_profile(
    meshes: BricklayerMeshes, store: VerdictStore, axis: int, size: int
) -> None:
    for overlap in (0.0, 0.5, 0.55, 1.0):
        offset = np.zeros(3)
        offset[axis] = size - overlap
        assert len(collide(two("3001", offset), meshes, None, BRICKNET_0_1_0, store)) == (overlap > 0.5), (
            overlap
        )


def test_a_brick_on_studs_may_be_off_by_the_depth_of_the_profile(
    meshes: BricklayerMeshes, store: VerdictStore
) -> None:
    for profile in (BRICKBENCH, BRICKNET_0_1_0):
        for off in (0.0, 0.2, 0.5, 0.55, 1.0, 1.05, 4.0, 10.0):
            found = collide(two("3001", np.array([off, 24, 0])), meshes, None, profile, store)
            assert len(found) == (off > profile.depth_ldu), (profile.name, off)


@pytest.mark.parametrize("profile", [BRICKBENCH, BRICKNET_0_1_0], ids=lambda profile: profile.name)
def test_the_faults_of_a_small_wall(meshes: BricklayerMeshes, store: VerdictStore, profile: Profile) -> None:
    scene, _ = read_scene(HERE / "data" / "collisions" / "wall.ldr")
    found = collide(scene, meshes, None, profile, store)
    # The plate sinks into the second brick and meets the third; 3003 stands twice, once turned by 90°.
    assert found.pairs.tolist() == [[1, 3], [4, 5]]
    assert found.kinds == ("surface", "duplicate")
    assert found.without_mesh == ()


@pytest.mark.parametrize("name", MODELS)
def test_pairs_of_real_models_are_those_known(
    shared_data: Path,
    wheel_catalogue: WheelCatalogue,
    meshes: BricklayerMeshes,
    store: VerdictStore,
    name: str,
) -> None:
    truth = json.loads((shared_data / "brickbench" / "collision_truth.json").read_text("utf-8"))
    assert sorted(truth) == sorted(MODELS)
    scene, _ = read_scene(shared_data / "brickbench" / "models" / name)
    known = np.array([i for i, stem in enumerate(scene.stems) if wheel_catalogue.resolve(stem) is not None])
    assert len(known) == truth[name]["known"]
    found = collide(scene, meshes, wheel_catalogue, BRICKNET_0_1_0, store)
    among_known = [pair for pair in found.pairs.tolist() if set(pair) <= set(known.tolist())]
    expected = sorted(sorted(known[pair].tolist()) for pair in truth[name]["pairs_list"])
    assert among_known == expected
    # What overlaps by one LDU overlaps by half of one.
    deep = collide(scene, meshes, wheel_catalogue, BRICKBENCH, store)
    assert [pair for pair in deep.pairs.tolist() if pair not in found.pairs.tolist()] == []
