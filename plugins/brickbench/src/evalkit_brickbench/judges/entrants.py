"""Who meets in an arena: the final builds of runs, by task and system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from evalkit import Artifact, Candidate, Task, UsageError
from evalkit.report import RecordedRun, recorded_run

BENCHMARK = "brickbench"
SUBMISSION = "submission:"
SUFFIXES = (".zip", ".py", ".mpd", ".ldr")
LIBRARY_KIT = "library"
"""The kit that a run has unless its settings name another."""


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


def open_runs(names: Sequence[str]) -> list[RecordedRun]:
    """Runs by their folders or names; UsageError if one is named twice, else errors as in `recorded_run`."""
    runs = [recorded_run(name, BENCHMARK) for name in names]
    if len({run.name for run in runs}) < len(runs):
        raise UsageError("the same run is named twice")
    return runs


def system_names(runs: Sequence[RecordedRun]) -> Callable[[RecordedRun, str], str]:
    """What the agent of a run is called among all of these runs: `AGENT`, or `AGENT (KIT)` where it had
    another kit than the building library, or `AGENT@RUN` where several runs let it play the same task.

    What was handed in goes by the name of its file or folder, `bricknet` for `submission:out/bricknet.zip`,
    where no other agent would have that name.
    """
    agents = sorted({key.agent for run in runs for key in run.reader.planned()})
    short = Counter(map(_short, agents))
    names = {agent: _short(agent) if short[_short(agent)] == 1 else agent for agent in agents}
    played = Counter(
        (_with_kit(run, names[agent]), task)
        for run in runs
        for agent, task in {(key.agent, key.task) for key in run.reader.planned()}
    )
    shared = {name for (name, _), count in played.items() if count > 1}

    def name_of(run: RecordedRun, agent: str) -> str:
        name = _with_kit(run, names[agent])
        return f"{names[agent]}@{run.name}" if name in shared else name

    return name_of


def is_submission(agent: str) -> bool:
    """Whether what an agent delivers was made elsewhere."""
    return agent.startswith(SUBMISSION)


def _short(agent: str) -> str:
    path = PurePath(agent.removeprefix(SUBMISSION))
    return (path.stem if path.suffix in SUFFIXES else path.name) or agent if is_submission(agent) else agent


def kit_of(run: RecordedRun) -> str:
    """What agents had to build with in a run."""
    return str(run.reader.settings.get("kit", LIBRARY_KIT))


def _with_kit(run: RecordedRun, agent: str) -> str:
    kit = kit_of(run)
    return agent if kit == LIBRARY_KIT else f"{agent} ({kit})"


def entrants(names: Sequence[str]) -> Entrants:
    """The builds of runs, each by its folder or name; systems as in `system_names`.

    Of several epochs the first one with a build counts. UsageError as in `open_runs`, and if runs hold
    different tasks of one name.
    """
    runs = open_runs(names)
    system_of = system_names(runs)
    found = Entrants()
    for run in runs:
        built: dict[tuple[str, str], Build | None] = {}
        for key in run.reader.planned():
            if key.task in run.tasks:
                _note_task(found, run.tasks[key.task], run.name)
                built.setdefault((key.task, system_of(run, key.agent)), None)
        for episode, task in run.played:
            system = system_of(run, episode.key.agent)
            if built[task.id, system] is None:
                built[task.id, system] = build_of(run, system, episode.final_design())
        for (name, system), build in built.items():
            if build is None:
                found.missing[system] += 1
            else:
                found.builds.setdefault(name, {})[system] = build
    return found


def _note_task(found: Entrants, task: Task, run: str) -> None:
    known = found.tasks.setdefault(task.id, task)
    if known.inputs.get("prompt") != task.inputs.get("prompt"):
        raise UsageError(f"{run} played another task {task.id!r} than the runs before it")


def build_of(run: RecordedRun, system: str, design: Mapping[str, Any] | None) -> Build | None:
    """The build in a recorded design; None if there is none."""
    if design is None or not design.get("files"):
        return None
    files = tuple(Artifact(name, run.reader.blob(sha)) for name, sha in design["files"].items())
    candidate = Candidate(run.reader.load(design["data"]), files)
    settings = run.manifest["protocol"]["settings"]
    return Build(system, next(iter(design["files"].values())), candidate, settings)
