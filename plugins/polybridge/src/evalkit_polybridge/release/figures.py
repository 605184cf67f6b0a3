"""Figures of an episode and of a session, made of trajectories and nothing else.

Writing a release and checking one both count here, so that a stored figure is never taken for granted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evalkit_polybridge.measures import rate
from evalkit_polybridge.trajectory import Trajectory

CALLS = (1, 2, 3)
_TOTALS = (
    "llm_calls_used",
    "physics_attempts",
    "validation_repair_calls",
    "physics_repair_calls",
    "reached_physics",
)


def episode_figures(trajectory: Trajectory, strict_budget: float) -> dict[str, Any]:
    """Everything that is counted of one episode; costs in dollars.

    `status` is exclusive: `success`, `failed` (run, never crossed), `invalid` (never run), `unfinished` (the
    play broke off before any outcome). `error_events` counts calls by code; a call may have several.
    """
    success = trajectory.success
    cost = None if success is None else success.cost
    errors = Counter(code for call in trajectory.calls for code in call.codes)
    return {
        "status": _status(trajectory),
        "outcomes": str(trajectory),
        **trajectory.counters(),
        "valid_at": {str(k): trajectory.valid_at(k) for k in CALLS},
        "success_at": {str(k): trajectory.success_at(k) for k in CALLS},
        "recovery_at_3": trajectory.recovery_at(3),
        "first_attempt_success": trajectory.first_attempt_success(),
        "calls_to_success": None if success is None else success.number,
        "cost": None if cost is None else round(cost, 4),
        "cost_ratio": None if cost is None else round(cost / strict_budget, 6),
        "error_events": dict(sorted(errors.items())),
    }


def _status(trajectory: Trajectory) -> str:
    outcomes = str(trajectory)
    for letter, status in (("S", "success"), ("F", "failed"), ("V", "invalid")):
        if letter in outcomes:
            return status
    return "unfinished"


def session_figures(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The figures of a session from the `episode_figures` of its episodes."""
    errors = Counter[str]()
    for result in results:
        errors.update(result["error_events"])
    events = sum(errors.values())
    return {
        "episodes": len(results),
        "statuses": dict(sorted(Counter(result["status"] for result in results).items())),
        "valid_at": {str(k): _rate([result["valid_at"][str(k)] for result in results]) for k in CALLS},
        "success_at": {str(k): _rate([result["success_at"][str(k)] for result in results]) for k in CALLS},
        "recovery_at_3": _rate([result["recovery_at_3"] for result in results]),
        "first_attempt_success": _rate([result["first_attempt_success"] for result in results]),
        "totals": {name: sum(result[name] for result in results) for name in _TOTALS},
        "mean_calls_to_success": _mean([result["calls_to_success"] for result in results]),
        "mean_cost_of_successes": _mean([result["cost"] for result in results]),
        "mean_cost_ratio": _mean([result["cost_ratio"] for result in results]),
        "errors": {code: {"events": n, "share": round(n / events, 6)} for code, n in sorted(errors.items())},
    }


def _rate(held: Sequence[bool | None]) -> dict[str, Any]:
    """Counts, share and 95 % Wilson interval; None is outside the denominator."""
    found = rate(held)
    return {
        "numerator": found.numerator,
        "denominator": found.denominator,
        "rate": None if found.value is None else round(found.value, 6),
        "low": None if found.low is None else round(found.low, 6),
        "high": None if found.high is None else round(found.high, 6),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    counted = [value for value in values if value is not None]
    return round(sum(counted) / len(counted), 6) if counted else None
