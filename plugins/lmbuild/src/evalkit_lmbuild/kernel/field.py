"""The parts of a design on one lattice: volumes, contacts, overlaps, tilt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evalkit_lmbuild.design import Floats, Part, rotation_matrix
from evalkit_lmbuild.kernel._bits import common
from evalkit_lmbuild.kernel.samples import surface_points
from evalkit_lmbuild.kernel.tilt import Tilt, solid_centre, tilt
from evalkit_lmbuild.kernel.voxels import (
    PITCH,
    RASTER_LIMIT,
    Shell,
    Voxels,
    part_raster_work,
    part_voxels,
    too_much_raster,
)

OPEN_SHARE = 0.05
"""A part that fills less of its bounding box is an open shell."""

OPEN_EXCESS = 1.05
ALL = 2**62

Pair = tuple[str, str]


class Field:
    """Parts on one world lattice. Everything is worked out when first asked for and kept.

    Voxels are shared between Fields by mesh, pose and pitch, so that the Field of an edited design
    costs little. Unknown ids raise `KeyError`; parts that can't be put on the lattice raise
    `KernelError` when first used.
    """

    def __init__(self, parts: Sequence[Part], pitch: float = PITCH, shell: Shell = "exact") -> None:
        self.pitch = pitch
        self.shell = shell
        self.parts = {part.id: part for part in parts}
        self._affordable = False
        self._voxels: dict[str, Voxels] = {}
        self._masses: dict[str, float] = {}
        self._solids: dict[str, tuple[float, Floats] | None] = {}
        self._counts: dict[tuple[str, str, str], int] = {}
        self._touching: tuple[Pair, ...] | None = None
        self._tilts: dict[frozenset[str], Tilt] = {}

    @property
    def scale(self) -> float:
        """Pitch in units of 4 mm: what length thresholds are multiplied with."""
        return self.pitch / PITCH

    def voxels(self, part_id: str) -> Voxels:
        """The part's cells."""
        if part_id not in self._voxels:
            self._check_work()
            self._voxels[part_id] = part_voxels(self.parts[part_id], self.pitch, self.shell)
        return self._voxels[part_id]

    def _check_work(self) -> None:
        """Raise `KernelError` if the triangles of all parts pass too many rows, whoever was asked for."""
        if self._affordable or self.shell != "exact":
            return
        work = {part_id: part_raster_work(part, self.pitch) for part_id, part in self.parts.items()}
        if sum(work.values()) > RASTER_LIMIT:
            worst = max(work, key=lambda part_id: work[part_id])
            raise too_much_raster(worst, work[worst], self.pitch)
        self._affordable = True

    def volume(self, part_id: str) -> float:
        """Volume of the filled cells, m³."""
        return self.voxels(part_id).cells * self.pitch**3

    def open_shell(self, part_id: str) -> bool:
        """Whether the part fills less than 5 % of its bounding box."""
        voxels = self.voxels(part_id)
        return voxels.cells / voxels.box_cells < OPEN_SHARE

    def mass(self, part_id: str) -> float:
        """Mass at uniform density, m³: the voxel volume; of an open shell what it would enclose.

        That is the smaller of convex hull and bounding box, where it is more than 5 % larger.
        """
        if part_id not in self._masses:
            mass = self.volume(part_id)
            if self.open_shell(part_id):
                enclosed = _enclosed(self.parts[part_id])
                mass = enclosed if enclosed > OPEN_EXCESS * mass else mass
            self._masses[part_id] = mass
        return self._masses[part_id]

    def centre(self, part_id: str) -> Floats:
        """Centre of the filled cells, m [3]."""
        return self.voxels(part_id).centre

    def touching(self) -> tuple[Pair, ...]:
        """Pairs of parts whose cells meet or are neighbours, each pair and the whole sorted."""
        if self._touching is None:
            self._touching = tuple(
                pair for pair in self._near() if self._count("touch", pair[0], pair[1], stop=1)
            )
        return self._touching

    def deep(self, a: str, b: str) -> float:
        """Volume in which the cores of both parts meet, m³."""
        return self._count("deep", a, b) * self.pitch**3

    def overlap(self, a: str, b: str) -> float:
        """Volume of the cells both parts fill, m³; flush parts share a layer of them."""
        return self._count("overlap", a, b) * self.pitch**3

    def contact_area(self, a: str, b: str) -> float:
        """Area of contact, m²: the smaller number of cells of one part next to the other. Reads about twice
        the area of flush faces."""
        return min(self._count("touch", a, b), self._count("touch", b, a)) * self.pitch**2

    def tilt(self, ids: Iterable[str] | None = None) -> Tilt:
        """Tilt of these parts as one rigid body (None: of all). `ValueError` without parts."""
        chosen = frozenset(self.parts if ids is None else ids)
        if not chosen:
            raise ValueError("tilt needs at least one part")
        if chosen not in self._tilts:
            order = [part_id for part_id in self.parts if part_id in chosen]
            self._tilts[chosen] = tilt(
                [self.parts[part_id].world for part_id in order],
                [self.mass(part_id) for part_id in order],
                [self.centre(part_id) for part_id in order],
                [self._solid(part_id) for part_id in order],
                self.pitch,
            )
        return self._tilts[chosen]

    def surface_samples(self, part_id: str, n: int, seed: int) -> Floats:
        """`n` points spread evenly over the part's surface, m [n, 3]; the same for the same seed."""
        return surface_points(self.parts[part_id].world, n, seed)

    def _solid(self, part_id: str) -> tuple[float, Floats] | None:
        """Enclosed volume, m³, and its centre in the world; None of an open mesh."""
        if part_id not in self._solids:
            part = self.parts[part_id]
            solid = solid_centre(part.mesh)
            if solid is not None:
                centre = rotation_matrix(part.rotation) @ solid[1] + np.asarray(part.position)
                solid = (solid[0], centre)
            self._solids[part_id] = solid
        return self._solids[part_id]

    def _near(self) -> list[Pair]:
        """Pairs whose boxes, a cell larger, meet; sorted."""
        ids = sorted(self.parts)
        low = np.array([self.voxels(part_id).low for part_id in ids]).reshape(-1, 3)
        high = np.array([self.voxels(part_id).high for part_id in ids]).reshape(-1, 3) + 1
        meet = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)
        return [(ids[i], ids[j]) for i, j in np.argwhere(np.triu(meet, 1)).tolist()]

    def _count(self, kind: str, a: str, b: str, stop: int = ALL) -> int:
        """Cells of the kind in common; kept where all were counted. `touch`: halo of a with cells of b."""
        key = (kind, a, b)
        if key not in self._counts:
            one, two = self.voxels(a), self.voxels(b)
            pad = 1 if kind == "touch" else 0
            apart = any(one.low[i] - pad > two.high[i] or two.low[i] - pad > one.high[i] for i in range(3))
            if apart:
                found = 0
            elif kind == "touch":
                found = common(one.halo, one.corner, two.filled, two.corner, stop)
            elif kind == "deep":
                found = common(one.core, one.corner, two.core, two.corner, stop)
            else:
                found = common(one.filled, one.corner, two.filled, two.corner, stop)
            if stop != ALL:
                return found
            self._counts[key] = found
        return self._counts[key]


def components(ids: Iterable[str], edges: Iterable[Pair]) -> list[list[str]]:
    """Connected groups of ids, each in the order of `ids`, ordered by their first; edges to others
    are ignored.
    """
    order = list(ids)
    near: dict[str, list[str]] = {part_id: [] for part_id in order}
    for a, b in edges:
        if a in near and b in near:
            near[a].append(b)
            near[b].append(a)
    groups: list[list[str]] = []
    seen: set[str] = set()
    for start in order:
        if start in seen:
            continue
        group, waiting = {start}, [start]
        while waiting:
            for other in near[waiting.pop()]:
                if other not in group:
                    group.add(other)
                    waiting.append(other)
        seen |= group
        groups.append([part_id for part_id in order if part_id in group])
    return groups


def _enclosed(part: Part) -> float:
    """Smaller of the volumes of convex hull and bounding box, m³; 0 of a flat part."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return min(float(ConvexHull(part.world.vertices).volume), float(part.world.size.prod()))
    except QhullError:
        return 0.0
