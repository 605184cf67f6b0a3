"""Worker processes for episodes and executions: pebble supervises, a socket per worker streams events.

A job that crashes, hangs or eats memory costs that job and no other. Messages of one job arrive in
order, and its failure comes after everything that it had sent.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, Listener
from typing import Any

from pebble import ProcessExpired, ProcessPool

from evalkit.episode import End
from evalkit.errors import EndReason
from evalkit.run.worker import Job, PlaySetup, initialise, run_job

MEMORY_POLL_S = 0.25
#: How long a dead worker's last messages may take to arrive.
DRAIN_S = 2.0


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


Message = Events | Blob | Ended | Evidence | Failed


class JobPool:
    """Does jobs in spawned workers."""

    def __init__(
        self, setup: PlaySetup, workers: int, timeout_s: float | None, memory_bytes: int | None
    ) -> None:
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._inbox: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        authkey = secrets.token_bytes(16)
        self._listener = Listener(authkey=authkey, backlog=max(16, workers))
        threading.Thread(target=self._accept, daemon=True).start()
        self._pool = ProcessPool(
            max_workers=workers,
            context=get_context("spawn"),
            initializer=initialise,
            initargs=(self._listener.address, authkey, setup),
        )
        self._running: dict[int, int] = {}  # job → connection
        self._pids: dict[int, int] = {}
        self._dead: dict[int, tuple[Failed, float]] = {}
        self._closed_connections: set[int] = set()
        self._over_memory: dict[int, int] = {}
        self._last_poll = 0.0

    def submit(self, job: Job) -> None:
        """Queue a job; its time limit starts when a worker takes it up."""
        future = self._pool.schedule(run_job, args=(job,), timeout=self._timeout_s)
        future.add_done_callback(lambda done: self._inbox.put(("future", job.number, done)))

    def messages(self, timeout_s: float) -> Iterator[Message]:
        """What has arrived: waits up to `timeout_s` for the first message, then takes what is there."""
        self._watch_memory()
        try:
            item = self._inbox.get(timeout=timeout_s)
        except queue.Empty:
            yield from self._overdue()
            return
        while True:
            yield from self._translate(item)
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                break
        yield from self._overdue()

    def close(self) -> None:
        """End the workers; what is running is killed."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()
        self._listener.close()

    def _translate(self, item: tuple[Any, ...]) -> Iterator[Message]:
        kind = item[0]
        if kind == "future":
            yield from self._future_done(item[1], item[2])
        elif kind == "closed":
            self._closed_connections.add(item[1])
            lost = [number for number, connection in self._running.items() if connection == item[1]]
            for number in lost:
                if number in self._dead:
                    yield self._fail(self._dead[number][0])
        else:
            yield from self._from_worker(kind, item)

    def _from_worker(self, kind: str, item: tuple[Any, ...]) -> Iterator[Message]:
        connection, (number, *rest) = item[1], item[2]
        if kind == "start":
            self._running[number] = connection
            self._pids[number] = rest[0]
        elif kind == "events":
            yield Events(number, rest[0])
        elif kind == "blob":
            yield Blob(number, rest[0], rest[1])
        elif kind == "end":
            self._forget(number)
            yield Ended(number, rest[0])
        elif kind == "evidence":
            self._forget(number)
            yield Evidence(number, rest[0])
        elif kind == "failed":
            reason = None if rest[0] == "setup" else EndReason(rest[0])
            yield self._fail(Failed(number, reason, rest[1]))

    def _future_done(self, number: int, future: Future[None]) -> Iterator[Message]:
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            return  # the worker has sent how it ended
        failed = self._classify(number, error)
        connection = self._running.get(number)
        if connection in self._closed_connections:
            yield self._fail(failed)
        else:
            self._dead[number] = (failed, time.monotonic() + DRAIN_S)

    def _classify(self, number: int, error: BaseException) -> Failed:
        if number in self._over_memory:
            used, limit = self._over_memory[number] / 2**20, (self._memory_bytes or 0) / 2**20
            return Failed(number, EndReason.JOB_MEMORY, f"used {used:.0f} MiB, limit {limit:.0f} MiB; killed")
        if isinstance(error, TimeoutError):
            return Failed(number, EndReason.JOB_TIMEOUT, f"limit {self._timeout_s:g} s; killed")
        if isinstance(error, ProcessExpired):
            return Failed(
                number, EndReason.WORKER_CRASHED, f"worker process died, exit code {error.exitcode}"
            )
        return Failed(number, EndReason.WORKER_CRASHED, f"{type(error).__name__}: {error}")

    def _overdue(self) -> Iterator[Message]:
        """Failures whose worker never got as far as a connection, or whose end didn't arrive."""
        now = time.monotonic()
        for failed, deadline in list(self._dead.values()):
            if now > deadline:
                yield self._fail(failed)

    def _fail(self, failed: Failed) -> Failed:
        self._forget(failed.number)
        return failed

    def _forget(self, number: int) -> None:
        self._running.pop(number, None)
        self._pids.pop(number, None)
        self._dead.pop(number, None)

    def _watch_memory(self) -> None:
        """Kill workers that use more memory than a job may."""
        now = time.monotonic()
        if self._memory_bytes is None or now - self._last_poll < MEMORY_POLL_S:
            return
        import psutil

        self._last_poll = now
        for number, pid in self._pids.items():
            with contextlib.suppress(psutil.Error):
                used = psutil.Process(pid).memory_info().rss
                if used > self._memory_bytes and number not in self._over_memory:
                    self._over_memory[number] = used
                    os.kill(pid, 9)

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
