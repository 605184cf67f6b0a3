"""One build in a folder: an agent reads the brief and leaves `build.py`, or a model as `model.mpd`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import Brief, Candidate, Observation, StepResult, Task, UsageError, Violation
from evalkit_brickbench.brief import brief_text
from evalkit_brickbench.designs import candidate_of, look
from evalkit_brickbench.kit.building import LIMITS, MAX_MODEL_BYTES, build
from evalkit_brickbench.kit.contents import furnish_ldraw, furnish_library, library_sha256
from evalkit_brickbench.kit.runner import MODEL, SOURCE
from evalkit_brickbench.ldraw.notes import LDrawError
from evalkit_brickbench.library import HOW_TO_GET, library_path
from evalkit_brickbench.settings import settings_of

_OUTDATED = (
    f"{MODEL} isn't what {SOURCE} builds, and doesn't count: the model is what {SOURCE} builds; "
    f"leave {SOURCE} out to hand in {MODEL}"
)


class BrickWorkspace:
    """A folder with the task and what there is to build with; what counts is what `build.py` builds.

    `model.mpd` counts where there is no `build.py`. With `kit: ldraw` there is nothing to build with but the
    format, and only `model.mpd` is taken.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)
        self._ldraw = library_path() if self._settings.kit == "ldraw" else None
        if self._settings.kit == "ldraw" and self._ldraw is None:
            raise UsageError(f"kit=ldraw needs an LDraw library: {HOW_TO_GET}")

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        """Write task, guide and library; the seed changes nothing."""
        from evalkit_brickbench.collisions import PROFILES

        chosen = self._settings
        if self._ldraw is None:
            shown = furnish_library(folder, task.inputs)
            deliverables: tuple[str, ...] = (SOURCE, MODEL)
        else:
            shown = furnish_ldraw(folder, task.inputs, self._ldraw)
            deliverables = (MODEL,)
        text = brief_text(
            task.inputs,
            chosen.kit,
            chosen.profile,
            PROFILES[chosen.profile].depth_ldu,
            LIMITS.wall_s,
            LIMITS.memory_bytes >> 30,
        )
        data: dict[str, Any] = {"task": dict(task.inputs)}
        if self._ldraw is None:
            data["library_sha256"] = library_sha256()
        return Brief(text, deliverables, data, shown, MAX_MODEL_BYTES)

    def collect(self, folder: Path) -> StepResult:
        """The model that was handed in, or what keeps it from being one.

        SandboxError where build.py can't be run safely here: that is nobody's result.
        """
        source, model = _content(folder / SOURCE), _content(folder / MODEL)
        advice: tuple[Violation, ...] = ()
        if source is not None and self._settings.kit == "library":
            built = build(source, self._settings.sandbox)
            if built.violation is not None:
                return StepResult(Observation(), violations=(built.violation,))
            if model is not None and model != built.model:
                advice = (Violation("model_differs", _OUTDATED, (MODEL,), advisory=True),)
            model = built.model
        if model is None:
            names = MODEL if self._settings.kit == "ldraw" else f"{SOURCE} and no {MODEL}"
            return _refused("missing", f"there is no {names}")
        candidate = candidate_of(MODEL, model)
        return self._readable(candidate) or StepResult(Observation(), candidate, advice)

    def _readable(self, candidate: Candidate) -> StepResult | None:
        """The refusal of a file that is no model."""
        try:
            look(candidate, self._settings, stand=False)
        except LDrawError as error:
            return _refused("unreadable", str(error))
        return None


def _content(path: Path) -> bytes | None:
    """The content of a deliverable, None if it isn't there."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _refused(code: str, message: str) -> StepResult:
    return StepResult(Observation(), violations=(Violation(code, message),))
