"""Whether a bridge can carry any load at all: Maxwell's count of members against joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Candidate, Execution, Task

ID = "extra.static"
EQUATIONS_PER_JOINT = 2


class CountingRule:
    """A pin-jointed plane frame needs members ≥ 2 × free joints; fewer make a mechanism."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def constants(self) -> Mapping[str, Any]:
        """Equilibrium equations per joint."""
        return {"equations_per_joint": EQUATIONS_PER_JOINT}

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """`redundancy` is members less equations; a success if it isn't negative."""
        free = sum(not node["isKinematic"] for node in candidate.data["nodes"])
        redundancy = len(candidate.data["edges"]) - EQUATIONS_PER_JOINT * free
        return Execution(redundancy >= 0, {"redundancy": redundancy}, executor=ID)
