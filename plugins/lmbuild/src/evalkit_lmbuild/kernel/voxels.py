"""Voxels of a part: which cells of the world lattice it fills.

Cell i of an axis covers [i, i + 1)·pitch. The shell is every cell that the surface enters; filled are
the shell and what outside air doesn't reach through faces of cells. Vertices within a thousandth of a
cell of a lattice plane are taken to lie on it: without that, a round trip through float32 changes the
cells of most boxes on the lattice.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Mesh, Part
from evalkit_lmbuild.kernel._bits import Bits, Corner, count_and_sums, dilated, eroded
from evalkit_lmbuild.kernel._flood import filled
from evalkit_lmbuild.kernel._jit import arrays_of
from evalkit_lmbuild.kernel._raster import raster, set_cells
from evalkit_lmbuild.kernel.samples import surface_area, surface_points

PITCH = 0.004
"""Pitch of the tools, R.1 and R.3, m; the thresholds of S.1–S.3 are stated for it."""

MIN_PITCH = 0.0004
CELL_LIMIT = 4e8
WORD_LIMIT = 16_000_000
"""Words of a part's grid: flat parts have few cells in their box, but each row takes whole words."""

TOTAL_CELLS = 3e8
TOTAL_WORDS = 32_000_000
"""Words of the grids of all parts for which `design_pitch` is chosen: 256 MB, three times that with cores
and halos."""

RASTER_LIMIT = 2e9
"""Rows and words that the triangles of all parts may pass, some 8 s; counted, so that results don't depend
on the machine."""

DIAGONAL_CELLS, THICKNESS_CELLS = 250, 4
PITCH_STEP = 1.25
SNAP = 1e-3
FURTHEST = 1000.0
"""Distance from the origin within which parts are taken, m: whole numbers of cells stay exact by far."""

MARGIN = 2

Shell = Literal["exact", "sampled"]
"""Which cells are the surface's: all that it enters, or those that random points on it hit.

The sampled shell is the definition that scores were published with. It has holes where the four
million points don't suffice, which empties the part: for comparisons only.
"""

RASTER_CHUNK = 1 << 18
"""Triangles that are counted at once: bounds the memory it takes."""

LEAST_SAMPLES = 2000
MOST_SAMPLES = 4_000_000
CACHE_BYTES = 1_000_000_000
"""What is kept: a scene at the limit of what is legal fits in. A Field holds its parts' voxels anyway, and
a cache that is smaller than one Field makes every edit cost all parts."""


class KernelError(ValueError):
    """Geometry that can't be put on a lattice; the text names the part and the figures."""


@dataclass(frozen=True, eq=False)
class Voxels:
    """A part on the lattice. `low` and `high` are its first and last cells (x, y, z), both inclusive."""

    pitch: float
    corner: Corner
    low: tuple[int, int, int]
    high: tuple[int, int, int]
    filled: Bits
    cells: int
    centre: Floats
    """Centre of the filled cells, m [3]."""
    raster_work: float
    """Rows and words that its triangles pass at most."""

    @property
    def box_cells(self) -> int:
        """Cells of the bounding box."""
        x, y, z = (high - low + 1 for low, high in zip(self.low, self.high, strict=True))
        return x * y * z

    @cached_property
    def core(self) -> Bits:
        """Filled cells whose six neighbours are filled too; of parts without any, a single empty word."""
        core = eroded(self.filled)
        return core if core.any() else np.zeros((1, 1, 1), np.uint64)

    @cached_property
    def halo(self) -> Bits:
        """Filled cells and all around them."""
        return dilated(self.filled)

    @property
    def nbytes(self) -> int:
        """Memory that the grids take which were asked for so far."""
        made: list[Bits] = [self.__dict__[name] for name in ("core", "halo") if name in self.__dict__]
        return sum(int(grid.nbytes) for grid in (self.filled, *made))


def lattice_vertices(mesh: Mesh, pitch: float) -> Floats:
    """Vertices in cells, those within `SNAP` of a lattice plane on it [n, 3]."""
    return _on_lattice(arrays_of(mesh)[0], pitch)


def _on_lattice(points: Floats, pitch: float) -> Floats:
    cells = points / pitch
    nearest = np.rint(cells)
    return np.where(np.abs(cells - nearest) < SNAP, nearest, cells)


def voxelise(mesh: Mesh, pitch: float = PITCH, name: str = "mesh", shell: Shell = "exact") -> Voxels:
    """Voxels of a mesh in world coordinates, m. `KernelError` for empty, non-finite and too large meshes."""
    _refuse(mesh, pitch, name)
    vertices = lattice_vertices(mesh, pitch)
    low = np.floor(vertices.min(axis=0)).astype(np.int64).tolist()
    high = np.floor(vertices.max(axis=0)).astype(np.int64).tolist()
    corner = (low[2] - MARGIN, low[1] - MARGIN, (low[0] - MARGIN) >> 6)
    last = (high[2] + MARGIN, high[1] + MARGIN, (high[0] + MARGIN) >> 6)
    shape = tuple(end - start + 1 for start, end in zip(corner, last, strict=True))
    if math.prod(shape) > WORD_LIMIT:
        raise KernelError(
            f"part {name!r} takes {shape[1]} × {shape[0]} rows of cells of {pitch * 1000:.3g} mm, too many"
        )
    work = _raster_work(vertices, mesh) if shell == "exact" else 0.0
    if work > RASTER_LIMIT:
        raise too_much_raster(name, work, pitch)
    surface = np.zeros(shape, np.uint64)
    if shell == "exact":
        raster(vertices, arrays_of(mesh)[1], surface, corner)
    else:
        set_cells(_on_lattice(_samples(mesh, pitch), pitch), surface, corner)
    bits = filled(surface)
    cells, *sums = count_and_sums(bits)
    centre = (np.array([corner[2] * 64, corner[1], corner[0]]) + np.array(sums) / cells + 0.5) * pitch
    first, final = (low[0], low[1], low[2]), (high[0], high[1], high[2])
    return Voxels(pitch, corner, first, final, bits, cells, centre, work)


