"""What a generator doesn't make: metrics that need it don't apply to its designs."""

from __future__ import annotations

from collections.abc import Iterable

from evalkit_lmbuild.design import Design

REASONS = {
    "A.3": "the generator makes no joints, and none were completed",
    "R.1": "the generator gives no assembly sequence",
    "R.2": "the generator gives no materials",
    "R.3": "the generator doesn't say what its parts are",
}
"""Why a metric doesn't apply to a generator's design, by metric."""


def lacking(metric: str, design: Design) -> str:
    """Why a metric doesn't apply to a generator's design; empty if it does, or for designs of anybody else.

    A generator's design is one that was handed in as bare geometry (`Design.from_generator`), whatever it
    says of itself. As in the published table, A.3 needs joints (where a completion looked for some and found
    none, it is 0), R.1 a sequence, R.2 materials, R.3 roles.
    """
    if not design.from_generator:
        return ""
    made = {
        "A.3": bool(design.joints) or "joint_completion" in design.meta,
        "R.1": bool(design.sequence),
        "R.2": any(part.material for part in design.parts),
        "R.3": any(part.role for part in design.parts),
    }
    return "" if made.get(metric, True) else REASONS[metric]


def never_made(metric: str, found: Iterable[tuple[float | None, str]]) -> bool:
    """Whether a metric applies to none of a system's designs, for want of what generators don't make.

    `found` is the score and the reason of each design. What no design of a system has can't be held against
    the designs that are missing either.
    """
    if metric not in REASONS:
        return False
    lacks = False
    for score, reason in found:
        if score is not None:
            return False
        lacks = lacks or reason == REASONS[metric]
    return lacks
