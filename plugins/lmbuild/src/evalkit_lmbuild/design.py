"""What a built object is: parts with meshes, joints, an assembly sequence.

World frame: metres, +Z up, ground at z = 0, front toward −Y. A part's own frame has its origin in the centre
of its bounding box. A rotation is three angles in degrees about the fixed X, then Y, then Z axes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Vector = tuple[float, float, float]

JOINT_TYPES = ("fixed", "revolute", "continuous", "prismatic", "cylindrical", "ball")
SOURCES = ("pool", "created", "ldraw", "generated", "reference")


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles: `vertices` float64 [n, 3] in m, `faces` int32 [m, 3], counter-clockwise from outside."""

    vertices: Floats
    faces: Ints

    @cached_property
    def key(self) -> str:
        """SHA-256 of vertices and faces, hexadecimal: equal meshes have equal keys in any process."""
        digest = hashlib.sha256()
        digest.update(np.ascontiguousarray(self.vertices, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.faces, dtype="<i4").tobytes())
        return digest.hexdigest()

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lowest and highest corner of the bounding box, metres."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    @property
    def size(self) -> Floats:
        """Extents of the bounding box, metres."""
        lowest, highest = self.bounds
        return np.asarray(highest - lowest)


def rotation_matrix(degrees: Vector) -> Floats:
    """Rz·Ry·Rx of three angles in degrees [3, 3]; exact for multiples of 90°."""
    turns = []
    for angle in degrees:
        quarter = angle / 90.0
        if quarter == round(quarter):
            cosine, sine = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarter) % 4]
        else:
            cosine, sine = float(np.cos(np.radians(angle))), float(np.sin(np.radians(angle)))
        turns.append((cosine, sine))
    (cx, sx), (cy, sy), (cz, sz) = turns
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return np.asarray(about_z @ about_y @ about_x, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Part:
    """A placed part. `mesh` is in the part's own frame; `position` and `rotation` bring it into the world."""

    id: str
    mesh: Mesh
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    role: str | None = None
    material: str | None = None
    source: str = "created"
    source_id: str | None = None

    @cached_property
    def world(self) -> Mesh:
        """The mesh in world coordinates."""
        if self.rotation == (0.0, 0.0, 0.0):
            turned = self.mesh.vertices
        else:
            turned = self.mesh.vertices @ rotation_matrix(self.rotation).T
        return Mesh(turned + np.asarray(self.position), self.mesh.faces)


@dataclass(frozen=True)
class Joint:
    """A joint between two parts: `axis` a unit vector, `origin` a world point at rest, `limits` in rad or m.

    `limits` None means unbounded; for a cylindrical joint they are the slide range. A fixed joint needs
    neither axis nor origin, a ball joint no axis.
    """

    id: str
    type: str
    parent: str
    child: str
    axis: Vector | None = None
    origin: Vector | None = None
    limits: tuple[float, float] | None = None

    @property
    def moves(self) -> bool:
        """Whether the joint lets its child move."""
        return self.type != "fixed"


@dataclass(frozen=True)
class Step:
    """A step of the assembly: this part comes next, moved along `direction` (None: the default)."""

    part: str
    direction: Vector | None = None


@dataclass(frozen=True, eq=False)
class Design:
    """A complete object. Ids of parts are unique; joints and steps name parts that exist.

    `from_generator` says that it was handed in as bare geometry, so that what it lacks isn't held against it.
    """

    parts: tuple[Part, ...] = ()
    joints: tuple[Joint, ...] = ()
    sequence: tuple[Step, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
    from_generator: bool = False

    @cached_property
    def by_id(self) -> dict[str, Part]:
        """Parts by id."""
        return {part.id: part for part in self.parts}

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Bounding box of all parts in the world; of a design without parts, the origin."""
        if not self.parts:
            return np.zeros(3), np.zeros(3)
        corners = [part.world.bounds for part in self.parts]
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    @property
    def diagonal(self) -> float:
        """Diagonal of the bounding box, metres."""
        lowest, highest = self.bounds
        return float(np.linalg.norm(highest - lowest))
