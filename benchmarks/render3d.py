"""Prints how many seconds of CPU pictures of evalkit.render3d take: python benchmarks/render3d.py

Bricks of eight studs with about a thousand triangles each: 4,000 of them in a wall, in a loose cloud, and
see-through in both; 40 of them in six small views.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evalkit.render3d import Camera, Mesh, MeshInstance, bounds, glb, highlighted, orbit, png, render, warm

Floats = NDArray[np.float64]
REPEATS = 3


def box(size: tuple[float, float, float]) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and outward triangles of a box around the origin."""
    corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * np.array(size) / 2.0
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def cylinder(radius: float, height: float, sections: int = 16) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and outward triangles of a cylinder around the origin, standing on z."""
    turn = np.arange(sections) * 2.0 * np.pi / sections
    ring = np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])
    ends = [np.column_stack([ring, np.full(sections, z)]) for z in (-height / 2, height / 2)]
    vertices = np.concatenate([*ends, [[0, 0, -height / 2], [0, 0, height / 2]]])
    triangles = []
    for a in range(sections):
        b, low, high = (a + 1) % sections, 2 * sections, 2 * sections + 1
        upper_a, upper_b = a + sections, b + sections
        triangles += [(a, b, upper_b), (a, upper_b, upper_a), (low, b, a), (high, upper_a, upper_b)]
    return vertices, np.array(triangles)


def brick() -> Mesh:
    """A brick of 4 × 2 studs, 80 × 40 × 24, with studs above and tubes inside."""
    pieces = [(box((79.5, 39.5, 23.5)), (0.0, 0.0, 0.0))]
    for x in (-30.0, -10.0, 10.0, 30.0):
        for y in (-10.0, 10.0):
            pieces += [(cylinder(6.0, 4.0), (x, y, 14.0)), (cylinder(8.0, 20.0), (x, y, 0.0))]
    vertices, triangles, count = [], [], 0
    for (points, faces), shift in pieces:
        vertices.append(points + shift)
        triangles.append(faces + count)
        count += len(points)
    return Mesh(np.concatenate(vertices), np.concatenate(triangles))


def placed(mesh: Mesh, positions: Floats, *, closed: bool = True) -> list[MeshInstance]:
    """The mesh at each position, in twelve colours."""
    palette = np.random.default_rng(0).integers(20, 255, (12, 3)).tolist()
    scene = []
    for i, position in enumerate(positions):
        matrix = np.eye(4)
        matrix[:3, 3] = position
        scene.append(MeshInstance(mesh, i, matrix, palette[i * 7 % 12], closed=closed))
    return scene


def wall(n: int) -> Floats:
    """Places in courses of 20 × 10 bricks, every other one shifted by half a brick."""
    i = np.arange(n)
    course = i // 200
    return np.column_stack([80 * (i % 20) + 40 * (course % 2), 40 * (i // 20 % 10), 24 * course]).astype(
        float
    )


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of a few calls."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def view(scene: list[MeshInstance]) -> Camera:
    """A view of the whole scene from above its right corner."""
    return orbit(bounds(scene), yaw_deg=35, pitch_deg=-15)


def six_views(scene: list[MeshInstance]) -> None:
    """Six small views around a scene."""
    for i in range(6):
        render(scene, orbit(bounds(scene), yaw_deg=5 + 60 * i, pitch_deg=-15), (512, 512))


def main() -> None:
    """Measure and print."""
    start = time.perf_counter()
    warm()
    print(f"{platform.processor() or platform.machine()}, warm() {time.perf_counter() - start:.2f} s")
    mesh = brick()
    cloud = np.random.default_rng(1).random((4000, 3)) * (2000, 2000, 800)
    scenes = {
        "wall": placed(mesh, wall(4000)),
        "wall, both sides of faces": placed(mesh, wall(4000), closed=False),
        "cloud": placed(mesh, cloud),
        "cloud, both sides of faces": placed(mesh, cloud, closed=False),
    }
    scenes["wall, all but one see-through"] = highlighted(scenes["wall"], {2000: (255, 0, 0)}, rest_alpha=60)
    for name, scene in scenes.items():
        camera = view(scene)
        cost = seconds(lambda s=scene, c=camera: render(s, c, (1024, 1024)))
        print(f"{cost:6.2f} s  one view 1024², {len(scene)} parts × {len(mesh.triangles)} triangles, {name}")
    few = placed(mesh, wall(40))
    cost = seconds(lambda: six_views(few))
    print(f"{cost:6.2f} s  six views 512², 40 parts, {40 * len(mesh.triangles)} triangles")
    image = render(scenes["wall"], view(scenes["wall"]), (1024, 1024))
    print(f"{seconds(lambda: png(image)):6.3f} s  PNG of such a view, {len(png(image)) / 1e3:.0f} kB")
    data = glb(scenes["wall"])
    print(f"{seconds(lambda: glb(scenes['wall'])):6.2f} s  GLB of 4,000 instances, {len(data) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
