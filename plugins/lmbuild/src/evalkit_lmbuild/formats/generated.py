"""GLBs of generators: geometry without units, joints, materials or roles, laid over a reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Joint, Mesh, Part, Vector
from evalkit_lmbuild.documents import joint_entry
from evalkit_lmbuild.formats.errors import CompletionError, DesignError
from evalkit_lmbuild.formats.files import joint_cycle
from evalkit_lmbuild.formats.glb import read_glb
from evalkit_lmbuild.legality import MAX_MESHES, problems

JointCompletion = Callable[[Design], Sequence[Joint]]
"""Joints for a design that has none: it gets what `import_generated` gives without a reference."""


def import_generated(
    path: Path, reference: Design | None = None, joints: Sequence[Joint] = (), completion: str = ""
) -> Design:
    """The parts of a generator's GLB (one per node with a mesh), ready to be compared with a reference.

    glTF axes (Y up, front +Z) become the world's (x, −z, y); the whole is scaled so that its diagonal is the
    reference's, turned to the quarter turn about z with the best F-score at 2.5 % of the diagonal (the
    measure of A.1; the smallest of equals), centred in x and y, and set on the ground. Without a
    reference it keeps its size and yaw. Roles, materials and sequence stay absent, so that metrics that need
    them don't apply. `joints` are those that `completed_joints` found, in the place and size that the design
    has without a reference: they are scaled and turned with it, slides' limits too. `completion` is the name
    of what found them; `meta` records it with what was done. Raises DesignError.
    """
    meshes = read_glb(path)
    if len(meshes) > MAX_MESHES:
        raise DesignError(f"{path.name}: {len(meshes):,} nodes with meshes, the limit is {MAX_MESHES:,}")
    ids = part_ids(list(meshes))
    upright = {ids[name]: Mesh(z_up(mesh.vertices), mesh.faces) for name, mesh in meshes.items()}
    design = _assembled(upright, 1.0, 0)
    if design.diagonal <= 0:
        raise DesignError(f"{path.name}: all its vertices are one point")
    scale, quarters = 1.0, 0
    if reference is not None and reference.diagonal > 0:
        scale = reference.diagonal / design.diagonal
        quarters = _best_quarters(design, reference)
        design = _assembled(upright, scale, quarters)
    meta = {"imported_from": path.name, "scale": repr(scale), "yaw_deg": str(90 * quarters)}
    if completion:
        meta["joint_completion"] = completion
    laid = tuple(_laid(joint, scale, quarters) for joint in joints)
    _check_joints(laid, list(design.by_id))
    return replace(design, joints=laid, meta=meta, from_generator=True)


def completed_joints(design: Design, complete: JointCompletion) -> tuple[Joint, ...]:
    """Joints that a completion finds for an imported design; whatever it does wrong is a CompletionError."""
    try:
        joints = tuple(complete(design))
    except Exception as error:
        raise CompletionError(f"joint completion failed: {type(error).__name__}: {error}") from error
    for joint in joints:
        if not isinstance(joint, Joint):
            raise CompletionError(f"joint completion gave {type(joint).__name__} instead of Joint")
    try:
        _check_joints(joints, list(design.by_id))
    except DesignError as error:
        raise CompletionError(str(error)) from error
    return joints


def _check_joints(joints: Sequence[Joint], ids: Sequence[str]) -> None:
    """DesignError for joints that no design may have."""
    parts = [{"id": part, "source": {"kind": "generated"}} for part in ids]
    faults = problems({"parts": parts, "joints": [joint_entry(joint) for joint in joints]}, meshes=set(ids))
    if faults:
        raise DesignError(f"joint completion: {faults[0].message}")
    if cycle := joint_cycle(joints):
        raise DesignError(f"joint completion: joints go round in a circle: {' → '.join(cycle)}")


def _laid(joint: Joint, scale: float, quarters: int) -> Joint:
    """A joint scaled and turned about the origin as the design is; a slide's limits are lengths."""
    limits = joint.limits
    if limits is not None and joint.type in ("prismatic", "cylindrical"):
        limits = (limits[0] * scale, limits[1] * scale)
    return replace(
        joint,
        axis=None if joint.axis is None else _turned(joint.axis, quarters, 1.0),
        origin=None if joint.origin is None else _turned(joint.origin, quarters, scale),
        limits=limits,
    )


def _turned(vector: Vector, quarters: int, scale: float) -> Vector:
    from evalkit_lmbuild.scoring.samples import quarter_turned

    x, y, z = quarter_turned(np.asarray([vector]) * scale, quarters)[0].tolist()
    return (x, y, z)


def z_up(points: Floats) -> Floats:
    """Points [n, 3] in glTF's axes (Y up, front +Z) in the world's: (x, −z, y)."""
    x, y, z = points.T
    return np.column_stack([x, -z, y])


def _assembled(meshes: Mapping[str, Mesh], scale: float, quarters: int) -> Design:
    """The meshes scaled, turned, centred in x and y and set on the ground, as a design."""
    from evalkit_lmbuild.scoring.samples import quarter_turned

    turned = {
        name: Mesh(quarter_turned(mesh.vertices * scale, quarters), mesh.faces)
        for name, mesh in meshes.items()
    }
    lowest = np.min([mesh.bounds[0] for mesh in turned.values()], axis=0)
    highest = np.max([mesh.bounds[1] for mesh in turned.values()], axis=0)
    shift = np.array([(lowest[0] + highest[0]) / 2, (lowest[1] + highest[1]) / 2, lowest[2]])
    return Design(
        tuple(_part(name, Mesh(mesh.vertices - shift, mesh.faces)) for name, mesh in turned.items())
    )


def _part(name: str, world: Mesh) -> Part:
    """A part of a mesh in world coordinates: its frame's origin is the centre of its bounding box."""
    lowest, highest = world.bounds
    x, y, z = ((lowest + highest) / 2).tolist()
    return Part(
        name, Mesh(world.vertices - (x, y, z), world.faces), (x, y, z), source="generated", source_id=name
    )


def _best_quarters(design: Design, reference: Design) -> int:
    from evalkit_lmbuild.scoring.aligned import Aligned

    return Aligned(design, reference).quarters


def part_ids(names: list[str]) -> dict[str, str]:
    """Ids of parts for names of nodes: letters, digits, _ and -, at most 48, made unique by a number."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:40].strip("_") or "part"
        number, candidate = 1, stem
        while candidate in taken:
            number += 1
            candidate = f"{stem}_{number}"
        taken.add(candidate)
        ids[name] = candidate
    return ids
