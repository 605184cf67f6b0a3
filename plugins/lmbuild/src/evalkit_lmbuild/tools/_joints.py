"""Joints, and the order of assembly."""

from __future__ import annotations

import math
from typing import Any

from evalkit_lmbuild.design import Design, Joint, Step, Vector
from evalkit_lmbuild.documents import joint_entry
from evalkit_lmbuild.kernel import moving_set, origin_distances
from evalkit_lmbuild.kernel.joints import ORIGIN_LIMIT
from evalkit_lmbuild.legality import MAX_JOINTS, id_fault, joint_faults, unknown
from evalkit_lmbuild.scene import Scene, rounded
from evalkit_lmbuild.tools import _arguments as given
from evalkit_lmbuild.tools._geometry import field_of
from evalkit_lmbuild.tools._placing import placed
from evalkit_lmbuild.tools._session import Outcome, Refusal, Session

_BOUNDED = ("revolute", "prismatic", "cylindrical")


def add_joint(session: Session, call: given.AddJoint) -> Outcome:
    """Connect two placed parts."""
    scene = session.scene
    if fault := id_fault(call.joint_id):
        raise Refusal(f"joint_id {fault}")
    if call.joint_id in scene.joints:
        raise Refusal(
            f"there is a joint {call.joint_id!r} already; remove_joint it first, or choose another joint_id"
        )
    if len(scene.joints) >= MAX_JOINTS:
        raise Refusal(f"there are {MAX_JOINTS} joints, which is the most; remove_joint makes room")
    placed(scene, call.parent)
    placed(scene, call.child)
    if fault := next(joint_faults(call.model_dump()), None):
        raise Refusal(fault)
    if _leads(scene, call.child, call.parent):
        raise Refusal(
            f"{call.child!r} is a parent of {call.parent!r} by other joints already; the joint would close a "
            "circle: exchange parent and child, or choose other parts"
        )
    joint = Joint(
        call.joint_id,
        call.type,
        call.parent,
        call.child,
        None if call.axis is None else unit(call.axis),
        None if call.origin is None else rounded(call.origin),
        None if call.limits is None else (round(call.limits[0], 6) + 0.0, round(call.limits[1], 6) + 0.0),
    )
    notes = joint_notes(scene.to_design(), joint)
    scene.joints[joint.id] = joint
    return Outcome({"notes": notes})


def remove_joint(session: Session, call: given.JointId) -> Outcome:
    """Take a joint away."""
    joint = _joint(session.scene, call.joint_id)
    del session.scene.joints[joint.id]
    return Outcome()


def inspect_joint(session: Session, call: given.JointId) -> Outcome:
    """What a joint does: which parts it moves, how far its origin is from its parts, its limits."""
    scene = session.scene
    joint = _joint(scene, call.joint_id)
    design = scene.to_design()
    data: dict[str, Any] = joint_entry(joint)
    del data["id"]
    if joint.moves:
        moving = moving_set(design, joint, field_of(design).touching())
        data |= {"moving_parts": sorted(moving.ids), "loop": moving.loop}
    if joint.origin is not None:
        parent, child = origin_distances(design, joint)
        data["origin_distance_m"] = {"parent": _millimetres(parent), "child": _millimetres(child)}
    others = Design(design.parts, tuple(j for j in design.joints if j.id != joint.id), design.sequence)
    return Outcome(data | {"notes": joint_notes(others, joint)})


def set_assembly_sequence(session: Session, call: given.SetSequence) -> Outcome:
    """Say in which order the parts are put together."""
    scene = session.scene
    steps: dict[str, Step] = {}
    for number, entry in enumerate(call.steps, 1):
        part = entry if isinstance(entry, str) else entry.part
        direction = None if isinstance(entry, str) else entry.direction
        if part not in scene.instances:
            raise Refusal(f"step {number}: {unknown('placed part', part, scene.instances)}")
        if part in steps:
            raise Refusal(f"step {number}: {part!r} is in the sequence already; name each part once")
        if direction is not None and math.hypot(*direction) < 1e-9:
            raise Refusal(f"step {number}: the direction has no length; give one such as [0, 0, -1]")
        steps[part] = Step(part, None if direction is None else unit(direction))
    scene.sequence = tuple(steps.values())
    return Outcome(
        {"n_steps": len(steps), "parts_missing_from_sequence": missing_from_sequence(scene.to_design())}
    )


def missing_from_sequence(design: Design) -> list[str]:
    """Parts without a step."""
    named = {step.part for step in design.sequence}
    return [part.id for part in design.parts if part.id not in named]


def joint_notes(design: Design, joint: Joint) -> list[str]:
    """Warnings about a joint; `design` holds the other joints."""
    notes = []
    parent, child = origin_distances(design, joint)
    far = max(parent, child)
    if far > ORIGIN_LIMIT:
        whose = joint.parent if parent >= child else joint.child
        notes.append(
            f"the origin is {far * 100:.1f} cm from the surface of {whose!r}; where it is more than "
            f"{ORIGIN_LIMIT * 100:g} cm away the joint doesn't count as a connection"
        )
    if joint.limits is None and joint.type in _BOUNDED:
        notes.append(f"no limits: the {joint.type} joint is unbounded")
    others = [other for other in design.joints if other.child == joint.child]
    notes += [f"{o.child!r} has a parent already: {o.parent!r} by joint {o.id!r}" for o in others]
    return notes


def unit(direction: list[float]) -> Vector:
    """A direction of length 1, to nine decimals."""
    length = math.hypot(*direction)
    x, y, z = (round(value / length, 9) + 0.0 for value in direction)
    return (x, y, z)


def _leads(scene: Scene, start: str, goal: str) -> bool:
    """Whether joints lead from a part to another, from parent to child."""
    found, waiting = {start}, [start]
    while waiting:
        part = waiting.pop()
        for joint in scene.joints.values():
            if joint.parent == part and joint.child not in found:
                found.add(joint.child)
                waiting.append(joint.child)
    return goal in found


def _joint(scene: Scene, name: str) -> Joint:
    found = scene.joints.get(name)
    if found is None:
        raise Refusal(unknown("joint", name, scene.joints))
    return found


def _millimetres(distance_m: float) -> float:
    return round(float(distance_m), 4)
