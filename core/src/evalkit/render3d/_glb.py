"""A scene as a GLB file (glTF 2.0, binary), for viewers on the web and on the desk."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.render3d._camera import upright
from evalkit.render3d._scene import Mesh, MeshInstance

_FLOAT, _UINT16, _UINT32 = 5126, 5123, 5125
_VERTICES, _INDICES = 34962, 34963
_LINES, _TRIANGLES = 1, 4
_INK = (40, 40, 40, 255)


def glb(instances: Iterable[MeshInstance], *, up: ArrayLike = (0.0, 0.0, 1.0), unit_m: float = 1.0) -> bytes:
    """The scene as a GLB file: one node for each instance, named and with its id in `extras`.

    Geometry is stored once for each mesh, a material once for each colour; colours of single triangles become
    vertex colours of a mesh of its own. The root turns `up` to +y and the front to +z, and scales one unit of
    the scene to `unit_m` metres, as glTF wants it. There are no normals, which means flat shading. Equal
    scenes give equal bytes, whatever the order of the instances. Raises ValueError for an empty scene.
    """
    scene = sorted(instances, key=lambda instance: instance.id)
    if not scene:
        raise ValueError("an empty scene can't be written as GLB")
    writer = _Writer()
    nodes = [writer.node(instance) for instance in scene]
    root = np.eye(4)
    root[:3, :3] = upright(up) * unit_m
    nodes.append({"name": "scene", "children": list(range(len(nodes))), "matrix": _column_major(root)})
    document = {
        "asset": {"version": "2.0", "generator": "evalkit"},
        "scene": 0,
        "scenes": [{"nodes": [len(nodes) - 1]}],
        "nodes": nodes,
        **writer.tables(),
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return _container(text.encode(), bytes(writer.binary))


class _Writer:
    """Collects the parts of a file; whatever is asked for twice is stored once."""

    def __init__(self) -> None:
        self.binary = bytearray()
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._materials: list[dict[str, Any]] = []
        self._meshes: list[dict[str, Any]] = []
        self._known: dict[tuple[object, ...], int] = {}

    def node(self, instance: MeshInstance) -> dict[str, Any]:
        """The node of an instance; without a mesh if there is nothing to draw."""
        node: dict[str, Any] = {
            "name": instance.name or f"part {instance.id}",
            "matrix": _column_major(instance.pose),
            "extras": {"id": instance.id},
        }
        if len(instance.mesh.triangles) or len(instance.mesh.lines):
            node["mesh"] = self._mesh(instance)
        return node

    def tables(self) -> dict[str, Any]:
        """The lists of the document that hold something; glTF allows no empty ones."""
        lists = {
            "meshes": self._meshes,
            "materials": self._materials,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self.binary)}] if self.binary else [],
        }
        return {name: entries for name, entries in lists.items() if entries}

    def _mesh(self, instance: MeshInstance) -> int:
        rgba = instance.rgba
        return self._once(
            ("mesh", id(instance.mesh), rgba.tobytes()),
            lambda: _append(self._meshes, {"primitives": self._primitives(instance.mesh, rgba)}),
        )

    def _primitives(self, mesh: Mesh, rgba: NDArray[np.uint8]) -> list[dict[str, Any]]:
        primitives = []
        if len(mesh.triangles) and len(rgba) == 1:
            primitives.append(
                {
                    "mode": _TRIANGLES,
                    "attributes": {"POSITION": self._positions(("vertices", id(mesh)), mesh.vertices)},
                    "indices": self._once(("triangles", id(mesh)), lambda: self._indices(mesh)),
                    "material": self._material(rgba[0]),
                }
            )
        elif len(mesh.triangles):
            veil = np.array([255, 255, 255, rgba[:, 3].min()], np.uint8)
            corners = mesh.vertices[mesh.triangles].reshape(-1, 3)
            colours = _linear(np.repeat(rgba, 3, axis=0))
            primitives.append(
                {
                    "mode": _TRIANGLES,
                    "attributes": {
                        "POSITION": self._positions(("corners", id(mesh)), corners),
                        "COLOR_0": self._accessor(colours, "VEC4", _VERTICES, _FLOAT),
                    },
                    "material": self._material(veil, tint=False),
                }
            )
        if len(mesh.lines):
            ends = mesh.lines.reshape(-1, 3)
            primitives.append(
                {
                    "mode": _LINES,
                    "attributes": {"POSITION": self._positions(("lines", id(mesh)), ends)},
                    "material": self._material(np.array(_INK, np.uint8)),
                }
            )
        return primitives

    def _material(self, rgba: NDArray[np.uint8], *, tint: bool = True) -> int:
        """A dull, two-sided material; with `tint=False` alpha comes from the vertices alone."""
        factor = [float(value) for value in _linear(rgba[None])[0]] if tint else [1.0, 1.0, 1.0, 1.0]
        dull = {"baseColorFactor": factor, "metallicFactor": 0.0, "roughnessFactor": 0.6}
        material: dict[str, Any] = {"doubleSided": True, "pbrMetallicRoughness": dull}
        if rgba[3] < 255:
            material["alphaMode"] = "BLEND"
        return self._once(("material", rgba.tobytes(), tint), lambda: _append(self._materials, material))

    def _positions(self, key: tuple[object, ...], points: NDArray[np.float64]) -> int:
        return self._once(key, lambda: self._accessor(points.astype("<f4"), "VEC3", _VERTICES, _FLOAT))

    def _indices(self, mesh: Mesh) -> int:
        # 65535 is kept for restarting primitives.
        small = len(mesh.vertices) <= 65_535
        flat = mesh.triangles.reshape(-1).astype("<u2" if small else "<u4")
        return self._accessor(flat, "SCALAR", _INDICES, _UINT16 if small else _UINT32)

    def _accessor(self, values: NDArray[Any], kind: str, target: int, component: int) -> int:
        self.binary.extend(bytes(-len(self.binary) % 4))
        view = {
            "buffer": 0,
            "byteOffset": len(self.binary),
            "byteLength": values.nbytes,
            "target": target,
        }
        self.binary.extend(values.tobytes())
        accessor: dict[str, Any] = {
            "bufferView": _append(self._views, view),
            "componentType": component,
            "count": len(values),
            "type": kind,
        }
        if kind == "VEC3":
            accessor["min"] = [float(value) for value in values.min(axis=0)]
            accessor["max"] = [float(value) for value in values.max(axis=0)]
        return _append(self._accessors, accessor)

    def _once(self, key: tuple[object, ...], make: Callable[[], int]) -> int:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]


def _append(entries: list[dict[str, Any]], entry: dict[str, Any]) -> int:
    entries.append(entry)
    return len(entries) - 1


def _linear(rgba: NDArray[np.uint8]) -> NDArray[np.float32]:
    """sRGB 0–255 to the linear 0–1 that glTF keeps colours in (IEC 61966-2-1)."""
    values = rgba.astype(np.float64) / 255.0
    encoded = values[:, :3]
    values[:, :3] = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return values.astype("<f4")


def _column_major(matrix: NDArray[np.float64]) -> list[float]:
    return [float(value) for value in (matrix + 0.0).T.reshape(-1)]


def _container(document: bytes, binary: bytes) -> bytes:
    """Header and chunks, each padded to four bytes (glTF 2.0, section 4.4)."""
    document += b" " * (-len(document) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<I4s", len(document), b"JSON") + document
    if binary:
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
