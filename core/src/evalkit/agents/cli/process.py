"""A running program followed to its end: its lines read, its budgets kept."""

from __future__ import annotations

import os
import selectors
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.agents.cli.stream import Meter
from evalkit.agents.cli.transcript import Lines, Transcript
from evalkit.errors import EndReason
from evalkit.sandbox._exchange import has_ended
from evalkit.sandbox._guest import RunningGuest
from evalkit.sandbox._limits import Watch, descendants

READ_BYTES = 1 << 16
WAIT_S = 0.1
LOOK_EVERY_S = 1.0
"""How often memory and processes are looked at, and the disk, unless looking takes long."""
PATIENCE_S = 5.0
"""How long pipes may stay open after everything was ended."""


class LimitReached(Exception):  # noqa: N818 - a budget that is used up is no error
    """A budget was used up and the program ended for it."""

    end_reason = EndReason.LIMIT

    def __init__(self, name: str, limit: float, observed: float) -> None:
        super().__init__(f"{name}: limit {limit:g}, observed {observed:g}")
        self.name, self.observed = name, observed


class ProgramFailed(Exception):  # noqa: N818 - named for what happened
    """The program ended otherwise than by having finished."""

    def __init__(self, end_reason: EndReason, message: str) -> None:
        super().__init__(message)
        self.end_reason = end_reason


@dataclass(frozen=True, slots=True)
class Budget:
    """Upper limits by counter, and the folder whose size counts as `disk_bytes`."""

    limits: Mapping[str, float]
    root: Path


class Follower:
    """Follows one program."""

    def __init__(
        self,
        running: RunningGuest,
        budget: Budget,
        meter: Meter,
        transcript: Transcript,
        stopped: threading.Event,
    ) -> None:
        self._running, self._budget = running, budget
        self._meter, self._transcript, self._stopped = meter, transcript, stopped
        self._started = time.monotonic()
        self._next_look = self._started + LOOK_EVERY_S
        self._watch = Watch(running.process.pid, int(budget.limits["memory_bytes"]))

    def follow(self) -> LimitReached | None:
        """Read until the program has ended or has to; afterwards nothing of it runs."""
        process = self._running.process
        assert process.stdout is not None
        assert process.stderr is not None
        reached: LimitReached | None = None
        with selectors.DefaultSelector() as selector:
            for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ, (name, Lines()))
            # Closed streams are no end: a program may work on without them.
            while reached is None and not self._stopped.is_set() and not has_ended(process.pid):
                self._read(selector)
                reached = self._reached(self._observed())
            self._running.end()
            patience = time.monotonic() + PATIENCE_S
            while selector.get_map() and time.monotonic() < patience and not self._flooded():
                self._read(selector)
            for key in list(selector.get_map().values()):
                self._finish(key.data)
        self._transcript.flush()
        if reached is None and not self._stopped.is_set():
            # What it said last counts, too: some programs tell only then what they cost.
            reached = self._reached(self._meter.counters().items())
        return reached

    def _read(self, selector: selectors.BaseSelector) -> None:
        for key, _ in selector.select(WAIT_S):
            data = os.read(key.fd, READ_BYTES)
            self._transcript.total += len(data)
            name, lines = key.data
            for line, whole in lines.feed(data):
                self._line(name, line, whole=whole)
            if not data:
                selector.unregister(key.fileobj)
                self._finish(key.data)

    def _finish(self, stream: tuple[str, Lines]) -> None:
        name, lines = stream
        for line, whole in lines.end():
            self._line(name, line, whole=whole)

    def _line(self, stream: str, line: bytes, *, whole: bool) -> None:
        line = self._transcript.add(stream, line)
        # What was printed before the program could be ended doesn't count: how much is a matter of luck.
        if whole and stream == "stdout" and self._meter.turns <= self._budget.limits["turns"]:
            self._meter.line(line)

    def _flooded(self) -> bool:
        return self._transcript.total > self._budget.limits["output_bytes"]

    def _reached(self, observed: Iterable[tuple[str, float]]) -> LimitReached | None:
        """The first budget that is used up. Turns may be used to the last; one more is too many."""
        for name, amount in observed:
            limit = self._budget.limits.get(name, float("inf"))
            if amount > limit or (amount == limit and name in ("tokens", "cost", "seconds")):
                return LimitReached(name, limit, amount)
        return None

    def _observed(self) -> Iterator[tuple[str, float]]:
        now = time.monotonic()
        yield "seconds", now - self._started
        yield "output_bytes", self._transcript.total
        yield from self._meter.counters().items()
        if now >= self._next_look:
            if sys.platform == "linux":
                yield "processes", sum(1 for _ in descendants(self._running.process.pid))
                self._watch.exceeded()
                yield "memory_bytes", self._watch.peak_bytes
            yield "disk_bytes", disk_bytes(self._budget.root)
            self._next_look = now + max(LOOK_EVERY_S, 10 * (time.monotonic() - now))


def disk_bytes(root: Path) -> int:
    """Bytes on disk of everything below a folder; no link is followed."""
    total = 0
    waiting = [str(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue  # removed while it was looked at, or closed by the program
    return total
