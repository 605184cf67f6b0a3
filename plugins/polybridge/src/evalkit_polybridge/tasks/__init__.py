"""Levels as tasks of a suite: the 189, the held-out ones, or a folder of level files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from evalkit import Task, UsageError
from evalkit_polybridge.constants import LOOSE_BUDGET
from evalkit_polybridge.designs import level_to_inputs
from evalkit_polybridge.graph import Level, LevelMeta
from evalkit_polybridge.levelfiles import LevelFileError, read_folder
from evalkit_polybridge.levels.catalogue import Entry, load, load_heldout, opaque_name
from evalkit_polybridge.settings import BUDGETS

FileBudget = Literal["own", "strict", "loose"]

KEYS = ("levels", "budget", "folder", "suite", "names")


def load_tasks(tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> Sequence[Task]:
    """The tasks of a suite.

    `tasks` may hold `levels` (`main`, the default, or `heldout`), `budget` (`strict`, `loose`, `tight`),
    `suite` (only `core` or `compositional` levels) and `names` (only these). A `folder` of level files takes
    the place of `levels`; its `budget` may be `own` (the default: what the files say), `strict` or `loose`.
    UsageError for anything else.
    """
    for key, value in tasks.items():
        if key not in KEYS:
            raise UsageError(f"polybridge tasks have no option {key!r}; there are {', '.join(KEYS)}")
        listed = value if key == "names" else [value]
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            raise UsageError(f"tasks.{key} has to be {'a list of strings' if key == 'names' else 'a string'}")
    found = _from_folder(tasks) if "folder" in tasks else _from_catalogue(tasks)
    suite = tasks.get("suite")
    if suite not in (None, "core", "compositional"):
        raise UsageError(f"tasks.suite is {suite!r}; it is 'core' or 'compositional'")
    found = [task for task in found if suite in (None, task.hidden["suite"])]
    if names := tasks.get("names"):
        missing = sorted(set(names) - {task.id for task in found})
        if missing:
            raise UsageError(f"there is no level {missing[0]!r}; `evalkit ls tasks` lists them")
        found = [task for task in found if task.id in names]
    if settings.get("opaque_names"):
        found = [_renamed(task) for task in found]
    return found


def _from_catalogue(tasks: Mapping[str, Any]) -> list[Task]:
    loaders = {"main": load, "heldout": load_heldout}
    source, budget = tasks.get("levels", "main"), tasks.get("budget", "strict")
    if source not in loaders:
        raise UsageError(f"tasks.levels is {source!r}; it is 'main' or 'heldout'")
    if budget not in BUDGETS:
        raise UsageError(f"tasks.budget is {budget!r}; it is 'strict', 'loose' or 'tight'")
    return [_task(entry, budget) for entry in loaders[source](budget)]


def _from_folder(tasks: Mapping[str, Any]) -> list[Task]:
    budget = tasks.get("budget", "own")
    if budget not in ("own", "strict", "loose"):
        raise UsageError(
            f"tasks.budget is {budget!r}; for levels from a folder it is 'own', 'strict' or 'loose'"
        )
    try:
        found = read_folder(Path(tasks["folder"]).expanduser())
    except LevelFileError as error:
        raise UsageError(str(error)) from error
    return [level_task(level, meta, budget) for level, meta in found]


def level_task(level: Level, meta: LevelMeta, budget: FileBudget = "own") -> Task:
    """A level from a file as a task; where its strict budget isn't known, its own is the strict one."""
    strict = level.budget if meta.strict_budget is None else meta.strict_budget
    dollars = {"own": level.budget, "strict": float(strict), "loose": float(LOOSE_BUDGET)}[budget]
    hidden = _hidden(meta, budget) | {"strict_budget": strict}
    return Task(level.name, level_to_inputs(replace(level, budget=dollars)), hidden)


def _task(entry: Entry, budget_name: str) -> Task:
    hidden = _hidden(entry.meta, budget_name) | {
        "strict_budget": entry.strict_budget,
        "reference_cost": entry.reference_cost,
        "optimum_cost": entry.optimum_cost,
    }
    return Task(entry.level.name, level_to_inputs(entry.level), hidden)


def _hidden(meta: LevelMeta, budget_name: str) -> dict[str, Any]:
    return {
        "budget_name": budget_name,
        "family": meta.family,
        "group": meta.group,
        "suite": meta.suite,
        "tags": list(meta.tags),
        "parameters": dict(meta.parameters),
    }


def _renamed(task: Task) -> Task:
    """The same task under a name that tells nothing."""
    name = opaque_name(task.id)
    context = dict(task.inputs["context"])
    context["task_context"] = context["task_context"] | {"levelName": name}
    return Task(name, {**task.inputs, "context": context}, task.hidden)
