"""Pictures of designs: views, clay, coloured parts, the exploded sheet, joints in motion, the catalogue.

All functions give PNG files; equal designs give equal pixels on one platform. Views look from the front (−y)
unless their name says otherwise.
"""

from __future__ import annotations

import colorsys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evalkit.render3d import Camera, MeshInstance, bounds, grid, orbit, png, render
from evalkit.render3d import Mesh as DrawnMesh
from evalkit_lmbuild.design import Design, Floats, Joint, Mesh, Part

VIEW_PX = 448
THUMBNAIL_PX = 256
SHEET_PX = 192
EXPLODED = (0.6, 0.6, 0.9)
"""How far parts move apart: times the offset of their centre from the design's."""
STRIP_POSES = 5
CLAY = (176, 170, 160)
FADED = (214, 214, 214)
_GOLDEN = 0.618033988749895

VIEWS: Mapping[str, tuple[float, float, float | None]] = {
    "cond": (30.0, -18.0, 24.0),
    "iso": (45.0, -35.264, None),
    "front": (0.0, 0.0, None),
    "side": (90.0, 0.0, None),
    "back_iso": (225.0, -35.264, None),
    "top": (0.0, -90.0, None),
}
"""Yaw and pitch in degrees, angle of view in degrees (None: parallel projection)."""

Pixels = np.ndarray
Colour = tuple[int, int, int]


def part_colours(design: Design) -> dict[str, Colour]:
    """A colour of its own for each part, by its place in the design; hues by the golden ratio."""
    colours = {}
    for number, part in enumerate(design.parts):
        hue = (0.58 + number * _GOLDEN) % 1.0
        saturation, value = (0.55, 0.92) if number % 3 else (0.75, 0.78)
        red, green, blue = colorsys.hsv_to_rgb(hue, saturation, value)
        colours[part.id] = (round(red * 255), round(green * 255), round(blue * 255))
    return colours


def view(design: Design, name: str, *, size_px: int = VIEW_PX, clay: bool = False) -> bytes:
    """One view, parts coloured or all of clay; KeyError for an unknown view."""
    return png(_view(_instances(design, _colours(design, clay)), name, size_px))


def all_views(design: Design, *, clay: bool = False, size_px: int = VIEW_PX) -> bytes:
    """The six views on one sheet."""
    scene = _instances(design, _colours(design, clay))
    return png(grid([_view(scene, name, size_px) for name in VIEWS], 3, list(VIEWS)))


def agent_grid(design: Design, views: Sequence[str], size_px: int = VIEW_PX) -> bytes:
    """What `render` shows: the views with their names, and which colour is which part."""
    colours = part_colours(design)
    scene = _instances(design, colours)
    lowest, highest = design.bounds
    extent = " x ".join(f"{value:.3f}" for value in highest - lowest)
    labels = [f"{name} ({_axes(name)})" for name in views]
    sheet = grid([_view(scene, name, size_px) for name in views], min(2, len(views)), labels)
    return png(_with_legend(sheet, colours, f"{len(design.parts)} parts, {extent} m"))


def judge_sheet(design: Design, size_px: int = VIEW_PX) -> bytes:
    """Coloured parts, put together and exploded, from the front and from behind."""
    colours = part_colours(design)
    whole, apart = _instances(design, colours), _instances(exploded(design), colours)
    pictures = [_view(scene, name, size_px) for scene in (whole, apart) for name in ("iso", "back_iso")]
    return png(grid(pictures, 2, ["assembled", "assembled, behind", "exploded", "exploded, behind"]))


def exploded(design: Design) -> Design:
    """The design with its parts moved away from its centre."""
    lowest, highest = design.bounds
    centre = (lowest + highest) / 2

    def moved(part: Part) -> Part:
        low, high = part.world.bounds
        x, y, z = (np.asarray(part.position) + np.multiply(EXPLODED, (low + high) / 2 - centre)).tolist()
        return replace(part, position=(x, y, z))

    return replace(design, parts=tuple(moved(part) for part in design.parts))


def joint_strip(design: Design, joint: Joint, moving: Collection[str], size_px: int = 256) -> bytes:
    """Five poses from the lower to the upper limit, what moves coloured; ValueError without an axis."""
    if joint.axis is None or joint.origin is None:
        raise ValueError(f"joint {joint.id!r} has no axis and origin to move about")
    colours = {part.id: (230, 126, 34) if part.id in moving else FADED for part in design.parts}
    still = _instances(design, colours)
    values = np.linspace(*_range(design, joint), STRIP_POSES)
    poses = [_posed(still, design, moving, _motion(joint, float(value))) for value in values]
    frame = np.array([bounds(pose) for pose in poses])
    box = np.array([frame[:, 0].min(axis=0), frame[:, 1].max(axis=0)])
    camera = _camera(box, "iso")
    unit = "m" if joint.type in ("prismatic", "cylindrical") else "rad"
    pictures = [render(pose, camera, (size_px, size_px)) for pose in poses]
    return png(grid(pictures, STRIP_POSES, [f"{value:+.2f} {unit}" for value in values]))


