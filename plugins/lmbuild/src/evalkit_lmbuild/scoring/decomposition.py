"""D.1, computed half: is the object cut into parts as its reference is?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.kernel import origin_ok
from evalkit_lmbuild.kernel.joints import ORIGIN_LIMIT
from evalkit_lmbuild.scoring.result import Result, not_applicable


def decomposition(
    design: Design, reference: Design | None, touching: Sequence[tuple[str, str]], s: float = 1.0
) -> Result:
    """D.1's computed half: mean of granularity, consolidation and joint placement (those that apply).

    `touching` are the pairs of parts in contact, `s` scales the 2 cm that a joint's origin may be away.
    """
    if not design.parts:
        return Result("D.1", 0.0, "the design has no parts")
    halves = {
        "granularity": _granularity(len(design.parts), reference),
        "consolidation": _consolidation(design, touching),
        "joint_placement": _joint_placement(design, s),
    }
    known = [value for value in halves.values() if value is not None]
    if not known:
        return not_applicable("D.1", "one part, no joint, no reference: nothing to compare")
    evidence: dict[str, object] = {**halves, "needless_cuts": _needless_cuts(design, touching)}
    return Result("D.1", sum(known) / len(known), evidence=evidence)


def granularity(parts: int, reference_parts: int) -> float:
    """2^−|log2(n/n_ref)|: 1 for as many parts as the reference, ½ for twice or half as many."""
    return math.exp2(-abs(math.log2(parts / reference_parts)))


def _granularity(parts: int, reference: Design | None) -> float | None:
    return granularity(parts, len(reference.parts)) if reference is not None and reference.parts else None


def _consolidation(design: Design, touching: Sequence[tuple[str, str]]) -> float | None:
    if len(design.parts) == 1:
        return None
    return max(0.0, 1.0 - len(_needless_cuts(design, touching)) / (len(design.parts) - 1))


def _needless_cuts(design: Design, touching: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Touching pairs of one role and one material without a joint: one part would have done."""
    jointed = {frozenset((joint.parent, joint.child)) for joint in design.joints}
    pairs = []
    for a, b in touching:
        first, second = design.by_id[a], design.by_id[b]
        alike = (first.role, first.material) == (second.role, second.material)
        if alike and first.role and first.material and frozenset((a, b)) not in jointed:
            pairs.append([a, b])
    return pairs


def _joint_placement(design: Design, s: float) -> float | None:
    pairs = {frozenset((joint.parent, joint.child)) for joint in design.joints}
    if not pairs:
        return None
    rejected = {
        frozenset((joint.parent, joint.child))
        for joint in design.joints
        if joint.origin is not None and not origin_ok(design, joint, limit=ORIGIN_LIMIT * s)
    }
    return 1.0 - len(rejected) / len(pairs)
