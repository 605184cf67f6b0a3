"""The rules as the protocol's validator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Candidate, Task, Violation
from evalkit_polybridge.designs import bridge_from_json, level_from_inputs
from evalkit_polybridge.rules import check
from evalkit_polybridge.violations import to_violation


class RulesValidator:
    """Every rule of the benchmark, all violations together."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._offset_m = settings["region_offset_m"]
        self._sequential_ids = settings["sequential_ids"]

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """Violations of a design in a level, in a fixed order."""
        problems = check(
            level_from_inputs(task.inputs),
            bridge_from_json(candidate.data),
            region_offset_m=self._offset_m,
            sequential_ids=self._sequential_ids,
        )
        return [to_violation(problem) for problem in problems]
