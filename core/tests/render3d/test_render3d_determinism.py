"""The same bits whatever the order, the thread and the process; skipping hidden parts changes nothing."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from render3d_scenes import cube, moved, sphere, turned

from evalkit.render3d import Mesh, MeshInstance, bounds, buffers, look_at, orbit, render


def crowd(n: int = 60, seed: int = 5) -> list[MeshInstance]:
    """Overlapping cubes and spheres, some of them transparent, some with edge lines, some coincident."""
    rng = np.random.default_rng(seed)
    meshes = [cube(), cube(edges=True), sphere(0.6, 8)]
    scene = []
    for i in range(n):
        matrix = moved(*rng.uniform(-2, 2, 3))
        matrix[:3, :3] = turned(rng)
        if i % 10 == 9:
            matrix = scene[-1].pose
        alpha = 120 if i % 4 == 1 else 255
        colour = (*rng.integers(0, 256, 3).tolist(), alpha)
        scene.append(MeshInstance(meshes[i % 3], i, matrix, colour, closed=i % 3 == 2))
    return scene


def picture(scene: list[MeshInstance]) -> NDArray[np.uint8]:
    return render(scene, orbit(bounds(crowd())), (120, 100))


def test_the_order_of_the_instances_does_not_matter() -> None:
    scene = crowd()
    expected = picture(scene)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(scene))
        assert np.array_equal(picture([scene[i] for i in order]), expected)


def test_threads_do_not_disturb_each_other() -> None:
    scenes = [crowd(seed=seed) for seed in range(6)]
    alone = [picture(scene) for scene in scenes]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(picture, scenes * 3))
    assert all(np.array_equal(a, b) for a, b in zip(alone * 3, together, strict=True))


def test_another_process_draws_the_same_bits() -> None:
    here = Path(__file__).parent
    code = (
        f"import hashlib, sys; sys.path.insert(0, {str(here)!r}); import {Path(__file__).stem} as t\n"
        "print(hashlib.sha256(t.picture(t.crowd()).tobytes()).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=200
    )
    assert done.stdout.strip() == hashlib.sha256(picture(crowd()).tobytes()).hexdigest()


def test_of_coincident_surfaces_the_lower_id_is_seen() -> None:
    camera = look_at((0, -5, 0), (0, 0, 0))
    twins = [MeshInstance(cube(), 7), MeshInstance(cube(), 3)]
    for scene in (twins, twins[::-1]):
        assert set(np.unique(buffers(scene, camera, (40, 40)).ids)) == {-1, 3}


def test_skipping_hidden_instances_changes_nothing() -> None:
    rng = np.random.default_rng(8)
    wall = MeshInstance(cube(), 0, np.diag([6.0, 0.1, 6.0, 1.0]))
    behind = [
        MeshInstance(cube(), i, moved(x, 3.0, z, 0.3))
        for i, (x, z) in enumerate(rng.uniform(-3.8, 3.8, (150, 2)), start=1)
    ]
    camera = look_at((0, -15, 0), (0, 0, 0), fov_deg=30.0)
    together = buffers([*behind, wall], camera, (160, 160))
    singly = [buffers([instance], camera, (160, 160)) for instance in [wall, *behind]]
    depths = np.array([view.depth for view in singly])
    nearest = np.where(np.isfinite(depths.min(axis=0)), depths.argmin(axis=0), -1)
    assert np.array_equal(together.ids, nearest)
    assert np.array_equal(together.depth, depths.min(axis=0))
    assert (nearest > 0).any(), "something looks out from behind the wall"


def test_leaving_out_the_back_of_a_closed_mesh_changes_nothing() -> None:
    mirror = np.diag([-1.0, 1.0, 1.0, 1.0])
    for matrix in (np.eye(4), mirror):
        open_, closed = (
            [MeshInstance(sphere(), 0, matrix, (200, 60, 60), closed=flag)] for flag in (False, True)
        )
        camera = orbit(bounds(open_))
        assert np.array_equal(render(open_, camera, (90, 90)), render(closed, camera, (90, 90)))


def test_the_back_of_a_closed_mesh_is_not_drawn() -> None:
    square = Mesh([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], [[0, 1, 2], [0, 2, 3]])
    scene = [MeshInstance(square, 0, closed=True)]
    front, back = look_at((0, -5, 0), (0, 0, 0)), look_at((0, 5, 0), (0, 0, 0))
    assert (buffers(scene, front, (20, 20)).ids == 0).any()
    assert (buffers(scene, back, (20, 20)).ids == -1).all()
