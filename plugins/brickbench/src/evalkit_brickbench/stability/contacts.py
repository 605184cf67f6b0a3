"""All contacts of a scene: between components, and with the ground."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability.bodies import Body
from evalkit_brickbench.stability.constants import REACH_LDU
from evalkit_brickbench.stability.facing import Facing, facing, reduce_points
from evalkit_brickbench.stability.solids import Solid

GROUND = -1
DOWN = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """k contacts of bodies `a` [k] with bodies `b` [k] (`GROUND` = the ground): `points` [k, 3] LDU, unit
    `normals` [k, 3] from b to a, `gaps` [k] along the normal, `falls` [k] along the vertical (inf where it
    isn't known), `parts` [k, 2] of a and b (−1 for the ground)."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    points: Floats
    normals: Floats
    gaps: Floats
    falls: Floats
    parts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.a)

    def select(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Contacts:
        """Some of the contacts."""
        return Contacts(
            self.a[keep], self.b[keep], self.points[keep], self.normals[keep],
            self.gaps[keep], self.falls[keep], self.parts[keep],
        )  # fmt: skip


def join(several: list[Contacts]) -> Contacts:
    """Contacts of a list, one after the other."""
    return Contacts(
        np.concatenate([c.a for c in several]), np.concatenate([c.b for c in several]),
        np.concatenate([c.points for c in several]), np.concatenate([c.normals for c in several]),
        np.concatenate([c.gaps for c in several]), np.concatenate([c.falls for c in several]),
        np.concatenate([c.parts for c in several]),
    )  # fmt: skip


@dataclass(slots=True)
class FacingCache:
    """Contacts of pairs of solids by relative pose, from poses rounded to 1e-6 and 1e-4 LDU: a result never
    depends on what was asked before."""

    _found: dict[tuple[object, ...], Facing] = field(default_factory=dict)

    def facing(self, a: Solid, b: Solid, rotation: Floats, position: Floats, down: Floats) -> Facing:
        """See `facing.facing`."""
        pose = (np.round(rotation, 6) + 0.0, np.round(position, 4) + 0.0, np.round(down, 6) + 0.0)
        key = (a.key, b.key, *(array.tobytes() for array in pose))
        if key not in self._found:
            self._found[key] = facing(a, b, *pose)
        return self._found[key]


def contacts_between(
    bodies: list[Body],
    solids: list[Solid | None],
    rotations: Floats,
    positions: Floats,
    cache: FacingCache,
) -> tuple[Contacts, list[tuple[int, int]]]:
    """Contacts between bodies (by index into `bodies`), and which pairs come within reach of each other."""
    found, near = [_nothing()], set()
    for i, j, body_i, body_j in _close_parts(bodies, solids, rotations, positions):
        a, b = solids[i], solids[j]
        if a is None or b is None:
            continue
        turn = rotations[j].T
        pair = cache.facing(a, b, turn @ rotations[i], turn @ (positions[i] - positions[j]), turn @ DOWN)
        if pair.near:
            near.add((body_i, body_j))
        k = len(pair.gaps)
        if k:
            found.append(
                Contacts(
                    np.full(k, body_i),
                    np.full(k, body_j),
                    pair.points @ rotations[j].T + positions[j],
                    pair.normals @ rotations[j].T,
                    pair.gaps,
                    pair.falls,
                    np.tile([i, j], (k, 1)),
                )
            )
    contacts = join(found)
    groups = np.column_stack([contacts.a, contacts.b, np.isfinite(contacts.falls)])
    keep = reduce_points(contacts.points, contacts.normals, contacts.gaps, groups)
    return contacts.select(keep), sorted(near)


def ground_contacts(bodies: list[Body], ground_ldu: float) -> Contacts:
    """Contacts of the corners of each body within reach of the ground, its lowest one in any case."""
    found = [_nothing()]
    for index, body in enumerate(bodies):
        height = ground_ldu - body.hull[:, 1]
        keep = np.flatnonzero(height <= max(REACH_LDU, float(height.min())))
        up = np.tile(-DOWN, (len(keep), 1))
        keep = keep[reduce_points(body.hull[keep] * [1, 0, 1], up, height[keep])]
        k = len(keep)
        points = body.hull[keep].copy()
        points[:, 1] = ground_ldu
        parts = np.column_stack([body.hull_parts[keep], np.full(k, -1)])
        found.append(
            Contacts(
                np.full(k, index),
                np.full(k, GROUND),
                points,
                np.tile(-DOWN, (k, 1)),
                height[keep],
                height[keep],
                parts,
            )
        )
    return join(found)


def clusters(count: int, near: list[tuple[int, int]]) -> list[list[int]]:
    """Groups of bodies that come within reach of each other, each sorted, in order of their first body."""
    root = list(range(count))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, j in near:
        low, high = sorted((find(i), find(j)))
        root[high] = low
    groups: dict[int, list[int]] = {}
    for i in range(count):
        groups.setdefault(find(i), []).append(i)
    return list(groups.values())


def part_boxes(
    parts: NDArray[np.int64], solids: list[Solid | None], rotations: Floats, positions: Floats
) -> tuple[Floats, Floats]:
    """Lowest and highest coordinates [n, 3] of parts that have a solid."""
    low, high = np.empty((len(parts), 3)), np.empty((len(parts), 3))
    for row, i in enumerate(parts):
        solid = solids[i]
        if solid is None:
            raise ValueError(f"part {i} has no solid")
        points = solid.hull @ rotations[i].T + positions[i]
        low[row], high[row] = points.min(axis=0), points.max(axis=0)
    return low, high


def _close_parts(
    bodies: list[Body], solids: list[Solid | None], rotations: Floats, positions: Floats
) -> list[tuple[int, int, int, int]]:
    """Pairs of parts of different bodies whose boxes come within reach: (part, part, body, body)."""
    if len(bodies) < 2:
        return []
    parts = np.concatenate([body.parts for body in bodies])
    owner = np.repeat(np.arange(len(bodies)), [len(body.parts) for body in bodies])
    low, high = part_boxes(parts, solids, rotations, positions)
    largest = int(np.argmax([len(body.parts) for body in bodies]))
    pairs = []
    for row in np.flatnonzero(owner != largest):
        close = ((low <= high[row] + REACH_LDU) & (high >= low[row] - REACH_LDU)).all(axis=1)
        close &= (owner == largest) | (owner > owner[row])
        close[owner == owner[row]] = False
        for other in np.flatnonzero(close):
            first, second = sorted((int(row), int(other)))
            pairs.append((int(parts[first]), int(parts[second]), int(owner[first]), int(owner[second])))
    return sorted(pairs)


def _nothing() -> Contacts:
    none = np.zeros(0, dtype=np.int64)
    rows = np.zeros((0, 3))
    return Contacts(none, none, rows, rows, np.zeros(0), np.zeros(0), np.zeros((0, 2), dtype=np.int64))
