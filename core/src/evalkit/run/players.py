"""Agents that need a model: episodes played in threads of the parent, executions in worker processes.

A thread spends its time waiting: for a provider, or for a coding agent's own program. What it has to say goes
through the pool's inbox, so that one thread alone, the runner's, writes records.
"""

from __future__ import annotations

import hashlib
import itertools
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from evalkit.episode import LoopExecutor, Rules
from evalkit.errors import EndReason
from evalkit.run.pool import Blob, Ended, Events, Executed, Failed, JobPool
from evalkit.run.worker import EpisodeJob, ExecuteJob, PlaySetup, event_body
from evalkit.types import Candidate, Execution, Task

if TYPE_CHECKING:
    from evalkit.models import ModelClient, ModelSession
    from evalkit.plugins import Plugins

#: How long a program may take to be gone after it was told to end.
STOP_S = 15.0


class ModelPlayers:
    """Plays episodes of agents that need a model; calls of one provider share one limiter."""

    def __init__(
        self, setup: PlaySetup, plugins: Plugins, pool: JobPool, connections: int, *, cache: bool
    ) -> None:
        from evalkit.models import Limiters, ResponseCache, cache_folder
        from evalkit.run.assemble import Assembly

        self._assembly = Assembly(setup, plugins)
        self.agents = frozenset(c.id for c in setup.agents if self._assembly.plays_in_thread(c.id))
        self._clients = {
            choice.id: _client(choice.argument, choice.options, connections)
            for choice in setup.agents
            if choice.id in self.agents and not self._assembly.has_own_program(choice.id)
        }
        self._programs: dict[threading.Thread, Any] = {}
        self._closing = False
        self._limiters = Limiters()
        self._cache = ResponseCache(cache_folder()) if cache else None
        self._pool = pool
        self._connections = connections
        self._playing: set[int] = set()
        self._executions: dict[int, Future[Execution]] = {}
        self._numbers = itertools.count(-1, -1)
        #: Why an agent's model can't be asked any more (a bad key, an empty account), by agent.
        self.broken: dict[str, str] = {}

    def free(self) -> int:
        """How many episodes can be taken up."""
        return self._connections - len(self._playing)

    def submit(self, job: EpisodeJob) -> None:
        """Play an episode in a thread of its own."""
        self._playing.add(job.number)
        threading.Thread(target=self._play, args=(job,), daemon=True).start()

    def finished(self, number: int) -> None:
        """An episode has ended."""
        self._playing.discard(number)

    def settle(self, message: Executed | Failed) -> bool:
        """Hand an execution's outcome to the thread that waits for it; whether there was one."""
        future = self._executions.pop(message.number, None)
        if future is None:
            return False
        if isinstance(message, Failed):
            reason = message.reason.value if message.reason else "setup"
            error = RuntimeError(f"{reason}: {message.detail}")
            error.end_reason = message.reason or EndReason.EXECUTOR_ERROR  # type: ignore[attr-defined]
            future.set_exception(error)
        elif isinstance(message.result, str):
            future.set_exception(RuntimeError(message.result))
        else:
            future.set_result(message.result)
        return True

    def execute(self, task: Task, candidate: Candidate, executor: str, *, pictures: bool) -> Execution:
        """Have a worker execute a design and wait for it; called by the playing threads."""
        job = ExecuteJob(next(self._numbers), task, candidate, executor, pictures)
        future: Future[Execution] = Future()
        self._executions[job.number] = future
        if self._closing:
            future.cancel()
        self._pool.inject(job)
        return future.result()

    def close(self) -> None:
        """Give up all waiting; programs are ended, threads that hang in a provider end with the process."""
        self._closing = True
        self._limiters.close()
        for client in self._clients.values():
            client.close()
        for future in list(self._executions.values()):
            future.cancel()
        for agent in list(self._programs.values()):
            agent.stop()
        for thread in list(self._programs):
            thread.join(STOP_S)

    def _play(self, job: EpisodeJob) -> None:
        sink = _InboxSink(self._pool, job.number)
        try:
            environment = self._assembly.environment()
        except Exception as error:  # noqa: BLE001 - the suite can't be played: the runner stops
            self._pool.inject(Failed(job.number, None, _told(error)))
            return
        try:
            agent = self._assembly.agent(job.key.agent)
            rules = self._rules(job.key.agent)
            if job.key.agent in self._clients:
                agent.connect(self._session(job.key.agent, sink), job.key)
                end = self._assembly.play(job, environment, agent, rules, sink)
                if agent.fatal:
                    self._give_up(job.key.agent, end.detail)
            else:
                self._programs[threading.current_thread()] = agent
                end = self._assembly.play(job, environment, agent, rules, sink)
        except BaseException as error:  # noqa: BLE001 - SystemExit, too: nobody else would end the episode
            sink.flush()
            self._pool.inject(Failed(job.number, _end_reason(error), _told(error)))
        else:
            self._pool.inject(Ended(job.number, end))
        finally:
            self._programs.pop(threading.current_thread(), None)

    def _give_up(self, agent_id: str, why: str) -> None:
        """Note that a model can't be asked any more, for all agents that ask it."""
        source = self._clients[agent_id].source
        self.broken.update({other: why for other, c in self._clients.items() if c.source == source})

    def _session(self, agent_id: str, sink: _InboxSink) -> ModelSession:
        from evalkit.models import ModelSession, RetryPolicy

        client = self._clients[agent_id]
        return ModelSession(
            client, self._limiters.of(client), RetryPolicy(client.attempts), self._cache, sink
        )

    def _rules(self, agent_id: str) -> Rules:
        rules = self._assembly.rules(agent_id)
        remote = [
            LoopExecutor(loop.id, loop.version, loop.constants_sha256, _RemoteExecutor(self, loop))
            for loop in rules.executors
        ]
        return Rules(rules.limits, rules.validators, remote, rules.pictures)


