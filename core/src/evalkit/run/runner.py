"""Playing a plan: jobs to the pool, events to the record, progress to whoever watches."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from evalkit.episode import End
from evalkit.errors import END_POLICIES, EndReason, PluginError
from evalkit.plugins import Plugins
from evalkit.run.assemble import needs_threads, release_executors
from evalkit.run.pool import Blob, Ended, Events, Executed, Failed, JobPool, Message
from evalkit.run.worker import EpisodeJob, ExecuteJob, PlaySetup, event_body
from evalkit.store.logs import counted, read_log
from evalkit.store.writer import EpisodeLog, RunWriter
from evalkit.types import EpisodeKey

if TYPE_CHECKING:
    from evalkit.run.players import ModelPlayers

DEFAULT_JOB_TIMEOUT_S = 600.0
DEFAULT_JOB_MEMORY_BYTES = 4 * 2**30
DEFAULT_CONNECTIONS = 10
POLL_S = 0.2


class Watcher(Protocol):
    """Told of every episode that ends, with its events as JSON texts, and otherwise that time has passed."""

    def __call__(
        self, key: EpisodeKey | None = None, end: End | None = None, bodies: Sequence[str] = ()
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Broken:
    """An agent whose model can't be asked any more, and which of its `planned` episodes it leaves."""

    agent: str
    why: str
    planned: int
    left: list[EpisodeKey]


@dataclass(slots=True)
class Outcome:
    """What happened to a run's jobs."""

    finished: int = 0
    errors: list[tuple[EpisodeKey, End]] = field(default_factory=list)
    interrupted: bool = False
    stopped_early: bool = False
    broken: list[Broken] = field(default_factory=list)
    """Agents whose model gave a fatal answer; what they leave wasn't played."""
    exhausted: str | None = None
    """Which budget of the whole run was used up."""


@dataclass(slots=True)
class _Open:
    """An episode that is being played."""

    job: EpisodeJob
    log: EpisodeLog
    attempt: int
    last_sequence: int = -1
    bodies: list[str] = field(default_factory=list)
    spending: Mapping[str, float] = field(default_factory=dict)


