"""A scene and a camera into a picture, or into the buffers behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evalkit.render3d._camera import Camera, look_at
from evalkit.render3d._ink import Ink, add_transparent, draw_lines, outline, resolve
from evalkit.render3d._kernel import TILE, Floats, Layer, Lens, Tiles, Window, clear
from evalkit.render3d._scene import Mesh, MeshInstance
from evalkit.render3d._triangles import draw_instance, screen_box

_MOST_SAMPLES = 16_384
#: Transparent surfaces seen one behind the other; farther ones are left out.
_PEELS = 4


@dataclass(frozen=True, slots=True)
class Light:
    """Lights that move with the camera: `ambient` reaches everything, `lamps` are (right, up, backwards,
    strength), directions towards the lamps in the camera's axes. Strengths that add up to 1 show a colour
    as it is where all of them meet it squarely."""

    ambient: float
    lamps: tuple[tuple[float, float, float, float], ...]


STUDIO = Light(0.46, ((-0.45, 0.75, 0.55, 0.50), (0.70, 0.15, 0.70, 0.32)))
"""A key light from the upper left and a weaker one from the right."""


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """What lies at the middle of each pixel [h, w]: `ids` int32 of the instance (−1: nothing) and `depth`
    float32, the distance along the line of sight in world units (inf: nothing)."""

    ids: NDArray[np.int32]
    depth: NDArray[np.float32]


def render(
    instances: Iterable[MeshInstance],
    camera: Camera,
    size: tuple[int, int],
    *,
    background: Sequence[int] = (255, 255, 255),
    supersample: int = 2,
    outlines: bool = True,
    light: Light = STUDIO,
) -> NDArray[np.uint8]:
    """The picture of a scene, uint8 [h, w, 3], for `size` = (width, height) in pixels.

    `supersample`: samples a pixel along each axis; `outlines`: ink where parts, depths or faces meet (edge
    lines of meshes are drawn in any case). Raises ValueError for ids that occur twice and for sizes that
    aren't 1 … 16,384 samples.
    """
    scene = _in_order(instances)
    width, height = _checked_size(size, supersample)
    stage = _Stage(camera, width * supersample, height * supersample, light)
    solid = [instance for instance in scene if instance.rgba[:, 3].min(initial=255) == 255]
    glassy = [instance for instance in scene if instance.rgba[:, 3].min(initial=255) < 255]
    stage.draw(solid)
    ink = np.zeros(stage.shape, np.uint8)
    if outlines:
        outline(stage.opaque, stage.lens, stage.window, ink)
    stage.draw_lines(solid, stage.opaque, ink, max(1, supersample))
    glass = stage.peel(glassy, outlines, max(1, supersample)) if glassy else np.zeros((0, 0, 4), np.uint16)
    image = np.empty((height, width, 3), np.uint8)
    red, green, blue = (int(value) for value in background)
    resolve(stage.opaque, ink, glass, np.uint32(red << 16 | green << 8 | blue), image)
    return image


def buffers(instances: Iterable[MeshInstance], camera: Camera, size: tuple[int, int]) -> Buffers:
    """Which instance is at the middle of each pixel and how far; transparent ones count as opaque.

    Raises ValueError as `render` does.
    """
    scene = _in_order(instances)
    width, height = _checked_size(size, 1)
    stage = _Stage(camera, width, height, STUDIO)
    stage.draw(scene)
    nearness = stage.opaque.nearness
    hit = stage.opaque.ident >= 0
    depth = np.full(nearness.shape, np.inf, np.float32)
    depth[hit] = 1.0 / nearness[hit] if stage.lens.perspective else -nearness[hit]
    return Buffers(stage.opaque.ident, depth)


def warm() -> None:
    """Compile everything, or load it from numba's cache (folder: NUMBA_CACHE_DIR)."""
    triangle = Mesh([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]], edges=[[0, 1]])
    scene = [MeshInstance(triangle, 0), MeshInstance(triangle, 1, colour=(0, 0, 0, 90))]
    render(scene, look_at((0.0, -5.0, 0.0), (0.0, 0.0, 0.0)), (4, 4))


