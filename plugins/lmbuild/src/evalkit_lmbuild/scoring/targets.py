"""Which motions are looked for in a design: those of the reference's joints, and those that are claimed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evalkit_lmbuild.design import Design, Joint, Part
from evalkit_lmbuild.facts import Motion, ObjectFacts
from evalkit_lmbuild.kernel import Field, moving_set
from evalkit_lmbuild.scoring.axes import angle_deg, offset_ratio, principal_axes, round_axes
from evalkit_lmbuild.scoring.kinematics import FULL_TURN, MOTION_CLASSES, Expectation, Target

LENIENT = 0.8
"""The share of a reference's range that counts as the whole."""
ALIGNED_DEG = 10.0
CAP = 0.6
QUANTILE = 0.25
"""Of several joints of the reference, the lower quartile of their ranges is asked for."""

LONGER = 1.05
"""How much longer than the next a part's longest direction is, to be one that an axis may follow."""

CENTRE_UP_TO = 0.3
EDGE = (0.5, 1.5)
"""Offsets, in half extents of the part, of axes in the middle and at the edge of the reference's part."""


def targets_of(
    facts: ObjectFacts,
    component: Callable[[Part], str | None],
    named: Callable[[str], str | None],
    reference_field: Field | None = None,
) -> tuple[Target, ...]:
    """Targets of A.3: the reference's moving joints by component and class, then claims that add to them.

    `component` gives the component of a part, `named` that of a name in a claim. A claim counts if the
    reference shows its component, or if there is no reference.
    """
    targets = _of_reference(facts.reference, component, reference_field) if facts.reference else {}
    visible = {component(part) for part in facts.reference.parts} if facts.reference else None
    for motion in facts.motions:
        name = named(motion.moving_part)
        if name is None or (visible is not None and name not in visible):
            continue
        key = (name, MOTION_CLASSES[motion.joint_type])
        if key not in targets:
            targets[key] = Target(name, motion.motion, _of_claim(motion))
        else:
            targets[key] = replace(targets[key], motion=motion.motion)
    return tuple(targets.values())


def _of_reference(
    reference: Design, component: Callable[[Part], str | None], field: Field | None
) -> dict[tuple[str, str], Target]:
    groups: dict[tuple[str, str], list[Joint]] = {}
    for joint in reference.joints:
        name = component(reference.by_id[joint.child]) if joint.moves else None
        if name is not None:
            groups.setdefault((name, MOTION_CLASSES[joint.type]), []).append(joint)
    cells = field or Field(reference.parts)
    return {
        (name, motion): Target(name, motion, _expectation(reference, joints, cells), len(joints))
        for (name, motion), joints in groups.items()
    }


def _expectation(reference: Design, joints: Sequence[Joint], field: Field) -> Expectation:
    """What the joints of one component have in common."""
    first = [_single(reference, joint) for joint in joints]
    spans = [each.span for each in first if each.span is not None]
    travels = [each.travel_ratio for each in first if each.travel_ratio is not None]
    return Expectation(
        types=tuple(sorted({joint.type for joint in joints})),
        axis=_agreed([each.axis for each in first]),
        axis_dir=_agreed([each.axis_dir for each in first]),
        offset=_agreed([each.offset for each in first]),
        span=float(np.quantile(spans, QUANTILE)) if spans else None,
        travel_ratio=float(np.quantile(travels, QUANTILE)) if travels else None,
        moving_frac_max=max(_cap(reference, joint, field) for joint in joints),
    )


def _agreed(values: Sequence[str | None]) -> str | None:
    return values[0] if len(set(values)) == 1 else None


def _single(reference: Design, joint: Joint) -> Expectation:
    part = reference.by_id[joint.child]
    if joint.axis is None:
        return Expectation((joint.type,), span=_span(joint))
    axis = np.asarray(joint.axis)
    turns = joint.type in ("revolute", "continuous")
    return Expectation(
        types=(joint.type,),
        axis=_axis_kind(part, axis) if turns else None,
        axis_dir=_direction(axis),
        offset=_offset_kind(part, joint, axis) if turns else None,
        span=_span(joint) if turns else None,
        travel_ratio=None if turns else _travel_ratio(part, joint, axis),
    )


def _axis_kind(part: Part, axis: np.ndarray) -> str | None:
    spreads, directions = principal_axes(part.world)
    if any(angle_deg(axis, each) <= ALIGNED_DEG for each in round_axes(part.world)):
        return "symmetry"
    if spreads[0] > LONGER * spreads[1] and angle_deg(axis, directions[0]) <= ALIGNED_DEG:
        return "pca0"
    return "principal" if any(angle_deg(axis, each) <= ALIGNED_DEG for each in directions) else None


def _direction(axis: np.ndarray) -> str | None:
    tilt = angle_deg(axis, np.array([0.0, 0.0, 1.0]))
    if tilt <= ALIGNED_DEG:
        return "vertical"
    return "horizontal" if tilt >= 90.0 - ALIGNED_DEG else None


def _offset_kind(part: Part, joint: Joint, axis: np.ndarray) -> str | None:
    if joint.origin is None:
        return None
    ratio = offset_ratio(part.world, np.asarray(joint.origin), axis)
    if ratio <= CENTRE_UP_TO:
        return "centre"
    return "edge" if EDGE[0] <= ratio <= EDGE[1] else None


def _span(joint: Joint) -> float:
    if joint.type == "continuous" or joint.limits is None:
        return FULL_TURN
    return LENIENT * (joint.limits[1] - joint.limits[0])


def _travel_ratio(part: Part, joint: Joint, axis: np.ndarray) -> float | None:
    along = part.world.vertices @ (axis / np.linalg.norm(axis))
    extent = float(along.max() - along.min())
    if joint.limits is None or extent <= 0:
        return None
    return LENIENT * (joint.limits[1] - joint.limits[0]) / extent


def _cap(reference: Design, joint: Joint, field: Field) -> float:
    """Halfway from what moves in the reference to everything, and no less than 0.6."""
    moving = moving_set(reference, joint, field.touching())
    total = sum(field.volume(part.id) for part in reference.parts)
    share = sum(field.volume(name) for name in moving.ids) / total if total > 0 else 0.0
    return max(CAP, (1.0 + share) / 2)


def _of_claim(motion: Motion) -> Expectation:
    """What a claim's words say about its axis: "axle", "vertical", "back edge", "hinge" …"""
    hint = (motion.axis or "").lower()
    turns = motion.joint_type in ("revolute", "continuous")
    axle = turns and any(word in hint for word in ("axle", "spindle", "shaft"))
    edge = turns and any(word in hint for word in ("edge", "hinge"))
    vertical = any(word in hint for word in ("vertical", "upright", "swivel"))
    horizontal = axle or "horizontal" in hint
    span = motion.range[1] - motion.range[0] if motion.range is not None else None
    if motion.joint_type == "continuous":
        span = FULL_TURN
    elif span is not None:
        span = min(FULL_TURN, LENIENT * span)
    return Expectation(
        types=(motion.joint_type,),
        axis="symmetry" if axle else None,
        axis_dir="vertical" if vertical else "horizontal" if horizontal else None,
        offset="centre" if axle else "edge" if edge else None,
        span=span if turns and span and math.isfinite(span) else None,
    )
