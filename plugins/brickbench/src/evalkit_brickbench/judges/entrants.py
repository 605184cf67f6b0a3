"""Who meets in an arena: the final builds of runs, by task and system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evalkit import Artifact, Candidate, Task, UsageError
from evalkit.report import RecordedRun, recorded_run

BENCHMARK = "brickbench"


@dataclass(frozen=True, slots=True)
class Build:
    """A system's build for a task; `settings` are those of its run, `sha256` is that of the model file."""

    system: str
    sha256: str
    candidate: Candidate
    settings: Mapping[str, Any]


@dataclass(slots=True)
class Entrants:
    """Builds by task and system; `missing` counts, by system, the tasks that it left without a build."""

    tasks: dict[str, Task] = field(default_factory=dict)
    builds: dict[str, dict[str, Build]] = field(default_factory=dict)
    missing: Counter[str] = field(default_factory=Counter)


def entrants(names: Sequence[str]) -> Entrants:
    """The builds of runs, each by its folder or name.

    A system is an agent; where several runs let the same agent play the same task, it is `AGENT@RUN`. Of
    several epochs the first one with a build counts. UsageError if a run is named twice, or if runs hold
    different tasks of one name; otherwise errors as in `recorded_run`.
    """
    runs = [recorded_run(name, BENCHMARK) for name in names]
    if len({run.name for run in runs}) < len(runs):
        raise UsageError("the same run is named twice")
    shared = _shared_agents(runs)
    found = Entrants()
    for run in runs:
        built: dict[tuple[str, str], Build | None] = {}
        for key in run.reader.planned():
            if key.task in run.tasks:
                _note_task(found, run.tasks[key.task], run.name)
                system = f"{key.agent}@{run.name}" if key.agent in shared else key.agent
                built.setdefault((key.task, system), None)
        for episode, task in run.played:
            agent = episode.key.agent
            system = f"{agent}@{run.name}" if agent in shared else agent
            if built[task.id, system] is None:
                built[task.id, system] = _build(run, system, episode.final_design())
        for (name, system), build in built.items():
            if build is None:
                found.missing[system] += 1
            else:
                found.builds.setdefault(name, {})[system] = build
    return found


def _shared_agents(runs: Sequence[RecordedRun]) -> set[str]:
    """Agents that several runs let play the same task."""
    played = Counter(pair for run in runs for pair in {(key.agent, key.task) for key in run.reader.planned()})
    return {agent for (agent, _), count in played.items() if count > 1}


def _note_task(found: Entrants, task: Task, run: str) -> None:
    known = found.tasks.setdefault(task.id, task)
    if known.inputs.get("prompt") != task.inputs.get("prompt"):
        raise UsageError(f"{run} played another task {task.id!r} than the runs before it")


def _build(run: RecordedRun, system: str, design: Mapping[str, Any] | None) -> Build | None:
    if design is None or not design.get("files"):
        return None
    files = tuple(Artifact(name, run.reader.blob(sha)) for name, sha in design["files"].items())
    candidate = Candidate(run.reader.load(design["data"]), files)
    settings = run.manifest["protocol"]["settings"]
    return Build(system, next(iter(design["files"].values())), candidate, settings)
