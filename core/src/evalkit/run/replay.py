"""Playing recorded actions again: does the environment still do what it did?

The calls of each episode go through the environment anew, with the recorded executions in place of the
executors (or, if asked, with the executors themselves), and every answer is compared with the record.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evalkit.agents.replay import RecordedWork, recorded_replies
from evalkit.episode import LoopExecutor, Rules
from evalkit.errors import UnknownNameError
from evalkit.plugins import Plugins
from evalkit.run.assemble import Assembly
from evalkit.run.difference import Difference, first_difference
from evalkit.run.plan import load_tasks
from evalkit.run.resume import changed_components, changed_constants, other_packages, recorded_suite
from evalkit.run.scoring import changed_tasks, recorded_tasks, scorable_episodes
from evalkit.run.trial import MemorySink
from evalkit.run.worker import EpisodeJob, PlaySetup
from evalkit.store.reader import RunReader
from evalkit.types import (
    Artifact,
    Candidate,
    Episode,
    EpisodeKey,
    Event,
    Execution,
    Observation,
    Reply,
    StepContext,
    Stop,
    Task,
    Tool,
)

#: How far floats may be apart, relatively, where packages or platform differ; hashes are always exact.
TOLERANCE = 1e-9


@dataclass(slots=True)
class Replayed:
    """How a replay went. `elsewhere` says what differs from where the run was made, a phrase each."""

    run: str
    executed: bool
    elsewhere: list[str]
    episodes: int = 0
    calls: int = 0
    skipped: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def comparison(self) -> str:
        """How floats were compared."""
        return f"floats within {TOLERANCE:g}" if self.elsewhere else "exact"

    def as_json(self) -> dict[str, Any]:
        """The replay as `evalkit replay --json` prints it."""
        return {"equal": not self.differences, "comparison": self.comparison, **asdict(self)}


def replay_run(
    reader: RunReader, plugins: Plugins, *, only: Sequence[str] = (), execute: bool = False
) -> Replayed:
    """Replay the finished episodes of a run, or those of the tasks in `only`.

    Episodes without a result are skipped: what broke them may break this process. Raises UnknownNameError
    for a task that the run doesn't have.
    """
    for name in only:
        if name not in reader.manifest["tasks"]:
            raise UnknownNameError("task", name, reader.manifest["tasks"])
    suite = recorded_suite(reader)
    plugins.require(suite.benchmark)
    setup = PlaySetup(
        benchmark=suite.benchmark,
        variant=suite.variant,
        settings=dict(suite.settings),
        limits={name: limit for name, limit in suite.limits.items() if name != "seconds"},
        validators=suite.validators,
        executors=suite.executors if execute else (),
        agents=(),
    )
    assembly = Assembly(setup, plugins)
    tasks = {task.id: task for task in recorded_tasks(reader, load_tasks(plugins, suite))}
    elsewhere = [
        *changed_components(suite, plugins),
        *changed_tasks(reader, list(tasks.values())),
        *(changed_constants(reader, assembly) if execute else ()),
        *other_packages(reader),
        *_other_platform(reader),
    ]
    replayed = Replayed(reader.name, execute, elsewhere)
    unreadable: dict[EpisodeKey, str] = {}
    for key, episode in scorable_episodes(reader, unreadable):
        if only and key.task not in only:
            continue
        if key.task not in tasks:
            unreadable[key] = f"there is no task {key.task!r} here"
            continue
        new = _play_again(reader, episode, tasks[key.task], assembly, execute=execute)
        replayed.episodes += 1
        replayed.calls += sum(event["kind"] == "action" for event in episode.events)
        tolerance = TOLERANCE if elsewhere else 0.0
        difference = first_difference(episode, new, tolerance)
        if difference is not None:
            replayed.differences.append(difference)
    unreadable = {key: why for key, why in unreadable.items() if not only or key.task in only}
    replayed.differences += [
        Difference(k.text(), 0, "record", why, "nothing") for k, why in unreadable.items()
    ]
    wanted = [key for key in reader.planned() if not only or key.task in only]
    replayed.skipped = len(wanted) - replayed.episodes - len(unreadable)
    return replayed


def _other_platform(reader: RunReader) -> Iterator[str]:
    recorded: Mapping[str, str] = reader.manifest["platform"]
    here = {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "machine": platform.machine(),
    }
    for name, value in here.items():
        if recorded.get(name) != value:
            yield f"{name} is {value}, was {recorded.get(name, 'not recorded')}"


def _play_again(
    reader: RunReader, episode: Episode, task: Task, assembly: Assembly, *, execute: bool
) -> Episode:
    setup = assembly.setup
    executors = assembly.executors if execute else _recorded_executors(reader, episode)
    rules = Rules(setup.limits, assembly.validators, executors)
    sink = MemorySink()
    seed = episode.key.seed(reader.manifest["seed"])
    agent: RecordedWork | _Recording = _Recording(recorded_replies(reader, episode.key))
    if assembly.mode == "workspace":
        agent = RecordedWork(reader, episode)
    job = EpisodeJob(0, episode.key, task, seed)
    assembly.play(job, assembly.environment(), agent, rules, sink)
    return Episode(episode.key, list(sink.events), sink.events[-1], sink.load)


class _Recording:
    """Makes the recorded calls and stops."""

    def __init__(self, replies: Iterable[Reply]) -> None:
        self._replies = iter(replies)

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        pass

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        return next(self._replies, Stop("the recording has ended"))


def _recorded_executors(reader: RunReader, episode: Episode) -> list[LoopExecutor]:
    """Stand-ins that give the recorded executions of an episode, in order."""
    names = reader.manifest["protocol"]["order"][1]
    manifest = reader.manifest["executors"]
    return [
        LoopExecutor(
            name,
            manifest[name]["version"],
            manifest[name]["constants_sha256"],
            _RecordedExecutor(name, [e for e in episode.of("execution") if e["executor"] == name], reader),
        )
        for name in names
    ]


class _RecordedExecutor:
    def __init__(self, name: str, events: Iterable[Event], reader: RunReader) -> None:
        self._name, self._events, self._reader = name, iter(events), reader

    def constants(self) -> Mapping[str, Any]:
        raise NotImplementedError("a recorded execution has the constants that the manifest names")

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        event = next(self._events, None)
        if event is None or event["candidate_sha256"] != candidate.sha256:
            raise LookupError(f"the record holds no execution of the design {candidate.sha256[:12]}")
        artifacts = tuple(
            Artifact(a["name"], self._reader.blob(a["blob"]), a["media_type"])
            for a in event.get("artifacts", ())
        )
        return Execution(event["success"], self._reader.load(event["data"]), artifacts, self._name)
