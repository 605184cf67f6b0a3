"""Legality of a build: it can be read, its parts exist, the task's part rules hold, nothing collides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Candidate, Task, Violation
from evalkit_brickbench.designs import look
from evalkit_brickbench.inspection import Inspection, tools
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.report import SHOWN_COLLISIONS, collision_line, collision_rows
from evalkit_brickbench.settings import settings_of


class BuildValidator:
    """Part rules and collisions, all found together."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """Violations in the order part rules, collisions; those of a task without rules are advice where
        parts are unknown."""
        try:
            found = look(candidate, self._settings, stand=False)
        except LDrawError as error:
            return [Violation("unreadable", str(error))]
        rules = PartRules.of(task.inputs)
        catalogue = tools(self._settings.protocol()).providers.catalogue
        unknown = _unknown(found, advisory=rules is None)
        return [*unknown, *_rules(found, rules, catalogue), *_collisions(found)]


def _unknown(found: Inspection, *, advisory: bool) -> list[Violation]:
    unknown = found.connections.unknown
    if not unknown:
        return []
    total = sum(n for _, n in unknown)
    names = ", ".join(f"{stem} × {n}" for stem, n in unknown[:8])
    more = f" and {len(unknown) - 8} more kinds" if len(unknown) > 8 else ""
    message = f"{total} of {len(found.scene)} parts are unknown: {names}{more}; use parts of the catalogue"
    ids = tuple(stem for stem, _ in unknown)
    return [Violation("unknown_part", message, ids, total, 0, advisory)]


def _rules(found: Inspection, rules: PartRules | None, catalogue: Catalogue) -> list[Violation]:
    if rules is None:
        return []
    return [
        Violation(broken.code, broken.message, broken.ids, broken.value, broken.limit)
        for broken in rules.check(found.scene, catalogue)
    ]


def _collisions(found: Inspection) -> list[Violation]:
    if found.collisions is None:
        return [Violation("too_dense", failure) for failure in found.failures]
    rows = collision_rows(found, SHOWN_COLLISIONS)
    violations = [
        Violation("collision", collision_line(found, row), tuple(part["index"] for part in row["parts"]))
        for row in rows
    ]
    total = len(found.collisions)
    if total > len(rows):
        message = f"{total} pairs of parts collide, {len(rows)} of them are named"
        violations.append(Violation("collisions", message, (), total, 0))
    return violations