class Runner:
    """Plays jobs and writes their records. Only this process writes."""

    def __init__(
        self,
        setup: PlaySetup,
        writer: RunWriter,
        plugins: Plugins,
        *,
        workers: int,
        job_timeout_s: float | None = DEFAULT_JOB_TIMEOUT_S,
        job_memory_bytes: int | None = DEFAULT_JOB_MEMORY_BYTES,
        max_errors: int | None = None,
        connections: int = DEFAULT_CONNECTIONS,
        cache: bool = False,
        totals: Mapping[str, float] | None = None,
    ) -> None:
        """`connections` bounds the episodes that models play at once; `totals` are budgets of the run."""
        self._setup, self._writer, self._plugins = setup, writer, plugins
        self._workers = workers
        self._timeout_s, self._memory_bytes = job_timeout_s, job_memory_bytes
        self._max_errors = max_errors
        self._connections, self._cache = connections, cache
        self._totals = dict(totals or {})
        self._spent: dict[str, float] = {}
        self._started = time.monotonic()
        self._executions: deque[ExecuteJob] = deque()
        self._players: ModelPlayers | None = None
        self._listed: list[EpisodeJob] = []
        self._finished: set[EpisodeKey] = set()
        self._open: dict[int, _Open] = {}
        self._jobs: dict[int, EpisodeJob] = {}
        self.outcome = Outcome()

    def run(self, jobs: Iterable[EpisodeJob], watch: Watcher) -> Outcome:
        """Play all jobs; Ctrl-C stops cleanly and is reported in the outcome."""
        pool = JobPool(self._setup, self._workers, self._timeout_s, self._memory_bytes)
        offline, online = self._divided(jobs, pool)
        try:
            with interruptible() as interrupted:
                while self._submit(offline, online, pool) and not interrupted():
                    for message in pool.messages(POLL_S):
                        self._handle(message, watch)
                    watch()
                    if self._has_to_stop():
                        break
                self.outcome.interrupted = interrupted()
            if self._players is not None:
                self._players.close()
                self._drain(pool, watch)
        finally:
            if self._players is not None:
                self._players.close()
            try:
                pool.close()
            finally:
                release_executors(self._plugins, self._setup, self._setup.executors)
            for episode in self._open.values():
                episode.log.close()
            self._writer.sync()
        self.outcome.broken = self._broken()
        return self.outcome

    def _divided(
        self, jobs: Iterable[EpisodeJob], pool: JobPool
    ) -> tuple[Iterator[EpisodeJob], Iterator[EpisodeJob]]:
        """The jobs of offline agents and those of others; only where there are others are they listed."""
        if not needs_threads(self._plugins, self._setup):
            return iter(jobs), iter(())
        from evalkit.run.players import ModelPlayers

        players = ModelPlayers(self._setup, self._plugins, pool, self._connections, cache=self._cache)
        self._players = players
        self._listed = list(jobs)
        return (
            iter([job for job in self._listed if job.key.agent not in players.agents]),
            # looked at when their turn comes: a model may break before
            (j for j in self._listed if j.key.agent in players.agents and j.key.agent not in players.broken),
        )

    def _broken(self) -> list[Broken]:
        """The agents whose models broke, with the episodes that are left."""
        found = []
        broken = {} if self._players is None else dict(self._players.broken)
        for agent, why in broken.items():
            keys = [job.key for job in self._listed if job.key.agent == agent]
            found.append(Broken(agent, why, len(keys), [key for key in keys if key not in self._finished]))
        return found

    def _submit(self, offline: Iterator[EpisodeJob], online: Iterator[EpisodeJob], pool: JobPool) -> bool:
        """Keep workers and players supplied; whether there is anything left to wait for.

        Executions that a player waits for go before episodes.
        """
        while self._executions and pool.free():
            pool.submit(self._executions.popleft())
        if self._is_exhausted():
            return bool(self._jobs)
        more = self._feed(offline, pool)
        if self._players is not None:
            more = self._feed(online, self._players) or more
        return bool(self._jobs) or more

    def _feed(self, waiting: Iterator[EpisodeJob], takers: JobPool | ModelPlayers) -> bool:
        """Hand over as many jobs as can be taken up; whether there may be more."""
        free = takers.free()
        jobs = list(islice(waiting, free))
        for job in jobs:
            self._jobs[job.number] = job
            takers.submit(job)
        return len(jobs) == free

    def _drain(self, pool: JobPool, watch: Watcher) -> None:
        """Write what players had said before the run stopped; what they couldn't finish stays unfinished."""
        for message in pool.messages(0.0):
            cut_off = isinstance(message, Ended) and END_POLICIES[message.end.reason].error
            if isinstance(message, Events | Blob) or (isinstance(message, Ended) and not cut_off):
                self._handle(message, watch)

    def _spent_of(self, name: str) -> float:
        """What the run has spent of a budget, episodes that are being played included."""
        if name == "seconds":
            return time.monotonic() - self._started
        return self._spent.get(name, 0.0) + sum(e.spending.get(name, 0.0) for e in self._open.values())

    def _has_to_stop(self) -> bool:
        """Whether errors, or fatal answers to every agent that plays, end the run early."""
        outcome = self.outcome
        if self._max_errors is not None and len(outcome.errors) >= self._max_errors:
            outcome.stopped_early = True
        broken = self._players.broken if self._players is not None else {}
        return outcome.stopped_early or (bool(broken) and all(j.key.agent in broken for j in self._listed))

    def _is_exhausted(self) -> bool:
        """Whether a budget of the run is used up: nothing new starts, what is being played is finished."""
        for name, limit in self._totals.items():
            spent = self._spent_of(name)
            if spent >= limit:
                self.outcome.exhausted = f"{name}: limit {limit:.12g}, observed {spent:.12g}"
        return self.outcome.exhausted is not None

    def _handle(self, message: Message, watch: Watcher) -> None:
        if isinstance(message, ExecuteJob):
            self._executions.append(message)
            return
        if isinstance(message, Executed | Failed) and self._players and self._players.settle(message):
            return
        if isinstance(message, Blob):
            self._writer.blob(message.sha256, message.data)
            return
        if message.number not in self._jobs:
            return
        if isinstance(message, Events):
            self._append(message.number, message.bodies)
        elif isinstance(message, Ended):
            self._finish(message.number, message.end, watch)
        elif isinstance(message, Failed) and message.reason is None:
            raise PluginError(self._setup.benchmark, message.detail)
        elif isinstance(message, Failed) and message.reason is not None:
            self._fail(message, message.reason, watch)

    def _append(self, number: int, bodies: list[str]) -> None:
        episode = self._opened(number)
        episode.log.append(bodies)
        episode.last_sequence += len(bodies)
        episode.bodies += bodies
        if self._players is not None and self._totals:
            episode.spending = counted([json.loads(body) for body in episode.bodies])
        if self._plugins.observed:
            for body in bodies:
                self._plugins.notify(json.loads(body))

    def _opened(self, number: int) -> _Open:
        if number not in self._open:
            job = self._jobs[number]
            log, attempt = self._writer.begin(job.key)
            self._open[number] = _Open(job, log, attempt)
        return self._open[number]

    def _fail(self, failed: Failed, reason: EndReason, watch: Watcher) -> None:
        """End an episode whose worker couldn't."""
        episode = self._opened(failed.number)
        if episode.last_sequence < 0:
            start = {"key": episode.job.key.as_dict(), "seed": episode.job.seed}
            episode.log.append([event_body(0, "episode_start", start)])
            episode.last_sequence = 0
        recorded = read_log(episode.log.path)
        if recorded.end is not None:  # only the worker's last message was lost
            told = recorded.end
            end = End(EndReason(told["reason"]), told.get("detail", ""), told["counters"])
        else:
            end = End(reason, failed.detail, counted(recorded.events))
            fields = {"reason": reason.value, "detail": failed.detail, "counters": dict(end.counters)}
            episode.log.append([event_body(episode.last_sequence + 1, "episode_end", fields)])
        self._finish(failed.number, end, watch)

    def _finish(self, number: int, end: End, watch: Watcher) -> None:
        episode = self._opened(number)
        summary: dict[str, Any] = {"reason": end.reason.value, "counters": dict(end.counters)}
        if end.detail:
            summary["detail"] = end.detail
        self._writer.finish(episode.job.key, episode.log, episode.attempt, summary)
        del self._open[number], self._jobs[number]
        if self._players is not None:
            self._players.finished(number)
        for name, count in end.counters.items():
            self._spent[name] = self._spent.get(name, 0.0) + count
        self.outcome.finished += 1
        if self._players is not None:
            self._finished.add(episode.job.key)
        if END_POLICIES[end.reason].error:
            self.outcome.errors.append((episode.job.key, end))
        watch(episode.job.key, end, episode.bodies)


