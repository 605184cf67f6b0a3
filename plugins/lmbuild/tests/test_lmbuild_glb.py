"""GLB files: round trips, agreement with trimesh, and what is refused before it is read."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from evalkit_lmbuild.csg import compile_program
from evalkit_lmbuild.design import Mesh
from evalkit_lmbuild.formats import DesignError, read_glb, write_glb


@pytest.fixture(scope="module")
def torus() -> Mesh:
    node = {"id": "a", "op": "torus", "major": 0.05, "minor": 0.01}
    return compile_program({"nodes": [node], "output": "a"}).mesh


@pytest.fixture(scope="module")
def box() -> Mesh:
    node = {"id": "a", "op": "box", "size": [0.1, 0.2, 0.3]}
    return compile_program({"nodes": [node], "output": "a"}).mesh


def test_round_trip_keeps_names_faces_and_float32_positions(tmp_path: Path, torus: Mesh, box: Mesh) -> None:
    write_glb({"ring": torus, "box": box}, tmp_path / "a.glb")
    read = read_glb(tmp_path / "a.glb")
    assert list(read) == ["ring", "box"]
    assert np.array_equal(read["ring"].faces, torus.faces)
    assert np.array_equal(read["ring"].vertices, torus.vertices.astype(np.float32).astype(np.float64))
    write_glb(read, tmp_path / "b.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_trimesh_reads_what_is_written(tmp_path: Path, torus: Mesh) -> None:
    write_glb({"ring": torus}, tmp_path / "a.glb")
    scene = trimesh.load_scene(tmp_path / "a.glb")
    assert list(scene.graph.nodes_geometry) == ["ring"]
    assert scene.to_mesh().volume == pytest.approx(9.8134e-5, rel=1e-4)


def test_what_trimesh_writes_is_read_with_its_transforms(tmp_path: Path) -> None:
    scene = trimesh.Scene()
    turn = trimesh.transformations.rotation_matrix(0.7, [1, 2, 3], [0.1, 0, 0])
    part = trimesh.creation.box((0.1, 0.2, 0.3))
    scene.add_geometry(part, node_name="first", geom_name="shape")
    scene.add_geometry(part, node_name="second", geom_name="shape", transform=turn)
    scene.export(tmp_path / "a.glb")
    read = read_glb(tmp_path / "a.glb")
    assert sorted(read) == ["first", "second"]
    expected = trimesh.transform_points(part.vertices, turn)
    found = read["second"].vertices
    assert np.allclose(np.sort(found, axis=0), np.sort(expected, axis=0), atol=1e-7)


def _rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the JSON of a GLB, leaving its binary chunk."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    change(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = (
        b"glTF" + struct.pack("<II", 2, 20 + len(text) + len(rest)) + struct.pack("<I", len(text)) + b"JSON"
    )
    path.write_bytes(head + text + rest)


def test_transforms_of_parents_and_mirrors(tmp_path: Path, box: Mesh) -> None:
    path = tmp_path / "a.glb"
    write_glb({"box": box}, path)

    def nest(document: dict[str, Any]) -> None:
        half = 0.5**0.5
        document["nodes"][0] |= {"scale": [-1, 1, 1], "translation": [0, 0, 1]}
        document["nodes"].append({"children": [0], "rotation": [half, 0, 0, half]})  # 90° about x
        document["scenes"][0]["nodes"] = [1]

    _rewritten(path, nest)
    mesh = read_glb(path)["box"]
    assert mesh.bounds[0] == pytest.approx([-0.05, -1.15, -0.1])
    assert mesh.bounds[1] == pytest.approx([0.05, -0.85, 0.1])
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).volume == pytest.approx(0.006)


def _set(*where: object, value: object) -> Callable[[dict[str, Any]], None]:
    def change(document: Any) -> None:
        for key in where[:-1]:
            document = document[key]
        document[where[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("accessors", 1, "count", value=30_000_000), "reaches beyond the data"),
        (_set("accessors", 0, "byteOffset", value=-4), "reaches beyond the data"),
        (_set("accessors", 0, "count", value=-1), "reaches beyond the data"),
        (_set("accessors", 0, "type", value="VEC2"), "unusual type"),
        (_set("accessors", 0, "componentType", value=5123), "unusual type"),
        (_set("accessors", 0, "sparse", value={}), "sparse"),
        (_set("meshes", 0, "primitives", 0, "mode", value=1), "only triangles"),
        (_set("meshes", 0, "primitives", 0, "attributes", value={}), "structure is broken"),
        (_set("meshes", 0, "primitives", value=[]), "no triangles"),
        (_set("nodes", value=[{"name": "a", "children": [0]}]), "form a tree"),
        (_set("nodes", value=[]), "structure is broken"),
        (_set("scenes", 0, "nodes", value=[]), "no node with a mesh"),
        (_set("nodes", 0, "matrix", value=[1, 2]), "structure is broken"),
        (_set("buffers", 0, "uri", value="a.bin"), "external file"),
        (_set("extensionsRequired", value=["KHR_draco_mesh_compression"]), "without compression"),
        (_set("nodes", 0, "scale", value=[1e200, 1e200, 1e200]), "finite"),
    ],
)
def test_broken_structures_are_named(
    tmp_path: Path, box: Mesh, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    path = tmp_path / "a.glb"
    write_glb({"box": box}, path)
    _rewritten(path, change)
    with pytest.raises(DesignError, match=words) as caught:
        read_glb(path)
    assert str(caught.value).startswith("a.glb: ")
    assert "\n" not in str(caught.value)


def test_ten_million_triangles_are_refused_by_their_count(tmp_path: Path) -> None:
    """The file is sparse on disk; reading its triangles would take 120 MB and seconds."""
    path = tmp_path / "huge.glb"
    views = [{"buffer": 0, "byteOffset": 0, "byteLength": 36}, {"buffer": 0, "byteLength": 120_000_000}]
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"name": "a", "mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 30_000_000, "type": "SCALAR"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": 120_000_000}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    with path.open("wb") as file:
        file.write(b"glTF" + struct.pack("<III", 2, 28 + len(text) + 120_000_000, len(text)) + b"JSON" + text)
        file.write(struct.pack("<I", 120_000_000) + b"BIN\0")
        file.truncate(28 + len(text) + 120_000_000)
    with pytest.raises(DesignError, match="10,000,000 triangles, the limit is 8,000,000"):
        read_glb(path)


def test_instances_count_as_often_as_they_are_used(tmp_path: Path, torus: Mesh) -> None:
    path = tmp_path / "a.glb"
    write_glb({"ring": torus}, path)
    _rewritten(path, lambda document: document["scenes"].clear())
    many = [{"name": f"n{i}", "mesh": 0} for i in range(2000)]
    _rewritten(path, _set("nodes", value=many))
    with pytest.raises(DesignError, match="9,216,000 triangles"):
        read_glb(path)


def test_bad_numbers_and_bad_containers(tmp_path: Path, box: Mesh) -> None:
    path = tmp_path / "a.glb"
    broken = box.vertices.copy()
    broken[3, 1] = np.nan
    write_glb({"box": Mesh(broken, box.faces)}, path)
    with pytest.raises(DesignError, match="node 'box' has coordinates that aren't finite"):
        read_glb(path)
    write_glb({"box": Mesh(box.vertices, box.faces + 1)}, path)
    with pytest.raises(DesignError, match="names a vertex that isn't there"):
        read_glb(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DesignError, match="cut off"):
        read_glb(path)
    path.write_bytes(b"solid cube")
    with pytest.raises(DesignError, match="no GLB"):
        read_glb(path)
    with pytest.raises(DesignError, match=r"b\.glb: No such file"):
        read_glb(tmp_path / "b.glb")


def test_two_nodes_of_one_name(tmp_path: Path, box: Mesh) -> None:
    path = tmp_path / "a.glb"
    write_glb({"box": box, "lid": box}, path)
    _rewritten(path, _set("nodes", 1, "name", value="box"))
    with pytest.raises(DesignError, match="two nodes are called 'box'"):
        read_glb(path)
