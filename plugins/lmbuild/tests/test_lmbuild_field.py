"""Contacts, overlaps, masses and tilt: against brute force over cells and closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import trimesh
from lmbuild_scenes import bench, box, box_mesh, boxes, cylinder, design_of, mesh_of
from scipy import ndimage

from evalkit_lmbuild.design import Design, Mesh, Part, Vector
from evalkit_lmbuild.kernel import (
    PITCH,
    Field,
    components,
    design_pitch,
    gap,
    part_voxels,
    voxelise,
    warm,
)
from evalkit_lmbuild.kernel._distance import nearest_in_groups
from evalkit_lmbuild.kernel._raster import raster
from evalkit_lmbuild.kernel.tilt import low_points


def cells_of(field: Field, part_id: str, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The part's filled cells as booleans [z, y, x] over a window of the lattice (x, y, z; high excluded)."""
    voxels = field.voxels(part_id)
    bits = np.unpackbits(voxels.filled.view(np.uint8), axis=-1, bitorder="little").astype(bool)
    found = np.argwhere(bits) + np.array([voxels.corner[0], voxels.corner[1], voxels.corner[2] * 64])
    window = np.zeros((high - low)[::-1], bool)
    window[tuple((found - low[::-1]).T)] = True
    return window


def cluttered(seed: int) -> list[Part]:
    """Eight parts thrown into a small space."""
    random = np.random.default_rng(seed)
    shapes = [
        trimesh.creation.box(extents=(0.1, 0.06, 0.05)),
        trimesh.creation.cylinder(radius=0.03, height=0.12, sections=24),
        trimesh.creation.icosphere(2, 0.05),
        trimesh.creation.torus(major_radius=0.05, minor_radius=0.012),
    ]
    parts = []
    for i in range(8):
        x, y, z = random.uniform(-0.09, 0.09, 3)
        a, b, c = random.uniform(-180, 180, 3)
        parts.append(Part(f"p{i}", mesh_of(shapes[i % 4]), (x, y, z), (a, b, c)))
    return parts


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pitch", [0.0061, PITCH])
def test_pairs_are_what_brute_force_over_cells_finds(seed: int, pitch: float) -> None:
    parts = cluttered(seed)
    field = Field(parts, pitch)
    low, high = np.full(3, -50), np.full(3, 50)
    grids = {part.id: cells_of(field, part.id, low, high) for part in parts}
    halos = {part_id: ndimage.binary_dilation(grid, np.ones((3, 3, 3))) for part_id, grid in grids.items()}
    cores = {part_id: ndimage.binary_erosion(grid) for part_id, grid in grids.items()}
    touching = []
    for a, b in combinations(sorted(grids), 2):
        if (halos[a] & grids[b]).any():
            touching.append((a, b))
        area = min((halos[a] & grids[b]).sum(), (grids[a] & halos[b]).sum())
        assert field.deep(a, b) == pytest.approx((cores[a] & cores[b]).sum() * pitch**3)
        assert field.overlap(b, a) == pytest.approx((grids[a] & grids[b]).sum() * pitch**3)
        assert field.contact_area(a, b) == pytest.approx(area * pitch**2)
    assert field.touching() == tuple(touching)
    assert 3 < len(touching) < 28
    for part_id, grid in grids.items():
        assert field.volume(part_id) == pytest.approx(grid.sum() * pitch**3)
        centre = (np.argwhere(grid).mean(axis=0)[::-1] + low + 0.5) * pitch
        assert field.centre(part_id) == pytest.approx(centre)


@pytest.mark.parametrize(("gap_mm", "expected"), [(0, True), (4, True), (8, False)])
def test_a_gap_of_a_cell_touches_in_any_phase_and_of_two_never(gap_mm: float, expected: bool) -> None:
    for phase in np.linspace(0, 0.004, 9)[:-1]:
        parts = [
            box("a", (phase - 0.05, 0, 0), (0.1, 0.1, 0.1)),
            box("b", (phase + 0.05 + gap_mm / 1000, 0, 0), (0.1, 0.1, 0.1)),
        ]
        assert bool(Field(parts).touching()) is expected


def test_flush_faces_have_no_depth_and_twice_their_area() -> None:
    field = Field([box("a", (0, 0, 0.1), (0.2, 0.2, 0.2)), box("b", (0, 0, 0.25), (0.1, 0.1, 0.1))])
    assert field.deep("a", "b") == 0
    assert 2.0 < field.contact_area("a", "b") / 0.01 < 2.5