#: Requests to end besides Ctrl-C; the second doesn't exist on Windows, and `nohup` ignores it.
_TERMINATION = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C inside is only noted, so that it tears no line; the function yielded tells. A second one raises.

    A request to terminate and a terminal that goes away are treated alike, so that no program is left behind.
    Outside the main thread, which alone receives signals, none is ever noted.
    """
    noted = False

    def note(number: int, frame: object) -> None:
        nonlocal noted
        if noted:
            raise KeyboardInterrupt
        noted = True

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    requests = [signal.SIGINT, *(s for s in _TERMINATION if signal.getsignal(s) is not signal.SIG_IGN)]
    before = {request: signal.signal(request, note) for request in requests}
    try:
        yield lambda: noted
    finally:
        for request, handler in before.items():
            signal.signal(request, handler)


def warm_up(plugins: Plugins, setup: PlaySetup, say: Callable[[str], None]) -> None:
    """Compile kernels once, before workers start; says so if it takes a moment."""
    from evalkit.plugins import resolve
    from evalkit.run.assemble import warm_targets

    for target, plugin in warm_targets(plugins, setup.benchmark, list(setup.executors)):
        started = time.perf_counter()
        resolve(target, plugin)()
        seconds = time.perf_counter() - started
        if seconds > 2.0:
            say(f"the kernels of {plugin} took {seconds:.1f} s to load (the first time compiles them)")
