"""Simple exact solids of the small catalogue: hollow below, with round studs of sixteen sides.

Tubes and posts under bricks are left out, so that any stud fits into their cavity; technic bricks and bushes
have no mesh.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from evalkit_brickbench.parts.small import BRICK_LDU, PARTS, STUD_HEIGHT_LDU, SmallPart
from evalkit_brickbench.scene import Floats, Ints, Mesh

SIDES = 16
STUD_RADIUS_LDU = 6.0
WALL_LDU = 4.0
SLOPE_CEILING_LDU = 18.0  # of the cavity, below the falling face
SLOPE_RIDGE_LDU = -10.0  # z where the falling face starts
AXLE_ARM_LDU = 2.0  # half the width of an arm of the cross
COLLAR_RADIUS_LDU, COLLAR_HALF_WIDTH_LDU = 8.0, 2.0

Layer = tuple[float, Floats]  # height along the axis, and an outline [k, 2] around it
ALONG_X = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # turns y into x


class SmallMeshes:
    """Meshes by stem; see `evalkit_brickbench.scene.MeshSource`."""

    @property
    def id(self) -> str:
        """Name and version."""
        return "small-meshes-1"

    def mesh(self, stem: str) -> Mesh | None:
        """The solid of a part, one closed surface for the body and for each stud, or None."""
        return _mesh(stem)


@cache
def _mesh(stem: str) -> Mesh | None:
    part = PARTS.get(stem)
    layers = None if part is None else _body(part)
    if part is None or layers is None:
        return None
    body = _loft(layers)
    turn = ALONG_X if part.shape in ("axle", "pin") else np.eye(3)
    solids = [(body @ turn.T, _loft_triangles(layers))]
    stud = [(float(-STUD_HEIGHT_LDU), _circle(STUD_RADIUS_LDU)), (0.0, _circle(STUD_RADIUS_LDU))]
    for x, y, z, *_ in part.studs:
        solids.append((_loft(stud) + np.array([x, y, z]), _loft_triangles(stud)))
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in solids[:-1])])
    vertices = np.concatenate([vertices for vertices, _ in solids])
    triangles = np.concatenate([t + np.int32(start) for (_, t), start in zip(solids, starts, strict=True)])
    vertices.flags.writeable = triangles.flags.writeable = False
    return Mesh(vertices, triangles, inset_ldu=0.0)


def _body(part: SmallPart) -> list[Layer] | None:
    """The outlines through which the part's surface runs, from the top over the rim into the cavity."""
    (x0, _, z0), (x1, height, z1) = part.corners
    full = _rectangle(x0, z0, x1, z1)
    cavity = _rectangle(x0 + WALL_LDU, z0 + WALL_LDU, x1 - WALL_LDU, z1 - WALL_LDU)
    if part.shape == "block":
        return [(0.0, full), (height, full), (height, cavity), (WALL_LDU, cavity)]
    if part.shape == "slope":
        top = _rectangle(x0, SLOPE_RIDGE_LDU, x1, z1)
        lip = (BRICK_LDU - WALL_LDU, full)
        return [(0.0, top), lip, (height, full), (height, cavity), (SLOPE_CEILING_LDU, cavity)]
    if part.shape == "round":
        rim, hole = _circle(x1), _circle(STUD_RADIUS_LDU)
        return [(0.0, rim), (height, rim), (height, hole), (WALL_LDU, hole)]
    if part.shape == "axle":
        return [(x0, _cross(z1)), (x1, _cross(z1))]
    if part.shape == "pin":
        shaft, collar, w = _circle(STUD_RADIUS_LDU), _circle(COLLAR_RADIUS_LDU), COLLAR_HALF_WIDTH_LDU
        return [(x0, shaft), (-w, shaft), (-w, collar), (w, collar), (w, shaft), (x1, shaft)]
    return None


def _rectangle(x0: float, z0: float, x1: float, z1: float) -> Floats:
    return np.array([[x0, z0], [x1, z0], [x1, z1], [x0, z1]], np.float64)


def _circle(radius: float) -> Floats:
    angles = np.arange(SIDES) * (2.0 * np.pi / SIDES)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


def _cross(reach: float) -> Floats:
    """Twelve corners of a plus sign with arms of this reach."""
    w = AXLE_ARM_LDU
    arm = np.array([[reach, -w], [reach, w], [w, w]])
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    return np.concatenate([arm @ np.linalg.matrix_power(quarter, k).T for k in range(4)])


def _loft(layers: list[Layer]) -> Floats:
    """Vertices [l·k + 2, 3] of the closed surface through the outlines, centres of its two ends last."""
    rings = [np.insert(outline, 1, y, axis=1) for y, outline in layers]
    return np.concatenate([*rings, rings[0].mean(axis=0)[None], rings[-1].mean(axis=0)[None]])


def _loft_triangles(layers: list[Layer]) -> Ints:
    """Triangles of `_loft`, outward if the outlines run from x to z and the first lies on top."""
    k, last = len(layers[0][1]), len(layers) - 1
    a = np.arange(k)
    b = (a + 1) % k
    first_centre, last_centre = np.full(k, k * (last + 1)), np.full(k, k * (last + 1) + 1)
    triangles = [
        np.column_stack([first_centre, a, b]),
        np.column_stack([last_centre, b + k * last, a + k * last]),
    ]
    for ring in range(last):
        low, high = k * ring, k * (ring + 1)
        triangles.append(np.column_stack([a + low, a + high, b + high]))
        triangles.append(np.column_stack([a + low, b + high, b + low]))
    return np.concatenate(triangles).astype(np.int32)
