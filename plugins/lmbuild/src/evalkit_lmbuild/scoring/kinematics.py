"""A.3: do the joints move what they should, about the right axis, far enough, and freely?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_lmbuild.design import Design, Joint, Part
from evalkit_lmbuild.kernel import Field
from evalkit_lmbuild.scoring.axes import angle_deg, offset_ratio, principal_axes, round_axes
from evalkit_lmbuild.scoring.moving import Motions
from evalkit_lmbuild.scoring.result import Result, not_applicable

FULL_TURN = 2 * math.pi
DEFAULT_SPAN = math.radians(30)
DEFAULT_TRAVEL = 0.2
BURIED = 0.2
AXIS_DEG = (10.0, 30.0)
"""Angle up to which an axis counts fully, and from which not at all."""

PRINCIPAL_SHARE = 0.95
"""Directions in which a part is this share as long as in its longest are its longest, too."""

OFFSET_LIMIT = 1.5
CENTRE_OFFSET = (0.7, 0.3)
EDGE_OFFSET = (0.2, 0.5)
"""Offsets, in half extents of the part, at which an axis counts not at all and fully."""

CYLINDRICAL = 0.75
"""Worth of a cylindrical joint where a turn or a slide was asked for."""

UNASKED = 0.5
"""Worth of a joint that serves no target, of what it is worth by itself."""

MOVING_SHARE = 0.6
MOTION_CLASSES = {
    "revolute": "turn",
    "continuous": "turn",
    "prismatic": "slide",
    "cylindrical": "cylindrical",
    "ball": "ball",
}
"""What a joint of a type does; two types of one class are as good as each other."""
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Expectation:
    """What a joint should be like.

    `types`: acceptable joint types. `axis`: "symmetry" (the axis the part is round about), "pca0" (its
    longest direction), "principal" (any of its principal directions) or None. `axis_dir`: vertical,
    horizontal or None. `offset`: the axis runs through the "centre" or along an "edge" of the part, or None.
    `span`: rad of rotation needed; `travel_ratio`: travel needed in units of the part's extent along the
    axis. `moving_frac_max`: share of the design's volume that may move.
    """

    types: tuple[str, ...]
    axis: str | None = None
    axis_dir: str | None = None
    offset: str | None = None
    span: float | None = None
    travel_ratio: float | None = None
    moving_frac_max: float = MOVING_SHARE


@dataclass(frozen=True)
class Target:
    """A motion that is looked for: of a component, `slots` times."""

    component: str
    motion: str
    expectation: Expectation
    slots: int = 1


@dataclass(frozen=True)
class Quality:
    """How well a joint meets an expectation: the product of its factors, each in [0, 1].

    `reason` says why `free` isn't known, which counts as 0.
    """

    type: float
    axis: float
    offset: float
    range: float
    free: float
    moveset: float
    buried: bool = False
    reason: str = ""

    @property
    def q(self) -> float:
        """The product of all factors."""
        return self.type * self.axis * self.offset * self.range * self.free * self.moveset

    def as_dict(self) -> dict[str, object]:
        """The factors for evidence."""
        factors = ("type", "axis", "offset", "range", "free", "moveset", "buried")
        told = {"reason": self.reason} if self.reason else {}
        return {"q": self.q, **{name: getattr(self, name) for name in factors}, **told}


def joint_quality(motions: Motions, joint: Joint, expected: Expectation, moved: str | None = None) -> Quality:
    """How well a moving joint meets an expectation.

    `moved` names the part whose shape the axis is compared with, by default the joint's child.
    """
    part = motions.design.by_id[moved or joint.child]
    sweep = motions.sweep(joint)
    buried = sweep.buried_share > BURIED
    return Quality(
        type=_type_factor(joint, expected),
        axis=_axis_factor(joint, part, expected),
        offset=_offset_factor(joint, part, expected),
        range=_range_factor(joint, part, expected),
        free=0.0 if buried else sweep.free_share,
        moveset=_moveset_factor(motions, joint, expected.moving_frac_max),
        buried=buried,
        reason=sweep.reason,
    )


def _type_factor(joint: Joint, expected: Expectation) -> float:
    wanted = {MOTION_CLASSES.get(name, name) for name in expected.types}
    if joint.type in expected.types or MOTION_CLASSES.get(joint.type) in wanted:
        return 1.0
    return CYLINDRICAL if joint.type == "cylindrical" and wanted & {"turn", "slide"} else 0.0


def _axis_factor(joint: Joint, part: Part, expected: Expectation) -> float:
    if joint.type == "ball" or joint.axis is None:
        return 1.0
    axis = np.asarray(joint.axis)
    angles = [0.0]
    candidates = _axis_candidates(part, expected.axis)
    if candidates:
        angles.append(min(angle_deg(axis, candidate) for candidate in candidates))
    if expected.axis_dir == "vertical":
        angles.append(angle_deg(axis, _UP))
    elif expected.axis_dir == "horizontal":
        angles.append(90.0 - angle_deg(axis, _UP))
    return _rising(max(angles), none=AXIS_DEG[1], full=AXIS_DEG[0])


def _axis_candidates(part: Part, kind: str | None) -> list[np.ndarray]:
    if kind is None:
        return []
    spreads, directions = principal_axes(part.world)
    if kind == "symmetry":
        return list(round_axes(part.world)) or list(directions)
    if kind == "pca0":
        return [
            direction
            for spread, direction in zip(spreads, directions, strict=True)
            if spread >= PRINCIPAL_SHARE * spreads[0]
        ]
    return list(directions)


def _offset_factor(joint: Joint, part: Part, expected: Expectation) -> float:
    if joint.type in ("prismatic", "ball") or joint.axis is None or joint.origin is None:
        return 1.0
    ratio = offset_ratio(part.world, np.asarray(joint.origin), np.asarray(joint.axis))
    if ratio > OFFSET_LIMIT:
        return 0.0
    if expected.offset == "centre":
        return _rising(ratio, *CENTRE_OFFSET)
    if expected.offset == "edge":
        return _rising(ratio, *EDGE_OFFSET)
    return 1.0


def _range_factor(joint: Joint, part: Part, expected: Expectation) -> float:
    slides = joint.type == "prismatic" or (
        joint.type == "cylindrical" and all(MOTION_CLASSES.get(name) == "slide" for name in expected.types)
    )
    if joint.limits is None or (joint.type == "cylindrical" and not slides):
        return 1.0
    have = joint.limits[1] - joint.limits[0]
    need = _needed_travel(joint, part, expected) if slides else (expected.span or DEFAULT_SPAN)
    return 1.0 if joint.type == "continuous" else min(1.0, have / need) if need > 0 else 1.0


def _needed_travel(joint: Joint, part: Part, expected: Expectation) -> float:
    axis = np.asarray(joint.axis if joint.axis is not None else (1.0, 0.0, 0.0))
    along = part.world.vertices @ (axis / np.linalg.norm(axis))
    ratio = expected.travel_ratio if expected.travel_ratio is not None else DEFAULT_TRAVEL
    return ratio * float(along.max() - along.min())


def _moveset_factor(motions: Motions, joint: Joint, cap: float) -> float:
    ids, loop = motions.moving(joint).ids, motions.moving(joint).loop
    if loop or joint.parent in ids or len(ids) >= len(motions.design.parts):
        return 0.0
    total = motions.volume
    share = sum(motions.field.volume(name) for name in ids) / total if total > 0 else 0.0
    return 1.0 if share <= cap else _clip((1.0 - share) / (1.0 - cap))


def _rising(value: float, none: float, full: float) -> float:
    """0 at `none` and beyond, 1 at `full`, linear between; `none` may be the higher one."""
    return _clip((value - none) / (full - none))


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


def generic(joint: Joint) -> Expectation:
    """What any joint of a type should be like: a principal direction, 30° or a fifth of the part's extent."""
    return Expectation(types=(joint.type,), axis="principal" if joint.type != "prismatic" else None)


