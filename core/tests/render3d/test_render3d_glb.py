"""GLB files: against the rules of glTF 2.0, and loaded again by trimesh."""

from __future__ import annotations

import io
import json
import struct
from typing import Any

import numpy as np
import pytest
from render3d_scenes import cube, moved, sphere

from evalkit.render3d import Mesh, MeshInstance, bounds, glb

_COMPONENTS = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def scene() -> list[MeshInstance]:
    brick, ball = cube(edges=True), sphere(1.0, 6)
    per_triangle = np.tile([[255, 0, 0, 255], [0, 0, 255, 128]], (6, 1))
    return [
        MeshInstance(brick, 0, moved(0, 0, 0), (201, 26, 9), name="red"),
        MeshInstance(brick, 1, moved(2, 0, 0), (201, 26, 9)),
        MeshInstance(brick, 2, moved(4, 0, 0), (0, 85, 191, 100)),
        MeshInstance(ball, 3, moved(0, 3, 1, 2.0), (201, 26, 9)),
        MeshInstance(cube(), 4, moved(0, 0, 5), per_triangle),
        MeshInstance(Mesh([], []), 5, name="nothing"),
    ]


def parse(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The document and the binary chunk, after checking header, lengths and padding."""
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    assert length % 4 == 0
    chunks, at = [], 12
    while at < length:
        size, kind = struct.unpack_from("<I4s", data, at)
        assert size % 4 == 0
        chunks.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    assert at == length
    assert [kind for kind, _ in chunks] == [b"JSON", b"BIN\0"][: len(chunks)]
    return json.loads(chunks[0][1]), chunks[1][1] if len(chunks) > 1 else b""


def values(document: dict[str, Any], binary: bytes, index: int) -> np.ndarray:
    accessor = document["accessors"][index]
    view = document["bufferViews"][accessor["bufferView"]]
    width = _WIDTH[accessor["type"]]
    flat = np.frombuffer(
        binary, _COMPONENTS[accessor["componentType"]], accessor["count"] * width, view["byteOffset"]
    )
    return flat.reshape(-1, width)


def test_the_document_keeps_the_rules_of_gltf() -> None:
    document, binary = parse(glb(scene()))
    assert document["asset"]["version"] == "2.0"
    assert len(document["buffers"]) == 1
    assert 0 <= len(binary) - document["buffers"][0]["byteLength"] < 4
    end = 0
    for view in document["bufferViews"]:
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] >= end
        end = view["byteOffset"] + view["byteLength"]
    assert end <= document["buffers"][0]["byteLength"]
    for index, accessor in enumerate(document["accessors"]):
        numbers = values(document, binary, index)
        view = document["bufferViews"][accessor["bufferView"]]
        assert numbers.nbytes == view["byteLength"]
        if accessor["type"] == "VEC3":
            assert accessor["min"] == numbers.min(axis=0).tolist()
            assert accessor["max"] == numbers.max(axis=0).tolist()
            assert view["target"] == 34962
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            points = document["accessors"][primitive["attributes"]["POSITION"]]
            assert 0 <= primitive["material"] < len(document["materials"])
            if "indices" in primitive:
                indices = values(document, binary, primitive["indices"])
                assert indices.max() < points["count"]
                view = document["bufferViews"][document["accessors"][primitive["indices"]]["bufferView"]]
                assert view["target"] == 34963
    roots = document["scenes"][document["scene"]]["nodes"]
    children = [child for node in document["nodes"] for child in node.get("children", [])]
    assert sorted(roots + children) == list(range(len(document["nodes"]))), "a tree: every node once"
    assert all(len(node["matrix"]) == 16 and node["matrix"][15] == 1 for node in document["nodes"])


def test_geometry_and_materials_are_shared() -> None:
    document, _ = parse(glb(scene()))
    nodes = {node["extras"]["id"]: node for node in document["nodes"] if "extras" in node}
    assert [nodes[i]["name"] for i in (0, 1, 5)] == ["red", "part 1", "nothing"]
    assert nodes[0]["mesh"] == nodes[1]["mesh"] != nodes[2]["mesh"]
    assert "mesh" not in nodes[5]
    red, blue, ball, mixed = (document["meshes"][nodes[i]["mesh"]]["primitives"] for i in (0, 2, 3, 4))
    assert red[0]["attributes"] == blue[0]["attributes"]
    assert red[0]["indices"] == blue[0]["indices"]
    assert red[0]["material"] == ball[0]["material"] != blue[0]["material"]
    assert red[1]["mode"] == 1, "edge lines"
    assert "COLOR_0" in mixed[0]["attributes"]
    assert document["materials"][blue[0]["material"]]["alphaMode"] == "BLEND"


def test_another_instance_costs_a_node_and_no_geometry() -> None:
    ball = sphere(1.0, 20)
    one, hundred = (len(glb([MeshInstance(ball, i, moved(i)) for i in range(n)])) for n in (1, 100))
    assert one > 14_000
    assert hundred - one < 99 * 200


def test_colours_are_linear() -> None:
    document, _ = parse(glb([MeshInstance(cube(), 0, colour=(188, 0, 255, 51))]))
    factor = document["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"]
    assert factor == pytest.approx([0.5029, 0.0, 1.0, 0.2], abs=1e-3)


@pytest.mark.parametrize(
    ("up", "expected"),
    [((0, 0, 1), lambda p: p[:, [0, 2, 1]] * [1, 1, -1]), ((0, -1, 0), lambda p: p * [1, -1, -1])],
)
def test_trimesh_loads_it_where_it_belongs(up: tuple[int, int, int], expected: Any) -> None:
    trimesh = pytest.importorskip("trimesh", reason="trimesh is a development tool")
    solid = [
        instance for instance in scene() if len(instance.mesh.triangles) and not len(instance.mesh.lines)
    ]
    loaded = trimesh.load(io.BytesIO(glb(solid, up=up, unit_m=0.001)), file_type="glb", force="scene")
    box = expected(bounds(solid)) * 0.001
    assert np.allclose(loaded.bounds, [box.min(axis=0), box.max(axis=0)], atol=1e-7)
    triangles = sum(len(geometry.faces) for geometry in loaded.dump())
    assert triangles == sum(len(instance.mesh.triangles) for instance in solid)
    volume = sum(abs(geometry.volume) for geometry in loaded.dump())
    ball = solid[0].mesh
    assert volume == pytest.approx(
        (1.0 + 8.0 * trimesh.Trimesh(ball.vertices, ball.triangles).volume) * 1e-9, rel=1e-3
    )


def test_the_order_of_the_instances_does_not_matter() -> None:
    parts = scene()
    assert glb(parts) == glb(parts[::-1])


def test_many_vertices_get_wide_indices() -> None:
    strip = np.column_stack([np.arange(70_000.0), np.arange(70_000) % 2, np.zeros(70_000)])
    document, binary = parse(glb([MeshInstance(Mesh(strip, [[0, 1, 69_999]]), 0)]))
    assert values(document, binary, document["meshes"][0]["primitives"][0]["indices"]).max() == 69_999


def test_an_empty_scene_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        glb([])
