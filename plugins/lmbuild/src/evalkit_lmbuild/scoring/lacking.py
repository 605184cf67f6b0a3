"""What a generator doesn't make: metrics that need it don't apply to its designs."""

from __future__ import annotations

from evalkit_lmbuild.design import Design


def lacking(metric: str, design: Design) -> str:
    """Why a metric doesn't apply to a generator's design; empty if it does, or for designs of anybody else.

    A generator's design is one that was handed in as bare geometry (`Design.from_generator`), whatever it
    says of itself. As in the published table, A.3 needs joints (where a completion looked for some and found
    none, it is 0), R.1 a sequence, R.2 materials, R.3 roles.
    """
    if not design.from_generator:
        return ""
    if metric == "A.3" and not design.joints and "joint_completion" not in design.meta:
        return "the generator makes no joints, and none were completed"
    if metric == "R.1" and not design.sequence:
        return "the generator gives no assembly sequence"
    if metric == "R.2" and not any(part.material for part in design.parts):
        return "the generator gives no materials"
    if metric == "R.3" and not any(part.role for part in design.parts):
        return "the generator doesn't say what its parts are"
    return ""
