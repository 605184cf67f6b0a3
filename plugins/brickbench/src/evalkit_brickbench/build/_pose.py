"""Where things stand: rigid poses, made in studs and plates, in LDU, or by turning.

Axes are LDraw's: x to the right, z to the back, −y up. An LDU is 0.4 mm; studs stand 20 LDU apart, a plate is
8 and a brick 24 LDU high.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evalkit_brickbench.build._errors import BuildError
from evalkit_brickbench.parts._labels import frames_of
from evalkit_brickbench.scene import Floats

STUD_LDU = 20.0
PLATE_LDU = 8.0

Axis = Literal["x", "y", "z"]


def _identity() -> Floats:
    return np.eye(4)


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """A rigid pose as a matrix [4, 4] in LDU: a point p of the thing stands at `matrix @ (p, 1)`.

    `a @ b` is pose b in the frame of pose a: `at(2, 0) @ spin(90)` turns on the spot and then shifts.
    """

    matrix: Floats = field(default_factory=_identity)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.matrix @ other.matrix)

    @property
    def rotation(self) -> Floats:
        """The rotation [3, 3]."""
        return self.matrix[:3, :3]

    @property
    def position(self) -> Floats:
        """The origin [3] in LDU."""
        return self.matrix[:3, 3]

    def inverse(self) -> Pose:
        """The pose that undoes this one."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.rotation.T
        matrix[:3, 3] = -self.rotation.T @ self.position
        return Pose(matrix)

    def apply(self, points: Floats) -> Floats:
        """Points [n, 3] or [3] in LDU where this pose puts them."""
        moved: Floats = points @ self.rotation.T + self.position
        return moved

    def __repr__(self) -> str:
        where = ", ".join(f"{x:.4g}" for x in self.position + 0.0)
        turned = "" if np.array_equal(self.rotation, np.eye(3)) else ", turned"
        return f"Pose(({where}) LDU{turned})"


def at(x: float = 0.0, z: float = 0.0, up: float = 0.0) -> Pose:
    """`x` studs to the right, `z` studs to the back, `up` plates up (a brick is three)."""
    return move(x * STUD_LDU, -up * PLATE_LDU, z * STUD_LDU)


def move(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    """Shift by LDU; y points down."""
    shift = np.array([x, y, z], np.float64)
    if not np.isfinite(shift).all():
        raise BuildError(f"a pose can't be at ({x}, {y}, {z}): give finite numbers")
    matrix = np.eye(4)
    matrix[:3, 3] = shift + 0.0
    return Pose(matrix)


def spin(degrees: float, about: Axis = "y") -> Pose:
    """Turn about an axis through the origin; about y clockwise as seen from above. Multiples of 90° are
    exact."""
    if not np.isfinite(degrees):
        raise BuildError(f"a pose can't be turned by {degrees}°: give a finite number")
    if about not in ("x", "y", "z"):
        raise BuildError(f"there is no axis {about!r} to turn about: it is 'x', 'y' or 'z'")
    return turned(
        degrees if about == "y" else 0.0, degrees if about == "x" else 0.0, degrees if about == "z" else 0.0
    )


def turned(yaw: float, pitch: float = 0.0, roll: float = 0.0) -> Pose:
    """R_y(yaw)·R_x(pitch)·R_z(roll), in degrees."""
    matrix = np.eye(4)
    matrix[:3, :3] = frames_of(np.array([[pitch, roll, yaw]], np.float64))[0]
    return Pose(matrix)
