"""Playing a plan: jobs to the pool, events to the record, progress to whoever watches."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evalkit.episode import End
from evalkit.errors import END_POLICIES, EndReason, PluginError
from evalkit.plugins import Plugins
from evalkit.run.pool import Blob, Ended, Events, Failed, JobPool, Message
from evalkit.run.worker import EpisodeJob, PlaySetup, event_body
from evalkit.store.writer import EpisodeLog, RunWriter
from evalkit.types import EpisodeKey

DEFAULT_JOB_TIMEOUT_S = 600.0
DEFAULT_JOB_MEMORY_BYTES = 4 * 2**30
#: Jobs handed to the pool beyond those that run: enough to keep workers busy.
QUEUED_PER_WORKER = 3
POLL_S = 0.2

Watcher = Callable[[EpisodeKey | None, End | None], None]


@dataclass(slots=True)
class Outcome:
    """What happened to a run's jobs."""

    finished: int = 0
    errors: list[tuple[EpisodeKey, End]] = field(default_factory=list)
    interrupted: bool = False
    stopped_early: bool = False


@dataclass(slots=True)
class _Open:
    """An episode that is being played."""

    job: EpisodeJob
    log: EpisodeLog
    attempt: int
    last_sequence: int = -1
    calls: dict[str, float] = field(default_factory=dict)


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
    ) -> None:
        self._setup, self._writer, self._plugins = setup, writer, plugins
        self._workers = workers
        self._timeout_s, self._memory_bytes = job_timeout_s, job_memory_bytes
        self._max_errors = max_errors
        self._open: dict[int, _Open] = {}
        self._jobs: dict[int, EpisodeJob] = {}
        self.outcome = Outcome()

    def run(self, jobs: Iterable[EpisodeJob], watch: Watcher) -> Outcome:
        """Play all jobs; Ctrl-C stops cleanly and is reported in the outcome."""
        waiting = iter(jobs)
        pool = JobPool(self._setup, self._workers, self._timeout_s, self._memory_bytes)
        try:
            while self._submit(waiting, pool):
                for message in pool.messages(POLL_S):
                    self._handle(message, watch)
                watch(None, None)
                if self._max_errors is not None and len(self.outcome.errors) >= self._max_errors:
                    self.outcome.stopped_early = True
                    break
        except KeyboardInterrupt:
            self.outcome.interrupted = True
        finally:
            pool.close()
            for episode in self._open.values():
                episode.log.close()
            self._writer.sync()
        return self.outcome

    def _submit(self, waiting: Iterator[EpisodeJob], pool: JobPool) -> bool:
        """Keep the pool supplied; whether there is anything left to wait for."""
        free = self._workers * (1 + QUEUED_PER_WORKER) - len(self._jobs)
        for job in islice(waiting, max(0, free)):
            self._jobs[job.number] = job
            pool.submit(job)
        return bool(self._jobs)

    def _handle(self, message: Message, watch: Watcher) -> None:
        if message.number not in self._jobs:
            return
        if isinstance(message, Events):
            self._append(message.number, message.bodies)
        elif isinstance(message, Blob):
            self._writer.blob(message.sha256, message.data)
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
        counters: Mapping[str, float] = {}
        if episode.last_sequence < 0:
            start = {"key": episode.job.key.as_dict(), "seed": episode.job.seed}
            episode.log.append([event_body(0, "episode_start", start)])
            episode.last_sequence = 0
        end = End(reason, failed.detail, counters)
        fields: dict[str, Any] = {"reason": reason.value, "detail": failed.detail, "counters": {}}
        episode.log.append([event_body(episode.last_sequence + 1, "episode_end", fields)])
        self._finish(failed.number, end, watch)

    def _finish(self, number: int, end: End, watch: Watcher) -> None:
        episode = self._opened(number)
        summary: dict[str, Any] = {"reason": end.reason.value, "counters": dict(end.counters)}
        if end.detail:
            summary["detail"] = end.detail
        self._writer.finish(episode.job.key, episode.log, episode.attempt, summary)
        del self._open[number], self._jobs[number]
        self.outcome.finished += 1
        if END_POLICIES[end.reason].error:
            self.outcome.errors.append((episode.job.key, end))
        watch(episode.job.key, end)


def warm_up(plugins: Plugins, setup: PlaySetup, say: Callable[[str], None]) -> None:
    """Compile kernels once, before workers start; says so if it takes a moment."""
    from evalkit.plugins import resolve
    from evalkit.run.assemble import warm_targets

    for target, plugin in warm_targets(plugins, setup.benchmark, list(setup.executors)):
        started = time.perf_counter()
        resolve(target, plugin)()
        seconds = time.perf_counter() - started
        if seconds > 2.0:
            say(f"compiled the kernels of {plugin} in {seconds:.1f} s (cached from here on)")
