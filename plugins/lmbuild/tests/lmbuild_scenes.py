"""Shapes and scenes that several tests of the geometry use; lengths in m."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import trimesh

from evalkit_lmbuild.design import Design, Joint, Mesh, Part, Step, Vector
from evalkit_lmbuild.facts import ObjectFacts

DOWN: Vector = (0.0, 0.0, -1.0)
FACTS = ObjectFacts("thing", "thing", ())
Box = tuple[Sequence[float], Sequence[float]]


def mesh_of(shape: trimesh.Trimesh) -> Mesh:
    """A mesh of trimesh's."""
    return Mesh(np.asarray(shape.vertices, dtype=np.float64), np.asarray(shape.faces, dtype=np.int32))


def box_mesh(size: Sequence[float]) -> Mesh:
    """A box around the origin."""
    return mesh_of(trimesh.creation.box(extents=size))


def box(part_id: str, centre: Sequence[float], size: Sequence[float], **more: object) -> Part:
    """A box as a part."""
    x, y, z = centre
    return Part(part_id, box_mesh(size), (float(x), float(y), float(z)), **more)  # type: ignore[arg-type]


def cylinder(part_id: str, centre: Vector, radius: float, height: float, rotation: Vector) -> Part:
    """A cylinder about z, turned."""
    shape = trimesh.creation.cylinder(radius=radius, height=height, sections=48)
    return Part(part_id, mesh_of(shape), centre, rotation)


def boxes(parts: Mapping[str, Box]) -> list[Part]:
    """Boxes by id: centre and size."""
    return [box(part_id, centre, size) for part_id, (centre, size) in parts.items()]


def design_of(parts: Sequence[Part], *joints: Joint, order: Sequence[str] = ()) -> Design:
    """A design that is put together in `order`, each part moved down."""
    return Design(tuple(parts), joints, tuple(Step(part_id, DOWN) for part_id in order))


def bench() -> list[Part]:
    """A plank of 0.8 × 0.3 × 0.04 on two trestles, 0.5 high."""
    return boxes(
        {
            "left": ((-0.3, 0, 0.23), (0.05, 0.28, 0.46)),
            "right": ((0.3, 0, 0.23), (0.05, 0.28, 0.46)),
            "plank": ((0, 0, 0.48), (0.8, 0.3, 0.04)),
        }
    )
