"""Worker processes for episodes and executions: pebble supervises, a socket per worker streams events.

A job that crashes, hangs or eats memory costs that job and no other. Messages of one job arrive in
order, and its failure comes after everything that it had sent.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, Listener
from typing import Any

from pebble import ProcessExpired, ProcessPool

from evalkit.episode import End
from evalkit.errors import EndReason
from evalkit.run.worker import ExecuteJob, Job, PlaySetup, initialise, run_job
from evalkit.types import Execution

MEMORY_POLL_S = 0.25
#: How long a dead worker's last messages may take to arrive.
DRAIN_S = 2.0
#: After this many workers in a row that died before their first job, the suite is held to be broken.
MAX_FAILED_STARTS = 5


@dataclass(frozen=True, slots=True)
class Events:
    """Event bodies of a job, in order."""

    number: int
    bodies: list[str]


@dataclass(frozen=True, slots=True)
class Blob:
    """A blob that a job's events will refer to."""

    number: int
    sha256: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """A job's episode has ended; all its events have arrived."""

    number: int
    end: End


@dataclass(frozen=True, slots=True)
class Failed:
    """A job ended without an end of its own. `reason` None: the suite can't be played at all."""

    number: int
    reason: EndReason | None
    detail: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an executor found about a final design."""

    number: int
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Executed:
    """What an executor in the loop found for an episode played in this process, or what it raised."""

    number: int
    result: Execution | str


Message = Events | Blob | Ended | Evidence | Executed | Failed | ExecuteJob


class _Slot:
    """Room for one worker process, in a pebble pool of its own.

    Workers of one pebble pool share locks, and a worker that is killed while it holds one would stop all
    others; here it stops nobody. After any death the pool is replaced.
    """

    def __init__(self, initargs: tuple[Any, ...]) -> None:
        self.number: int | None = None
        self.failed_starts = 0
        self._initargs = initargs
        self._pool = self._started()
        self._closing: list[threading.Thread] = []

    def schedule(self, job: Job, timeout_s: float | None) -> Future[None]:
        """Give the worker a job; its time limit starts when it is taken up."""
        self.number = job.number
        try:
            return self._schedule(job, timeout_s)
        except RuntimeError:  # the worker died while it had nothing to do
            self.renew()
            return self._schedule(job, timeout_s)

    def renew(self) -> None:
        """Replace the pool; the old one is closed in the background."""
        old, self._pool = self._pool, self._started()
        closing = threading.Thread(target=_close, args=(old,), daemon=True)
        closing.start()
        self._closing.append(closing)

    def stop(self) -> None:
        """Stop taking up jobs; `join` waits until the worker is gone."""
        self._pool.stop()  # type: ignore[no-untyped-call]

    def join(self) -> None:
        """Wait until every worker that this slot had is gone."""
        self._pool.join()
        for closing in self._closing:
            closing.join()

    def _schedule(self, job: Job, timeout_s: float | None) -> Future[None]:
        future: Future[None] = self._pool.schedule(run_job, args=(job,), timeout=timeout_s)
        return future

    def _started(self) -> ProcessPool:
        pool = ProcessPool(
            max_workers=1, context=get_context("spawn"), initializer=initialise, initargs=self._initargs
        )
        with _interrupts_blocked():
            if not pool.active:  # asking starts the process
                raise RuntimeError("a worker process can't be started")
        return pool


def _close(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes started in here, and by threads started in here, never see Ctrl-C: the parent does."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows: workers ignore it as soon as they can
        yield
        return
    resource_tracker.ensure_running()  # spawning starts it, and that unblocks SIGINT in this thread
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(slots=True)
class _Running:
    """A job whose end hasn't been reported; `failed` waits until `deadline` for the worker's last words."""

    job: Job
    connection: int | None = None
    pid: int | None = None
    failed: Failed | None = None
    deadline: float = 0.0
    over_memory: int = 0


class JobPool:
    """Does jobs in spawned workers, one job per worker at a time."""

    def __init__(
        self, setup: PlaySetup, workers: int, timeout_s: float | None, memory_bytes: int | None
    ) -> None:
        self._workers = workers
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        authkey = secrets.token_bytes(16)
        self._listener = Listener(authkey=authkey, backlog=max(16, workers))
        threading.Thread(target=self._accept, daemon=True).start()
        self._initargs = (self._listener.address, authkey, setup)
        self._slots: list[_Slot] = []
        self._running: dict[int, _Running] = {}
        self._closed_connections: set[int] = set()
        self._last_poll = 0.0

    def free(self) -> int:
        """How many jobs can be submitted without waiting for others."""
        return self._workers - sum(slot.number is not None for slot in self._slots)

    def submit(self, job: Job) -> None:
        """Hand a job to an idle worker; one is started if there is none."""
        slot = next((slot for slot in self._slots if slot.number is None), None)
        if slot is None:
            slot = _Slot(self._initargs)
            self._slots.append(slot)
        self._running[job.number] = _Running(job)
        self._schedule(slot, job)

    def inject(self, message: Message) -> None:
        """Put a message from a thread of this process among those of the workers; safe in any thread."""
        self._inbox.put(("local", message))

    def messages(self, timeout_s: float) -> Iterator[Message]:
        """What has arrived: waits up to `timeout_s` for the first message, then takes what is there."""
        self._watch_memory()
        with contextlib.suppress(queue.Empty):
            item = self._inbox.get(timeout=timeout_s)
            while True:
                yield from self._translate(item)
                item = self._inbox.get_nowait()
        yield from self._overdue()

    def close(self) -> None:
        """End the workers; what is running is killed."""
        for running in self._running.values():
            if running.pid is not None:
                _kill(running.pid)
        for slot in self._slots:
            slot.stop()
        for slot in self._slots:
            slot.join()
        self._listener.close()

    def _schedule(self, slot: _Slot, job: Job) -> None:
        future = slot.schedule(job, self._timeout_s)
        future.add_done_callback(lambda done: self._inbox.put(("future", job.number, done)))

    def _translate(self, item: tuple[Any, ...]) -> Iterator[Message]:
        kind = item[0]
        if kind == "local":
            yield item[1]
        elif kind == "future":
            yield from self._future_done(item[1], item[2])
        elif kind == "closed":
            yield from self._connection_closed(item[1])
        elif item[2][0] in self._running:
            yield from self._from_worker(kind, item[1], *item[2])

    def _from_worker(self, kind: str, connection: int, number: int, *rest: Any) -> Iterator[Message]:
        if kind == "start":
            running = self._running[number]
            running.connection, running.pid = connection, rest[0]
        elif kind == "events":
            yield Events(number, rest[0])
        elif kind == "blob":
            yield Blob(number, rest[0], rest[1])
        elif kind == "end":
            del self._running[number]
            yield Ended(number, rest[0])
        elif kind == "evidence":
            del self._running[number]
            yield Evidence(number, rest[0])
        elif kind == "executed":
            del self._running[number]
            yield Executed(number, rest[0])
        elif kind == "failed":
            reason = None if rest[0] == "setup" else EndReason(rest[0])
            yield self._fail(Failed(number, reason, rest[1]))

    def _connection_closed(self, connection: int) -> Iterator[Message]:
        """A worker is gone and everything it sent has arrived; why it went may not be known yet."""
        self._closed_connections.add(connection)
        lost = [(n, running) for n, running in self._running.items() if running.connection == connection]
        for number, running in lost:
            if running.failed is not None:
                yield self._fail(running.failed)
            else:
                ended = Failed(number, EndReason.WORKER_CRASHED, "worker process ended, exit code 0")
                self._expect_last_words(running, ended)

    def _future_done(self, number: int, future: Future[None]) -> Iterator[Message]:
        slot = next((slot for slot in self._slots if slot.number == number), None)
        if slot is None:
            return
        slot.number = None
        error = future.exception()
        if error is None:
            slot.failed_starts = 0
            return  # how the job ended has been sent
        if not isinstance(error, TimeoutError):  # there pebble itself replaced the worker, under its locks
            slot.renew()
        running = self._running.get(number)
        if running is None:
            return
        if isinstance(error, BrokenProcessPool):
            yield from self._try_again(slot, running.job)
            return
        slot.failed_starts = 0
        failed = self._classify(running, error)
        if running.connection in self._closed_connections:
            yield self._fail(failed)
        else:
            self._expect_last_words(running, failed)

    def _try_again(self, slot: _Slot, job: Job) -> Iterator[Message]:
        """The worker died before it took up the job: another one takes it."""
        slot.failed_starts += 1
        if slot.failed_starts < MAX_FAILED_STARTS:
            self._schedule(slot, job)
        else:
            yield self._fail(Failed(job.number, None, "its worker processes die while they start"))

    def _classify(self, running: _Running, error: BaseException) -> Failed:
        number = running.job.number
        if running.over_memory:
            used, limit = running.over_memory / 2**20, (self._memory_bytes or 0) / 2**20
            return Failed(number, EndReason.JOB_MEMORY, f"used {used:.0f} MiB, limit {limit:.0f} MiB; killed")
        if isinstance(error, TimeoutError):
            return Failed(number, EndReason.JOB_TIMEOUT, f"limit {self._timeout_s:g} s; killed")
        if isinstance(error, ProcessExpired):
            return Failed(
                number, EndReason.WORKER_CRASHED, f"worker process died, exit code {error.exitcode}"
            )
        return Failed(number, EndReason.WORKER_CRASHED, f"{type(error).__name__}: {error}")

    @staticmethod
    def _expect_last_words(running: _Running, failed: Failed) -> None:
        """Report a failure when everything that the worker had sent has arrived, or soon."""
        running.failed, running.deadline = failed, time.monotonic() + DRAIN_S

    def _overdue(self) -> Iterator[Message]:
        """Failures whose worker never got as far as a connection, or whose end didn't arrive."""
        now = time.monotonic()
        for running in list(self._running.values()):
            if running.failed is not None and now > running.deadline:
                yield self._fail(running.failed)

    def _fail(self, failed: Failed) -> Failed:
        """Report a failure; pebble doesn't notice a worker that exits with code 0 in the middle of a job."""
        del self._running[failed.number]
        for slot in self._slots:
            if slot.number == failed.number and failed.reason is EndReason.WORKER_CRASHED:
                slot.number = None
                slot.renew()
        return failed

    def _watch_memory(self) -> None:
        """Kill workers that use more memory than a job may."""
        now = time.monotonic()
        if self._memory_bytes is None or now - self._last_poll < MEMORY_POLL_S:
            return
        import psutil

        self._last_poll = now
        for running in self._running.values():
            if running.pid is None or running.over_memory:
                continue
            with contextlib.suppress(psutil.Error):
                used = psutil.Process(running.pid).memory_info().rss
                if used > self._memory_bytes:
                    running.over_memory = used
                    _kill(running.pid)

    def _accept(self) -> None:
        serial = 0
        while True:
            try:
                connection = self._listener.accept()
            except Exception:  # noqa: BLE001 - closed listener, or a peer that failed to authenticate
                if self._listener_closed():
                    return
                continue
            serial += 1
            threading.Thread(target=self._read, args=(serial, connection), daemon=True).start()

    def _listener_closed(self) -> bool:
        return getattr(self._listener, "_listener", None) is None

    def _read(self, serial: int, connection: Connection) -> None:
        try:
            while True:
                kind, *rest = connection.recv()
                self._inbox.put((kind, serial, rest))
        except Exception:  # noqa: BLE001 - end of file, reset, or a message torn by a kill
            self._inbox.put(("closed", serial))


def _kill(pid: int) -> None:
    """Kill a worker at once; nothing it holds needs saving."""
    with contextlib.suppress(OSError):
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def default_workers(jobs: int | None) -> int:
    """`-j`, or one worker per core that this process may use."""
    if jobs:
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worker_environment() -> Mapping[str, str]:
    """Variables that workers inherit: one thread per BLAS call, a cache for compiled kernels."""
    from platformdirs import user_cache_dir

    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB")}
    cache = os.path.join(user_cache_dir("evalkit", appauthor=False), "numba")
    return {**threads, "VECLIB_MAXIMUM_THREADS": "1", "NUMBA_CACHE_DIR": cache}
