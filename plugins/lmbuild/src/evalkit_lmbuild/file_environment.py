"""Designs made elsewhere as episodes: whoever plays hands in files instead of calling tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import Brief, EvalkitError, Observation, StepResult, Task, Violation
from evalkit_lmbuild.candidates import DESIGN_GLB, MODEL_GLB
from evalkit_lmbuild.formats import CompletionError
from evalkit_lmbuild.handing_in import (
    DESIGN_JSON,
    FILES,
    MAX_GLB_BYTES,
    SCRIPT_JSON,
    HandInError,
    of_files,
    read_bounded,
)
from evalkit_lmbuild.settings import settings_of

PROMPT = f"""\
Leave the object as {DESIGN_JSON} with {DESIGN_GLB} beside it (a node per part, called as its id, in m, +Z \
up), as {SCRIPT_JSON} (a list of calls), or as {MODEL_GLB} (geometry alone, glTF axes, in any unit)."""
IMAGE = "object.png"


class FileEnvironment:
    """A folder with the brief; what is handed in becomes the design."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        """The brief, its picture as a file; the seed changes nothing."""
        if task.inputs["image"] is not None:
            import base64

            (folder / IMAGE).write_bytes(base64.b64decode(task.inputs["image"]))
        text = f"{task.inputs['brief']['text']}\n\n{PROMPT}"
        return Brief(text, FILES, max_bytes=MAX_GLB_BYTES)

    def collect(self, folder: Path) -> StepResult:
        """The design in the files, or why there is none.

        EvalkitError where what completes joints fails, so that the design isn't blamed: the episode has no
        result.
        """
        try:
            found = {
                name: read_bounded(folder / name, MAX_GLB_BYTES)
                for name in FILES
                if (folder / name).is_file()
            }
            candidate = of_files(found, self._settings.complete_joints)
        except HandInError as error:
            return _refused("unreadable", str(error))
        except CompletionError as error:
            raise EvalkitError(str(error)) from error
        if candidate is None:
            return _refused("missing", f"there is no {DESIGN_JSON}, {SCRIPT_JSON} or {MODEL_GLB}")
        return StepResult(Observation(), candidate)


def _refused(code: str, message: str) -> StepResult:
    return StepResult(Observation(), violations=(Violation(code, message),))
