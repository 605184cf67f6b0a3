"""`evalkit try` for designs: files that hold one, tasks from files, the report, the pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Artifact, Candidate, Episode, Execution, Task, UsageError, Verdict
from evalkit_lmbuild.candidates import candidate_design
from evalkit_lmbuild.formats import CompletionError, DesignError
from evalkit_lmbuild.handing_in import HandInError, opened
from evalkit_lmbuild.objects import IMAGE, ObjectError, checked_document, read_object
from evalkit_lmbuild.settings import settings_of
from evalkit_lmbuild.tasks import task_of
from evalkit_lmbuild.trial_text import as_text

FREE = "anything"


def warm() -> None:
    """Compile the kernels before workers start."""
    from evalkit.render3d import warm as warm_pictures
    from evalkit_lmbuild.kernel import warm as warm_kernel

    warm_kernel()
    warm_pictures()


def read_task(path: Path, settings: Mapping[str, Any]) -> Task:
    """The object in a file; UsageError if it can't be read."""
    try:
        return task_of(read_object(path), settings["brief"], path.parent)
    except ObjectError as error:
        raise UsageError(str(error)) from error


def free_task(settings: Mapping[str, Any]) -> Task:
    """No object in particular: nothing is claimed, so that metrics that need claims don't apply."""
    condition = {"condition_id": settings["brief"].removesuffix(IMAGE), "text": "Build anything."}
    document = checked_document({"task_id": FREE, "object": {"name": FREE}, "conditions": [condition]})
    return task_of(document, condition["condition_id"], Path())


def open_design(path: Path, settings: Mapping[str, Any]) -> Candidate:
    """A design.json with the GLB of its name beside it, a script of calls, or a generator's GLB.

    UsageError if the file can't be read.
    """
    try:
        return opened(path, settings_of(settings).complete_joints)
    except (HandInError, CompletionError) as error:
        raise UsageError(str(error)) from error


def report(
    task: Task,
    candidate: Candidate | None,
    verdict: Verdict,
    executions: Sequence[Execution],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """What the agent's own `check` says of the design; as text with the twelve metrics and the levels."""
    if candidate is None or not verdict.valid:
        return {}
    from evalkit_lmbuild.tools import design_report

    check = design_report(candidate_design(task, candidate))
    return {**check, "text": as_text(executions, check, settings)}


def final_pictures(episode: Episode, task: Task, files: Mapping[str, bytes]) -> list[Artifact]:
    """The pictures of the last design of an episode, whose files are given; none where there is no design."""
    document = episode.final_candidate()
    if document is None:
        return []
    given = tuple(Artifact(name, data, "model/gltf-binary") for name, data in sorted(files.items()))
    return pictures(task, Candidate(document, given), {})


def pictures(task: Task, candidate: Candidate, settings: Mapping[str, Any]) -> list[Artifact]:
    """The design from six sides, in colours and apart, each joint in motion; none of what isn't a design."""
    from evalkit_lmbuild.kernel import Field, moving_set
    from evalkit_lmbuild.pictures import all_views, joint_strip, judge_sheet

    try:
        design = candidate_design(task, candidate)
    except DesignError:
        return []  # the validator says why
    if not design.parts:
        return []
    found = [
        Artifact("views.png", all_views(design, clay=True), "image/png"),
        Artifact("parts.png", judge_sheet(design), "image/png"),
    ]
    touching = Field(design.parts).touching()
    for joint in design.joints:
        if joint.moves and joint.axis is not None and joint.origin is not None:
            moving = moving_set(design, joint, touching).ids
            found.append(Artifact(f"joint-{joint.id}.png", joint_strip(design, joint, moving), "image/png"))
    return found
