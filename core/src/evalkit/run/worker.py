"""What happens in a worker process: whole episodes of offline agents, streamed to the parent.

Nothing is kept between jobs but what is immutable: classes, validators, executors and their compiled
kernels. Environments and agents are made anew for every episode.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection
from typing import Any

from evalkit.types import EpisodeKey, Task


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """An agent as named on the command line: `name` or `name:argument`."""

    id: str
    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class PlaySetup:
    """All that playing a suite's episodes needs, in any process."""

    benchmark: str
    variant: str
    settings: Mapping[str, Any]
    limits: Mapping[str, float]
    validators: tuple[str, ...]
    executors: tuple[str, ...]
    agents: tuple[AgentChoice, ...]
    pictures: bool = False


@dataclass(frozen=True, slots=True)
class EpisodeJob:
    """One episode to play."""

    number: int
    key: EpisodeKey
    task: Task
    seed: int


class StreamSink:
    """Sends an episode's events and blobs to the parent; events go in batches, before anything runs."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number
        self._pending: list[str] = []
        self._sequence = 0

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Queue an event; ValueError or TypeError if the fields aren't JSON."""
        self._pending.append(event_body(self._sequence, kind, fields))
        self._sequence += 1

    def blob(self, data: bytes) -> str:
        """Send bytes and return their SHA-256."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._connection.send(("blob", self._number, sha256, data))
        return sha256

    def flush(self) -> None:
        """Send what is queued."""
        if self._pending:
            self._connection.send(("events", self._number, self._pending))
            self._pending = []


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


def event_body(sequence: int, kind: str, fields: Mapping[str, Any]) -> str:
    """An event as a JSON object without the hash of the line before it."""
    return _encode({"seq": sequence, "kind": kind, "time": round(time.time(), 6), **fields})


class Player:
    """Plays episodes of one suite in this process."""

    def __init__(self, setup: PlaySetup) -> None:
        """Import and build what the suite names; PluginError if that fails."""
        from evalkit.run.assemble import Assembly

        self.setup = setup
        self.assembly = Assembly(setup)

    def play(self, job: EpisodeJob, sink: Any) -> Any:
        """Play one episode into a sink and return its `End`."""
        from evalkit.episode import play

        agent = self.assembly.agent(job.key.agent)
        if hasattr(agent, "use_task"):
            agent.use_task(job.task.id)
        environment = self.assembly.environment()
        rules = self.assembly.rules(job.key.agent)
        return play(job.key, job.task, job.seed, environment, agent, rules, sink)


class _Worker:
    player: Player
    connection: Connection
    error: BaseException | None = None


_worker = _Worker()


def initialise(address: Any, authkey: bytes, setup: PlaySetup) -> None:
    """Run once in each worker process, before its first job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker.connection = Client(address, authkey=authkey)
    try:
        _worker.player = Player(setup)
    except Exception as error:  # noqa: BLE001 - reported by every job of this worker
        _worker.error = error


def run_episode(job: EpisodeJob) -> None:
    """Play a job; what goes wrong outside the walk is sent as `failed`."""
    connection = _worker.connection
    connection.send(("start", job.number, os.getpid()))
    try:
        if _worker.error is not None:
            raise _worker.error
        end = _worker.player.play(job, StreamSink(connection, job.number))
    except MemoryError:
        connection.send(("failed", job.number, "job_memory", "out of memory"))
    except Exception as error:  # noqa: BLE001 - the parent decides what it means
        connection.send(("failed", job.number, "setup", f"{type(error).__name__}: {error}"))
    else:
        connection.send(("end", job.number, end))
