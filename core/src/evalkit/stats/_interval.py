"""The one shape in which every interval is returned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval and the name of the method that made it.

    `low` and `high` are both None where the data can't support an interval (no trials, a single value, a
    single cluster): that is a statement about the data, and a made-up (0, 1) or a zero width would hide it.
    """

    low: float | None
    high: float | None
    method: str


def check_confidence(confidence: float) -> None:
    """Raises ValueError unless 0 < confidence < 1."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
