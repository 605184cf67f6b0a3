"""Runs as a plugin's own commands read them: episodes with the tasks they played, and what is missing."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.errors import RecordError, UnknownNameError, UsageError
from evalkit.plugins import load_plugins
from evalkit.report.episode import find_episode
from evalkit.run.plan import load_benchmark_tasks
from evalkit.run.scoring import benchmark_of, changed_tasks, recorded_tasks, scorable_episodes
from evalkit.store.reader import RunReader, find_run
from evalkit.types import Episode, EpisodeKey, Task

_log = logging.getLogger("evalkit")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run of one benchmark.

    `played` are the episodes that have a result, in the plan's order, each with its task; `missing` are the
    planned ones that have none. `manifest` is the run's `run.json`.
    """

    reader: RunReader
    tasks: Mapping[str, Task]
    played: Sequence[tuple[Episode, Task]]
    missing: Sequence[tuple[EpisodeKey, Task]]

    @property
    def name(self) -> str:
        """The run's name."""
        return self.reader.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The frozen configuration."""
        return self.reader.manifest


def recorded_run(name: str, benchmark: str) -> RecordedRun:
    """A run by its folder, its name under `runs/` or the beginning of one, or the `latest`.

    RecordError if there is none, UsageError if it played another benchmark, PluginError if the benchmark's
    plugin can't be used. Damaged episodes are logged and count as missing, other tasks than those played are
    logged.
    """
    reader, tasks = _opened(name, benchmark)
    for change in changed_tasks(reader, recorded_tasks(reader, tasks.values())):
        _log.warning("%s is read with other tasks than it played: %s", reader.name, change)
    damaged: dict[EpisodeKey, str] = {}
    found = [(key, episode) for key, episode in scorable_episodes(reader, damaged) if key.task in tasks]
    for why in damaged.values():
        _log.warning("%s", why)
    finished = {key for key, _ in found}
    left = [key for key in reader.planned() if key not in finished and key.task in tasks]
    missing = [(key, tasks[key.task]) for key in left]
    return RecordedRun(reader, tasks, [(episode, tasks[key.task]) for key, episode in found], missing)


def recorded_episode(name: str, key: str, benchmark: str) -> tuple[Episode, Task]:
    """One episode of a run, by a task's id or any part of its key that no other has, and its task.

    Raises as `recorded_run` and `chosen_key` do; RecordError if its task isn't installed.
    """
    reader, tasks = _opened(name, benchmark)
    chosen = chosen_key(reader, key)
    if chosen.task not in tasks:
        raise RecordError(f"the installed {benchmark} has no task {chosen.task!r}")
    return reader.episode(chosen), tasks[chosen.task]


def chosen_key(reader: RunReader, text: str) -> EpisodeKey:
    """The one played episode that the text means.

    UnknownNameError if it means none, UsageError if several, RecordError if it hasn't been played.
    """
    planned = reader.planned()
    found = find_episode(text, planned)
    if not found:
        raise UnknownNameError("episode", text, [key.task for key in planned])
    if len(found) > 1:
        shown = ", ".join(key.text() for key in found[:4]) + (", …" if len(found) > 4 else "")
        raise UsageError(f"{text!r} fits {len(found)} episodes: {shown}; type more of the key")
    if found[0] not in reader.index():
        raise RecordError(
            f"{found[0].text()} has not been played; `evalkit resume {reader.name}` plays what is missing"
        )
    return found[0]


def _opened(name: str, benchmark: str) -> tuple[RunReader, dict[str, Task]]:
    reader = RunReader(find_run(name, Path("runs")))
    if (played := benchmark_of(reader)) != benchmark:
        raise UsageError(f"the run {reader.name} is one of {played}, not of {benchmark}")
    plugins = load_plugins()
    protocol = reader.manifest["protocol"]
    tasks = load_benchmark_tasks(plugins, benchmark, protocol["tasks"], protocol["settings"])
    return reader, {task.id: task for task in tasks}
