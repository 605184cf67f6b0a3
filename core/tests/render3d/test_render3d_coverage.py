"""Which samples a triangle covers, and how deep: against integers without limit and against rays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from render3d_scenes import Floats, cube, moved, sphere, turned

from evalkit.render3d import Camera, Mesh, MeshInstance, bounds, buffers, look_at, orbit

SIZE = 48


def flat_camera() -> Camera:
    """Looks down the z axis so that x and −y of the world are pixels of a SIZE × SIZE picture."""
    middle = SIZE / 2
    return look_at((middle, -middle, 100.0), (middle, -middle, 0.0), up=(0, 1, 0), height=SIZE)


def covered(triangle: Floats) -> NDArray[np.bool_]:
    """[SIZE, SIZE]: samples inside a triangle given in pixels, in exact integers.

    Samples are moved right by an infinitesimal amount and down by a still smaller one, which decides every
    tie as the top-left rule does.
    """
    big = 1 << 24
    corners = [tuple(math.floor(c * 256 + 0.5) * big * big for c in corner) for corner in triangle]
    inside = np.zeros((SIZE, SIZE), bool)
    for y in range(SIZE):
        for x in range(SIZE):
            p = ((x * 256 + 128) * big * big + big, (y * 256 + 128) * big * big + 1)
            sides = [
                (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
                for a, b in zip(corners, corners[1:] + corners[:1], strict=True)
            ]
            inside[y, x] = all(s > 0 for s in sides) or all(s < 0 for s in sides)
    return inside


def triangle_instance(pixels: Floats, ident: int, z: float = 0.0) -> MeshInstance:
    points = np.column_stack([pixels[:, 0], -pixels[:, 1], np.full(3, z)])
    return MeshInstance(Mesh(points, [[0, 1, 2]]), ident)


def test_random_triangles_cover_what_exact_arithmetic_says() -> None:
    rng = np.random.default_rng(1)
    for i in range(25):
        pixels = rng.uniform(-10, SIZE + 10, (3, 2))
        if i % 2:  # corners on samples and on half samples: every edge case of the rule
            pixels = np.round(pixels * 2) / 2
        hit = buffers([triangle_instance(pixels, 0)], flat_camera(), (SIZE, SIZE)).ids == 0
        assert np.array_equal(hit, covered(pixels)), pixels.tolist()


def test_a_triangulated_square_has_neither_gap_nor_overlap() -> None:
    rng = np.random.default_rng(2)
    grid = np.stack(np.meshgrid(np.linspace(4, 44, 6), np.linspace(4, 44, 6)), axis=-1)
    grid[1:-1, 1:-1] += rng.uniform(-3, 3, (4, 4, 2))
    grid[2, 2] = [20.5, 20.5]
    triangles = []
    for i in range(5):
        for j in range(5):
            a, b, c, d = grid[i, j], grid[i, j + 1], grid[i + 1, j + 1], grid[i + 1, j]
            triangles += [np.array([a, b, c]), np.array([a, c, d])]
    singly = [buffers([triangle_instance(t, 0)], flat_camera(), (SIZE, SIZE)).ids == 0 for t in triangles]
    count = np.sum(singly, axis=0)
    expected = np.zeros((SIZE, SIZE), int)
    expected[4:44, 4:44] = 1
    assert np.array_equal(count, expected)


def rays(camera: Camera, size: int) -> tuple[Floats, Floats]:
    """Origins and directions [n, 3] through the middles of pixels; directions reach depth 1."""
    rows, columns = np.mgrid[0:size, 0:size] + 0.5
    x, y = (columns - size / 2).ravel(), (size / 2 - rows).ravel()
    right, up, back = camera.axes
    if camera.fov_deg is None:
        scale = camera.height / size
        return camera.eye + scale * (x[:, None] * right + y[:, None] * up), np.tile(-back, (len(x), 1))
    scale = 2.0 * math.tan(math.radians(camera.fov_deg) / 2) / size
    return np.tile(camera.eye, (len(x), 1)), scale * (x[:, None] * right + y[:, None] * up) - back


def ray_depths(instances: list[MeshInstance], camera: Camera, size: int) -> Floats:
    """[instances, n] depth of the nearest hit of each instance (Möller and Trumbore 1997), inf without."""
    origins, directions = rays(camera, size)
    depths = np.full((len(instances), len(origins)), np.inf)
    for i, instance in enumerate(instances):
        points = instance.mesh.vertices @ instance.pose[:3, :3].T + instance.pose[:3, 3]
        for a, b, c in points[instance.mesh.triangles]:
            u, v = b - a, c - a
            p = np.cross(directions, v)
            determinant = p @ u
            with np.errstate(divide="ignore", invalid="ignore"):
                t = origins - a
                beta = np.einsum("ij,ij->i", t, p) / determinant
                q = np.cross(t, u)
                gamma = np.einsum("ij,ij->i", directions, q) / determinant
                depth = (q @ v) / determinant
            hit = (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1) & (depth > camera.near)
            depths[i, hit] = np.minimum(depths[i, hit], depth[hit])
    return depths


@pytest.mark.parametrize("fov_deg", [15.0, 70.0, None])
def test_depths_and_instances_are_those_of_rays(fov_deg: float | None) -> None:
    rng = np.random.default_rng(3)
    scene = []
    for i in range(12):
        matrix = moved(*rng.uniform(-2, 2, 3))
        matrix[:3, :3] = turned(rng) * rng.uniform(0.3, 1.4)
        if i % 3 == 0:
            matrix[:3, 0] *= -1.0  # mirrored
        scene.append(MeshInstance(cube(), i, matrix, closed=i % 2 == 0))
    scene.append(MeshInstance(sphere(0.9, 6), 12, closed=True))
    camera, size = orbit(bounds(scene), fov_deg=fov_deg), 64
    found = buffers(scene, camera, (size, size))
    depths = ray_depths(scene, camera, size)
    ids = np.where(np.isfinite(depths.min(axis=0)), depths.argmin(axis=0), -1).reshape(size, size)
    same = found.ids == ids
    # Corners move by up to 1/512 of a pixel, so that samples next to an edge may fall to the other side.
    assert same.mean() > 0.998
    both = same & (ids >= 0)
    assert both.sum() > 600
    error = np.abs(found.depth[both] - depths.min(axis=0).reshape(size, size)[both])
    assert np.quantile(error, 0.98) < 2e-5
    assert error.max() < 0.02
    assert np.isinf(found.depth[found.ids < 0]).all()


def test_from_inside_a_box_all_is_wall_at_the_right_depth() -> None:
    room = [MeshInstance(cube(4.0), 0)]
    camera, size = look_at((0.3, -0.2, 0.1), (1.0, 0.5, -0.4), fov_deg=100.0), 40
    found = buffers(room, camera, (size, size))
    assert (found.ids == 0).all()
    depths = ray_depths(room, camera, size)[0].reshape(size, size)
    assert np.allclose(found.depth, depths, rtol=1e-5)


def test_a_plane_through_the_eye_is_cut_at_the_near_plane() -> None:
    ground = Mesh([[-1e4, -1e4, 0], [1e4, -1e4, 0], [1e4, 1e4, 0], [-1e4, 1e4, 0]], [[0, 1, 2], [0, 2, 3]])
    camera, size = look_at((0, 0, 2.0), (10, 0, 1.0), fov_deg=90.0), 64
    scene = [MeshInstance(ground, 0)]
    found = buffers(scene, camera, (size, size))
    depths = ray_depths(scene, camera, size)[0].reshape(size, size)
    sure = np.isfinite(depths) & (depths < 1e3)
    assert sure.sum() > 1500
    assert (found.ids[sure] == 0).all()
    assert np.allclose(found.depth[sure], depths[sure], rtol=1e-4)


def test_what_is_behind_the_eye_is_not_drawn() -> None:
    camera = look_at((0, -5, 0), (0, 0, 0))
    scene = [MeshInstance(cube(), 0, moved(0, -9, 0)), MeshInstance(cube(), 1, moved(30, 0, 0))]
    assert (buffers(scene, camera, (32, 32)).ids == -1).all()


def test_silhouette_of_a_sphere() -> None:
    size, fov_deg, distance = 400, 40.0, 5.0
    ids = buffers(
        [MeshInstance(sphere(), 0)], look_at((0, -distance, 0), (0, 0, 0), fov_deg=fov_deg), (size, size)
    ).ids
    focal = size / 2 / math.tan(math.radians(fov_deg) / 2)
    radius = focal * math.tan(math.asin(1.0 / distance))
    assert (ids == 0).sum() == pytest.approx(math.pi * radius**2, rel=0.004)


def test_silhouette_of_a_cube_from_the_front_and_along_the_diagonal() -> None:
    front = look_at((0, -5, 0), (0, 0, 0), height=2.0)
    assert (buffers([MeshInstance(cube(), 0)], front, (200, 200)).ids == 0).sum() == 100 * 100
    diagonal = look_at((3, -3, 3), (0, 0, 0), height=2.0)
    area = (buffers([MeshInstance(cube(), 0)], diagonal, (400, 400)).ids == 0).sum()
    assert area == pytest.approx(math.sqrt(3.0) * 200**2, rel=0.002)
