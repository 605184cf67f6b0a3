"""How high to build, and with which boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Task, UsageError

#: Name, family, height to reach in metres, area of all boxes in m², widest and highest box in metres.
_ROWS = (
    ("step-050", "low", 0.5, 1.0, 1.0, 0.5),
    ("step-080", "low", 0.8, 1.2, 1.0, 0.5),
    ("step-100", "low", 1.0, 1.5, 0.8, 0.4),
    ("tower-150", "tall", 1.5, 1.2, 0.8, 0.5),
    ("tower-200", "tall", 2.0, 1.4, 0.8, 0.5),
    ("tower-300", "tall", 3.0, 2.1, 0.9, 0.6),
    ("spire-200", "thin", 2.0, 0.6, 0.5, 0.4),
    ("spire-300", "thin", 3.0, 0.75, 0.5, 0.4),
)


def load_tasks(tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> Sequence[Task]:
    """All tasks, or those whose family `tasks.family` names; UsageError for anything else."""
    families = sorted({row[1] for row in _ROWS})
    family = tasks.get("family")
    if unknown := sorted(tasks.keys() - {"family"}):
        raise UsageError(f"blocks tasks have no option {unknown[0]!r}; there is 'family'")
    if family is not None and family not in families:
        raise UsageError(f"tasks.family is {family!r}; it is {' or '.join(map(repr, families))}")
    return [_task(*row) for row in _ROWS if family in (None, row[1])]


def _task(name: str, family: str, height: float, area: float, width: float, box_height: float) -> Task:
    inputs = {"height_m": height, "area_m2": area, "max_width_m": width, "max_height_m": box_height}
    fewest = -int(-height / box_height // 1)
    return Task(name, inputs, {"family": family, "tags": [family], "fewest_boxes": fewest})
