"""`submission:PATH` hands in builds that were made elsewhere."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Brief, Delivery, StepContext, UnknownNameError, UsageError
from evalkit_brickbench.submissions import Submission, SubmissionError, read_submission
from evalkit_brickbench.tasks.known import group_of, known_tasks

SHOWN = 8
_log = logging.getLogger("evalkit")


class SubmissionAgent:
    """Delivers what a submission holds for each task; a task that it lacks counts as missing.

    That is so only where the submission holds other tasks of the same set of prompts: one that has nothing to
    do with them is a mistake of whoever hands it in, not an empty result.
    """

    limits: Mapping[str, float] = {}

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument` is the path; UsageError if there is no submission that can be taken, or if none of its
        folders is named after a task. Some that aren't are warned of."""
        if not argument:
            raise UsageError("agent 'submission' needs a folder, zip or file: --agent submission:PATH")
        try:
            self._submission = read_submission(Path(argument))
        except SubmissionError as error:
            raise UsageError(str(error)) from error
        strays = strays_of(self._submission)
        if strays and len(strays) == len(self._submission.tasks):
            hint = f"none of the {len(strays)} folders in {argument} is named after a task"
            raise UnknownNameError("task", strays[0], known_tasks(), hint)
        if strays and multiprocessing.parent_process() is None:  # workers would say it again
            _log.warning("%s", stray_line(argument, strays))
        self._groups = {group_of(name) for name in self._submission.tasks}
        self._path, self._task = argument, ""

    def use_task(self, task: str) -> None:
        """Take up a task; the core calls this, since briefs don't name tasks."""
        self._task = task

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Any) -> Delivery:
        """The files of the submission that the brief asks for.

        SubmissionError if it holds no task of this set of prompts.
        """
        if self._submission.tasks and group_of(self._task) not in self._groups:
            raise SubmissionError(
                f"{self._path} holds nothing for {self._task} and nothing for any other of these prompts; "
                f"its folders are {_listed(sorted(self._submission.tasks))}"
            )
        files = self._submission.of(self._task)
        return Delivery({name: files[name] for name in sorted(files) if name in brief.deliverables})

    def spent(self) -> Mapping[str, float]:
        """Nothing."""
        return {}


def strays_of(submission: Submission) -> list[str]:
    """The folders of a submission that aren't named after a task, sorted."""
    return sorted(name for name in submission.tasks if group_of(name) is None)


def stray_line(path: str, strays: Sequence[str]) -> str:
    """A sentence that names folders which are no task's, with the tasks that may have been meant."""
    known, named = known_tasks(), []
    for name in strays[:SHOWN]:
        meant = UnknownNameError("task", name, known).suggestions
        named.append(f"{name!r} (did you mean {' or '.join(meant)}?)" if meant else repr(name))
    more = f" and {len(strays) - SHOWN} more" if len(strays) > SHOWN else ""
    folders = "1 folder is" if len(strays) == 1 else f"{len(strays)} folders are"
    return f"{path}: {folders} no task: {', '.join(named)}{more}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
