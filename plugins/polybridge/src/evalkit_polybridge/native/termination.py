"""A request to end the process waits for a moment at which the game can be left and all be put back.

Raised in the middle of a question to the screen, an interrupt would leave the connection to it unusable, and
the game in its run.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Ctrl-C, and where the system has them a request to terminate and a terminal that goes away.
_REQUESTS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_POLL_S = 0.05


@contextmanager
def orderly_end() -> Iterator[Callable[[float], None]]:
    """Requests to end that come inside are only noted; the function yielded sleeps so long, and obeys them.

    To obey is to do what the request would have done outside, and to raise KeyboardInterrupt where it would
    have ended the process at once. One that is left is obeyed at the end, a second one at once. What was
    ignored stays so; only the main thread hears any.
    """
    if threading.current_thread() is not threading.main_thread():
        yield time.sleep
        return
    noted: list[int] = []

    def note(number: int, frame: object) -> None:
        noted.append(number)
        if len(noted) > 1:
            obey()

    def obey() -> None:
        number = noted[0]
        noted.clear()
        handler = before[number]
        if not callable(handler):
            raise KeyboardInterrupt
        handler(number, None)

    def pause(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            if noted:
                obey()
            left_s = deadline - time.monotonic()
            if left_s <= 0.0:
                return
            time.sleep(min(left_s, _POLL_S))

    # None is a handler that wasn't installed from Python, and couldn't be put back.
    kept = (signal.SIG_IGN, None)
    before: dict[int, Any] = {r: signal.getsignal(r) for r in _REQUESTS if signal.getsignal(r) not in kept}
    for request in before:
        signal.signal(request, note)
    try:
        yield pause
    finally:
        for request, handler in before.items():
            signal.signal(request, handler)
        if noted:
            obey()
