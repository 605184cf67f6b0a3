"""Triangles onto samples.

Corners are snapped to 1/256 of a sample and coverage is decided in integers with the top-left rule, so that
neighbouring triangles leave neither gap nor overlap. Depth comes from the unsnapped plane, cut off at the
depths of the corners. The nearer surface wins, on equal depth the lower id: the result doesn't depend on
the order of the instances, which is free for speed (front to back, hidden ones skipped).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evalkit.render3d._kernel import TILE, Floats, Layer, Lens, Tiles, compiled, project

_SUB = 256
_HALF = 128
#: Triangles that reach farther than this many samples from the picture's corner are clipped, so that the
#: integers of the coverage test stay below 2⁵³.
_GUARD = 32_768.0
#: What rounding may add to the nearness of a point of a box.
_ROUNDING = 1e-6


@compiled
def draw_instance(
    vertices: Floats,
    triangles: NDArray[np.int32],
    colours: NDArray[np.uint8],
    box: Floats,
    matrix: Floats,
    ident: int,
    closed: bool,
    lens: Lens,
    lights: Floats,
    layer: Layer,
    tiles: Tiles,
    opaque: Layer,
    opaque_tiles: Tiles,
    previous: Layer,
    peel: bool,
) -> int:
    """Draw one instance into `layer` with its `tiles`; returns how many samples it took.

    `matrix` [3, 4] takes the mesh into camera space; `lights` [k, 4]: directions towards the lights in camera
    space and their strengths, the last row the ambient one (no direction). With `peel`, only what lies
    before `opaque` and behind `previous` is drawn.
    """
    height, width = layer.nearness.shape
    left, top, right, bottom, nearest = screen_box(box, matrix, lens, width, height)
    if left > right or top > bottom or _hidden(layer, tiles, left, top, right, bottom, nearest):
        return 0
    if peel and _hidden(opaque, opaque_tiles, left, top, right, bottom, nearest):
        return 0
    camera = np.empty((len(vertices), 3))
    screen = np.empty((len(vertices), 3))
    inside = np.empty(len(vertices), np.bool_)
    _place(vertices, matrix, lens, camera, screen, inside)
    mirrored = _determinant(matrix) < 0.0
    taken = 0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if inside[a] and inside[b] and inside[c]:
            area = (screen[b, 0] - screen[a, 0]) * (screen[c, 1] - screen[a, 1]) - (
                screen[b, 1] - screen[a, 1]
            ) * (screen[c, 0] - screen[a, 0])
            if closed and (area > 0.0) != mirrored:
                continue
            if not _covers_a_sample(screen, a, b, c, width, height):
                continue
            colour, normal = _shade(camera, a, b, c, colours[t if len(colours) > 1 else 0], lens, lights)
            taken += _fill(screen, a, b, c, ident, colour, normal, layer, opaque, previous, peel)
        else:
            polygon = _clip(camera, a, b, c, lens)
            if len(polygon) < 3:
                continue
            colour, normal = _shade(camera, a, b, c, colours[t if len(colours) > 1 else 0], lens, lights)
            for k in range(2, len(polygon)):
                taken += _fill(polygon, 0, k - 1, k, ident, colour, normal, layer, opaque, previous, peel)
    if taken:
        tiles.stale[top // TILE : bottom // TILE + 1, left // TILE : right // TILE + 1] = True
    return taken


@compiled
def screen_box(
    box: Floats, matrix: Floats, lens: Lens, width: int, height: int
) -> tuple[int, int, int, int, float]:
    """First and last samples that a box may touch and the nearness it can't exceed; empty if it's outside."""
    low_x, low_y, high_x, high_y, nearest = math.inf, math.inf, -math.inf, -math.inf, -math.inf
    behind = 0
    for corner in range(8):
        x, y, z = box[corner & 1, 0], box[(corner >> 1) & 1, 1], box[corner >> 2, 2]
        cz = matrix[2, 0] * x + matrix[2, 1] * y + matrix[2, 2] * z + matrix[2, 3]
        if cz > -lens.near:
            behind += 1
            continue
        cx = matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2] * z + matrix[0, 3]
        cy = matrix[1, 0] * x + matrix[1, 1] * y + matrix[1, 2] * z + matrix[1, 3]
        sx, sy, nearness = project(lens, cx, cy, cz)
        low_x, high_x = min(low_x, sx), max(high_x, sx)
        low_y, high_y = min(low_y, sy), max(high_y, sy)
        nearest = max(nearest, nearness)
    if behind == 8:
        return 0, 0, -1, -1, nearest
    if behind:
        return 0, 0, width - 1, height - 1, math.inf
    if high_x < -1.0 or high_y < -1.0 or low_x > width + 1.0 or low_y > height + 1.0:
        return 0, 0, -1, -1, nearest
    left, top = int(max(low_x - 1.0, 0.0)), int(max(low_y - 1.0, 0.0))
    right, bottom = int(min(high_x + 1.0, width - 1.0)), int(min(high_y + 1.0, height - 1.0))
    return left, top, right, bottom, nearest + abs(nearest) * _ROUNDING


@compiled
def _hidden(layer: Layer, tiles: Tiles, left: int, top: int, right: int, bottom: int, nearest: float) -> bool:
    """Whether everything in a rectangle of samples is nearer than `nearest`."""
    for row in range(top // TILE, bottom // TILE + 1):
        for column in range(left // TILE, right // TILE + 1):
            if tiles.stale[row, column]:
                tile = layer.nearness[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
                tiles.farthest[row, column] = tile.min()
                tiles.stale[row, column] = False
            if tiles.farthest[row, column] <= nearest:
                return False
    return True


@compiled
def _place(
    vertices: Floats, matrix: Floats, lens: Lens, camera: Floats, screen: Floats, inside: NDArray[np.bool_]
) -> None:
    """Vertices in camera space and on the picture; `inside`: before the near plane and within the guard."""
    for i in range(len(vertices)):
        x, y, z = vertices[i, 0], vertices[i, 1], vertices[i, 2]
        cx = matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2] * z + matrix[0, 3]
        cy = matrix[1, 0] * x + matrix[1, 1] * y + matrix[1, 2] * z + matrix[1, 3]
        cz = matrix[2, 0] * x + matrix[2, 1] * y + matrix[2, 2] * z + matrix[2, 3]
        camera[i, 0], camera[i, 1], camera[i, 2] = cx, cy, cz
        inside[i] = False
        if cz <= -lens.near:
            sx, sy, nearness = project(lens, cx, cy, cz)
            screen[i, 0], screen[i, 1], screen[i, 2] = sx, sy, nearness
            inside[i] = abs(sx) < _GUARD and abs(sy) < _GUARD


@compiled
def _determinant(m: Floats) -> float:
    return float(
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )


@compiled
def _covers_a_sample(screen: Floats, a: int, b: int, c: int, width: int, height: int) -> bool:
    """Whether the box around a triangle holds the middle of any sample of the picture."""
    low_x = min(screen[a, 0], screen[b, 0], screen[c, 0])
    high_x = max(screen[a, 0], screen[b, 0], screen[c, 0])
    low_y = min(screen[a, 1], screen[b, 1], screen[c, 1])
    high_y = max(screen[a, 1], screen[b, 1], screen[c, 1])
    slack = 1.0 / _SUB  # snapping moves a corner by at most half of this
    if high_x < 0.0 or high_y < 0.0 or low_x > width or low_y > height:
        return False
    columns = math.floor(high_x + slack - 0.5) - math.ceil(low_x - slack - 0.5) + 1
    rows = math.floor(high_y + slack - 0.5) - math.ceil(low_y - slack - 0.5) + 1
    return bool(columns > 0 and rows > 0)


@compiled
def _clip(camera: Floats, a: int, b: int, c: int, lens: Lens) -> Floats:
    """The part of a triangle before the near plane and within the guard, projected: a convex polygon [k, 3].

    Sutherland and Hodgman's algorithm on the near plane and the four sides.
    """
    polygon, kept = np.empty((9, 3)), np.empty((9, 3))
    polygon[0], polygon[1], polygon[2] = camera[a], camera[b], camera[c]
    n = 3
    for plane in range(5):
        n_kept = 0
        for i in range(n):
            p, q = polygon[i], polygon[(i + 1) % n]
            dp, dq = _inside_by(p, plane, lens), _inside_by(q, plane, lens)
            if dp >= 0.0:
                kept[n_kept] = p
                n_kept += 1
            if (dp >= 0.0) != (dq >= 0.0):
                # From the inner end, so that both triangles at an edge are cut at the same point.
                share = dp / (dp - dq) if dp >= 0.0 else dq / (dq - dp)
                inner, outer = (p, q) if dp >= 0.0 else (q, p)
                for k in range(3):
                    kept[n_kept, k] = inner[k] + (outer[k] - inner[k]) * share
                n_kept += 1
        polygon, kept, n = kept, polygon, n_kept
    for i in range(n):
        x, y, z = polygon[i, 0], polygon[i, 1], min(polygon[i, 2], -lens.near)
        polygon[i, 0], polygon[i, 1], polygon[i, 2] = project(lens, x, y, z)
    return polygon[:n]


@compiled
def _inside_by(p: Floats, plane: int, lens: Lens) -> float:
    """How far inside one of the clipping planes a point is (the planes' own scale)."""
    x, y, z = float(p[0]), float(p[1]), float(p[2])
    if plane == 0:
        return -lens.near - z
    reach = 0.5 * _GUARD * (-z if lens.perspective else 1.0) / lens.focal
    if plane == 1:
        return reach - x
    if plane == 2:
        return reach + x
    if plane == 3:
        return reach - y
    return reach + y


@compiled
def _shade(
    camera: Floats, a: int, b: int, c: int, rgba: NDArray[np.uint8], lens: Lens, lights: Floats
) -> tuple[np.uint32, np.uint32]:
    """Colour and normal of a triangle, both as they are stored; its lit side is the one that is seen."""
    ux, uy, uz = camera[b, 0] - camera[a, 0], camera[b, 1] - camera[a, 1], camera[b, 2] - camera[a, 2]
    vx, vy, vz = camera[c, 0] - camera[a, 0], camera[c, 1] - camera[a, 1], camera[c, 2] - camera[a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    away = nx * camera[a, 0] + ny * camera[a, 1] + nz * camera[a, 2] if lens.perspective else -nz
    scale = 0.0 if length == 0.0 else (-1.0 if away > 0.0 else 1.0) / length
    nx, ny, nz = nx * scale, ny * scale, nz * scale
    last = len(lights) - 1
    light = lights[last, 3]
    for k in range(last):
        light += lights[k, 3] * max(0.0, nx * lights[k, 0] + ny * lights[k, 1] + nz * lights[k, 2])
    colour = np.uint32(rgba[3]) << np.uint32(24)
    for k in range(3):
        colour |= np.uint32(min(255.0, rgba[k] * light + 0.5)) << np.uint32(16 - 8 * k)
    normal = (
        np.uint32(127.5 + 127.0 * nx) << np.uint32(16)
        | np.uint32(127.5 + 127.0 * ny) << np.uint32(8)
        | np.uint32(127.5 + 127.0 * nz)
    )
    return np.uint32(colour), np.uint32(normal)


@compiled
def _fill(
    points: Floats,
    a: int,
    b: int,
    c: int,
    ident: int,
    colour: np.uint32,
    normal: np.uint32,
    layer: Layer,
    opaque: Layer,
    previous: Layer,
    peel: bool,
) -> int:
    """Write a projected triangle to the samples it covers and is nearest at; returns how many."""
    xa, ya = _snap(points[a, 0]), _snap(points[a, 1])
    xb, yb = _snap(points[b, 0]), _snap(points[b, 1])
    xc, yc = _snap(points[c, 0]), _snap(points[c, 1])
    area = (xb - xa) * (yc - ya) - (yb - ya) * (xc - xa)
    if area == 0:
        return 0
    if area < 0:
        b, c = c, b
        xb, yb, xc, yc = xc, yc, xb, yb
    height, width = layer.nearness.shape
    left = max(0, (min(xa, xb, xc) + _HALF - 1) // _SUB)
    right = min(width - 1, (max(xa, xb, xc) - _HALF) // _SUB)
    top = max(0, (min(ya, yb, yc) + _HALF - 1) // _SUB)
    bottom = min(height - 1, (max(ya, yb, yc) - _HALF) // _SUB)
    if left > right or top > bottom:
        return 0
    start_x, start_y = left * _SUB + _HALF, top * _SUB + _HALF
    row_a, across_a, down_a = _edge(xb, yb, xc, yc, start_x, start_y)
    row_b, across_b, down_b = _edge(xc, yc, xa, ya, start_x, start_y)
    row_c, across_c, down_c = _edge(xa, ya, xb, yb, start_x, start_y)
    origin, slope_x, slope_y, farthest, nearest = _plane(points, a, b, c)
    taken = 0
    for y in range(top, bottom + 1):
        in_a, in_b, in_c = row_a, row_b, row_c
        on_row = origin + slope_y * (y + 0.5)
        entered = False
        for x in range(left, right + 1):
            if in_a >= 0 and in_b >= 0 and in_c >= 0:
                entered = True
                nearness = np.float32(min(nearest, max(farthest, on_row + slope_x * (x + 0.5))))
                seen = layer.nearness[y, x]
                if (nearness > seen or (nearness == seen and ident < layer.ident[y, x])) and (
                    not peel or _between(nearness, ident, opaque, previous, y, x)
                ):
                    layer.nearness[y, x] = nearness
                    layer.ident[y, x] = ident
                    layer.colour[y, x] = colour
                    layer.normal[y, x] = normal
                    taken += 1
            elif entered:
                break
            in_a, in_b, in_c = in_a + across_a, in_b + across_b, in_c + across_c
        row_a, row_b, row_c = row_a + down_a, row_b + down_b, row_c + down_c
    return taken


@compiled
def _between(nearness: np.float32, ident: int, opaque: Layer, previous: Layer, y: int, x: int) -> bool:
    """Whether a surface lies before the opaque one and comes after the one peeled before it."""
    last = previous.nearness[y, x]
    behind = nearness < last or (nearness == last and ident > previous.ident[y, x])
    return bool(behind and nearness > opaque.nearness[y, x])


@compiled
def _snap(coordinate: float) -> int:
    return math.floor(coordinate * _SUB + 0.5)


@compiled
def _edge(x0: int, y0: int, x1: int, y1: int, x: int, y: int) -> tuple[int, int, int]:
    """The edge function at a sample and its growth by one sample across and down; inside is ≥ 0.

    A sample on an edge belongs to the triangle below a horizontal edge or to the right of another.
    """
    dx, dy = x1 - x0, y1 - y0
    top_left = dy < 0 or (dy == 0 and dx > 0)
    value = dx * (y - y0) - dy * (x - x0) - (0 if top_left else 1)
    return value, -dy * _SUB, dx * _SUB


@compiled
def _plane(points: Floats, a: int, b: int, c: int) -> tuple[float, float, float, float, float]:
    """Nearness as origin + slope_x · x + slope_y · y, and its range over the corners."""
    ux, uy, un = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    vx, vy, vn = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    area = ux * vy - uy * vx
    slope_x = slope_y = 0.0
    if area != 0.0:
        slope_x, slope_y = (un * vy - uy * vn) / area, (ux * vn - un * vx) / area
    farthest = min(points[a, 2], points[b, 2], points[c, 2])
    nearest = max(points[a, 2], points[b, 2], points[c, 2])
    return points[a, 2] - slope_x * points[a, 0] - slope_y * points[a, 1], slope_x, slope_y, farthest, nearest
