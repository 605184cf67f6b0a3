"""What the compiled parts of the renderer share: how they are compiled, and the buffers they fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
F = TypeVar("F", bound=Callable[..., Any])

#: Tiles of the coarse depth buffer are this many samples wide and high.
TILE = 16


class Lens(NamedTuple):
    """How camera space (right, up, backwards) falls on samples: sample = centre ± `focal` · x (/ depth)."""

    perspective: bool
    focal: float
    centre_x: float
    centre_y: float
    near: float


class Layer(NamedTuple):
    """The nearest surface at each sample [h, w].

    `nearness` float32: 1/depth in perspective, −depth in parallel projection, −inf where nothing is. Both
    are linear across the picture of a plane. `ident` int32 (−1: nothing), `colour` uint32 0xAARRGGBB,
    shaded; `normal` uint32: components in camera space as 3 × 8 bits around 127.
    """

    nearness: NDArray[np.float32]
    ident: NDArray[np.int32]
    colour: NDArray[np.uint32]
    normal: NDArray[np.uint32]


class Window(NamedTuple):
    """A rectangle of samples, `right` and `bottom` excluded; its sides lie between tiles or at the margin."""

    left: int
    top: int
    right: int
    bottom: int


class Tiles(NamedTuple):
    """The farthest nearness in each tile of a layer when last looked at; `stale` tiles have changed since."""

    farthest: NDArray[np.float32]
    stale: NDArray[np.bool_]


def compiled(function: F) -> F:
    """`numba.njit` without reordered or fused arithmetic: same inputs, same bits."""
    return cast(F, numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function))


@compiled
def project(lens: Lens, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Sample coordinates and nearness of a point in camera space that lies before the near plane."""
    if lens.perspective:
        nearness = -1.0 / z
        scale = lens.focal * nearness
        return lens.centre_x + scale * x, lens.centre_y - scale * y, nearness
    return lens.centre_x + lens.focal * x, lens.centre_y - lens.focal * y, z


@compiled
def world_per_sample(lens: Lens, nearness: float) -> float:
    """How long a sample is in the world at a depth."""
    if lens.perspective:
        return 1.0 / (nearness * lens.focal)
    return 1.0 / lens.focal


@compiled
def depth_step(lens: Lens, nearness: float, difference: float) -> float:
    """The depth, in the world, that a small difference of nearness stands for."""
    if lens.perspective:
        return difference / (nearness * nearness)
    return difference


@compiled
def clear(layer: Layer, window: Window, nearness: float) -> None:
    """Empty a window of a layer; colours and normals are only read where something is."""
    layer.nearness[window.top : window.bottom, window.left : window.right] = nearness
    layer.ident[window.top : window.bottom, window.left : window.right] = -1
