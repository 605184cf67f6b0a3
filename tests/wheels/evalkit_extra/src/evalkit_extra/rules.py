"""A house rule: no steel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Candidate, Task, Violation

STEEL = 3


class NoSteel:
    """Every member of steel is a violation."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """One violation with the ids of all members of steel, or none."""
        ids = tuple(edge["id"] for edge in candidate.data["edges"] if edge["type"] == STEEL)
        if not ids:
            return []
        return [Violation("NO_STEEL", "steel isn't allowed here; take wood", ids, len(ids), 0)]
