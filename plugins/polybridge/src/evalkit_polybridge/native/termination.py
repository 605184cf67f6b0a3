"""A request to end the process is heard like Ctrl-C, so that what a run has changed is put back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Besides Ctrl-C; the second, a terminal that goes away, doesn't exist on Windows.
_REQUESTS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def orderly_end() -> Iterator[None]:
    """Inside, KeyboardInterrupt is raised where a signal would end the process at once.

    Whoever handles these signals already, or ignores them, goes on doing so; only the main thread hears any.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    taken = [request for request in _REQUESTS if signal.getsignal(request) is signal.SIG_DFL]
    for request in taken:
        signal.signal(request, interrupt)
    try:
        yield
    finally:
        for request in taken:
            signal.signal(request, signal.SIG_DFL)
