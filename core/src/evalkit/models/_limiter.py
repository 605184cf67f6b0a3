"""How many calls of a provider run at once: fewer after a 429, slowly more again, never below a floor."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from evalkit.models._errors import ErrorKind, ModelError
from evalkit.models._types import ModelClient

DECREASE = 0.5
"""Factor on the window after a 429."""


@dataclass(slots=True)
class Window:
    """The arithmetic of the limiter, without threads.

    `most` is the largest window, `floor` the smallest; `held_until` is a moment of the clock before which
    no call may start.
    """

    most: int
    floor: int = 1
    size: float = 0.0
    running: int = 0
    epoch: int = 0
    held_until: float = float("-inf")

    def __post_init__(self) -> None:
        """Begin wide open; ValueError if the floor isn't between 1 and `most`."""
        if not 1 <= self.floor <= self.most:
            raise ValueError(f"floor {self.floor} is not between 1 and {self.most}")
        self.size = float(self.most)

    def wait_s(self, now: float) -> float | None:
        """0 if a call may start, seconds to wait if calls are held, None if one has to end first."""
        if now < self.held_until:
            return self.held_until - now
        return 0.0 if self.running < int(self.size) else None

    def started(self) -> int:
        """Note a call's start; gives the epoch to hand back to `rate_limited`."""
        self.running += 1
        return self.epoch

    def ended(self) -> None:
        """Note a call's end."""
        self.running -= 1

    def succeeded(self) -> None:
        """Widen: by one call for each window of successes."""
        self.size = min(float(self.most), self.size + 1.0 / self.size)

    def rate_limited(self, epoch: int, now: float, retry_after: float | None) -> None:
        """Narrow, once for all calls that had started before the last narrowing; hold if asked to."""
        if epoch == self.epoch:
            self.size = max(float(self.floor), self.size * DECREASE)
            self.epoch += 1
        if retry_after is not None:
            self.held_until = max(self.held_until, now + retry_after)


class Limiters:
    """The limiters of a run, one for each provider at each address."""

    def __init__(self) -> None:
        self._limiters: dict[tuple[str, str | None], AdaptiveLimiter] = {}

    def of(self, client: ModelClient) -> AdaptiveLimiter:
        """The limiter that all clients of this client's provider and address share."""
        key = client.provider, client.source.get("base_url")
        return self._limiters.setdefault(key, AdaptiveLimiter(client.max_connections))

    def close(self) -> None:
        """End all waiting, see `AdaptiveLimiter.close`."""
        for limiter in self._limiters.values():
            limiter.close()


class Slot:
    """A call's right to run; the call says in it how it went."""

    def __init__(self, limiter: AdaptiveLimiter, epoch: int) -> None:
        self._limiter, self._epoch = limiter, epoch

    def succeeded(self) -> None:
        """The provider served the call."""
        self._limiter._change(lambda window, now: window.succeeded())

    def rate_limited(self, retry_after: float | None) -> None:
        """The provider refused the call; `retry_after` in seconds holds all its calls."""
        self._limiter._change(lambda window, now: window.rate_limited(self._epoch, now, retry_after))


class AdaptiveLimiter:
    """Shared by all calls of one provider at one address, from any number of threads."""

    def __init__(self, most: int, *, floor: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        """`most` calls run at once, at least `floor` whatever the provider says."""
        self.window = Window(most, floor)
        self._clock = clock
        self._closed = False
        self._condition = threading.Condition()

    @contextlib.contextmanager
    def slot(self, patience_s: float | None = None) -> Iterator[Slot]:
        """Wait for a slot and hold it.

        ModelError `cancelled` if the limiter is closed meanwhile, `deadline` if no slot is free within
        `patience_s` seconds.
        """
        until = float("inf") if patience_s is None else self._clock() + patience_s
        with self._condition:
            while (wait := self.window.wait_s(self._clock())) != 0.0 or self._closed:
                self._refuse_if_closed()
                left = until - self._clock()
                if left <= 0:
                    raise ModelError(ErrorKind.DEADLINE, "no call could start within the episode's time")
                most = None if left == float("inf") else left
                self._condition.wait(min((t for t in (wait, most) if t is not None), default=None))
            epoch = self.window.started()
        try:
            yield Slot(self, epoch)
        finally:
            self._change(lambda window, now: window.ended())

    def pause(self, seconds: float) -> None:
        """Sleep, outside any slot; wakes up with ModelError `cancelled` if the limiter is closed."""
        until = self._clock() + seconds
        with self._condition:
            while (left := until - self._clock()) > 0:
                self._refuse_if_closed()
                self._condition.wait(left)

    def close(self) -> None:
        """End all waiting: calls that have no slot yet raise ModelError `cancelled`."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ModelError(ErrorKind.CANCELLED, "the run was interrupted")

    def _change(self, change: Callable[[Window, float], None]) -> None:
        with self._condition:
            change(self.window, self._clock())
            self._condition.notify_all()
