"""What a metric returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """A metric of one design: `score` in [0, 1], or None with the reason why the metric doesn't apply.

    `evidence` is JSON-able and names what the score comes from: pairs, parts, steps, motions.
    """

    metric: str
    score: float | None
    reason: str = ""
    evidence: Mapping[str, object] = field(default_factory=dict)


def not_applicable(metric: str, reason: str, **evidence: object) -> Result:
    """A metric that doesn't apply to this design, and why."""
    return Result(metric, None, reason, evidence)