def _end_reason(error: BaseException) -> EndReason:
    """Why an episode ended that an exception broke off outside of the walk, which names culprits itself."""
    if isinstance(error, MemoryError):
        return EndReason.JOB_MEMORY
    reason = getattr(error, "end_reason", None)
    return reason if isinstance(reason, EndReason) else EndReason.AGENT_ERROR


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:2000]


def _client(model: str, options: tuple[str, ...], connections: int) -> ModelClient:
    """The client of a model; as many connections as episodes, unless the options say otherwise."""
    from evalkit.models import open_model, parse_options

    parsed = parse_options([f"max_connections={connections}", *options])
    return open_model(model, parsed)


class _RemoteExecutor:
    """An executor whose work is done by a worker process."""

    def __init__(self, players: ModelPlayers, loop: LoopExecutor) -> None:
        self._players, self._loop = players, loop

    def constants(self) -> Mapping[str, Any]:
        return self._loop.executor.constants()

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        return self._players.execute(task, candidate, self._loop.id, pictures=pictures)


class _InboxSink:
    """Sends an episode's events and blobs through the pool's inbox to the runner."""

    def __init__(self, pool: JobPool, number: int) -> None:
        self._pool, self._number = pool, number
        self._pending: list[str] = []
        self._sequence = 0

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Queue an event; ValueError or TypeError if the fields aren't JSON."""
        self._pending.append(event_body(self._sequence, kind, fields))
        self._sequence += 1

    def blob(self, data: bytes) -> str:
        """Send bytes and return their SHA-256."""
        sha256 = hashlib.sha256(data).hexdigest()
        self._pool.inject(Blob(self._number, sha256, data))
        return sha256

    def flush(self) -> None:
        """Send what is queued."""
        if self._pending:
            self._pool.inject(Events(self._number, self._pending))
            self._pending = []
