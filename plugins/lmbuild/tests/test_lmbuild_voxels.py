"""Voxels: against clipped triangles, scipy on the same shell, closed forms, and float32 round trips."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import trimesh
from lmbuild_scenes import box_mesh, mesh_of
from scipy import ndimage

from evalkit_lmbuild.design import Mesh, Part, rotation_matrix
from evalkit_lmbuild.kernel import KernelError, part_voxels, voxelise, voxels
from evalkit_lmbuild.kernel._bits import common, count_and_sums, dilated, eroded
from evalkit_lmbuild.kernel._flood import filled
from evalkit_lmbuild.kernel._moved import common_moved, common_shifted
from evalkit_lmbuild.kernel._raster import raster

Bools = Any


def unpacked(bits: Any) -> Bools:
    """A bit grid as booleans [z, y, x]."""
    return np.unpackbits(bits.view(np.uint8), axis=-1, bitorder="little").astype(bool)


def packed(cells: Bools) -> Any:
    """Booleans [z, y, x], x a multiple of 64, as a bit grid."""
    return np.packbits(cells, axis=-1, bitorder="little").view(np.uint64)


def random_grid(seed: int, shape: tuple[int, int, int] = (9, 11, 128), share: float = 0.6) -> Bools:
    """Cells with the given share set, the outermost empty."""
    cells = np.zeros(shape, bool)
    cells[2:-2, 2:-2, 2:-2] = np.random.default_rng(seed).random(np.array(shape) - 4) < share
    return cells


def clipped(polygon: list[Any], axis: int, low: float, high: float) -> list[Any]:
    """The part of a convex polygon between two planes."""
    for sign, plane in ((1, low), (-1, high)):
        kept = []
        for a, b in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            from_a, from_b = sign * (a[axis] - plane), sign * (b[axis] - plane)
            if from_a >= 0:
                kept.append(a)
            if from_a * from_b < 0:
                kept.append(a + from_a / (from_a - from_b) * (b - a))
        polygon = kept
    return polygon


def entered(triangle: Any) -> set[tuple[int, int, int]]:
    """Cells (x, y, z) that a triangle in general position enters, by clipping it to each of them."""
    cells = set()
    low, high = np.floor(triangle.min(axis=0)).astype(int), np.floor(triangle.max(axis=0)).astype(int)
    for x in range(low[0], high[0] + 1):
        for y in range(low[1], high[1] + 1):
            for z in range(low[2], high[2] + 1):
                polygon = list(triangle)
                for axis, cell in enumerate((x, y, z)):
                    polygon = clipped(polygon, axis, cell, cell + 1) if polygon else polygon
                if polygon:
                    cells.add((x, y, z))
    return cells


@pytest.mark.parametrize("seed", range(12))
def test_a_triangle_sets_the_cells_it_enters_and_no_others(seed: int) -> None:
    random = np.random.default_rng(seed)
    triangle = random.uniform(2, 12, (3, 3))
    triangle[:, seed % 3] = triangle[0, seed % 3] + random.uniform(-2, 2, 3)
    triangle = np.clip(triangle, 0.1, 15.9)
    bits = np.zeros((16, 16, 1), np.uint64)
    raster(triangle, np.array([[0, 1, 2]], np.int32), bits, (0, 0, 0))
    z, y, x = np.nonzero(unpacked(bits))
    assert set(zip(x.tolist(), y.tolist(), z.tolist(), strict=True)) == entered(triangle)


def test_a_slope_through_lattice_points_is_one_cell_thick() -> None:
    ramp = np.array([[0, 0, 0], [8, 0, 8], [8, 8, 8], [0, 8, 0]], float) + 2
    bits = np.zeros((16, 16, 1), np.uint64)
    raster(ramp, np.array([[0, 1, 2], [0, 2, 3]], np.int32), bits, (0, 0, 0))
    cells = unpacked(bits)[:, 5]
    assert [np.flatnonzero(row).tolist() for row in cells[2:10]] == [[x] for x in range(2, 10)]


def test_negative_coordinates_and_word_borders() -> None:
    low, high = np.array([-70, -3, -2]), np.array([66, 4, 5])
    mesh = Mesh(
        trimesh.creation.box(bounds=[low + 0.5, high + 0.5]).vertices * 0.004, box_mesh((1, 1, 1)).faces
    )
    voxels = voxelise(mesh)
    assert voxels.cells == np.prod(high - low + 1)
    assert voxels.low == tuple(low)
    assert voxels.high == tuple(high)
    assert voxels.centre == pytest.approx((low + high + 1) / 2 * 0.004)


SHAPES = {
    "ball": trimesh.creation.icosphere(radius=0.06),
    "ring": trimesh.creation.torus(major_radius=0.08, minor_radius=0.02),
    "tube": trimesh.creation.annulus(r_min=0.05, r_max=0.07, height=0.1),
    "rod": trimesh.creation.cylinder(radius=0.02, height=0.2),
    "open": trimesh.Trimesh(*(lambda s: (s.vertices, s.faces[4:]))(trimesh.creation.icosphere(2, 0.06))),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (31.0, -17.0, 72.0)])
def test_filling_is_what_scipy_fills(name: str, turn: tuple[float, float, float]) -> None:
    mesh = mesh_of(SHAPES[name])
    mesh = Mesh(mesh.vertices @ rotation_matrix(turn).T, mesh.faces)
    voxels = voxelise(mesh)
    shell = np.zeros_like(voxels.filled)
    raster(mesh.vertices / 0.004, mesh.faces, shell, voxels.corner)
    assert np.array_equal(unpacked(voxels.filled), ndimage.binary_fill_holes(unpacked(shell)))


def test_air_finds_its_way_through_a_winding_passage() -> None:
    cells = np.zeros((9, 40, 64), bool)
    cells[2:7, 2:38, 2:62] = True
    for row in range(4, 36, 2):  # a passage to and fro, open at its first end only
        cells[4, row, 4:60] = False
        cells[4, row + 1, 59 if row % 4 else 4] = False
    cells[4, 2:5, 10] = False
    cells[3, 36, 5:50] = False  # closed
    shell = packed(cells)
    assert np.array_equal(unpacked(filled(shell)), ndimage.binary_fill_holes(cells))
    assert not unpacked(filled(shell))[4, 34, 20]
    assert unpacked(filled(shell))[3, 36, 20]


@pytest.mark.parametrize("seed", range(8))
def test_air_in_random_clutter(seed: int) -> None:
    cells = random_grid(seed, (14, 17, 192), share=0.25 + 0.04 * seed)
    assert np.array_equal(unpacked(filled(packed(cells))), ndimage.binary_fill_holes(cells))


@pytest.mark.parametrize("seed", range(4))
def test_core_halo_and_counts_are_scipys(seed: int) -> None:
    cells = random_grid(seed, share=0.93)
    bits = packed(cells)
    assert np.array_equal(unpacked(dilated(bits)), ndimage.binary_dilation(cells, np.ones((3, 3, 3))))
    assert np.array_equal(unpacked(eroded(bits)), ndimage.binary_erosion(cells))
    z, y, x = np.nonzero(cells)
    assert count_and_sums(bits) == (len(x), x.sum(), y.sum(), z.sum())


@pytest.mark.parametrize("shift", [(0, 0, 0), (1, 2, -1), (64, 0, 1), (-65, 1, 2), (77, -3, 0), (-128, 0, 0)])
def test_shifted_and_moved_grids_share_what_numpy_counts(shift: tuple[int, int, int]) -> None:
    one, two = random_grid(1), random_grid(2)
    there = {(z, y, x + 64) for z, y, x in np.argwhere(two).tolist()}
    moved = np.argwhere(one) + np.array(shift[::-1])
    expected = sum(tuple(cell) in there for cell in moved.tolist())
    a, b, corner, other = packed(one), packed(two), (0, 0, 0), (0, 0, 1)
    assert common_shifted(a, corner, b, other, shift, 2**62) == expected
    assert common_moved(a, corner, b, other, np.eye(3), np.array(shift, float), 2**62, 1) == expected
    if shift == (0, 0, 0):
        assert common(a, corner, b, other, 2**62) == expected


def test_a_quarter_turn_moves_cells_onto_cells() -> None:
    one, two = random_grid(3, (9, 64, 64)), random_grid(4, (9, 64, 64))
    turned = np.rot90(one, axes=(2, 1))  # x → y
    expected = int((turned & two).sum())
    turn = rotation_matrix((0.0, 0.0, 90.0))
    found = common_moved(
        packed(one), (0, 0, 0), packed(two), (0, 0, 0), turn, np.array([64.0, 0, 0]), 2**62, 1
    )
    assert found == expected > 0


@pytest.mark.parametrize("pitch", [0.004, 0.0015])
@pytest.mark.parametrize("name", ["ball", "ring", "tube", "rod"])
def test_volume_exceeds_the_solid_by_about_half_a_cell_of_surface(name: str, pitch: float) -> None:
    shape = SHAPES[name]
    excess = voxelise(mesh_of(shape), pitch).cells * pitch**3 - shape.volume
    assert 0.3 * shape.area * pitch < excess < 1.0 * shape.area * pitch


def test_volume_of_a_boolean_of_manifold3d() -> None:
    manifold3d = pytest.importorskip("manifold3d")
    solid = manifold3d.Manifold.cube((0.2, 0.12, 0.1), True) - manifold3d.Manifold.cylinder(
        0.3, 0.04, 0.04, 48, True
    )
    made = solid.to_mesh64() if hasattr(solid, "to_mesh64") else solid.to_mesh()
    mesh = Mesh(np.asarray(made.vert_properties, float)[:, :3], np.asarray(made.tri_verts, np.int32))
    pitch = 0.001
    excess = voxelise(mesh, pitch).cells * pitch**3 - solid.volume()
    assert 0.3 * solid.surface_area() * pitch < excess < 1.0 * solid.surface_area() * pitch


def test_a_box_on_the_lattice_keeps_its_cells_through_float32() -> None:
    random = np.random.default_rng(5)
    for _ in range(60):
        low = random.integers(-600, 600, 3)
        cells = random.integers(1, 120, 3)
        shape = trimesh.creation.box(bounds=[low * 0.004, (low + cells) * 0.004])
        mesh = mesh_of(shape)
        rounded = Mesh(mesh.vertices.astype(np.float32).astype(float), mesh.faces)
        exact, again = voxelise(mesh), voxelise(rounded)
        assert exact.cells == np.prod(cells + 1)
        assert again.corner == exact.corner
        assert np.array_equal(again.filled, exact.filled)


def test_a_huge_surface_has_no_hole() -> None:
    # Samples at the definition's limit of four million points would leave some of these cells out.
    voxels = voxelise(box_mesh((2.0, 1.5, 1.0)))
    assert voxels.cells == voxels.box_cells


def clutter(n: int) -> Mesh:
    """Triangles between random corners in a box of 1.6 m."""
    random = np.random.default_rng(0)
    faces = random.integers(0, 1000, (n, 3)).astype(np.int32)
    return Mesh(random.uniform(-0.8, 0.8, (1000, 3)), faces)


@pytest.mark.parametrize(
    ("mesh", "text"),
    [
        (Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32)), "no triangles"),
        (Mesh(np.full((3, 3), np.nan), np.array([[0, 1, 2]], np.int32)), "finite"),
        (Mesh(np.zeros((3, 3)), np.array([[0, 1, 3]], np.int32)), "don't exist"),
        (box_mesh((3.1, 3.1, 3.1)), "limit is 4e\\+08"),
        (box_mesh((0.001, 30.0, 30.0)), "rows"),
        (box_mesh((1e12, 0.1, 0.1)), "1000 m"),
        (clutter(100_000), "triangles of part"),
    ],
)
def test_what_cant_be_voxelised_is_refused_in_one_line(mesh: Mesh, text: str) -> None:
    with pytest.raises(KernelError, match=text) as caught:
        voxelise(mesh, name="slab")
    assert "slab" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_flat_and_a_degenerate_mesh_have_the_cells_they_touch() -> None:
    sheet = Mesh(
        np.array([[0, 0, 0], [0.04, 0, 0], [0.04, 0.04, 0]]) + 0.001, np.array([[0, 1, 2]], np.int32)
    )
    assert voxelise(sheet).cells == 11 * 12 / 2
    point = Mesh(np.full((3, 3), 0.001), np.array([[0, 0, 0]], np.int32))
    assert voxelise(point).cells == 1


def test_the_work_of_a_raster_is_never_more_than_was_counted() -> None:
    mesh = clutter(50)
    shell = sum(len(entered(mesh.vertices[face] / 0.05)) for face in mesh.faces)
    counted = voxelise(mesh, 0.05).raster_work
    assert shell / 64 < counted < 50 * 33**2 * 2
    one = Mesh(np.array([[0, 0, 0], [0.4, 0, 0], [0, 0.2, 0.4]]) + 0.001, np.array([[0, 1, 2]], np.int32))
    assert voxelise(one).raster_work == 101 * 51 + 101 * (101 + 51) / 64


def test_a_core_without_cells_takes_no_memory() -> None:
    sheet = voxelise(box_mesh((0.5, 0.5, 0.002)))
    before = sheet.nbytes
    assert before == sheet.filled.nbytes
    assert not sheet.core.any()
    assert sheet.nbytes == before + 8


def test_a_scene_of_large_plates_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voxels, "_cache", OrderedDict())
    plate = box_mesh((0.0005, 3.0, 3.0))
    parts = [Part(f"plate{i}", plate, (0.256 * i, 0.0, 0.0)) for i in range(19)]
    for part in parts:
        assert part_voxels(part).halo.any()
    made: list[str] = []
    monkeypatch.setattr(voxels, "voxelise", lambda mesh, pitch, name, shell: made.append(name))
    for part in parts:
        part_voxels(part)
    assert made == []
