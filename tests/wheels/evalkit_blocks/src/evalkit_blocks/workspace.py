"""One stack as a file: an agent works in a folder and leaves `stack.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import Brief, Candidate, Observation, StepResult, Task, UsageError, Violation
from evalkit_blocks.environment import MAX_BOXES, MIN_SIDE_M
from evalkit_blocks.stack import Box, boxes_to_json

FILE = "stack.json"
LARGEST_M = 100.0


class BlocksWorkspace:
    """The task as `task.json`, and a program that says how high a stack becomes."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        """Write the task; the seed changes nothing."""
        (folder / "task.json").write_text(json.dumps(dict(task.inputs)) + "\n")
        text = (
            f"Stack boxes to a height of at least {task.inputs['height_m']:g} m. task.json holds the limits. "
            f'Write {FILE}: {{"boxes": [[x, width, height], ...]}} in metres, in the order in which they are '
            "lowered. A box comes to rest on what is below its middle. Boxes must not overlap or tip."
        )
        return Brief(text, (FILE,), {"task": dict(task.inputs)}, max_bytes=100_000)

    def collect(self, folder: Path) -> StepResult:
        """The stack in the file, or what keeps it from being one."""
        try:
            boxes = _boxes(json.loads((folder / FILE).read_bytes()))
        except FileNotFoundError:
            return _unreadable("missing", f"there is no {FILE}")
        except (ValueError, RecursionError) as error:
            return _unreadable("format", f"{FILE}: {error}")
        return StepResult(Observation(), Candidate(boxes_to_json(boxes)))


def open_stack(path: Path, settings: Mapping[str, Any]) -> Candidate:
    """The stack in a file; UsageError if it holds none."""
    try:
        return Candidate(boxes_to_json(_boxes(json.loads(path.read_bytes()))))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} holds no stack: {error}") from error


def _boxes(found: Any) -> list[Box]:
    """The boxes in a file's JSON; ValueError with one line for anything else."""
    if not isinstance(found, dict) or not isinstance(found.get("boxes"), list):
        raise ValueError("it has to be an object with a list of boxes")
    if len(found["boxes"]) > MAX_BOXES:
        raise ValueError(f"a stack has at most {MAX_BOXES} boxes")
    return [_box(item) for item in found["boxes"]]


def _box(item: Any) -> Box:
    if not isinstance(item, list) or len(item) != 3 or not all(_is_length(number) for number in item):
        raise ValueError("a box is [x, width, height], numbers of at most 100 m")
    x, width, height = map(float, item)
    if min(width, height) < MIN_SIDE_M:
        raise ValueError(f"sides are at least {MIN_SIDE_M:g} m")
    return Box(x, width, height)


def _is_length(number: Any) -> bool:
    return type(number) in (int, float) and math.isfinite(number) and abs(number) <= LARGEST_M


def _unreadable(code: str, message: str) -> StepResult:
    return StepResult(Observation(), violations=(Violation(code, message),))