def thumbnail(mesh: Mesh) -> bytes:
    """A part by itself."""
    return png(_view([_instance(mesh, 0, CLAY)], "iso", THUMBNAIL_PX))


def catalogue_sheet(parts: Iterable[tuple[str, Mesh]]) -> bytes:
    """Parts of the catalogue, each with its id and its extents in millimetres."""
    pictures, labels = [], []
    for part, mesh in parts:
        pictures.append(_view([_instance(mesh, 0, CLAY)], "iso", SHEET_PX))
        labels.append(f"{part[:16]}  {'x'.join(f'{extent * 1000:.0f}' for extent in mesh.size)}")
    return png(grid(pictures, min(5, len(pictures)), labels))


def _colours(design: Design, clay: bool) -> Mapping[str, Colour]:
    return dict.fromkeys(design.by_id, CLAY) if clay else part_colours(design)


def _instances(design: Design, colours: Mapping[str, Colour]) -> list[MeshInstance]:
    return [_instance(part.world, number, colours[part.id]) for number, part in enumerate(design.parts)]


def _instance(mesh: Mesh, number: int, colour: Colour) -> MeshInstance:
    return MeshInstance(DrawnMesh(mesh.vertices, mesh.faces), number, None, colour)


def _view(scene: Sequence[MeshInstance], name: str, size_px: int) -> Pixels:
    if not scene:
        return np.full((size_px, size_px, 3), 255, np.uint8)
    return render(scene, _camera(bounds(scene), name), (size_px, size_px))


def _camera(box: Floats, name: str) -> Camera:
    yaw, pitch, fov = VIEWS[name]
    return orbit(box, yaw_deg=yaw, pitch_deg=pitch, fov_deg=fov, margin=1.1)


def _axes(view: str) -> str:
    """What points right and up in a view, for whoever reads coordinates off it."""
    flat = {"front": "+x right, +z up", "side": "+y right, +z up", "top": "+x right, +y up"}
    return flat.get(view, "from behind" if view == "back_iso" else "from the front right, above")


def _range(design: Design, joint: Joint) -> tuple[float, float]:
    """The limits, or a span that shows the motion where there are none."""
    if joint.limits is not None:
        return joint.limits
    if joint.type in ("prismatic", "cylindrical"):
        return (0.0, 0.2 * float(design.by_id[joint.child].world.size.max()))
    return (0.0, 2 * np.pi * (STRIP_POSES - 1) / STRIP_POSES if joint.type == "continuous" else np.pi / 2)


def _motion(joint: Joint, value: float) -> Floats:
    """The transform [4, 4] of what moves, by `value` rad about the axis or m along it."""
    assert joint.axis is not None
    assert joint.origin is not None
    axis, origin = np.asarray(joint.axis), np.asarray(joint.origin)
    matrix = np.eye(4)
    if joint.type in ("prismatic", "cylindrical"):
        matrix[:3, 3] = axis * value
        return matrix
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn = np.eye(3) + np.sin(value) * cross + (1 - np.cos(value)) * (cross @ cross)
    matrix[:3, :3], matrix[:3, 3] = turn, origin - turn @ origin
    return matrix


def _posed(
    still: Sequence[MeshInstance], design: Design, moving: Collection[str], motion: Floats
) -> list[MeshInstance]:
    return [
        replace(instance, matrix=motion) if part.id in moving else instance
        for part, instance in zip(design.parts, still, strict=True)
    ]


def _with_legend(sheet: Pixels, colours: Mapping[str, Colour], caption: str) -> Pixels:
    """The sheet with a line about the whole and a swatch for each part below it."""
    from PIL import Image, ImageDraw, ImageFont

    font: Any = ImageFont.load_default(13)
    width = sheet.shape[1]
    columns = max(1, width // 148)
    rows = -(-len(colours) // columns)
    below = Image.new("RGB", (width, 26 + rows * 18 + 6), (255, 255, 255))
    draw = ImageDraw.Draw(below)
    draw.text((8, 6), caption, fill=(0, 0, 0), font=font)
    for number, (part, colour) in enumerate(colours.items()):
        x, y = 8 + (number % columns) * 148, 26 + (number // columns) * 18
        draw.rectangle((x, y + 2, x + 12, y + 14), fill=colour, outline=(60, 60, 60))
        draw.text((x + 18, y), part if len(part) <= 17 else f"{part[:16]}…", fill=(0, 0, 0), font=font)
    return np.concatenate([sheet, np.asarray(below, dtype=np.uint8)])
