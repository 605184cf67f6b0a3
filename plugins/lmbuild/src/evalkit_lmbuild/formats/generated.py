"""GLBs of generators: geometry without units, joints, materials or roles, laid over a reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Joint, Mesh, Part
from evalkit_lmbuild.formats.errors import DesignError
from evalkit_lmbuild.formats.glb import read_glb

JointCompletion = Callable[[Design], tuple[Joint, ...]]
"""Joints for a design that has none, in its final scale and place; its `__name__` is recorded."""

SHAPE_THRESHOLD = 0.025
MAX_PARTS = 2000


def import_generated(
    path: Path, reference: Design | None = None, complete_joints: JointCompletion | None = None
) -> Design:
    """The parts of a generator's GLB (one per node with a mesh), ready to be compared with a reference.

    glTF axes (Y up, front +Z) become the world's (x, −z, y); the whole is scaled so that its diagonal is the
    reference's, turned to the quarter turn about z with the best F-score at 2.5 % of the diagonal (the
    measure of A.1; the smallest of equals), centred in x and y, and set on the ground. Without a
    reference it keeps its size and yaw. Roles, materials, joints and sequence stay absent, so that metrics
    that need them don't apply; `complete_joints` may add joints. `meta` records what was done.
    Raises DesignError.
    """
    meshes = read_glb(path)
    if len(meshes) > MAX_PARTS:
        raise DesignError(f"{path.name}: {len(meshes):,} nodes with meshes, the limit is {MAX_PARTS:,}")
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
    design = replace(design, meta=meta)
    return design if complete_joints is None else _completed(design, complete_joints)


def _completed(design: Design, complete_joints: JointCompletion) -> Design:
    joints = tuple(complete_joints(design))
    for joint in joints:
        for part in (joint.parent, joint.child):
            if part not in design.by_id:
                raise DesignError(f"joint completion: joint {joint.id!r} names {part!r}, which is no part")
    name = getattr(complete_joints, "__name__", type(complete_joints).__name__)
    return replace(design, joints=joints, meta={**design.meta, "joint_completion": name})


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
    from evalkit_lmbuild.scoring.samples import SAMPLES, Frame, f_score, quarter_turned, surface_cloud

    points = Frame.of(design).normalised(surface_cloud(design, SAMPLES, seed=0).points)
    wanted = Frame.of(reference).normalised(surface_cloud(reference, SAMPLES, seed=1).points)
    scores = [f_score(quarter_turned(points, turn), wanted, SHAPE_THRESHOLD) for turn in range(4)]
    return int(np.argmax(scores))


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