def test_depth_is_the_common_volume_less_a_rim() -> None:
    field = Field([box("a", (0, 0, 0), (0.2, 0.2, 0.2)), box("b", (0.1, 0, 0), (0.2, 0.2, 0.2))])
    # 26 × 51 × 51 cells in common, of which each part leaves out its outermost layer.
    assert field.overlap("a", "b") == pytest.approx(26 * 51 * 51 * PITCH**3)
    assert field.deep("a", "b") == pytest.approx(24 * 49 * 49 * PITCH**3)


def test_an_edit_leaves_the_other_parts_voxels_as_they_were() -> None:
    parts = bench()
    before = {part.id: part_voxels(part) for part in parts}
    moved = Part("left", parts[0].mesh, (-0.2, 0.0, 0.23))
    field = Field([moved, *parts[1:]])
    assert field.voxels("right") is before["right"]
    assert field.voxels("left") is not before["left"]
    assert field.touching() == (("left", "plank"), ("plank", "right"))


def test_mass_of_an_open_shell_is_what_it_encloses() -> None:
    shell = trimesh.creation.icosphere(3, 0.2)
    bowl = trimesh.Trimesh(shell.vertices, shell.faces[shell.triangles_center[:, 2] < 0.15])
    field = Field(
        [Part("bowl", mesh_of(bowl)), Part("ball", mesh_of(shell)), box("b", (1, 0, 0), (0.1,) * 3)], 0.001
    )
    assert field.open_shell("bowl")
    assert field.mass("bowl") == pytest.approx(bowl.convex_hull.volume)
    assert not field.open_shell("ball")
    assert field.mass("ball") == field.volume("ball")
    assert field.mass("b") == field.volume("b")


def test_mass_of_a_flat_open_sheet_is_its_cells() -> None:
    field = Field([box("sheet", (0, 0, 0), (0.4, 0.4, 0.0))])
    assert field.mass("sheet") == field.volume("sheet")


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.0, 0.0, 90.0)])
def test_tilt_of_a_box(turn: Vector) -> None:
    tilt = Field([Part("a", box_mesh((0.1, 0.2, 0.5)), (0.3, -0.2, 0.25), turn)], 0.001).tilt()
    assert tilt.exact_angle_deg == pytest.approx(math.degrees(math.atan2(0.05, 0.25)))
    assert tilt.angle_deg == pytest.approx(tilt.exact_angle_deg, abs=0.2)
    assert tilt.margin_m == pytest.approx(0.05, abs=0.0011)
    assert tilt.height_m == pytest.approx(0.5)
    assert tilt.z_min == pytest.approx(0.0)


def test_tilt_of_a_round_body_and_of_an_overhanging_one() -> None:
    drum = cylinder("drum", (0, 0, 0.15), 0.1, 0.3, (0.0, 0.0, 0.0))
    assert Field([drum], 0.001).tilt().exact_angle_deg == pytest.approx(
        math.degrees(math.atan2(0.0998, 0.15)), abs=0.1
    )
    foot, beam = box("foot", (0, 0, 0.1), (0.1, 0.1, 0.2)), box("beam", (0.3, 0, 0.25), (0.7, 0.1, 0.1))
    tilt = Field([foot, beam]).tilt()
    assert tilt.angle_deg < 0
    assert tilt.margin_m < 0
    assert Field([foot, beam]).tilt(["foot"]).angle_deg > 0


def test_a_body_on_an_edge_or_a_point_has_nothing_to_stand_on() -> None:
    roof = box("edge", (0, 0, 0.5), (0.2, 0.4, 0.2), rotation=(0.0, 45.0, 0.0))
    tilt = Field([roof]).tilt()
    # Within the band of 5 mm the edge is a strip of about a centimetre.
    assert 0 < tilt.exact_angle_deg < math.degrees(math.atan2(0.006, 0.14))
    cone = trimesh.creation.cone(radius=0.1, height=0.3)
    top = Field([Part("tip", mesh_of(cone), (0, 0, 0.3), (180.0, 0.0, 0.0))]).tilt()
    assert abs(top.angle_deg) < 1
    wire = Part("wire", mesh_of(trimesh.Trimesh([[0, 0, 0], [0.2, 0, 0], [0.1, 0, 0.2]], [[0, 1, 2]])))
    flat = Field([wire]).tilt()
    assert flat.exact_angle_deg is None
    assert flat.margin_m <= 1e-9


