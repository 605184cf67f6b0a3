"""Where a picture is taken from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.render3d._scene import LARGEST, check_numbers, corners

Floats = NDArray[np.float64]

#: Angles of view outside this range are mistakes: the picture would be all noise or all distortion.
_FOV_DEG = (0.01, 170.0)
#: How near the eye things are cut off, as a share of the distance to the target.
_NEAR = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """An eye in the world; made by `look_at` or `orbit`.

    `axes` [3, 3]: unit vectors to the right, up and backwards as rows. `fov_deg`: vertical angle of view, or
    None for a parallel projection that shows `height` world units from bottom to top. Nothing nearer than
    `near` (world units along the line of sight) is drawn.
    """

    eye: Floats
    axes: Floats
    fov_deg: float | None
    height: float
    near: float


def look_at(
    eye: ArrayLike,
    target: ArrayLike,
    *,
    up: ArrayLike = (0.0, 0.0, 1.0),
    fov_deg: float | None = 30.0,
    height: float | None = None,
) -> Camera:
    """The camera at `eye` that sees `target` in the middle, with `up` pointing up.

    `height` (world units) instead of `fov_deg` makes a parallel projection. Raises ValueError where eye and
    target coincide, where `up` points along the line of sight, for an angle outside 0.01 … 170° and for a
    height outside 1e-12 … 1e12.
    """
    position, middle = _vector(eye, "eye"), _vector(target, "target")
    backwards = position - middle
    distance = float(np.linalg.norm(backwards))
    if distance == 0.0:
        raise ValueError("eye and target are the same point")
    if height is not None:
        if not 1.0 / LARGEST <= height <= LARGEST:
            raise ValueError(f"height must be in {1 / LARGEST:g} … {LARGEST:g}, not {height}")
        return Camera(position, _axes(backwards, _vector(up, "up")), None, height, distance * _NEAR)
    if fov_deg is None:
        raise ValueError("give either fov_deg or height")
    _check_fov(fov_deg)
    return Camera(position, _axes(backwards, _vector(up, "up")), fov_deg, 0.0, distance * _NEAR)


def orbit(
    bounds: ArrayLike,
    *,
    yaw_deg: float = 35.0,
    pitch_deg: float = -25.0,
    fov_deg: float | None = 15.0,
    margin: float = 1.05,
    up: ArrayLike = (0.0, 0.0, 1.0),
    aspect: float = 1.0,
) -> Camera:
    """The camera that frames a box [2, 3] from a direction.

    It looks at the middle of the box, from the distance at which the corners fill the picture but for
    `margin` (1.05: 5 % wider than needed) and `aspect` (width : height of the picture). Yaw 0 is the front,
    and growing yaw walks round to the right; negative pitch looks down. The front is −y where z is up, +z
    where y is up, and −z where −y is up (LDraw). `fov_deg=None` is a parallel projection. Raises ValueError
    for bounds that aren't a box and for angles of view outside 0.01 … 170°.
    """
    box = np.asarray(bounds, dtype=np.float64)
    if box.shape != (2, 3) or (box[0] > box[1]).any():
        raise ValueError(f"bounds must be lowest and highest coordinates [2, 3], not {box.tolist()}")
    check_numbers(box, "bounds")
    if not (margin > 0.0 and aspect > 0.0):
        raise ValueError(f"margin and aspect must be positive, not {margin} and {aspect}")
    upwards = _vector(up, "up")
    upwards /= np.linalg.norm(upwards)
    middle = box.mean(axis=0)
    direction = _direction(upwards, math.radians(yaw_deg), math.radians(pitch_deg))
    # Straight from above or below, "up" gives no direction in the picture; the back then points upwards.
    vertical = abs(math.cos(math.radians(pitch_deg))) < 1e-9
    if vertical:
        axes = _axes(direction, -_direction(upwards, math.radians(yaw_deg), 0.0))
    else:
        axes = _axes(direction, upwards)
    seen = (corners(box) - middle) @ axes.T * margin
    reach = max(float(np.abs(seen[:, 1]).max()), float(np.abs(seen[:, 0]).max()) / aspect)
    radius = float(np.linalg.norm(box[1] - box[0])) / 2.0 or 1.0
    if fov_deg is None:
        eye = middle + direction * (2.0 * radius)
        return Camera(eye, axes, None, 2.0 * (reach or 1.0), radius * _NEAR)
    _check_fov(fov_deg)
    slope = math.tan(math.radians(fov_deg) / 2.0)
    needed = np.maximum(np.abs(seen[:, 1]), np.abs(seen[:, 0]) / aspect) / slope + seen[:, 2] / margin
    distance = max(float(needed.max()), radius)
    return Camera(middle + direction * distance, axes, fov_deg, 0.0, distance * _NEAR)


def upright(up: ArrayLike) -> Floats:
    """[3, 3]: the rotation that takes `up` to +y and the front (see `orbit`) to +z."""
    upwards = _vector(up, "up")
    upwards /= np.linalg.norm(upwards)
    front = _front(upwards)
    return np.array([np.cross(upwards, front), upwards, front])


def _direction(up: Floats, yaw: float, pitch: float) -> Floats:
    """Unit vector from the target to the eye."""
    front = _front(up)
    level = math.cos(yaw) * front + math.sin(yaw) * np.cross(up, front)
    direction: Floats = math.cos(pitch) * level - math.sin(pitch) * up
    return direction


def _front(up: Floats) -> Floats:
    z_is_up = abs(up[2]) > abs(up[1])
    guess = np.array([0.0, -1.0, 0.0] if z_is_up else [0.0, 0.0, math.copysign(1.0, up[1])])
    front: Floats = guess - (guess @ up) * up
    return front / np.linalg.norm(front)


def _axes(backwards: Floats, up: Floats) -> Floats:
    back = backwards / np.linalg.norm(backwards)
    right = np.cross(up, back)
    length = np.linalg.norm(right)
    if length < 1e-9 * np.linalg.norm(up):
        raise ValueError("up is parallel to the line of sight; give another up")
    right /= length
    return np.array([right, np.cross(back, right), back])


def _check_fov(fov_deg: float) -> None:
    if not _FOV_DEG[0] <= fov_deg <= _FOV_DEG[1]:
        raise ValueError(f"fov_deg must be in {_FOV_DEG[0]:g} … {_FOV_DEG[1]:g}, not {fov_deg}")


def _vector(values: ArrayLike | Sequence[float], what: str) -> Floats:
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (3,):
        raise ValueError(f"{what} must be three numbers, not {vector.tolist()}")
    check_numbers(vector, what)
    if what == "up" and not vector.any():
        raise ValueError("up must not be zero")
    return vector
