"""`designs:FOLDER` hands in designs that were made elsewhere, so that tables show their system as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import Brief, Delivery, StepContext, UsageError
from evalkit_lmbuild.handing_in import FILES, MAX_GLB_BYTES, HandInError, read_bounded


class DesignsAgent:
    """Delivers FOLDER/TASK/design.json (with design.glb), script.json or model.glb, or FOLDER/TASK.glb.

    A task that the folder lacks counts as missing. No link is followed.
    """

    limits: Mapping[str, float] = {}

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument` is the folder; UsageError if it is none."""
        self._folder = Path(argument).expanduser()
        if not argument or not self._folder.is_dir():
            raise UsageError("agent 'designs' needs a folder with one per task: --agent designs:FOLDER")
        self._task = ""

    def use_task(self, task: str) -> None:
        """Take up a task; the core calls this, since briefs don't name tasks."""
        self._task = task

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Any) -> Delivery:
        """The files of the task's design; those that can't be read are told."""
        files: dict[str, bytes] = {}
        omitted: dict[str, str] = {}
        for name, path in self._paths():
            try:
                files[name] = read_bounded(path, MAX_GLB_BYTES)
            except HandInError as error:
                omitted[name] = str(error)
        return Delivery(files, omitted)

    def spent(self) -> Mapping[str, float]:
        """Nothing."""
        return {}

    def _paths(self) -> list[tuple[str, Path]]:
        """Names under which the task's files are handed in, and where they are."""
        own = self._folder / self._task
        found = [(name, own / name) for name in FILES] if not own.is_symlink() else []
        found = [(name, path) for name, path in found if _is_own(path)]
        alone = self._folder / f"{self._task}.glb"
        return found if found or not _is_own(alone) else [("model.glb", alone)]


def _is_own(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