def test_tilt_needs_parts() -> None:
    with pytest.raises(ValueError, match="at least one part"):
        Field([]).tilt()
    assert Field([]).touching() == ()


def test_samples_lie_on_the_surface_evenly_and_stay() -> None:
    field = Field([box("a", (0.5, 0, 0), (0.2, 0.1, 0.1), rotation=(0.0, 0.0, 90.0))])
    points = field.surface_samples("a", 4000, seed=3)
    inside = np.abs(points - [0.5, 0, 0]) / [0.05, 0.1, 0.05]
    assert np.allclose(inside.max(axis=1), 1.0)
    ends = np.isclose(inside[:, 1], 1.0).mean()
    assert ends == pytest.approx(0.02 / 0.1, abs=0.02)
    assert np.array_equal(points, field.surface_samples("a", 4000, seed=3))
    assert not np.array_equal(points, field.surface_samples("a", 4000, seed=4))


def test_pitch_follows_size_and_thickness() -> None:
    assert design_pitch(Design()) == PITCH
    assert design_pitch(design_of(bench())) == pytest.approx(math.sqrt(0.8**2 + 0.3**2 + 0.5**2) / 250)
    thin = boxes(
        {
            "a": ((0, 0, 0), (0.4, 0.4, 0.008)),
            "b": ((0, 0, 0.1), (0.1, 0.1, 0.006)),
            "c": ((1, 0, 0), (1,) * 3),
        }
    )
    assert design_pitch(design_of(thin)) == pytest.approx(0.002)
    assert design_pitch(design_of([box("a", (0, 0, 0), (0.02,) * 3)])) == 0.0004
    assert design_pitch(design_of([box("a", (0, 0, 0), (5, 5, 5))])) == PITCH
    big = design_of(
        [
            box("sheet", (0, 0, 0), (2, 2, 0.001)),
            box("block", (0, 0, 1), (1.5, 1.5, 1.5)),
            box("s", (0, 0, 2), (2, 2, 0.001)),
        ]
    )
    # t/4 = 0.25 mm becomes 0.4 mm, which would take 5e10 cells: 0.4 · 1.25^8 mm is the first below 3e8.
    assert design_pitch(big) == pytest.approx(0.0004 * 1.25**8)


def test_components_keep_the_order_of_ids() -> None:
    groups = components(["d", "a", "c", "b"], [("a", "b"), ("b", "d"), ("c", "elsewhere")])
    assert groups == [["d", "a", "b"], ["c"]]


def test_a_sampled_shell_gives_nearly_the_same() -> None:
    parts = cluttered(1)
    exact, samples = Field(parts, 0.0012), Field(parts, 0.0012, shell="sampled")
    assert samples.touching() == exact.touching()
    deep = [(exact.deep(*pair), samples.deep(*pair)) for pair in exact.touching()]
    assert sum(one for one, _ in deep) == pytest.approx(sum(two for _, two in deep), rel=0.02)
    for part in parts:
        assert samples.volume(part.id) == pytest.approx(exact.volume(part.id), rel=0.02)
        assert samples.volume(part.id) <= exact.volume(part.id)


def test_a_sampled_shell_leaks_where_its_points_do_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalkit_lmbuild.kernel.voxels.MOST_SAMPLES", 5_000)
    parts = [box("a", (0, 0, 0), (0.2, 0.2, 0.2)), box("b", (0.05, 0, 0), (0.201, 0.2, 0.2))]
    assert Field(parts).deep("a", "b") > 0.8 * 0.15 * 0.2 * 0.2
    assert Field(parts, shell="sampled").deep("a", "b") == 0


def test_other_layouts_of_a_mesh_are_not_compiled_anew_and_give_the_same() -> None:
    warm()
    one, two = bench()[:2]
    mesh = Mesh(np.asfortranarray(one.mesh.vertices), np.asfortranarray(one.mesh.faces.astype(np.int64)))
    compiled = len(raster.signatures), len(low_points.signatures), len(nearest_in_groups.signatures)
    odd = replace(one, mesh=mesh)
    assert Field([odd]).tilt().angle_deg == Field([one]).tilt().angle_deg
    assert np.array_equal(voxelise(odd.world).filled, voxelise(one.world).filled)
    assert gap(odd, two).gap_m == gap(one, two).gap_m
    assert (len(raster.signatures), len(low_points.signatures), len(nearest_in_groups.signatures)) == compiled
