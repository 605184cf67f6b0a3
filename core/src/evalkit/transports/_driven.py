"""An episode that is driven from outside: the one walk, in a thread, with an agent that waits for calls."""

from __future__ import annotations

import json
import mimetypes
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from evalkit.episode import End, Rules, Sink, play
from evalkit.errors import END_POLICIES, UsageError
from evalkit.types import (
    Environment,
    EpisodeKey,
    Image,
    Observation,
    Reply,
    StepContext,
    Stop,
    Task,
    Tool,
    ToolCall,
)
from evalkit.types.record import is_reference


class DrivenEpisode:
    """Plays one episode call by call. Not for several threads at a time: callers take turns.

    `tools` and `context` (budgets and counters) are known once it has started. `ok` is False if the last
    call was a mistake. `end` is None until the episode has ended.
    """

    def __init__(
        self, key: EpisodeKey, task: Task, seed: int, environment: Environment, rules: Rules, sink: Sink
    ) -> None:
        self.key, self.task = key, task
        self.end: End | None = None
        self.context = StepContext({}, {})
        self._limits = rules.limits
        self._view = _View(sink)
        self._turns: SimpleQueue[StepContext | End | BaseException] = SimpleQueue()
        self._player = _Outside(self._turns)
        self._thread = threading.Thread(
            target=self._walk, args=(seed, environment, rules), name="evalkit-episode", daemon=True
        )

    @property
    def tools(self) -> Sequence[Tool]:
        """What the environment offers."""
        return self._player.tools

    @property
    def ok(self) -> bool:
        """Whether the last call was carried out."""
        return self._view.ok

    def start(self) -> Observation:
        """Begin, and return the first observation."""
        self._thread.start()
        return self._next()

    def observe(self) -> Observation:
        """The last observation once more."""
        return self._view.observation

    def call(self, tool: str, arguments: Mapping[str, Any], error: str = "") -> Observation:
        """Carry out one call and return what it showed, also when it was the last one.

        `error` says why the player's words are no call that could be carried out; they count as one.
        UsageError if the episode has ended. Whatever keeps the record from being written is raised, and
        ends the episode.
        """
        if self.end is not None:
            raise UsageError(ended(self.end))
        self._player.replies.put(Reply((ToolCall(tool, arguments, error),)))
        return self._next()

    def stop(self, reason: str) -> End:
        """End the episode on the player's behalf, if it hasn't ended yet, and return how it ended."""
        if self.end is None:
            self._player.replies.put(Stop(reason))
        while self.end is None:  # a call that was interrupted reports first
            self._next()
        return self.end

    def _next(self) -> Observation:
        turn = self._turns.get()
        if isinstance(turn, BaseException):
            self._turns.put(turn)  # for every later call: the thread is gone
            raise turn
        if isinstance(turn, End):
            self.end = turn
            self._thread.join()
            self.context = StepContext(self._left(turn.counters), turn.counters)
        else:
            self.context = turn
        return self._view.observation

    def _left(self, counters: Mapping[str, float]) -> dict[str, float]:
        return {
            name: max(0.0, limit - counters.get(name, 0))
            for name, limit in self._limits.items()
            if name != "seconds"
        }

    def _walk(self, seed: int, environment: Environment, rules: Rules) -> None:
        try:
            end = play(self.key, self.task, seed, environment, self._player, rules, self._view)
        except BaseException as error:  # noqa: BLE001 - raised again where the client's call waits
            self._turns.put(error)
        else:
            self._turns.put(end)


def ended(end: End) -> str:
    """How an episode ended, as its player may know it: errors of plugins are told in the record only."""
    reason = end.reason.value.replace("_", " ")
    if END_POLICIES[end.reason].error or not end.detail:
        return f"the episode has ended: {reason}"
    return f"the episode has ended: {reason} ({end.detail})"


def recorded_observation(
    event: Mapping[str, Any], load: Callable[[Any], Any], blob: Callable[[str], bytes]
) -> Observation:
    """What an `observation` or `result` event says that was shown, without pictures that were never drawn.

    `load` gives the value behind a reference, `blob` bytes by their hash.
    """
    data = {name: load(value) for name, value in event.get("data", {}).items()}
    images = [
        Image(image["name"], blob(image["blob"]), media_type(image["name"]))
        for image in event.get("images", ())
        if image["blob"] is not None
    ]
    return Observation(load(event.get("text", "")), data, tuple(images))


def media_type(picture: str) -> str:
    """The media type of a picture, by its name; PNG unless the name says otherwise."""
    return mimetypes.guess_type(picture)[0] or "image/png"


class _Outside:
    """The agent of the walk: announces its turn and waits for the reply."""

    def __init__(self, turns: SimpleQueue[Any]) -> None:
        self.tools: Sequence[Tool] = ()
        self.replies: SimpleQueue[Reply | Stop] = SimpleQueue()
        self._turns = turns

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        self.tools = tuple(tools)

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        self._turns.put(ctx)
        return self.replies.get()


class _View:
    """Passes the record on, and makes of it what the player sees.

    The walk hands no agent the observation that ends an episode, and a player from outside wants it. So
    observations are read off the events: what a client sees is what the record holds.
    """

    def __init__(self, sink: Sink) -> None:
        self.observation = Observation()
        self.ok = True
        self._sink = sink
        self._blobs: dict[str, bytes] = {}

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        self._sink.event(kind, fields)
        if kind == "action":
            self._blobs.clear()
            self.observation, self.ok = Observation(), False
        elif kind == "result":
            self.ok = fields["ok"]
            self.observation = self._seen(fields)
        elif kind == "observation":
            self.observation = self._seen(fields)

    def blob(self, data: bytes) -> str:
        sha256 = self._sink.blob(data)
        self._blobs[sha256] = data
        return sha256

    def flush(self) -> None:
        self._sink.flush()

    def _seen(self, fields: Mapping[str, Any]) -> Observation:
        return recorded_observation(fields, self._load, self._blobs.__getitem__)

    def _load(self, value: Any) -> Any:
        return json.loads(self._blobs[value["blob"]]) if is_reference(value) else value
