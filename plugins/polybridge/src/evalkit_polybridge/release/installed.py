"""The levels that the runs of a release name, as they are installed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit import Task, UsageError


@dataclass(slots=True)
class Installed:
    """What the runs of a release should have played.

    `tasks` maps conditions to level → task; `sizes` says how many levels there are in the sources that a
    condition's levels come from. Levels of the conditions in `from_files` come from files, which a release
    doesn't hold. `faults` are runs whose options make no suite, in one line each.
    """

    tasks: dict[str, dict[str, Task]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    from_files: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def task(self, condition: str, level: str) -> Task | None:
        """The installed level under a condition's budget; None if no run names an installed one."""
        return self.tasks.get(condition, {}).get(level)


def installed(manifest: Mapping[str, Any]) -> Installed:
    """Load the levels that the manifest's runs name, under the budgets they name."""
    from evalkit_polybridge.settings import check_suite

    found, settings = Installed(), manifest["inclusion"]["settings"]
    sources: dict[str, set[str]] = {}
    for run in manifest["runs"]:
        condition, options = str(run["condition"]), run["tasks"]
        if "folder" in options:
            found.from_files.add(condition)
            continue
        try:
            check_suite(condition, options, settings)
            tasks = _load(options, settings)
        except UsageError as error:
            found.faults.append(f"{run['name']}: {error}")
            continue
        found.tasks.setdefault(condition, {}).update(tasks)
        sources.setdefault(condition, set()).add(str(options.get("levels", "main")))
    for condition, names in sources.items():
        found.sizes[condition] = sum(len(_load({"levels": name}, settings)) for name in sorted(names))
    return found


def _load(options: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Task]:
    from evalkit_polybridge.tasks import load_tasks

    return {task.id: task for task in load_tasks(options, settings)}
