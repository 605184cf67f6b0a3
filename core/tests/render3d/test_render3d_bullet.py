"""The outline of a scene against that of PyBullet's TinyRenderer, another renderer without a library."""

from __future__ import annotations

import numpy as np
import pytest
from render3d_scenes import cube

from evalkit.render3d import MeshInstance, bounds, buffers, orbit


def test_silhouettes_agree_with_tiny_renderer() -> None:
    pybullet = pytest.importorskip("pybullet", reason="pybullet has wheels for Python 3.10 and 3.11 only")
    rng = np.random.default_rng(4)
    boxes = [(rng.uniform(-1.5, 1.5, 3), rng.uniform(0.2, 0.7, 3), rng.normal(size=4)) for _ in range(8)]
    client = pybullet.connect(pybullet.DIRECT)
    try:
        scene = [_both(pybullet, client, i, *box) for i, box in enumerate(boxes)]
        size = 200
        camera = orbit(bounds(scene), fov_deg=30)
        view = pybullet.computeViewMatrix(
            camera.eye.tolist(), (camera.eye - camera.axes[2]).tolist(), camera.axes[1].tolist()
        )
        projection = pybullet.computeProjectionMatrixFOV(30, 1.0, 0.1, 100.0)
        *_, mask = pybullet.getCameraImage(
            size, size, view, projection, renderer=pybullet.ER_TINY_RENDERER, physicsClientId=client
        )
    finally:
        pybullet.disconnect(client)
    theirs = np.reshape(mask, (size, size))
    ours = buffers(scene, camera, (size, size)).ids
    assert len(np.unique(ours)) >= 6
    # TinyRenderer looks near a corner of each pixel, not at its middle: pixels at an edge may differ.
    shifts = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    inner = np.all([np.roll(ours, shift, (0, 1)) == ours for shift in shifts], axis=0)
    assert (inner & (ours >= 0)).sum() > 3000
    assert np.array_equal(ours[inner], theirs[inner])


def _both(pybullet, client, ident, middle, half, turn) -> MeshInstance:  # type: ignore[no-untyped-def]
    """The same box in both worlds; PyBullet numbers bodies in the order of their creation."""
    turn = turn / np.linalg.norm(turn)
    shape = pybullet.createVisualShape(pybullet.GEOM_BOX, halfExtents=half.tolist(), physicsClientId=client)
    body = pybullet.createMultiBody(
        0, baseVisualShapeIndex=shape, basePosition=middle.tolist(), baseOrientation=turn.tolist(),
        physicsClientId=client,
    )  # fmt: skip
    assert body == ident
    matrix = np.eye(4)
    matrix[:3, :3] = np.reshape(pybullet.getMatrixFromQuaternion(turn.tolist()), (3, 3)) * half
    matrix[:3, 3] = middle
    return MeshInstance(cube(2.0), ident, matrix)
