"""Meshes in GLB files (glTF 2.0, binary): named triangles, nothing else.

A file is judged by its header and its counts before a single array is allocated. Numbers and enumerations are
those of the glTF 2.0 specification, sections 3.6 (buffers), 3.7 (meshes) and 4 (the container).
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from evalkit_lmbuild.design import Floats, Ints, Mesh
from evalkit_lmbuild.formats.errors import DesignError

MAX_TRIANGLES = 8_000_000
"""80 parts of the largest size a program may have; 0.2 GB as arrays."""
MAX_BYTES = 1 << 29
MAX_JSON_BYTES = 16 << 20
MAX_NODES = 10_000
MAX_DEPTH = 64
MAX_COORDINATE = 1e6
"""In the units of the file, whatever they are: what is beyond is a mistake of the exporter."""

_HEADER = struct.Struct("<4sII")
_CHUNK = struct.Struct("<I4s")
_MAGIC = b"glTF"
_FLOAT, _TRIANGLES = 5126, 4
_INDEX_TYPES: dict[int, np.dtype[Any]] = {5121: np.dtype("u1"), 5123: np.dtype("<u2"), 5125: np.dtype("<u4")}
_UNREADABLE = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_mesh_quantization")
_BROKEN = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)


@dataclass(frozen=True)
class _View:
    """Where an array lies in the binary chunk: `count` rows of `width` numbers, `stride` bytes apart."""

    offset: int
    stride: int
    count: int
    width: int
    dtype: np.dtype[Any]

    @property
    def end(self) -> int:
        """First byte after the last row."""
        if not self.count:
            return self.offset
        return self.offset + (self.count - 1) * self.stride + self.width * self.dtype.itemsize

    def of(self, binary: bytes) -> np.ndarray[Any, Any]:
        """The array itself, [count, width]."""
        shape, strides = (self.count, self.width), (self.stride, self.dtype.itemsize)
        return np.ndarray(shape, self.dtype, binary, self.offset, strides)


@dataclass(frozen=True)
class _Piece:
    """A primitive: where its positions and (maybe) its indices are."""

    positions: _View
    indices: _View | None

    @property
    def triangles(self) -> int:
        """How many triangles it has."""
        return (self.indices or self.positions).count // 3


def read_glb(path: Path) -> dict[str, Mesh]:
    """Meshes by the name of their node, in the file's own axes and units, with the nodes' transforms applied.

    A node without a name goes by its mesh's. Triangles without indices and several primitives per mesh are
    fine. Raises DesignError: no GLB, over 8 million triangles, compressed or external data, numbers that
    aren't finite, two nodes of one name, a node without triangles.
    """
    try:
        with path.open("rb") as file:
            return _read(file)
    except DesignError as error:
        raise DesignError(f"{path.name[:80]}: {error}") from None
    except OSError as error:
        raise DesignError(f"{path.name[:80]}: {error.strerror or 'it cannot be read'}") from None


def _read(file: BinaryIO) -> dict[str, Mesh]:
    document, length = _read_header(file)
    try:
        placed = list(_placed_meshes(document))
        pieces = {mesh: _pieces(document, mesh, length) for mesh in {mesh for _, mesh, _ in placed}}
    except DesignError:
        raise
    except _BROKEN as error:
        reason = " ".join(f"{type(error).__name__} {error}".split())[:80]
        raise DesignError(f"its structure is broken ({reason}); export it again") from None
    _check_size(placed, pieces)
    binary = file.read(length)
    found: dict[str, Mesh] = {}
    for name, mesh, matrix in placed:
        if name in found:
            raise DesignError(f"two nodes are called {name[:60]!r}; each part needs a name of its own")
        found[name] = _mesh(pieces[mesh], binary, matrix, f"node {name[:60]!r}")
    return found


def _read_header(file: BinaryIO) -> tuple[Mapping[str, Any], int]:
    """The JSON of a file, and the length of the binary chunk that the file then stands before."""
    head = file.read(_HEADER.size + _CHUNK.size)
    if len(head) < _HEADER.size + _CHUNK.size or head[:4] != _MAGIC:
        raise DesignError("it is no GLB (binary glTF) file")
    _, version, total = _HEADER.unpack_from(head)
    length, kind = _CHUNK.unpack_from(head, _HEADER.size)
    size = os.fstat(file.fileno()).st_size
    if version != 2:
        raise DesignError(f"it is glTF version {version}, only 2 can be read")
    if total > MAX_BYTES or length > MAX_JSON_BYTES:
        raise DesignError(f"it is too large ({max(total, length) >> 20} MiB); export fewer triangles")
    if kind != b"JSON" or total > size or length > size:
        raise DesignError("it is cut off or damaged; export it again")
    try:
        document = json.loads(file.read(length))
    except (ValueError, RecursionError):
        raise DesignError("its JSON chunk can't be read; export it again") from None
    chunk = file.read(_CHUNK.size)
    if not isinstance(document, dict) or len(chunk) < _CHUNK.size:
        raise DesignError("it holds no binary data; external buffers can't be read")
    length, kind = _CHUNK.unpack(chunk)
    if kind != b"BIN\0" or length > size - file.tell():
        raise DesignError("it is cut off or damaged; export it again")
    return document, length


def _placed_meshes(document: Mapping[str, Any]) -> Iterator[tuple[str, int, Floats]]:
    """Name, index of mesh and world matrix [4, 4] of each node that has a mesh, in the order of the scene."""
    for extension in document.get("extensionsRequired", ()):
        if extension in _UNREADABLE:
            raise DesignError(f"it uses {extension}; export it without compression")
    nodes = document.get("nodes", [])
    scenes = document.get("scenes", [])
    if len(nodes) > MAX_NODES:
        raise DesignError(f"it has {len(nodes):,} nodes, the limit is {MAX_NODES:,}")
    children = {child for node in nodes for child in node.get("children", ())}
    tops = [index for index in range(len(nodes)) if index not in children]
    roots = scenes[document.get("scene", 0)].get("nodes", []) if scenes else tops
    seen: set[int] = set()
    waiting = [(root, np.eye(4), 0) for root in reversed(roots)]
    while waiting:
        index, above, depth = waiting.pop()
        if index in seen or depth > MAX_DEPTH:
            raise DesignError(f"node {index} is reached twice; nodes have to form a tree")
        seen.add(index)
        node = nodes[index]
        matrix = above @ _matrix(node)
        if "mesh" in node:
            name = node.get("name") or document["meshes"][node["mesh"]].get("name") or f"node{index}"
            yield str(name), int(node["mesh"]), matrix
        waiting += [(child, matrix, depth + 1) for child in reversed(node.get("children", ()))]


def _matrix(node: Mapping[str, Any]) -> Floats:
    if "matrix" in node:
        return np.asarray(node["matrix"], dtype=np.float64).reshape(4, 4).T
    matrix = np.eye(4)
    x, y, z, w = (float(value) for value in node.get("rotation", (0, 0, 0, 1)))
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix[:3, :3] = turn * np.asarray(node.get("scale", (1, 1, 1)), dtype=np.float64)
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix


def _pieces(document: Mapping[str, Any], mesh: int, length: int) -> list[_Piece]:
    pieces = []
    for primitive in document["meshes"][mesh]["primitives"]:
        if primitive.get("mode", _TRIANGLES) != _TRIANGLES:
            raise DesignError(f"mesh {mesh} holds points, lines or strips; only triangles can be read")
        positions = _view(document, primitive["attributes"]["POSITION"], "VEC3", length)
        indices = primitive.get("indices")
        pieces.append(
            _Piece(positions, None if indices is None else _view(document, indices, "SCALAR", length))
        )
    return pieces


def _view(document: Mapping[str, Any], index: int, kind: str, length: int) -> _View:
    accessor = document["accessors"][index]
    if "sparse" in accessor or "bufferView" not in accessor:
        raise DesignError(f"accessor {index} is sparse, which can't be read; export plain arrays")
    dtype: np.dtype[Any] | None = (
        np.dtype("<f4") if kind == "VEC3" else _INDEX_TYPES.get(accessor["componentType"])
    )
    if accessor["type"] != kind or dtype is None or (kind == "VEC3" and accessor["componentType"] != _FLOAT):
        raise DesignError(f"accessor {index} has an unusual type; export float positions and integer indices")
    place = document["bufferViews"][accessor["bufferView"]]
    if place.get("buffer", 0) != 0 or "uri" in document["buffers"][0]:
        raise DesignError("it refers to an external file; export one self-contained GLB")
    width = 3 if kind == "VEC3" else 1
    offset = int(place.get("byteOffset", 0)) + int(accessor.get("byteOffset", 0))
    stride = int(place.get("byteStride", 0)) or width * dtype.itemsize
    view = _View(offset, stride, int(accessor["count"]), width, dtype)
    if offset < 0 or view.count < 0 or stride < width * dtype.itemsize or view.end > length:
        raise DesignError(f"accessor {index} reaches beyond the data; the file is damaged")
    return view


def _check_size(placed: list[tuple[str, int, Floats]], pieces: Mapping[int, list[_Piece]]) -> None:
    """Refuse too many triangles or corners, counted as often as nodes use them."""
    used = [piece for _, mesh, _ in placed for piece in pieces[mesh]]
    triangles = sum(piece.triangles for piece in used)
    if triangles > MAX_TRIANGLES:
        raise DesignError(f"it has {triangles:,} triangles, the limit is {MAX_TRIANGLES:,}; simplify it")
    corners = sum(piece.positions.count for piece in used)
    if corners > 3 * MAX_TRIANGLES:
        raise DesignError(f"it has {corners:,} vertices, the limit is {3 * MAX_TRIANGLES:,}; simplify it")
    if not placed:
        raise DesignError("it has no node with a mesh")


def _mesh(pieces: list[_Piece], binary: bytes, matrix: Floats, where: str) -> Mesh:
    """The primitives of a node as one mesh, moved by its matrix."""
    vertices: list[Floats] = []
    faces: list[Ints] = []
    before = 0
    for piece in pieces:
        points = piece.positions.of(binary).astype(np.float64)
        rows = np.arange(len(points)) if piece.indices is None else piece.indices.of(binary)[:, 0]
        if len(rows) and int(rows.max()) >= len(points):
            raise DesignError(f"a triangle of {where} names a vertex that isn't there; the file is damaged")
        corners = rows[: len(rows) // 3 * 3].astype(np.int32).reshape(-1, 3)
        vertices.append(points)
        faces.append(corners + np.int32(before))
        before += len(points)
    if not sum(map(len, faces)):
        raise DesignError(f"{where} has no triangles; leave it out or give it a mesh")
    points, corners = np.concatenate(vertices), np.concatenate(faces)
    if not np.array_equal(matrix, np.eye(4)):
        points = points @ matrix[:3, :3].T + matrix[:3, 3]
        if np.linalg.slogdet(matrix[:3, :3])[0] < 0:  # mirrored
            corners = corners[:, ::-1]
    if not (np.abs(points) <= MAX_COORDINATE).all():  # NaN fails too
        raise DesignError(f"{where} has coordinates that aren't finite or beyond ±{MAX_COORDINATE:g}")
    return Mesh(points, np.ascontiguousarray(corners))


def write_glb(meshes: Mapping[str, Mesh], path: Path) -> None:
    """Write meshes as nodes of their names, in the axes they have; positions are rounded to float32.

    Equal meshes give equal bytes. Replaces the file in one step.
    """
    names = list(meshes)
    chunks: list[bytes] = []
    views: list[dict[str, int]] = []
    accessors: list[dict[str, Any]] = []
    for name in names:
        points = np.ascontiguousarray(meshes[name].vertices, dtype="<f4")
        rows = np.ascontiguousarray(meshes[name].faces, dtype="<u4").reshape(-1)
        low, high = (corner.tolist() for corner in (points.min(axis=0), points.max(axis=0)))
        for array, target in ((points, 34962), (rows, 34963)):
            start = sum(view["byteLength"] for view in views[-1:]) + (views[-1]["byteOffset"] if views else 0)
            views.append({"buffer": 0, "byteOffset": start, "byteLength": array.nbytes, "target": target})
            chunks.append(array.tobytes())
        at = len(views) - 2
        accessors += [
            {"bufferView": at, "componentType": _FLOAT, "count": len(points), "type": "VEC3"}
            | {"min": low, "max": high},
            {"bufferView": at + 1, "componentType": 5125, "count": len(rows), "type": "SCALAR"},
        ]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(names)))}],
        "nodes": [{"name": name, "mesh": index} for index, name in enumerate(names)],
        "meshes": [
            {"name": name, "primitives": [{"attributes": {"POSITION": 2 * index}, "indices": 2 * index + 1}]}
            for index, name in enumerate(names)
        ],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": sum(map(len, chunks))}],
    }
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True).encode()
    text += b" " * (-len(text) % 4)
    binary = b"".join(chunks)
    total = _HEADER.size + 2 * _CHUNK.size + len(text) + len(binary)
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        file.write(_HEADER.pack(_MAGIC, 2, total))
        file.write(_CHUNK.pack(len(text), b"JSON") + text)
        file.write(_CHUNK.pack(len(binary), b"BIN\0") + binary)
    temporary.replace(path)
