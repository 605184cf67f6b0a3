"""Bodies as the engines take them: convex pieces near whatever they may touch.

Faces are merged into convex polygons and made into plates that lie just under the surface, so that hollows
stay hollow. A component on its own is its hull: on a plane that is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability.bodies import Body
from evalkit_brickbench.stability.constants import (
    FEET_HEIGHT_LDU,
    NEAR_LDU,
    PIECE_DEPTH_LDU,
    PIECE_SHRINK_LDU,
)
from evalkit_brickbench.stability.contacts import part_boxes
from evalkit_brickbench.stability.solids import WELD_LDU, Solid

COPLANAR = 0.99999
THINNEST_LDU = 0.2
"""Polygons narrower than this are left out: nothing rests on a sliver alone."""
THINNEST_PIECE_LDU = 0.02
FOOT_LDU = 1.0
PIECE_LIMIT = 50_000
"""Clusters with more pieces that may meet aren't simulated: finding which do takes 10 s for so many, and no
engine would be done in time."""


@dataclass(frozen=True, slots=True, eq=False)
class EngineBody:
    """A body in the frame of its principal axes: `rotation` [3, 3] and `centre` [3] pose it, `inertia` [3] is
    diagonal there (kg·LDU²), `pieces` are the corners [k, 3] of its convex pieces, `hull` [h, 3] what is
    measured. `fixed` bodies don't move."""

    mass_kg: float
    centre: Floats
    rotation: Floats
    inertia: Floats
    pieces: list[Floats]
    hull: Floats
    fixed: bool = False


@dataclass(slots=True)
class Pieces:
    """Makes engine bodies; the convex polygons of each solid are found once."""

    _plates: dict[tuple[str, tuple[float, ...]], list[Floats]] = field(default_factory=dict)

    def lone(self, body: Body) -> EngineBody:
        """A body that meets nothing but the ground."""
        return _engine_body(body, [body.hull])

    def cluster(
        self,
        bodies: list[Body],
        fixed: NDArray[np.bool_],
        ground_ldu: float,
        solids: list[Solid | None],
        rotations: Floats,
        positions: Floats,
    ) -> list[EngineBody] | None:
        """Bodies that may meet each other and the ground. Those that are proven not to move are fixed. None
        above `PIECE_LIMIT`."""
        boxes = [part_boxes(body.parts, solids, rotations, positions) for body in bodies]
        plates: list[list[Floats]] = []
        count = 0
        for index, body in enumerate(bodies):
            others = [box for k, box in enumerate(boxes) if k != index and not (fixed[k] and fixed[index])]
            low = np.concatenate([box[0] for box in others]) - NEAR_LDU
            high = np.concatenate([box[1] for box in others]) + NEAR_LDU
            own: list[Floats] = []
            for row, part in enumerate(body.parts):
                solid = solids[part]
                close = ((boxes[index][0][row] <= high) & (boxes[index][1][row] >= low)).all(axis=1)
                if solid is None or not close.any():
                    continue
                triangles = solid.triangles @ rotations[part].T + positions[part]
                if not _meet(triangles.min(axis=1), triangles.max(axis=1), low[close], high[close]):
                    continue
                for plate in self._of(solid):
                    placed = plate @ rotations[part].T + positions[part]
                    if _meet(placed.min(axis=0)[None], placed.max(axis=0)[None], low[close], high[close]):
                        own.append(placed)
                if count + len(own) > PIECE_LIMIT:
                    return None
            count += len(own)
            plates.append(own)
        near = _near_others(plates, fixed)
        return [
            _engine_body(body, _feet(body, ground_ldu) + own, bool(still))
            for body, own, still in zip(bodies, near, fixed, strict=True)
        ]

    def _of(self, solid: Solid) -> list[Floats]:
        if solid.key not in self._plates:
            loops = convex_polygons(solid.triangles, solid.normals)
            self._plates[solid.key] = [_plate(loop, solid.planes) for loop in loops]
        return self._plates[solid.key]


def _meet(low: Floats, high: Floats, other_low: Floats, other_high: Floats) -> bool:
    """Whether any of some boxes [n, 3] meets any of others [m, 3]."""
    meets = (low[:, None] <= other_high[None]) & (high[:, None] >= other_low[None])
    return bool(meets.all(axis=2).any())


def _near_others(plates: list[list[Floats]], fixed: NDArray[np.bool_]) -> list[list[Floats]]:
    """Of the plates of each body those whose box is within `NEAR_LDU` of one of another body's."""
    low = np.array([plate.min(axis=0) for own in plates for plate in own]).reshape(-1, 3) - NEAR_LDU
    high = np.array([plate.max(axis=0) for own in plates for plate in own]).reshape(-1, 3)
    owner = np.repeat(np.arange(len(plates)), [len(own) for own in plates])
    near = np.zeros(len(owner), dtype=bool)
    largest = int(np.argmax([len(own) for own in plates]))
    still = fixed[owner]
    for i in np.flatnonzero(owner != largest):
        meets = ((low <= high[i]) & (high >= low[i])).all(axis=1) & (owner != owner[i]) & ~(still & still[i])
        near |= meets
        near[i] |= meets.any()
    flat = [plate for own in plates for plate in own]
    return [[flat[k] for k in np.flatnonzero(near & (owner == index))] for index in range(len(plates))]


