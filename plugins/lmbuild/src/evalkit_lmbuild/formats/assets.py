"""Meshes of official objects: GLBs in glTF's axes, of catalogue parts and of whole references.

glTF has +Y up and the front toward +Z; the world is (x, −z, y) of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from evalkit_lmbuild.design import JOINT_TYPES, Design, Joint, Mesh, Part, Vector
from evalkit_lmbuild.formats.errors import DesignError
from evalkit_lmbuild.formats.generated import part_ids, z_up
from evalkit_lmbuild.formats.glb import read_glb

LDU_M = 0.0004
"""An LDraw unit, in which the meshes of LDraw parts are."""
SIZE_FACTOR = 5.0
"""A mesh whose diagonal differs by more than this from its catalogue size is in units of its own."""


@lru_cache(maxsize=1024)
def pool_mesh(path: Path, unit_m: float = 1.0, size_m: Vector | None = None) -> Mesh:
    """The part in a GLB, all nodes together, in world axes and m, its bounding box centred on the origin.

    `unit_m` is the length of a unit of the file; `size_m`, extents of the bounding box in world axes, is
    what the catalogue says: a mesh more than five times larger or smaller is scaled to its diagonal.
    Raises DesignError.
    """
    found = list(read_glb(path).values())
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in found[:-1])])
    points = z_up(np.concatenate([mesh.vertices for mesh in found])) * unit_m
    faces = np.concatenate([mesh.faces + np.int32(at) for mesh, at in zip(found, offsets, strict=True)])
    lowest, highest = points.min(axis=0), points.max(axis=0)
    diagonal = float(np.linalg.norm(highest - lowest))
    if diagonal <= 0:
        raise DesignError(f"{path.name}: all its vertices are one point")
    if size_m is not None:
        factor = float(np.linalg.norm(size_m)) / diagonal
        if not 1 / SIZE_FACTOR <= factor <= SIZE_FACTOR:
            points = points * factor
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    return Mesh(points - centre, np.ascontiguousarray(faces, dtype=np.int32))


def reference_design(path: Path, joints: Sequence[Mapping[str, Any]] = ()) -> Design:
    """A reference: one part per node of the GLB, its name as role, set on the ground.

    `joints` are `{id, type, parent, child, axis, origin, limits}` in the GLB's axes, m and rad; parents and
    children go by the names of their nodes. Raises DesignError.
    """
    meshes = {name: Mesh(z_up(mesh.vertices), mesh.faces) for name, mesh in read_glb(path).items()}
    ids = part_ids(list(meshes))
    floor = min(float(mesh.bounds[0][2]) for mesh in meshes.values())
    parts = tuple(_part(ids[name], role_of(name), mesh, floor) for name, mesh in meshes.items())
    return Design(parts, tuple(_joint(number, each, ids, floor) for number, each in enumerate(joints, 1)))


def role_of(name: str) -> str:
    """What a node's name says in words: `Rear_Wheel.001` is a rear wheel."""
    return " ".join(re.sub(r"[^A-Za-z]+", " ", name).lower().split())


def _part(part: str, role: str, mesh: Mesh, floor: float) -> Part:
    lowest, highest = mesh.bounds
    centre = (lowest + highest) / 2
    x, y, z = (centre - (0.0, 0.0, floor)).tolist()
    local = Mesh(mesh.vertices - centre, mesh.faces)
    return Part(part, local, (x, y, z), role=role or None, source="reference", source_id=part)


def _joint(number: int, given: Mapping[str, Any], ids: Mapping[str, str], floor: float) -> Joint:
    name = str(given.get("id") or f"joint{number}")
    kind = given.get("type")
    if kind not in JOINT_TYPES:
        raise DesignError(f"joint {name!r} has type {kind!r}; there are {', '.join(JOINT_TYPES)}")
    for end in ("parent", "child"):
        if given.get(end) not in ids:
            raise DesignError(
                f"the {end} of joint {name!r} is {given.get(end)!r}, which is no part of the mesh"
            )
    axis = _vector(given.get("axis"), f"the axis of joint {name!r}")
    origin = _vector(given.get("origin"), f"the origin of joint {name!r}")
    limits = given.get("limits")
    if kind != "fixed" and (origin is None or (axis is None and kind != "ball")):
        raise DesignError(f"joint {name!r} moves, but has no {'origin' if origin is None else 'axis'}")
    if axis is not None:
        length = float(np.linalg.norm(axis))
        if length < 1e-9:
            raise DesignError(f"the axis of joint {name!r} has no direction")
        axis = (axis[0] / length, axis[1] / length, axis[2] / length)
    return Joint(
        name,
        str(kind),
        ids[given["parent"]],
        ids[given["child"]],
        axis,
        None if origin is None else (origin[0], origin[1], origin[2] - floor),
        None if limits is None else (float(limits[0]), float(limits[1])),
    )


def _vector(values: Any, what: str) -> Vector | None:
    """Three numbers in glTF's axes as a vector of the world."""
    if values is None:
        return None
    try:
        x, y, z = (float(value) for value in values)
    except (TypeError, ValueError):
        raise DesignError(f"{what} has to be three numbers") from None
    if not np.isfinite((x, y, z)).all():
        raise DesignError(f"{what} has to be three finite numbers")
    return (x, -z, y)
