"""`replay:RUN` plays what an agent of an earlier run did, call by call.

With several agents in that run, `replay:RUN#AGENT` names one. Tasks are matched by id; the epoch is the
first one recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.errors import EndReason, UsageError
from evalkit.types import (
    Brief,
    Delivery,
    Episode,
    EpisodeKey,
    Event,
    Observation,
    Reply,
    StepContext,
    Stop,
    Tool,
    ToolCall,
)

if TYPE_CHECKING:
    from evalkit.episode import Sink
    from evalkit.store.reader import RunReader


class ReplayAgent:
    """Repeats the recorded calls of one task."""

    limits: Mapping[str, float] = {}

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument` is `RUN` or `RUN#AGENT`; UsageError if there is no such run or agent."""
        from evalkit.store.reader import RunReader, find_run

        run, _, agent = argument.partition("#")
        if not run:
            raise UsageError("agent 'replay' needs a run: --agent replay:RUN")
        self._reader = RunReader(find_run(run, Path("runs")))
        keys = [key for key in self._reader.index() if not agent or key.agent == agent]
        agents = sorted({key.agent for key in keys})
        if len(agents) != 1:
            raise UsageError(f"{run} holds {len(agents)} agents {agents}; name one: replay:RUN#AGENT")
        self._keys = {key.task: key for key in sorted(keys, reverse=True)}
        self._task = ""
        self._replies: list[Reply] = []
        self._next = 0

    def use_task(self, task: str) -> None:
        """Take up the recording of a task; the core calls this, since observations don't name tasks."""
        self._task, key = task, self._keys.get(task)
        self._replies = recorded_replies(self._reader, key) if key is not None else []

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Sink) -> Delivery:
        """In a workspace: hand in what was handed in."""
        if self._task not in self._keys:
            return Delivery({})
        episode = self._reader.episode(self._keys[self._task])
        return RecordedWork(self._reader, episode).work(folder, brief, ctx, record)

    def spent(self) -> Mapping[str, float]:
        """Nothing: a recording costs nothing."""
        return {}

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """Begin at the first reply."""
        self._next = 0

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next recorded reply."""
        if self._next == len(self._replies):
            return Stop("the recording has ended")
        self._next += 1
        return self._replies[self._next - 1]


class RecordedWork:
    """Hands in what an agent handed in, and used up what it used up."""

    limits: Mapping[str, float] = {}

    def __init__(self, reader: RunReader, episode: Episode) -> None:
        self._reader, self._episode = reader, episode

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Sink) -> Delivery:
        """The recorded files; if a limit cut the work short then, it does so again."""
        files: dict[str, bytes] = {}
        omitted: Mapping[str, str] = {}
        for event in self._episode.of("agent_process"):
            if event["phase"] == "delivery":
                files = {a["name"]: self._reader.blob(a["blob"]) for a in event["artifacts"]}
        for event in self._episode.of("action"):
            omitted = self._episode.load(event["arguments"]).get("omitted", {})
        end = self._episode.end
        failure = _CutShort(end.get("detail", "")) if end["reason"] == EndReason.LIMIT else None
        return Delivery(files, omitted, failure)

    def spent(self) -> Mapping[str, float]:
        """The recorded counters that the walk doesn't count itself."""
        return {n: count for n, count in self._episode.counters.items() if n not in _OF_THE_WALK}


_OF_THE_WALK = ("calls", "tool_calls", "executions", "errors")


class _CutShort(Exception):  # noqa: N818 - a budget that is used up is no error
    end_reason = EndReason.LIMIT


def recorded_replies(reader: RunReader, key: EpisodeKey) -> list[Reply]:
    """The replies of a recorded episode, calls of one turn together."""
    replies: dict[int, list[ToolCall]] = {}
    episode = reader.episode(key)
    for turn in episode.turns():
        action = turn.action
        error = _reading_error(action["tool"], turn.result, episode)
        call = ToolCall(action["tool"], episode.load(action["arguments"]), error)
        replies.setdefault(action["turn"], []).append(call)
    return [Reply(tuple(calls)) for _, calls in sorted(replies.items())]


def _reading_error(tool: str, result: Event | None, episode: Episode) -> str:
    """What the walk said of arguments that couldn't be read; what it says of their fields names the tool."""
    if result is None or result["ok"]:
        return ""
    data = {name: episode.load(value) for name, value in result.get("data", {}).items()}
    message = str(data.get("message") or data.get("error", ""))
    return (
        ""
        if data.get("code") != "arguments" or message.startswith((f"{tool}: ", f"{tool} takes"))
        else message
    )
