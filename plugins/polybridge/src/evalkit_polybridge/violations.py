"""From the domain's words for what is wrong with a design to the protocol's."""

from __future__ import annotations

from evalkit import Violation
from evalkit_polybridge.rules import Problem


def to_violation(problem: Problem) -> Violation:
    """A problem of the domain as a violation of the protocol."""
    return Violation(
        problem.code, problem.message, problem.ids, problem.value, problem.limit, problem.advisory
    )
