"""One build in a folder: an agent reads the brief and leaves `model.mpd`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import Brief, Observation, StepResult, Task, Violation
from evalkit_brickbench.brief import brief_text
from evalkit_brickbench.designs import candidate_of, look
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.settings import settings_of

MODEL = "model.mpd"
TASK = "task.json"
MAX_BYTES = 10 << 20


class BrickWorkspace:
    """The task as `task.json`; what counts is the LDraw file that is there at the end."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        """Write the task; the seed changes nothing."""
        (folder / TASK).write_text(json.dumps(dict(task.inputs), indent=2) + "\n", encoding="utf-8")
        return Brief(brief_text(task.inputs), (MODEL,), {"task": dict(task.inputs)}, max_bytes=MAX_BYTES)

    def collect(self, folder: Path) -> StepResult:
        """The model in the file, or what keeps it from being one."""
        try:
            data = (folder / MODEL).read_bytes()
        except OSError:
            return _refused("missing", f"there is no {MODEL}")
        candidate = candidate_of(MODEL, data)
        try:
            look(candidate, self._settings, stand=False)
        except LDrawError as error:
            return _refused("unreadable", str(error))
        return StepResult(Observation(), candidate)


def _refused(code: str, message: str) -> StepResult:
    return StepResult(Observation(), violations=(Violation(code, message),))
