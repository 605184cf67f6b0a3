"""Compiling the kernel ahead of its use."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Design, Joint, Mesh, Part
from evalkit_lmbuild.kernel.distance import gap
from evalkit_lmbuild.kernel.field import Field
from evalkit_lmbuild.kernel.joints import moving_set, origin_ok
from evalkit_lmbuild.kernel.sweeps import approach, sweep_free

_SIDE = 0.04


def _tetrahedron() -> Mesh:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * _SIDE
    return Mesh(corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]], dtype=np.int32))


def warm() -> None:
    """Compile the kernel's loops, that of sampled shells aside, or load them from numba's cache
    (folder: NUMBA_CACHE_DIR).
    """
    mesh = _tetrahedron()
    parts = (Part("a", mesh), Part("b", mesh, position=(_SIDE / 4, 0.0, 0.0)))
    joint = Joint("j", "revolute", "a", "b", axis=(0.0, 0.0, 1.0), origin=(0.0, 0.0, 0.0), limits=(0.0, 1.0))
    design = Design(parts, (joint,))
    field = Field(parts)
    touching = field.touching()
    field.deep("a", "b")
    field.tilt()
    gap(*parts)
    origin_ok(design, joint)
    sweep_free(field, design, joint, moving_set(design, joint, touching))
    approach(field, "b", ["a"], None, on_floor=True)
