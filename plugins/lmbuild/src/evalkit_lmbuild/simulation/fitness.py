"""What a design must be for an engine to take it on: finite, bounded, whole."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Design, Joint

MAX_PARTS = 200
MAX_MOVERS = 64
MAX_REACH_M = 100.0
MIN_SIZE_M = 1e-4


def unfit(design: Design) -> str:
    """Why a design can't be simulated, in one line; empty if it can."""
    if not design.parts:
        return "no parts"
    if len(design.parts) > MAX_PARTS:
        return f"{len(design.parts)} parts, more than the {MAX_PARTS} that are simulated"
    movers = sum(joint.moves for joint in design.joints)
    if movers > MAX_MOVERS:
        return f"{movers} moving joints, more than the {MAX_MOVERS} that are simulated"
    for part in design.parts:
        vertices = part.world.vertices
        if len(vertices) == 0:
            return f"part {part.id} has no vertices"
        if not np.isfinite(vertices).all():
            return f"part {part.id} has a coordinate that isn't a number"
        reach = float(np.abs(vertices).max())
        if reach > MAX_REACH_M:
            return f"part {part.id} reaches {reach:.3g} m from the origin (at most {MAX_REACH_M:g} m)"
    if design.diagonal < MIN_SIZE_M:
        return f"the whole design measures {design.diagonal:.2g} m"
    return next((problem for joint in design.joints if (problem := _joint_problem(design, joint))), "")


def _joint_problem(design: Design, joint: Joint) -> str:
    """What is wrong with a joint."""
    for end in (joint.parent, joint.child):
        if end not in design.by_id:
            return f"joint {joint.id} names a part that isn't there: {end}"
    if joint.parent == joint.child:
        return f"joint {joint.id} ties part {joint.parent} to itself"
    if not joint.moves:
        return ""
    if (
        joint.origin is None
        or not np.isfinite(joint.origin).all()
        or np.abs(joint.origin).max() > MAX_REACH_M
    ):
        return f"joint {joint.id} needs an origin of three numbers within {MAX_REACH_M:g} m"
    if joint.type != "ball":
        length = float(np.linalg.norm(joint.axis)) if joint.axis is not None else 0.0
        if not (np.isfinite(length) and length > 1e-9):
            return f"joint {joint.id} needs an axis that isn't zero"
    if joint.limits is not None and not np.isfinite(joint.limits).all():
        return f"joint {joint.id} has a limit that isn't a number"
    return ""
