"""`evalkit try` for LDraw files: reading one, and the report on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Candidate, Execution, Task, UsageError, Verdict
from evalkit_brickbench.designs import candidate_of, look
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.ldraw.reader import SIZE_LIMIT_BYTES
from evalkit_brickbench.part_rules import PartRules
from evalkit_brickbench.parts.meshes import MeshError
from evalkit_brickbench.parts.wheels import MissingDataError
from evalkit_brickbench.report import as_json, as_text
from evalkit_brickbench.settings import settings_of

FREE_TASK = "any"


def open_model(path: Path, settings: Mapping[str, Any]) -> Candidate:
    """The model in an .ldr, .mpd or .dat file; UsageError if it holds none."""
    try:
        with open(path, "rb") as file:
            data = file.read(SIZE_LIMIT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    candidate = candidate_of(path.name, data)
    try:
        look(candidate, settings_of(settings), stand=False)
    except (LDrawError, MeshError, MissingDataError) as error:
        raise UsageError(str(error)) from error
    return candidate


def free_task(settings: Mapping[str, Any]) -> Task:
    """Any model at all: no limits apply."""
    return Task(FREE_TASK, {}, {})


def report(
    task: Task,
    candidate: Candidate | None,
    verdict: Verdict,
    executions: Sequence[Execution],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the checks found; stability is looked at also where parts collide."""
    if candidate is None:
        return {}
    found = look(candidate, settings_of(settings), stand=True)
    rules = PartRules.of(task.inputs)
    text = as_text(found, candidate.files[0].name, name_collisions=False)  # violations name them
    limits = {} if rules is None else {"part_rules": rules.as_json()}
    return {**limits, **as_json(found), "text": text}