def _engine_body(body: Body, pieces: list[Floats], fixed: bool = False) -> EngineBody:
    values, axes = np.linalg.eigh(body.inertia)
    axes = axes * np.where(np.linalg.det(axes) < 0, [1.0, 1.0, -1.0], 1.0)
    # A body thinner than its mesh can show still resists turning.
    inertia = np.maximum(values, 1e-6 * body.mass_kg * body.size_ldu**2)
    return EngineBody(
        mass_kg=body.mass_kg,
        centre=body.centre,
        rotation=axes,
        inertia=inertia,
        pieces=[(piece - body.centre) @ axes for piece in pieces],
        hull=(body.hull - body.centre) @ axes,
        fixed=fixed,
    )


def _feet(body: Body, ground_ldu: float) -> list[Floats]:
    """Small pieces in the low corners of the hull: they meet the ground as the hull itself would."""
    low = body.hull[body.hull[:, 1] >= ground_ldu - FEET_HEIGHT_LDU]
    if not len(low):
        low = body.hull[[int(body.hull[:, 1].argmax())]]
    spread = FOOT_LDU * np.array([[0.3, 0.0, 0.0], [-0.15, 0.0, 0.26], [-0.15, 0.0, -0.26]])
    feet = []
    for corner in low:
        inward = body.centre - corner
        inward = inward / max(float(np.linalg.norm(inward)), 1e-9)
        feet.append(np.vstack([corner, corner + FOOT_LDU * inward + spread]))
    return feet


def _plate(corners: Floats, planes: Floats) -> Floats:
    """A polygon [k, 3], a little smaller, made `PIECE_DEPTH_LDU` thick to the inside, less where the hull of
    the part (`planes` [f, 4]) is thinner: else it would stick out of the other side of a sharp edge."""
    middle = corners.mean(axis=0)
    away = corners - middle
    distance = np.linalg.norm(away, axis=1, keepdims=True)
    shrunk = corners - away / np.maximum(distance, 1e-9) * np.minimum(2**0.5 * PIECE_SHRINK_LDU, distance / 2)
    normal = _normal(corners)
    outer = shrunk - PIECE_SHRINK_LDU * normal
    across = -planes[:, :3] @ normal
    behind = across > 1e-6
    room = -(outer @ planes[behind, :3].T + planes[behind, 3]) / across[behind]
    depth = np.clip(room.min(axis=1, initial=PIECE_DEPTH_LDU), THINNEST_PIECE_LDU, PIECE_DEPTH_LDU)
    return np.concatenate([outer, outer - depth[:, None] * normal])


def convex_polygons(triangles: Floats, normals: Floats) -> list[Floats]:
    """Triangles [m, 3, 3] merged, where they share an edge and a plane, to convex polygons, greedily.

    Removing diagonals as long as both their ends stay convex (Hertel and Mehlhorn) leaves at most four times
    as many pieces as needed. Slivers are left out.
    """
    _, first, inverse = np.unique(
        np.rint(triangles.reshape(-1, 3) / WELD_LDU).astype(np.int64),
        axis=0, return_index=True, return_inverse=True,
    )  # fmt: skip
    points = triangles.reshape(-1, 3)[first]
    faces = inverse.ravel().reshape(-1, 3).tolist()
    rows, directions = points.tolist(), normals.tolist()
    loops: dict[int, list[int]] = dict(enumerate(faces))
    owner = {(loop[k], loop[(k + 1) % 3]): i for i, loop in loops.items() for k in range(3)}
    merged_into = list(range(len(faces)))

    def current(i: int) -> int:
        while merged_into[i] != i:
            i = merged_into[i]
        return i

    for (u, v), i in list(owner.items()):
        j = owner.get((v, u))
        if j is None or u > v or normals[i] @ normals[j] < COPLANAR:
            continue
        one, two = current(i), current(j)
        union = _merge(loops[one], loops[two], u, v, rows, directions[i]) if one != two else None
        if union is not None:
            loops[one] = union
            del loops[two]
            merged_into[two] = one
    polygons = [points[loop] for _, loop in sorted(loops.items())]
    return [polygon for polygon in polygons if _width(polygon) >= THINNEST_LDU]


def _merge(
    one: list[int], two: list[int], u: int, v: int, points: list[list[float]], normal: list[float]
) -> list[int] | None:
    """The loop of two polygons without their common edge u–v, or None if it isn't convex."""
    at, other = one.index(v), two.index(u)
    one, two = one[at:] + one[:at], two[other:] + two[:other]
    if one[-1] != u or two[-1] != v:
        return None
    union = one + two[1:-1]
    if len(set(union)) < len(union):
        return None
    for before, here, after in ((one[-2], u, two[1]), (two[-2], v, one[1])):
        if _turn(points[before], points[here], points[after], normal) < -1e-6:
            return None
    return union


def _turn(before: list[float], here: list[float], after: list[float], normal: list[float]) -> float:
    """(here − before) × (after − here) · normal, in plain numbers: arrays this small are slow."""
    ax, ay, az = (h - b for h, b in zip(here, before, strict=True))
    bx, by, bz = (a - h for a, h in zip(after, here, strict=True))
    return (ay * bz - az * by) * normal[0] + (az * bx - ax * bz) * normal[1] + (ax * by - ay * bx) * normal[2]


def _normal(loop: Floats) -> Floats:
    total = np.cross(loop[1:-1] - loop[0], loop[2:] - loop[0]).sum(axis=0)
    normal: Floats = total / np.linalg.norm(total)
    return normal


def _width(loop: Floats) -> float:
    """Area over longest side: about the width of a narrow polygon."""
    area = float(np.linalg.norm(np.cross(loop[1:-1] - loop[0], loop[2:] - loop[0]).sum(axis=0))) / 2
    longest = float(np.linalg.norm(loop - np.roll(loop, 1, axis=0), axis=1).max())
    return area / max(longest, 1e-9)