def _raster_work(vertices: Floats, mesh: Mesh) -> float:
    """Rows and words that triangles pass at most, from vertices in cells: layers·rows, and a 64th of the
    cells that the faces of a triangle's box have along x."""
    corners = np.floor(vertices)
    total = 0.0
    for start in range(0, len(mesh.faces), RASTER_CHUNK):
        each = corners[mesh.faces[start : start + RASTER_CHUNK]]
        x, y, z = (each.max(axis=1) - each.min(axis=1) + 1).T
        total += float((y * z + x * (y + z) / 64).sum())
    return total


def too_much_raster(name: str, work: float, pitch: float) -> KernelError:
    """The refusal of a part with many large triangles."""
    return KernelError(
        f"the triangles of part {name!r} pass {work:.2g} rows of cells of {pitch * 1000:.3g} mm, too many: "
        "fewer or smaller triangles are needed"
    )


def _samples(mesh: Mesh, pitch: float) -> Floats:
    """Vertices and surface points, sixteen to the area of a cell's face and four million at most [n, 3]."""
    n = int(np.clip(surface_area(mesh) / (pitch / 4) ** 2, LEAST_SAMPLES, MOST_SAMPLES))
    return np.concatenate([surface_points(mesh, n, seed=0), mesh.vertices])


def _refuse(mesh: Mesh, pitch: float, name: str) -> None:
    """Raise before anything is allocated for a mesh that can't be put on the lattice."""
    if not len(mesh.faces) or not len(mesh.vertices):
        raise KernelError(f"part {name!r} has no triangles")
    if not np.isfinite(mesh.vertices).all():
        raise KernelError(f"part {name!r} has coordinates that aren't finite numbers")
    if mesh.faces.min() < 0 or mesh.faces.max() >= len(mesh.vertices):
        raise KernelError(f"part {name!r} has triangles with vertices that don't exist")
    if np.abs(mesh.vertices).max() > FURTHEST:
        raise KernelError(f"part {name!r} reaches further than {FURTHEST:g} m from the origin")
    cells = float(np.prod(mesh.size / pitch + 1))
    if cells > CELL_LIMIT:
        x, y, z = mesh.size
        raise KernelError(
            f"part {name!r} is {x:.3g} × {y:.3g} × {z:.3g} m: {cells:.2g} cells of "
            f"{pitch * 1000:.3g} mm, the limit is {CELL_LIMIT:.0e}"
        )


_Key = tuple[str, tuple[float, ...], tuple[float, ...], float, str]
_cache: OrderedDict[_Key, Voxels] = OrderedDict()
_lock = threading.Lock()


def _key(part: Part, pitch: float, shell: Shell) -> _Key:
    return part.mesh.key, part.position, part.rotation, pitch, shell


def part_raster_work(part: Part, pitch: float) -> float:
    """Rows and words that a part's triangles pass at most, from memory where its voxels are."""
    with _lock:
        known = _cache.get(_key(part, pitch, "exact"))
    return known.raster_work if known else _raster_work(lattice_vertices(part.world, pitch), part.world)


def part_voxels(part: Part, pitch: float = PITCH, shell: Shell = "exact") -> Voxels:
    """Voxels of a placed part, from memory where mesh, pose and pitch were seen lately."""
    key = _key(part, pitch, shell)
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    made = voxelise(part.world, pitch, part.id, shell)
    with _lock:
        _cache[key] = made
        held = sum(voxels.nbytes for voxels in _cache.values())
        while held > CACHE_BYTES and len(_cache) > 1:
            held -= _cache.popitem(last=False)[1].nbytes
    return made


def design_pitch(design: Design) -> float:
    """Pitch for S.1–S.3, m: fine enough for the design's size and thin parts, coarse enough for memory.

    clip(min(D/250, t/4), 0.4 mm, 4 mm) with D the diagonal and t the median of the parts' smallest extents,
    enlarged in steps of ×1.25 up to 4 mm while the boxes of all parts hold more than 3e8 cells or take too
    many words. Words are counted as if the parts lay the worst way, so that turning a design changes nothing.
    """
    if not design.parts:
        return PITCH
    sizes = np.array([part.world.size for part in design.parts])
    thickness = float(np.median(sizes.min(axis=1)))
    pitch = min(max(min(design.diagonal / DIAGONAL_CELLS, thickness / THICKNESS_CELLS), MIN_PITCH), PITCH)
    while pitch < PITCH and _too_fine(sizes, pitch):
        pitch = min(pitch * PITCH_STEP, PITCH)
    return pitch


def _too_fine(sizes: Floats, pitch: float) -> bool:
    """Whether boxes of these sizes [n, 3], m, hold more cells or words than a design may take."""
    cells = sizes / pitch + 1
    if float(np.prod(cells, axis=1).sum()) > TOTAL_CELLS:
        return True
    rows = cells + 2 * MARGIN + 1
    others = np.prod(rows, axis=1)[:, None] / rows
    # An interval of n cells lies in (n + 63)/64 words on average and in (n + 126)/64 at most.
    mean = (others * (rows + 63) / 64).max(axis=1)
    most = (others * (rows + 126) / 64).max(axis=1)
    return float(mean.sum()) > TOTAL_WORDS or float(most.max()) > WORD_LIMIT
