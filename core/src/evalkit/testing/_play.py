"""Episodes played in memory, by an agent, from a list of calls, or with files that are handed in."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evalkit.canonical import canonical_json
from evalkit.episode import End, LoopExecutor, Rules, Sink, execution_fields, play
from evalkit.run.assemble import constants_sha256
from evalkit.run.trial import MemorySink
from evalkit.testing._contracts import CheckedExecutor, CheckedValidator
from evalkit.testing._finding import Broken
from evalkit.testing._watch import Spy
from evalkit.types import (
    Brief,
    Candidate,
    Episode,
    EpisodeKey,
    Execution,
    Observation,
    Reply,
    StepContext,
    Stop,
    Task,
    Tool,
    ToolCall,
)
from evalkit.workspace import play_in

if TYPE_CHECKING:
    from evalkit.testing._subject import Script, Subject

SEED = 20_240_229
#: What two records of the same episode may differ in.
VOLATILE = ("time", "seconds")

Wrapper = Callable[[Any], Any]
"""What puts an environment into another one that watches it or stands in for it."""


class Caller:
    """An agent that makes the given calls, one by one, and stops."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = iter(copy.deepcopy(list(calls)))  # an environment may change what it gets

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """Nothing to prepare."""

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next call."""
        call = next(self._calls, None)
        return Stop("the script has ended") if call is None else Reply((call,))


class Courier:
    """An agent for a workspace that leaves the given files in it and nothing else."""

    limits: Mapping[str, float] = {}

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Sink) -> None:
        """Replace the folder's content; the core takes of it what it takes of any agent's."""
        shutil.rmtree(folder)
        folder.mkdir()
        for name, content in self._files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def spent(self) -> Mapping[str, float]:
        """Nothing."""
        return {}


@dataclass(slots=True)
class Played:
    """An episode in memory: its record, how it ended, and the objects that passed by.

    In a workspace, `brief` holds the fields of the brief, and `files` what `prepare` wrote, by path.
    """

    key: EpisodeKey
    task: Task
    sink: MemorySink
    end: End
    candidates: list[Candidate]
    executions: list[Execution]
    contexts: list[StepContext]
    states: list[Any]
    brief: Mapping[str, Any]
    files: Mapping[str, Any]
    gathered: dict[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)

    def events(self) -> list[dict[str, Any]]:
        """The record without what may differ between two plays."""
        return [{k: v for k, v in event.items() if k not in VOLATILE} for event in self.sink.events]

    def calls(self) -> list[ToolCall]:
        """The calls as the record tells them."""
        actions = (event for event in self.sink.events if event["kind"] == "action")
        return [ToolCall(a["tool"], self.sink.load(a["arguments"])) for a in actions]

    def delivery(self) -> dict[str, bytes]:
        """The files that were handed in, as the record tells them."""
        phases = (event for event in self.sink.events if event["kind"] == "agent_process")
        taken = [event["artifacts"] for event in phases if event["phase"] == "delivery"]
        return {file["name"]: self.sink.blobs[file["blob"]] for files in taken for file in files}

    def episode(self) -> Episode:
        """What metrics get."""
        events = json.loads(json.dumps(self.sink.events))
        return Episode(self.key, events, events[-1], self.sink.load, dict(self.gathered))

    def seen(self) -> list[Any]:
        """What the agent saw, observation by observation, as JSON: text and data."""
        found = []
        for event in self.sink.events:
            if "text" in event or ("data" in event and event["kind"] in ("observation", "result")):
                data = {name: self.sink.load(value) for name, value in event.get("data", {}).items()}
                found.append({"text": self.sink.load(event.get("text", "")), "data": data})
        return found


def record(
    subject: Subject,
    task: Task,
    player: Any,
    *,
    wrap: Wrapper | None = None,
    seed: int = SEED,
    limits: Mapping[str, float] | None = None,
    pictures: bool = False,
) -> Played:
    """Play an episode in this process; `player` is an agent, a list of calls, or files to hand in."""
    inner = subject.environment(subject.settings)
    spy: Any = Spy(inner if wrap is None else wrap(inner))
    key = EpisodeKey("check", task.id, "check", 1)
    executions: list[Execution] = []
    rules = Rules(
        subject.limits if limits is None else limits,
        [CheckedValidator(name, build(subject.settings)) for name, build in subject.validators.items()],
        [loop_executor(subject, name, executions) for name in subject.executors],
        pictures=pictures,
    )
    sink = MemorySink()
    if subject.mode == "workspace":
        with TemporaryDirectory() as root:
            end = play_in(Path(root), key, task, seed, spy, _agent(player), rules, sink)
    else:
        end = play(key, task, seed, spy, _agent(player), rules, sink)
    seen = (spy.contexts, spy.states, spy.brief, spy.files)
    return Played(key, task, sink, end, spy.candidates, executions, *seen)


def _agent(player: Any) -> Any:
    if isinstance(player, Mapping):
        return Courier(player)
    return Caller(player) if isinstance(player, Sequence) else player


def play_script(
    subject: Subject,
    task: Task,
    *,
    wrap: Wrapper | None = None,
    script: Script | None = None,
    limits: Mapping[str, float] | None = None,
    pictures: bool = False,
) -> Played:
    """Play a task's script, or another. Broken if the environment, a validator or an executor raises."""
    player = subject.scripts[task.id] if script is None else script
    played = record(subject, task, player, wrap=wrap, limits=limits, pictures=pictures)
    if played.end.reason.value.endswith("_error"):
        culprit = played.end.reason.value.removesuffix("_error")
        raise Broken(f"{task.id}: the {culprit} fails on the script: {played.end.detail}")
    return played


def script_of(subject: Subject, played: Played) -> Script:
    """What plays an episode again: its calls, or the files that were handed in."""
    return played.delivery() if subject.mode == "workspace" else played.calls()


def gather(subject: Subject, played: Played) -> Played:
    """Put the last design of an episode before the executors after play."""
    if played.candidates:
        candidate = played.candidates[-1]
        for name in subject.final_executors:
            loop = loop_executor(subject, name)
            execution = loop.executor.execute(played.task, candidate, pictures=False)
            fields = {"kind": "execution", **execution_fields(loop, candidate, execution, played.sink)}
            played.gathered[(played.key.task, candidate.sha256, name)] = json.loads(canonical_json(fields))
    return played


def loop_executor(subject: Subject, name: str, kept: list[Execution] | None = None) -> LoopExecutor:
    """An executor of the subject, newly built; what it finds is added to `kept`."""
    build = subject.executors.get(name) or subject.final_executors[name]
    executor = CheckedExecutor(name, build(subject.settings), [] if kept is None else kept)
    return LoopExecutor(name, "", constants_sha256(executor), executor)
