"""What happens in a worker process: whole episodes of offline agents, streamed to the parent.

Nothing is kept between jobs but what is immutable: classes, validators, executors and their compiled
kernels. Environments and agents are made anew for every episode.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection
from typing import TYPE_CHECKING, Any

from evalkit.types import Candidate, EpisodeKey, Execution, Task

if TYPE_CHECKING:
    from evalkit.episode import LoopExecutor

#: `prctl` option of Linux: a signal for this process when the thread that started it ends.
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """An agent as named on the command line: `name` or `name:argument`; `options` are its `-M key=value`."""

    id: str
    name: str
    argument: str
    options: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class EvidenceJob:
    """A final design to put before one executor after play."""

    number: int
    key: EpisodeKey
    task: Task
    candidate: Candidate
    executor: str


@dataclass(frozen=True, slots=True)
class ExecuteJob:
    """A design to put before an executor in the loop, for an episode that a thread of the parent plays."""

    number: int
    task: Task
    candidate: Candidate
    executor: str
    pictures: bool


Job = EpisodeJob | EvidenceJob | ExecuteJob


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
        agent = self.assembly.agent(job.key.agent)
        if hasattr(agent, "use_task"):
            agent.use_task(job.task.id)
        rules = self.assembly.rules(job.key.agent)
        return self.assembly.play(job, self.assembly.environment(), agent, rules, sink)

    def execute(self, job: ExecuteJob) -> Execution | str:
        """Put a design before an executor; what the executor raises comes back as text."""
        executor = self.assembly.executor(job.executor).executor
        try:
            return executor.execute(job.task, job.candidate, pictures=job.pictures)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - the walk in the parent ends the episode with it
            return f"{type(error).__name__}: {error}"[:2000]

    def gather(self, job: EvidenceJob, sink: Any) -> dict[str, Any]:
        """Put a final design before an executor: the fields of its evidence, or what it raised."""
        from evalkit.episode import execution_fields

        loop = self.assembly.executor(job.executor)
        try:
            execution = loop.executor.execute(job.task, job.candidate, pictures=self.setup.pictures)
            return execution_fields(loop, job.candidate, execution, sink)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - an executor that raises leaves its metrics unscored
            return failed_evidence(loop, job.candidate, f"{type(error).__name__}: {error}")


def failed_evidence(loop: LoopExecutor, candidate: Candidate, error: str) -> dict[str, Any]:
    """The fields of evidence that could not be had, and why."""
    return {
        "executor": loop.id,
        "version": loop.version,
        "constants_sha256": loop.constants_sha256,
        "candidate_sha256": candidate.sha256,
        "success": None,
        "data": {},
        "error": error[:2000],
    }


class _Worker:
    player: Player
    connection: Connection
    error: BaseException | None = None


_worker = _Worker()


def initialise(address: Any, authkey: bytes, setup: PlaySetup) -> None:
    """Run once in each worker process, before its first job."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_parent()
    _worker.connection = Client(address, authkey=authkey)
    try:
        _worker.player = Player(setup)
    except Exception as error:  # noqa: BLE001 - reported by every job of this worker
        _worker.error = error


def _die_with_parent() -> None:
    """End this process when its parent dies, also in the middle of a job: nobody would read what it sends."""
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # holds while a kernel keeps the GIL, too
    elif parent is not None:
        threading.Thread(target=_outlive, args=(parent,), daemon=True).start()
    if parent is not None and not parent.is_alive():
        os._exit(1)


def _outlive(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


def run_job(job: Job) -> None:
    """Do a job; what goes wrong outside the code of plugins is sent as `failed`."""
    connection = _worker.connection
    connection.send(("start", job.number, os.getpid()))
    try:
        if _worker.error is not None:
            raise _worker.error
        sink = StreamSink(connection, job.number)
        if isinstance(job, EpisodeJob):
            result: tuple[str, Any] = ("end", _worker.player.play(job, sink))
        elif isinstance(job, ExecuteJob):
            result = ("executed", _worker.player.execute(job))
        else:
            result = ("evidence", _worker.player.gather(job, sink))
    except MemoryError:
        connection.send(("failed", job.number, "job_memory", "out of memory"))
    except Exception as error:  # noqa: BLE001 - the parent decides what it means
        connection.send(("failed", job.number, "setup", f"{type(error).__name__}: {error}"))
    else:
        connection.send((result[0], job.number, result[1]))
