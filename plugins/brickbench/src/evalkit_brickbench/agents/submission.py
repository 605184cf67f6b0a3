"""`submission:PATH` hands in builds that were made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import Brief, Delivery, StepContext, UsageError
from evalkit_brickbench.submissions import SubmissionError, read_submission


class SubmissionAgent:
    """Delivers what a submission holds for each task; a task that it lacks counts as missing."""

    limits: Mapping[str, float] = {}

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument` is the path; UsageError if there is no submission that can be taken."""
        if not argument:
            raise UsageError("agent 'submission' needs a folder, zip or file: --agent submission:PATH")
        try:
            self._submission = read_submission(Path(argument))
        except SubmissionError as error:
            raise UsageError(str(error)) from error
        self._task = ""

    def use_task(self, task: str) -> None:
        """Take up a task; the core calls this, since briefs don't name tasks."""
        self._task = task

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Any) -> Delivery:
        """The files of the submission that the brief asks for."""
        files = self._submission.of(self._task)
        return Delivery({name: files[name] for name in sorted(files) if name in brief.deliverables})

    def spent(self) -> Mapping[str, float]:
        """Nothing."""
        return {}
