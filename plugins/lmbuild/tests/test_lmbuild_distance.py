"""Distances of surfaces: closed forms, trimesh's closest points, manifold3d's gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trimesh
from lmbuild_scenes import box, mesh_of

from evalkit_lmbuild.design import Mesh, Part
from evalkit_lmbuild.kernel import distance_to_surface, gap


@pytest.mark.parametrize("seed", range(3))
def test_distance_to_a_surface_is_trimeshs(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = (
        trimesh.creation.torus(0.2, 0.05),
        trimesh.creation.icosphere(2, 0.3),
        trimesh.creation.cone(0.1, 0.4),
    )[seed]
    part = Part("a", mesh_of(shape), (0.1, 0.2, 0.3), (20.0, 30.0, 40.0))
    placed = trimesh.Trimesh(part.world.vertices, part.world.faces, process=False)
    points = random.uniform(-0.5, 0.8, (40, 3))
    expected = trimesh.proximity.closest_point_naive(placed, points)[1]
    assert [distance_to_surface(part, point) for point in points] == pytest.approx(expected, abs=1e-12)


def test_distance_from_inside_counts_too() -> None:
    assert distance_to_surface(box("a", (1, 0, 0), (0.4, 0.4, 0.4)), (1.15, 0, 0)) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("centre", "expected"),
    [
        ((0.3, 0, 0), 0.1),  # face to face
        ((0.3, 0.3, 0), math.hypot(0.1, 0.1)),  # edge to edge
        ((0.3, 0.3, 0.3), math.sqrt(3) * 0.1),  # corner to corner
        ((0.2, 0, 0), 0.0),  # flush
        ((0.1, 0.05, 0), 0.0),  # crossing
        ((0.0, 0.0, 0.0), 0.0),  # the same place
    ],
)
def test_gap_of_two_boxes(centre: tuple[float, float, float], expected: float) -> None:
    found = gap(box("a", (0, 0, 0), (0.2, 0.2, 0.2)), box("b", centre, (0.2, 0.2, 0.2)))
    assert found.gap_m == pytest.approx(expected, abs=1e-12)
    assert np.linalg.norm(found.point_a - found.point_b) == pytest.approx(found.gap_m, abs=1e-12)
    assert found.midpoint == pytest.approx((found.point_a + found.point_b) / 2)


def test_gap_of_crossed_bars_is_between_their_edges() -> None:
    one = box("a", (0, 0, 0), (0.5, 0.1, 0.1), rotation=(45.0, 0.0, 0.0))
    two = box("b", (0, 0, 0.3), (0.1, 0.5, 0.1), rotation=(0.0, 45.0, 0.0))
    found = gap(one, two)
    assert found.gap_m == pytest.approx(0.3 - 2 * 0.05 * math.sqrt(2))
    assert found.point_a == pytest.approx([0, 0, 0.05 * math.sqrt(2)], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_gap_of_round_parts_is_manifold3ds(seed: int) -> None:
    manifold3d = pytest.importorskip("manifold3d")
    random = np.random.default_rng(seed)
    shapes = (
        trimesh.creation.torus(0.1, 0.03),
        trimesh.creation.icosphere(3, 0.08),
        trimesh.creation.capsule(0.1, 0.04),
    )
    parts, solids = [], []
    for i in range(2):
        x, y, z = random.uniform(-0.15, 0.15, 3) + i * np.array([0.25, 0.1, 0.0])
        a, b, c = random.uniform(-180, 180, 3)
        part = Part(f"p{i}", mesh_of(shapes[(seed + i) % 3]), (x, y, z), (a, b, c))
        parts.append(part)
        mesh = manifold3d.Mesh64(part.world.vertices, part.world.faces.astype(np.uint64))
        solids.append(manifold3d.Manifold(mesh))
    expected = solids[0].min_gap(solids[1], 1.0)
    assert gap(*parts).gap_m == pytest.approx(expected, abs=1e-9)
    assert gap(*reversed(parts)).gap_m == pytest.approx(expected, abs=1e-9)


def test_gap_of_surfaces_with_many_triangles() -> None:
    ball = mesh_of(trimesh.creation.icosphere(5, 0.1))
    found = gap(Part("a", ball), Part("b", ball, (0.3, 0.0, 0.0)))
    assert found.gap_m == pytest.approx(0.1, abs=1e-4)


def test_degenerate_triangles_have_distances() -> None:
    needle = Part("a", Mesh(np.array([[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]]), np.array([[0, 1, 2]], np.int32)))
    point = Part("b", Mesh(np.full((3, 3), 0.3), np.array([[0, 0, 0]], np.int32)))
    assert gap(needle, point).gap_m == pytest.approx(math.sqrt(0.01 + 0.09 + 0.09))
    assert distance_to_surface(needle, (0.1, 0.05, 0)) == pytest.approx(0.05)