class _Stage:
    """One view being drawn: the lens, the opaque layer and its coarse depths."""

    def __init__(self, camera: Camera, width: int, height: int, light: Light) -> None:
        self.shape = (height, width)
        self.lens = _lens(camera, width, height)
        self.window = Window(0, 0, width, height)
        self.opaque = _new_layer(self.shape)
        clear(self.opaque, self.window, -math.inf)
        self._tiles = _new_tiles(self.shape)
        self._view = np.vstack([camera.axes.T, -(camera.axes @ camera.eye)]).T
        self._lights = _light_rows(light)

    def draw(self, instances: Iterable[MeshInstance]) -> None:
        """Draw opaque instances, from front to back so that most of what is hidden can be skipped."""
        for matrix, instance in self._front_to_back(instances):
            self._draw_one(matrix, instance, self.opaque, self._tiles, self.opaque, peel=False)

    def draw_lines(self, instances: Iterable[MeshInstance], layer: Layer, ink: Ink, thickness: int) -> None:
        """Ink the edge lines of instances where nothing in `layer` hides them."""
        for instance in instances:
            if len(instance.mesh.lines):
                matrix = self._placed(instance)
                draw_lines(instance.mesh.lines, matrix, instance.id, thickness, self.lens, layer, ink)

    def peel(self, instances: Sequence[MeshInstance], outlines: bool, thickness: int) -> NDArray[np.uint16]:
        """Gather transparent surfaces from front to back; returns what `add_transparent` fills."""
        glass = np.zeros((*self.shape, 4), np.uint16)
        window = self._window_around(instances)
        previous, layer = _new_layer(self.shape), _new_layer(self.shape)
        clear(previous, window, math.inf)
        placed = self._front_to_back(instances)
        for peeled in range(_PEELS):
            clear(layer, window, -math.inf)
            tiles = _new_tiles(self.shape)
            for matrix, instance in placed:
                self._draw_one(matrix, instance, layer, tiles, previous, peel=True)
            ink = np.zeros(self.shape, np.uint8)
            if peeled == 0:
                if outlines:
                    outline(layer, self.lens, window, ink)
                self.draw_lines(instances, layer, ink, thickness)
            if not add_transparent(layer, window, ink, glass):
                break
            previous, layer = layer, previous
        return glass

    def _window_around(self, instances: Iterable[MeshInstance]) -> Window:
        """The part of the picture that instances may reach; what lies outside costs nothing."""
        height, width = self.shape
        boxes = [
            screen_box(instance.mesh.box, self._placed(instance), self.lens, width, height)[:4]
            for instance in instances
        ]
        seen = [box for box in boxes if box[0] <= box[2] and box[1] <= box[3]]
        if not seen:
            return Window(0, 0, 0, 0)
        left, top = (min(box[side] for box in seen) // TILE * TILE for side in (0, 1))
        right, bottom = (max(box[side] for box in seen) // TILE * TILE + TILE for side in (2, 3))
        return Window(left, top, min(right, width), min(bottom, height))

    def _draw_one(
        self,
        matrix: Floats,
        instance: MeshInstance,
        layer: Layer,
        tiles: Tiles,
        previous: Layer,
        *,
        peel: bool,
    ) -> None:
        mesh = instance.mesh
        draw_instance(
            mesh.vertices, mesh.triangles, instance.rgba, mesh.box, matrix, instance.id, instance.closed,
            self.lens, self._lights, layer, tiles, self.opaque, self._tiles, previous, peel,
        )  # fmt: skip

    def _front_to_back(self, instances: Iterable[MeshInstance]) -> list[tuple[Floats, MeshInstance]]:
        """Instances with their matrices by the depth of their middles."""
        placed = [(self._placed(instance), instance) for instance in instances]
        return sorted(placed, key=lambda pair: (-_middle_z(*pair), pair[1].id))

    def _placed(self, instance: MeshInstance) -> Floats:
        """[3, 4]: from the mesh into camera space."""
        return np.ascontiguousarray(self._view @ instance.pose)


def _lens(camera: Camera, width: int, height: int) -> Lens:
    if camera.fov_deg is None:
        return Lens(False, height / camera.height, width / 2.0, height / 2.0, camera.near)
    focal = height / 2.0 / math.tan(math.radians(camera.fov_deg) / 2.0)
    return Lens(True, focal, width / 2.0, height / 2.0, camera.near)


def _light_rows(light: Light) -> Floats:
    rows = np.array([*light.lamps, (0.0, 0.0, 0.0, light.ambient)], dtype=np.float64)
    rows[:-1, :3] /= np.linalg.norm(rows[:-1, :3], axis=1, keepdims=True)
    return rows


def _middle_z(matrix: Floats, instance: MeshInstance) -> float:
    return float(matrix[2, :3] @ instance.mesh.box.mean(axis=0) + matrix[2, 3])


def _new_layer(shape: tuple[int, int]) -> Layer:
    colour, normal = np.empty(shape, np.uint32), np.empty(shape, np.uint32)
    return Layer(np.empty(shape, np.float32), np.empty(shape, np.int32), colour, normal)


def _new_tiles(shape: tuple[int, int]) -> Tiles:
    coarse = (-(-shape[0] // TILE), -(-shape[1] // TILE))
    return Tiles(np.full(coarse, -np.inf, np.float32), np.zeros(coarse, np.bool_))


def _in_order(instances: Iterable[MeshInstance]) -> list[MeshInstance]:
    scene = sorted(instances, key=lambda instance: instance.id)
    twice = [a.id for a, b in pairwise(scene) if a.id == b.id]
    if twice:
        raise ValueError(f"id {twice[0]} is used by more than one instance; give each its own")
    return scene


def _checked_size(size: tuple[int, int], supersample: int) -> tuple[int, int]:
    width, height = size
    if supersample < 1 or not all(1 <= side * supersample <= _MOST_SAMPLES for side in (width, height)):
        raise ValueError(
            f"size {width}×{height} at supersample {supersample}: "
            f"each side must have 1 … {_MOST_SAMPLES} samples"
        )
    return width, height