def kinematics(
    design: Design,
    field: Field,
    targets: Sequence[Target],
    component: Callable[[Part], str | None],
    touching: Sequence[tuple[str, str]],
) -> Result:
    """A.3 = F1(R, P).

    R is the mean over targets of the mean of their best `slots` joints; P the mean over moving joints of
    their best target, where a joint that serves no target gets half of what it is worth by itself.
    `component` says which component of the object a part is, if any.
    """
    joints = [joint for joint in design.joints if joint.moves]
    if not targets:
        return not_applicable("A.3", "the object has no motion that is looked for")
    if not joints:
        return Result("A.3", 0.0, "the design has no moving joint")
    motions = Motions(design, field, touching)
    found = _matches(motions, targets, joints, component)
    recalls = [_recall(target, found) for target in targets]
    precisions = [_precision(motions, joint, found) for joint in joints]
    recall, precision = sum(recalls) / len(recalls), sum(precisions) / len(precisions)
    score = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    evidence = {
        "recall": recall,
        "precision": precision,
        "targets": [
            {
                "component": target.component,
                "motion": target.motion,
                "slots": target.slots,
                "score": value,
                "joints": {
                    joint: quality.as_dict() for (at, joint), quality in found.items() if at == target
                },
            }
            for target, value in zip(targets, recalls, strict=True)
        ],
        "joints": {joint.id: value for joint, value in zip(joints, precisions, strict=True)},
    }
    return Result("A.3", score, evidence=evidence)


def _matches(
    motions: Motions,
    targets: Sequence[Target],
    joints: Sequence[Joint],
    component: Callable[[Part], str | None],
) -> Mapping[tuple[Target, str], Quality]:
    """Qualities of the joints that serve a target: their child is it or, failing that, they carry it."""
    found: dict[tuple[Target, str], Quality] = {}
    names = {part.id: component(part) for part in motions.design.parts}
    carried = {joint.id: motions.moving(joint).ids for joint in joints}
    for target in targets:
        direct = {joint.id: joint.child for joint in joints if names[joint.child] == target.component}
        indirect = {
            joint.id: name
            for joint in joints
            for name in reversed(carried[joint.id])
            if names[name] == target.component
        }
        for joint in joints:
            if (moved := (direct or indirect).get(joint.id)) is not None:
                quality = joint_quality(motions, joint, target.expectation, moved)
                found[target, joint.id] = quality
    return found


def _recall(target: Target, found: Mapping[tuple[Target, str], Quality]) -> float:
    best = sorted((quality.q for (at, _), quality in found.items() if at == target), reverse=True)
    return sum(best[: target.slots]) / target.slots


def _precision(motions: Motions, joint: Joint, found: Mapping[tuple[Target, str], Quality]) -> float:
    own = [quality.q for (_, name), quality in found.items() if name == joint.id]
    return max(own) if own else UNASKED * joint_quality(motions, joint, generic(joint)).q
