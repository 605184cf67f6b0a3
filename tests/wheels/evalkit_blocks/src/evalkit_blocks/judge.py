"""A judge of neatness, without a model: after play, on the last stack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Candidate, Execution, Task
from evalkit_blocks.stack import stack_from_json

ID = "blocks.neatness"


class NeatnessJudge:
    """1 for boxes exactly above each other, down to 0 for those spread by their widest box or more."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def constants(self) -> Mapping[str, Any]:
        """None."""
        return {}

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """`neatness` is a rating without a verdict; None for no boxes at all."""
        boxes = stack_from_json(candidate.data).boxes
        if not boxes:
            return Execution(None, {"neatness": None}, executor=ID)
        spread = max(box.x for box in boxes) - min(box.x for box in boxes)
        widest = max(box.width for box in boxes)
        return Execution(None, {"neatness": round(max(0.0, 1.0 - spread / widest), 6)}, executor=ID)
