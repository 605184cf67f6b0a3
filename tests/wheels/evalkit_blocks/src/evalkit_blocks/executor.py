"""Does the stack stand, and is it high enough? In closed form, see `stack.margins`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Candidate, Execution, Task
from evalkit_blocks.stack import margins, stack_from_json

ID = "blocks.statics"


class StaticsExecutor:
    """A box tips if the centre of mass of it and all that stands on it is outside what carries it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._margin_m = settings["margin_m"]

    def constants(self) -> Mapping[str, Any]:
        """The tipping margin that counts as standing."""
        return {"margin_m": self._margin_m}

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """Height in metres, the smallest tipping margin in metres, and which box tips first (or None)."""
        stack = stack_from_json(candidate.data)
        found = margins(stack)
        tipping = next((i for i, margin in enumerate(found) if margin < self._margin_m), None)
        stable = tipping is None
        data = {
            "height_m": round(stack.height, 6),
            "stable": stable,
            "tipping": tipping,
            "smallest_margin_m": round(min(found), 6),
        }
        return Execution(stable and stack.height >= task.inputs["height_m"] - 1e-9, data, executor=ID)
