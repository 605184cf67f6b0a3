"""The moment by which a call has to be over, known to whatever carries the call out in this thread."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

_deadline: ContextVar[float | None] = ContextVar("evalkit_model_deadline", default=None)


@contextlib.contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Give what runs inside so many seconds; None sets no limit."""
    token = _deadline.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def time_left_s() -> float:
    """Seconds until the deadline, negative once it has passed; infinite without one."""
    deadline = _deadline.get()
    return float("inf") if deadline is None else deadline - time.monotonic()
