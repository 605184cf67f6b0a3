"""Outlines, edge lines, and samples into pixels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evalkit.render3d._kernel import (
    Floats,
    Layer,
    Lens,
    Window,
    compiled,
    depth_step,
    project,
    world_per_sample,
)

Ink = NDArray[np.uint8]

#: Strength of the ink, 0 … 255.
_PART = 230
_CREASE = 120
_LINE = 200
#: Faces that meet at more than this angle show a crease; facets of a 16-sided cylinder (22.5°) don't.
_CREASE_COS = math.cos(math.radians(32.0))
#: A jump in depth by more than this many samples' width, beyond the slope of the surface, is an outline.
_JUMP = 6.0
#: A line may lie this many samples' width behind a surface and is still seen: on its own part, on others.
_OWN_BIAS = 8.0
_OTHER_BIAS = 1.0
#: Darker colours get light ink.
_DARK = 34


@compiled
def outline(layer: Layer, lens: Lens, window: Window, ink: Ink) -> None:
    """Ink samples where the part changes, where the surface jumps in depth, and at creases."""
    nearness, ident, normal = layer.nearness, layer.ident, layer.normal
    left, top, right, bottom = window
    # A bend that means a jump in depth, as share of the nearness (perspective) or as it is.
    share = _JUMP / lens.focal if lens.perspective else 0.0
    fixed = 0.0 if lens.perspective else _JUMP / lens.focal
    for y in range(top, bottom):
        above, below = max(y - 1, top), min(y + 1, bottom - 1)
        for x in range(left, right):
            before, after = max(x - 1, left), min(x + 1, right - 1)
            here = ident[y, x]
            if here < 0 and ident[y, after] < 0 and ident[below, x] < 0:
                continue
            near, facing = nearness[y, x], normal[y, x]
            jump = share * near + fixed
            across = _change(here, ident[y, after], facing, normal[y, after])
            if across == 0 and ident[y, before] == here:
                across = _bend(nearness[y, before], near, nearness[y, after], jump)
            if across > 0:
                ink[y, x] = max(ink[y, x], across)
                ink[y, after] = max(ink[y, after], across)
            down = _change(here, ident[below, x], facing, normal[below, x])
            if down == 0 and ident[above, x] == here:
                down = _bend(nearness[above, x], near, nearness[below, x], jump)
            if down > 0:
                ink[y, x] = max(ink[y, x], down)
                ink[below, x] = max(ink[below, x], down)


@compiled
def _change(here: int, there: int, facing: np.uint32, other: np.uint32) -> int:
    """Ink between neighbouring samples of two instances, or of faces that meet at an angle."""
    if here != there:
        return _PART
    if here < 0 or facing == other:
        return 0
    return _CREASE if _cosine(facing, other) < _CREASE_COS else 0


@compiled
def _bend(before: float, here: float, after: float, jump: float) -> int:
    """Ink where the nearness of three samples in a row, linear on a plane, is off the straight line."""
    return _CREASE if abs(2.0 * here - before - after) > jump else 0


@compiled
def _cosine(first: np.uint32, second: np.uint32) -> float:
    total = 0
    for shift in (16, 8, 0):
        a = int(first >> np.uint32(shift) & np.uint32(255)) - 127
        b = int(second >> np.uint32(shift) & np.uint32(255)) - 127
        total += a * b
    return total / (127.0 * 127.0)


@compiled
def draw_lines(
    lines: Floats, matrix: Floats, ident: int, thickness: int, lens: Lens, layer: Layer, ink: Ink
) -> None:
    """Ink the visible samples of line segments [k, 2, 3] of one instance; `thickness` in samples."""
    for k in range(len(lines)):
        start, end = _moved(matrix, lines[k, 0]), _moved(matrix, lines[k, 1])
        if start[2] > -lens.near and end[2] > -lens.near:
            continue
        if start[2] > -lens.near:
            start = _at_depth(start, end, -lens.near)
        elif end[2] > -lens.near:
            end = _at_depth(end, start, -lens.near)
        _draw_line(
            project(lens, start[0], start[1], start[2]),
            project(lens, end[0], end[1], end[2]),
            ident, thickness, lens, layer, ink,
        )  # fmt: skip


@compiled
def _moved(matrix: Floats, p: Floats) -> tuple[float, float, float]:
    return (
        matrix[0, 0] * p[0] + matrix[0, 1] * p[1] + matrix[0, 2] * p[2] + matrix[0, 3],
        matrix[1, 0] * p[0] + matrix[1, 1] * p[1] + matrix[1, 2] * p[2] + matrix[1, 3],
        matrix[2, 0] * p[0] + matrix[2, 1] * p[1] + matrix[2, 2] * p[2] + matrix[2, 3],
    )


@compiled
def _at_depth(
    p: tuple[float, float, float], q: tuple[float, float, float], z: float
) -> tuple[float, float, float]:
    share = (z - p[2]) / (q[2] - p[2])
    return p[0] + (q[0] - p[0]) * share, p[1] + (q[1] - p[1]) * share, z


@compiled
def _draw_line(
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    ident: int,
    thickness: int,
    lens: Lens,
    layer: Layer,
    ink: Ink,
) -> None:
    """Step along the longer axis of a projected segment and ink `thickness` samples across it."""
    height, width = layer.nearness.shape
    steep = abs(end[1] - start[1]) > abs(end[0] - start[0])
    along, across = (1, 0) if steep else (0, 1)
    if start[along] > end[along]:
        start, end = end, start
    length = end[along] - start[along]
    size = height if steep else width
    # Cut off as floats: far outside the picture they are too large for integers.
    first = math.ceil(min(max(start[along] - 0.5, 0.0), float(size)))
    last = math.floor(min(max(end[along] - 0.5, -1.0), size - 1.0))
    for step in range(first, last + 1):
        share = (step + 0.5 - start[along]) / length if length > 0.0 else 0.0
        nearness = start[2] + (end[2] - start[2]) * share
        middle = start[across] + (end[across] - start[across]) * share
        lowest = math.floor(middle - 0.5 * thickness + 0.5)
        for offset in range(thickness):
            y, x = (step, lowest + offset) if steep else (lowest + offset, step)
            if 0 <= y < height and 0 <= x < width and _line_seen(layer, lens, y, x, nearness, ident):
                ink[y, x] = max(ink[y, x], _LINE)


@compiled
def _line_seen(layer: Layer, lens: Lens, y: int, x: int, nearness: float, ident: int) -> bool:
    surface = layer.nearness[y, x]
    if surface <= nearness:
        return True
    bias = _OWN_BIAS if layer.ident[y, x] == ident else _OTHER_BIAS
    behind = depth_step(lens, surface, surface - nearness)
    return bool(behind < bias * world_per_sample(lens, nearness))


@compiled
def add_transparent(layer: Layer, window: Window, ink: Ink, glass: NDArray[np.uint16]) -> int:
    """Put the next peeled layer behind those in `glass`; returns how many samples it has.

    `glass` [h, w, 4]: red, green, blue gathered so far and the share of light stopped, × 256.
    """
    present = 0
    for y in range(window.top, window.bottom):
        for x in range(window.left, window.right):
            if layer.ident[y, x] < 0:
                continue
            present += 1
            colour = layer.colour[y, x]
            alpha = int(colour >> np.uint32(24))
            alpha += ((255 - alpha) * int(ink[y, x])) // 255
            rest = 256 - int(glass[y, x, 3])
            for k in range(3):
                value = _inked(colour, k, ink[y, x])
                glass[y, x, k] += np.uint16(rest * alpha * value // 255)
            glass[y, x, 3] += np.uint16(rest * alpha // 255)
    return present


@compiled
def resolve(
    layer: Layer, ink: Ink, glass: NDArray[np.uint16], background: np.uint32, image: NDArray[np.uint8]
) -> None:
    """Average the samples of each pixel, over `background` (0xRRGGBB) and under what is in `glass`.

    `glass` of no size: there is nothing transparent.
    """
    height, width = image.shape[0], image.shape[1]
    factor = layer.nearness.shape[0] // height
    count = factor * factor
    for y in range(height):
        for x in range(width):
            red = green = blue = 0
            for sy in range(y * factor, (y + 1) * factor):
                for sx in range(x * factor, (x + 1) * factor):
                    colour = layer.colour[sy, sx] if layer.ident[sy, sx] >= 0 else background
                    strength = int(ink[sy, sx])
                    r, g, b = (
                        _inked(colour, 0, strength),
                        _inked(colour, 1, strength),
                        _inked(colour, 2, strength),
                    )
                    if glass.size:
                        rest = 256 - int(glass[sy, sx, 3])
                        r = (int(glass[sy, sx, 0]) + r * rest) // 256
                        g = (int(glass[sy, sx, 1]) + g * rest) // 256
                        b = (int(glass[sy, sx, 2]) + b * rest) // 256
                    red, green, blue = red + r, green + g, blue + b
            image[y, x, 0] = (red + count // 2) // count
            image[y, x, 1] = (green + count // 2) // count
            image[y, x, 2] = (blue + count // 2) // count


@compiled
def _inked(colour: np.uint32, channel: int, strength: int) -> int:
    """One channel of a colour (0: red) after inking: towards a darker shade, or a lighter one of the dark."""
    value = int((colour >> np.uint32(16 - 8 * channel)) & np.uint32(255))
    if strength == 0:
        return value
    red = int((colour >> np.uint32(16)) & np.uint32(255))
    green = int((colour >> np.uint32(8)) & np.uint32(255))
    blue = int(colour & np.uint32(255))
    dark = (77 * red + 150 * green + 29 * blue) // 256 < _DARK
    target = value + (255 - value) * 2 // 5 if dark else value * 7 // 32
    return value + (target - value) * int(strength) // 255
