"""Pictures of a model, headless and the same to the bit: eight views, what is at fault, a GLB file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evalkit import Artifact, Candidate, Task
from evalkit.render3d import Mesh, MeshInstance, bounds, glb, grid, highlighted, orbit, png, render
from evalkit_brickbench.designs import look
from evalkit_brickbench.inspection import Inspection, Reading, Tools, meshes_for, tools
from evalkit_brickbench.ldraw.colours import Palette, palette_of
from evalkit_brickbench.ldraw.geometry import GeometryReader
from evalkit_brickbench.ldraw.lines import EDGE_COLOUR, MAIN_COLOUR
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.parts.catalogue import resolved_scene
from evalkit_brickbench.scene import Floats
from evalkit_brickbench.settings import settings_of

VIEWS = 8
VIEW_PX = 1024
SHEET_PX = 512
FIRST_YAW_DEG, PITCH_DEG, FOV_DEG, MARGIN = 5.0, -15.0, 15.0, 1.05
UP = (0.0, -1.0, 0.0)
LDU_M = 0.0004

COLLIDING = (214, 39, 40)
MOVING = (255, 127, 14)
UNDETERMINED = (148, 103, 189)
BACKGROUND = 255


def yaw_deg(view: int) -> float:
    """The direction of a view: 0 is (almost) the front, each further one 45° to the right."""
    return FIRST_YAW_DEG + view * 360.0 / VIEWS


def instances(found: Reading) -> list[MeshInstance]:
    """Every part that has a mesh, in its colour; ids are the indices of the parts."""
    kit = tools(found.protocol)
    shapes = _Shapes(found, kit)
    scene = resolved_scene(found.scene, kit.providers.catalogue)
    placed = []
    for index, stem in enumerate(scene.stems):
        mesh = shapes.mesh(stem)
        if mesh is None:
            continue
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = scene.matrices[index], scene.positions[index]
        name = f"{index} {found.scene.stems[index]}"
        placed.append(MeshInstance(mesh, index, pose, shapes.colours(stem, int(scene.colours[index])), name))
    return placed


class _Shapes:
    """Meshes with their edges and colours, by stem: with prints where they come from LDraw files."""

    def __init__(self, found: Reading, kit: Tools) -> None:
        self._palette: Palette = palette_of(kit.library)
        self._meshes = meshes_for(found.scene, kit)
        self._reader = None if kit.library is None else GeometryReader(kit.library, found.scene.embedded)
        self._made: dict[str, Mesh | None] = {}
        self._codes: dict[str, Any] = {}

    def mesh(self, stem: str) -> Mesh | None:
        """The mesh of a part, None if there is none."""
        if stem not in self._made:
            self._made[stem] = self._printed(stem) or self._plain(stem)
        return self._made[stem]

    def colours(self, stem: str, code: int) -> Any:
        """RGBA of a part in a colour: one, or one for each triangle of a printed part."""
        rgba = self._rgba(code)
        codes = self._codes.get(stem)
        if codes is None:
            return rgba
        table = {own: self._rgba(own) for own in np.unique(codes).tolist()}
        table[MAIN_COLOUR] = rgba
        table[EDGE_COLOUR] = (*self._palette.colour(code).edge, 255)
        return np.array([table[own] for own in codes.tolist()], np.uint8)

    def _rgba(self, code: int) -> tuple[int, int, int, int]:
        colour = self._palette.colour(code)
        return (*colour.rgb, colour.alpha)

    def _printed(self, stem: str) -> Mesh | None:
        try:
            geometry = None if self._reader is None else self._reader.geometry(stem)
        except LDrawError:
            return None  # the inspection names such parts
        if geometry is None or not len(geometry.triangles):
            return None
        if (geometry.colours != MAIN_COLOUR).any():
            self._codes[stem] = geometry.colours
        return Mesh(geometry.vertices, geometry.triangles, geometry.edges)

    def _plain(self, stem: str) -> Mesh | None:
        mesh = self._meshes.mesh(stem)
        return None if mesh is None else Mesh(mesh.vertices, mesh.triangles)


def at_fault(found: Inspection) -> dict[int, tuple[int, int, int]]:
    """Colours of the parts that make the model invalid: those that collide, and components that move."""
    marked: dict[int, tuple[int, int, int]] = {}
    if found.stability is not None:
        open_clusters = (cluster for cluster in found.stability.clusters if cluster.stable is None)
        for label in (label for cluster in open_clusters for label in cluster.components):
            marked |= dict.fromkeys(np.flatnonzero(found.components.labels == label).tolist(), UNDETERMINED)
        for motion in found.stability.moving:
            parts = np.flatnonzero(found.components.labels == motion.component)
            marked |= dict.fromkeys(parts.tolist(), MOVING)
    if found.collisions is not None:
        marked |= dict.fromkeys(np.unique(found.collisions.pairs).tolist(), COLLIDING)
    return marked


def draw(scene: list[MeshInstance], view: int, size_px: int, box: Floats | None = None) -> Any:
    """One of the eight views as pixels [size, size, 3]; `box` [2, 3] is what is framed."""
    camera = orbit(
        bounds(scene) if box is None else box,
        yaw_deg=yaw_deg(view),
        pitch_deg=PITCH_DEG,
        fov_deg=FOV_DEG,
        margin=MARGIN,
        up=UP,
    )
    return render(scene, camera, (size_px, size_px))


def views(found: Reading, size_px: int = VIEW_PX) -> list[Artifact]:
    """The eight views that judges see, as PNG files."""
    scene = instances(found)
    if not scene:
        return []
    return [_picture(f"view-{view}.png", draw(scene, view, size_px)) for view in range(VIEWS)]


def sheet(found: Inspection) -> list[Artifact]:
    """Four sides on one sheet; where something is at fault, that in colour and the rest faded, below."""
    scene = instances(found)
    if not scene:
        return []
    shown = range(0, VIEWS, 2)
    tiles = [draw(scene, view, SHEET_PX) for view in shown]
    labels = [f"{yaw_deg(view):g}°" for view in shown]
    present = {instance.id for instance in scene}
    marked = {index: colour for index, colour in at_fault(found).items() if index in present}
    if marked:
        tiles += [_marked(scene, marked, view) for view in shown]
        kinds = {COLLIDING: "colliding", MOVING: "moving", UNDETERMINED: "undetermined"}
        named = ", ".join(kinds[colour] for colour in kinds if colour in marked.values())
        labels += [named] * len(shown)
    return [_picture("sheet.png", grid(tiles, len(shown), labels))]


def _marked(scene: list[MeshInstance], marked: Mapping[int, tuple[int, int, int]], view: int) -> Any:
    """A view with the marked parts in colour and the rest faded; what is hidden shines through."""
    box = bounds(scene)
    faded = highlighted(scene, marked)
    whole = draw(faded, view, SHEET_PX, box).astype(np.uint16)
    alone = draw([part for part in faded if part.id in marked], view, SHEET_PX, box).astype(np.uint16)
    covered = (alone != BACKGROUND).any(axis=2, keepdims=True)
    return np.where(covered, (whole + alone) // 2, whole).astype(np.uint8)


def all_pictures(task: Task, candidate: Candidate, settings: Mapping[str, Any]) -> list[Artifact]:
    """What `evalkit try -o` writes: the views, the sheet, a GLB file (metres, +y up)."""
    found = look(candidate, settings_of(settings), stand=True)
    scene = instances(found)
    if not scene:
        return []
    model = Artifact("model.glb", glb(scene, up=UP, unit_m=LDU_M), "model/gltf-binary")
    return [*views(found), *sheet(found), model]


def _picture(name: str, pixels: Any) -> Artifact:
    return Artifact(name, png(pixels), "image/png")
