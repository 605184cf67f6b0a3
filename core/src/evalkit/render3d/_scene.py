"""What is drawn: meshes, and instances that place them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

A = TypeVar("A", bound=NDArray[Any])
Floats = NDArray[np.float64]
Colour = Sequence[int]
"""RGB or RGBA, 0–255."""

#: Coordinates beyond this would leave the range in which pictures can be computed.
LARGEST = 1e12
_GREY = (160, 165, 169)


class Mesh:
    """A triangle mesh that any number of instances share.

    `vertices` [n, 3] in any unit, up to 1e12; `triangles` [m, 3] vertex indices, counter-clockwise seen from
    outside if the mesh has an outside; `edges`: lines to draw, as vertex pairs [k, 2] or end points
    [k, 2, 3]. Arrays of the right type are kept, not copied. Raises ValueError with what is wrong.
    """

    __slots__ = ("box", "lines", "triangles", "vertices")

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, edges: ArrayLike | None = None) -> None:
        points: Floats = np.ascontiguousarray(vertices, dtype=np.float64)
        points = points if points.size else np.zeros((0, 3))
        if points.ndim != 2 or points.shape[1] != 3:
            raise ValueError(f"vertices must be [n, 3], not {list(points.shape)}")
        check_numbers(points, "vertices")
        corners = _indices(triangles, 3, "triangles")
        _check_range(corners, len(points), "triangles")
        lines = _lines(edges, points)
        everything = np.concatenate([points, lines.reshape(-1, 3)])
        extent = [everything.min(axis=0), everything.max(axis=0)] if len(everything) else np.zeros((2, 3))
        self.vertices: Floats = _frozen(points)
        self.triangles: NDArray[np.int32] = _frozen(corners)
        self.lines: Floats = _frozen(lines)
        self.box: Floats = _frozen(np.array(extent))
        """[2, 3]: lowest and highest coordinates of vertices and lines."""


@dataclass(frozen=True, slots=True, eq=False)
class MeshInstance:
    """A mesh, placed and coloured.

    `id`: 0 … 2³¹−1, one of its own for each instance of a scene: pixels are attributed to it, and of two
    surfaces at the same depth the lower id is seen. `matrix` [4, 4] takes the mesh into the world (affine;
    scale, shear and reflection are fine). `colour`: RGB or RGBA 0–255 for the whole, or [m, 3 or 4] for
    each triangle; alpha below 255 lets through what is behind. `closed` says that the surface has no holes
    and faces outwards, so that its back needn't be drawn. Raises ValueError with what is wrong.
    """

    mesh: Mesh
    id: int
    matrix: ArrayLike | None = None
    colour: Colour | NDArray[np.integer] = _GREY
    name: str = ""
    closed: bool = False
    pose: Floats = field(init=False)
    """[4, 4]: `matrix` as an array."""
    rgba: NDArray[np.uint8] = field(init=False)
    """[1, 4] for the whole, or [m, 4] with one row for each triangle."""

    def __post_init__(self) -> None:
        if not 0 <= self.id < 2**31:
            raise ValueError(f"id must be in 0 … 2³¹−1, not {self.id}")
        placed = np.eye(4) if self.matrix is None else np.array(self.matrix, dtype=np.float64)
        if placed.shape != (4, 4) or list(placed[3]) != [0, 0, 0, 1]:
            raise ValueError(f"instance {self.id}: matrix must be 4×4 with last row 0 0 0 1")
        check_numbers(placed, f"instance {self.id}: matrix")
        object.__setattr__(self, "pose", placed)
        object.__setattr__(self, "rgba", self._colours())

    def _colours(self) -> NDArray[np.uint8]:
        raw = np.asarray(self.colour)
        rows = raw.reshape(1, -1) if raw.ndim == 1 else raw
        if rows.ndim != 2 or rows.shape[1] not in (3, 4) or len(rows) not in (1, len(self.mesh.triangles)):
            raise ValueError(
                f"instance {self.id}: colour must be RGB(A) or one RGB(A) for each of the "
                f"{len(self.mesh.triangles)} triangles, not of shape {raw.shape}"
            )
        if rows.size and (rows.min() < 0 or rows.max() > 255):
            raise ValueError(f"instance {self.id}: colour values must be in 0 … 255")
        rgba = np.full((len(rows), 4), 255, np.uint8)
        rgba[:, : rows.shape[1]] = rows
        return _frozen(rgba)


def bounds(instances: Iterable[MeshInstance]) -> Floats:
    """[2, 3]: a box around all instances in the world (around their boxes; exact where nothing is turned).

    Raises ValueError if there is no instance.
    """
    boxes = [_placed_box(instance) for instance in instances]
    if not boxes:
        raise ValueError("an empty scene has no bounds")
    stacked = np.array(boxes)
    return np.array([stacked[:, 0].min(axis=0), stacked[:, 1].max(axis=0)])


def highlighted(
    instances: Iterable[MeshInstance],
    colours: Mapping[int, Colour],
    *,
    dim: float = 0.7,
    rest_alpha: int = 255,
) -> list[MeshInstance]:
    """The scene with some instances in a colour of their own, by id, and the others faded.

    `dim`: how far the others go towards light grey, 0 … 1; `rest_alpha` below 255 makes them see-through as
    well, so that something inside can be seen. Raises ValueError for an id that isn't in the scene.
    """
    scene = list(instances)
    unknown = sorted(set(colours) - {instance.id for instance in scene})
    if unknown:
        raise ValueError(f"no instance has the id {unknown[0]} that is to be highlighted")
    return [
        replace(instance, colour=colours[instance.id])
        if instance.id in colours
        else replace(instance, colour=_faded(instance.rgba, dim, rest_alpha))
        for instance in scene
    ]


def corners(box: Floats) -> Floats:
    """[8, 3]: the corners of a box [2, 3]."""
    return np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def _frozen(array: A) -> A:
    """A read-only view. All arrays of a scene are read-only because numba compiles those separately."""
    view = array.view()
    view.flags.writeable = False
    return view


def check_numbers(values: Floats, what: str) -> None:
    """ValueError unless all numbers are finite and of a size that can be drawn."""
    if not (np.abs(values) <= LARGEST).all():
        raise ValueError(f"{what}: every number must be finite and at most {LARGEST:g}")


def _placed_box(instance: MeshInstance) -> Floats:
    matrix = instance.pose
    points = corners(instance.mesh.box) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.array([points.min(axis=0), points.max(axis=0)])


def _faded(rgba: NDArray[np.uint8], dim: float, alpha: int) -> NDArray[np.uint8]:
    faded = rgba.astype(np.float64)
    luminance = faded[:, :3] @ np.array([0.299, 0.587, 0.114])
    pale = 190.0 + luminance * (45.0 / 255.0)
    faded[:, :3] += (pale[:, None] - faded[:, :3]) * dim
    faded[:, 3] = np.minimum(faded[:, 3], alpha)
    return np.rint(faded).astype(np.uint8)


def _indices(values: ArrayLike, columns: int, what: str) -> NDArray[np.int32]:
    raw = np.asarray(values)
    if raw.size == 0:
        return np.zeros((0, columns), np.int32)
    if raw.ndim != 2 or raw.shape[1] != columns or not np.issubdtype(raw.dtype, np.integer):
        raise ValueError(f"{what} must be integers [k, {columns}], not {raw.dtype} {raw.shape}")
    return np.ascontiguousarray(raw, dtype=np.int32)


def _check_range(indices: NDArray[np.int32], n_vertices: int, what: str) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= n_vertices):
        raise ValueError(f"{what} must refer to vertices 0 … {n_vertices - 1}")


def _lines(edges: ArrayLike | None, vertices: Floats) -> Floats:
    if edges is None:
        return np.zeros((0, 2, 3))
    raw = np.asarray(edges)
    if raw.ndim == 3 and raw.shape[1:] == (2, 3):
        lines = np.ascontiguousarray(raw, dtype=np.float64)
        check_numbers(lines, "edges")
        return lines
    pairs = _indices(raw, 2, "edges")
    _check_range(pairs, len(vertices), "edges")
    return np.ascontiguousarray(vertices[pairs])
