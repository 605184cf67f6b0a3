"""How the kernel's loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from evalkit_lmbuild.design import Floats, Ints, Mesh

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """`numba.njit`, cached on disk, typed as the function itself; no reordering of floating point sums."""
    return cast(F, numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function))


def arrays_of(mesh: Mesh) -> tuple[Floats, Ints]:
    """Vertices and faces in the one layout that loops are compiled for: another one would be
    compiled anew.
    """
    vertices = np.ascontiguousarray(mesh.vertices, dtype=np.float64)
    return vertices, np.ascontiguousarray(mesh.faces, dtype=np.int32)
