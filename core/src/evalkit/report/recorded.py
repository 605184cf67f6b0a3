"""A recorded run as the commands of plugins read it: its manifest, its tasks, its episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from evalkit.errors import RecordError
from evalkit.plugins import load_plugins
from evalkit.run.plan import load_benchmark_tasks
from evalkit.run.scoring import benchmark_of, changed_tasks, recorded_tasks, scorable_episodes
from evalkit.store.reader import RunReader, find_run
from evalkit.types import Episode, EpisodeKey, Task


class RecordedRun:
    """One run, read lazily; see `open_run`."""

    def __init__(self, reader: RunReader) -> None:
        self._reader = reader

    @property
    def name(self) -> str:
        """The run's name."""
        return self._reader.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The content of its run.json."""
        return self._reader.manifest

    @property
    def benchmark(self) -> str:
        """The id of the benchmark that was played."""
        return benchmark_of(self._reader)

    def planned(self) -> list[EpisodeKey]:
        """Every episode that the run was to play, in order."""
        return self._reader.planned()

    def episodes(self) -> Iterator[Episode]:
        """The episodes that have a result, in the plan's order; RecordError for one that is damaged."""
        damaged: dict[EpisodeKey, str] = {}
        for _, episode in scorable_episodes(self._reader, damaged):
            yield episode
        if damaged:
            raise RecordError(next(iter(damaged.values())))

    def blob(self, sha256: str) -> bytes:
        """The bytes of a blob; RecordError if it is missing or damaged."""
        return self._reader.blob(sha256)

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """Id → task, for all tasks of the run's suite, also those that a selection left out.

        RecordError if the installed benchmark doesn't have the tasks that were played any more.
        """
        protocol = self.manifest["protocol"]
        loaded = load_benchmark_tasks(load_plugins(), self.benchmark, protocol["tasks"], protocol["settings"])
        for change in changed_tasks(self._reader, recorded_tasks(self._reader, loaded)):
            raise RecordError(f"{self.name}: {change}; install the version of {self.benchmark} that it played")
        return {task.id: task for task in loaded}


def open_run(text: str) -> RecordedRun:
    """A run by its folder, by its name or the beginning of it under `runs`, or the `latest`.

    RecordError if there is none, or several, or it can't be read.
    """
    return RecordedRun(RunReader(find_run(text, Path("runs"))))
