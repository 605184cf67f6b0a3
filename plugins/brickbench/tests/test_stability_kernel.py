"""The steps of the verdict by themselves: solids, facing surfaces, programs, pieces."""

from __future__ import annotations

import numpy as np
import pytest
from stability_scenes import Builder, Shapes, convex_mesh, tilt

from evalkit_brickbench.scene import Mesh
from evalkit_brickbench.stability.balance import margin, polygon
from evalkit_brickbench.stability.bodies import make_bodies
from evalkit_brickbench.stability.constants import DENSITY_KG_PER_LDU3
from evalkit_brickbench.stability.facing import facing
from evalkit_brickbench.stability.pieces import convex_polygons
from evalkit_brickbench.stability.solids import Solids, make_solid, placed_solids, signed_mass, voxel_mass

BOX = np.array([(i, j, k) for i in (-20.0, 20.0) for j in (-24.0, 0.0) for k in (-10.0, 10.0)])
DOWN = np.array([0.0, 1.0, 0.0])


def solid_of(mesh: Mesh, stretch: np.ndarray | None = None):  # type: ignore[no-untyped-def]
    shape = np.eye(3) if stretch is None else stretch
    return make_solid(("test", ()), mesh.vertices, mesh.triangles, mesh.inset_ldu, shape)


def test_inset_is_undone() -> None:
    solid = solid_of(convex_mesh(BOX, 0.25))
    assert np.ptp(solid.hull, axis=0) == pytest.approx([40, 24, 20])
    assert solid.mass.volume == pytest.approx(40 * 24 * 20)


def test_mass_of_a_box() -> None:
    mass = signed_mass(convex_mesh(BOX).vertices[convex_mesh(BOX).triangles])
    volume = 40 * 24 * 20
    assert mass.volume == pytest.approx(volume)
    assert mass.centre == pytest.approx([0, -12, 0])
    assert mass.second == pytest.approx(np.diag([40**2, 24**2, 20**2]) * volume / 12)


def test_open_mesh_gets_its_mass_from_voxels() -> None:
    mesh = convex_mesh(BOX)
    bottomless = mesh.triangles[[not (mesh.vertices[t, 1] == 0).all() for t in mesh.triangles]]
    assert solid_of(Mesh(mesh.vertices, bottomless, 0.0)).fallback == "voxels"
    assert solid_of(mesh).fallback == ""
    mass = voxel_mass(mesh.vertices[mesh.triangles])
    assert mass.volume == pytest.approx(40 * 24 * 20, rel=0.1)
    assert mass.centre == pytest.approx([0, -12, 0], abs=0.5)


def test_reflection_keeps_surfaces_outward() -> None:
    solid = solid_of(convex_mesh(BOX + np.array([5.0, 0, 0])), np.diag([-1.0, 1, 1]))
    assert solid.mass.volume == pytest.approx(40 * 24 * 20)
    assert solid.mass.centre == pytest.approx([-5, -12, 0])


def test_body_of_two_boxes() -> None:
    builder = Builder().box(0, 0, 0, 0, 20, 20, 20).box(0, 20, 0, 0, 20, 20, 20)
    solids, rotations, positions = placed_solids(builder.scene(), Solids(builder.shapes), None)
    body = make_bodies(np.array([0, 0]), solids, rotations, positions)[0]
    mass = 16000 * DENSITY_KG_PER_LDU3
    assert body.mass_kg == pytest.approx(mass)
    assert body.centre == pytest.approx([10, -10, 0])
    expected = mass / 12 * np.diag([20**2 + 20**2, 40**2 + 20**2, 40**2 + 20**2])
    assert body.inertia == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert len(body.hull) in range(8, 13)


@pytest.mark.parametrize("gap", [-0.5, 0.0, 0.3, 3.4])
def test_gap_between_boxes(gap: float) -> None:
    box = solid_of(convex_mesh(BOX))
    found = facing(box, box, np.eye(3), np.array([10.0, -24.0 - gap, 0.0]), DOWN)
    vertical = np.isfinite(found.falls)
    assert found.falls[vertical] == pytest.approx(np.full(vertical.sum(), gap), abs=1e-9)
    assert found.normals[vertical] == pytest.approx(np.tile([0.0, -1, 0], (vertical.sum(), 1)))
    corners = found.points[vertical]
    assert corners[:, 0].min() == pytest.approx(-10, abs=0.03)
    assert corners[:, 0].max() == pytest.approx(20, abs=0.03)


def test_flush_sides_hold_nothing_up() -> None:
    box = solid_of(convex_mesh(BOX))
    found = facing(box, box, np.eye(3), np.array([40.0, -24.0, 0.0]), DOWN)
    assert not np.isfinite(found.falls).any()
    beside = facing(box, box, np.eye(3), np.array([40.0, -5.0, 0.0]), DOWN)
    assert np.abs(beside.normals[:, 0]).min() == pytest.approx(1.0)
    assert beside.gaps == pytest.approx(np.zeros(len(beside.gaps)), abs=1e-9)


def test_too_far_apart_is_not_near() -> None:
    box = solid_of(convex_mesh(BOX))
    assert not facing(box, box, np.eye(3), np.array([0.0, -24.0 - 3.6, 0.0]), DOWN).near


def test_edge_on_a_face() -> None:
    box = solid_of(convex_mesh(BOX))
    turn = tilt(30)
    lowest = float((BOX @ turn.T)[:, 1].max())
    found = facing(box, box, turn, np.array([0.0, -24.0 - lowest, 0.0]), DOWN)
    touching = np.isfinite(found.falls) & (np.abs(found.gaps) < 0.05)
    assert touching.sum() >= 2
    assert found.normals[touching] == pytest.approx(np.tile([0.0, -1, 0], (touching.sum(), 1)))


def test_faces_of_a_box_become_six_polygons() -> None:
    solid = solid_of(convex_mesh(BOX))
    polygons = convex_polygons(solid.triangles, solid.normals)
    assert sorted(len(p) for p in polygons) == [4] * 6


def test_polygons_stay_convex() -> None:
    # An L: two triangles and a square that no convex polygon covers.
    flat = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)
    points = np.column_stack([flat[:, 0], np.zeros(6), flat[:, 1]])
    faces = np.array([(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 5, 4)])
    normals = np.tile([0.0, 1.0, 0.0], (4, 1))
    polygons = convex_polygons(points[faces], normals)
    assert len(polygons) == 2
    area = sum(np.linalg.norm(np.cross(p[1:-1] - p[0], p[2:] - p[0]).sum(axis=0)) / 2 for p in polygons)
    assert area == pytest.approx(3.0)


def test_margin_of_a_point() -> None:
    square = polygon(np.array([(0, 0), (4, 0), (4, 4), (0, 4), (2, 2), (2, 0)], dtype=float))
    assert len(square) == 4
    assert margin(square, np.array([1.0, 2.0])) == pytest.approx(1.0)
    assert margin(square, np.array([7.0, 8.0])) == pytest.approx(-5.0)
    line = polygon(np.array([(0, 0), (4, 0)], dtype=float))
    assert margin(line, np.array([2.0, 0.0])) == pytest.approx(0.0)


def test_shapes_source_knows_only_its_own() -> None:
    assert Solids(Shapes()).solid("3001") is None
