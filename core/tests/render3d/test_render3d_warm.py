"""`warm` compiles what pictures need, so that no picture waits for the compiler."""

from __future__ import annotations

import numpy as np
from render3d_scenes import cube

from evalkit.render3d import Mesh, MeshInstance, bounds, buffers, orbit, render, warm
from evalkit.render3d._ink import add_transparent, draw_lines, outline, resolve
from evalkit.render3d._triangles import draw_instance

KERNELS = (draw_instance, draw_lines, outline, add_transparent, resolve)


def test_after_warm_nothing_is_compiled_again() -> None:
    warm()
    compiled = [list(kernel.signatures) for kernel in KERNELS]  # type: ignore[attr-defined]
    assert all(len(signatures) == 1 for signatures in compiled)
    shape = cube(edges=True)
    frozen = shape.vertices.copy()
    frozen.flags.writeable = False
    strange = Mesh(
        np.asfortranarray(frozen, dtype=np.float32), shape.triangles.astype(np.uint8), edges=[[0, 1]]
    )
    scene = [
        MeshInstance(shape, 0, colour=np.full((12, 4), 200)),
        MeshInstance(strange, 1, np.asfortranarray(np.eye(4)), (1, 2, 3, 40), closed=True),
        MeshInstance(Mesh(frozen[:3], [[0, 1, 2]]), 2),
    ]
    for fov_deg in (15.0, None):
        camera = orbit(bounds(scene), fov_deg=fov_deg)
        for supersample in (1, 3):
            render(scene, camera, (21, 33), supersample=supersample)
        buffers(scene, camera, (9, 9))
    assert [list(kernel.signatures) for kernel in KERNELS] == compiled  # type: ignore[attr-defined]
