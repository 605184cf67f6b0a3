"""The tasks of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Task
from evalkit_brickbench.part_rules import SETTINGS, PartRules


def load_tasks(tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> Sequence[Task]:
    """The tasks that a suite names."""
    rules = PartRules(*SETTINGS["model"])
    return [Task("ek-model-0", {"prompt": "A red wall.", "setting": "model", "part_rules": rules.as_json()}, {})]
