"""Which stacks are legal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Candidate, Task, Violation
from evalkit_blocks.stack import Stack, overlaps, stack_from_json

TOLERANCE = 1e-9


class StackRules:
    """At least one box, none too large, not too much material, no overlaps."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """Violations in a fixed order."""
        stack = stack_from_json(candidate.data)
        if not stack.boxes:
            return [Violation("empty", "there is no box; place one")]
        found = _too_large(stack, "width", task.inputs["max_width_m"])
        found += _too_large(stack, "height", task.inputs["max_height_m"])
        area, limit = sum(box.mass for box in stack.boxes), task.inputs["area_m2"]
        if area > limit + TOLERANCE:
            message = f"the boxes have {area:g} m² together; at most {limit:g} m² are there"
            found.append(Violation("area", message, value=area, limit=limit))
        for pair in overlaps(stack):
            message = f"boxes {pair[0]} and {pair[1]} overlap; move one aside or make it narrower"
            found.append(Violation("overlap", message, ids=pair))
        return found


def _too_large(stack: Stack, side: str, limit: float) -> list[Violation]:
    found = []
    for number, box in enumerate(stack.boxes):
        value = getattr(box, side)
        if value > limit + TOLERANCE:
            message = f"box {number}: its {side} is {value:g} m; at most {limit:g} m"
            found.append(Violation(side, message, (number,), value, limit))
    return found
