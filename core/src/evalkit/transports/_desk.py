"""One episode at the disposal of clients: calls come from any thread and are carried out one by one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.transports._driven import ended
from evalkit.transports._present import Answer, Pictures
from evalkit.transports._session import RecordedEpisode

#: After the end of the episode, questions are answered for this long.
LINGER_S = 60.0
POLL_S = 0.1


class Desk:
    """Owns an episode, which begins when a client first needs it.

    `begin` makes the episode for a client (by the name it gives itself), `pictures` says where the
    pictures of a run go. `failure` is what broke the episode off, `dismissed` whether its player has
    said that nothing more will come.
    """

    def __init__(
        self, begin: Callable[[str], RecordedEpisode], pictures: Callable[[RecordedEpisode], Path]
    ) -> None:
        self.recorded: RecordedEpisode | None = None
        self.failure: Exception | None = None
        self.dismissed = False
        self.pictures: Pictures
        self._begin, self._folder = begin, pictures
        self._lock = threading.RLock()
        self._first: Answer
        self._last: Answer
        self._asked = time.monotonic()

    @property
    def ended(self) -> bool:
        """Whether the episode has begun and is over, down to the last line of its record."""
        return self.recorded is not None and self.recorded.closed

    def idle_s(self) -> float:
        """Seconds since a client wanted something; 0 while one is being served."""
        if not self._lock.acquire(blocking=False):
            return 0.0
        try:
            return time.monotonic() - self._asked
        finally:
            self._lock.release()

    def open(self, client: str = "") -> RecordedEpisode:
        """The episode; it is begun for the client if it hasn't yet."""
        with self._turn():
            if self.recorded is None:
                recorded = self._begin(client)
                self.pictures = Pictures(self._folder(recorded))
                self._first = self._last = Answer.of(recorded.episode, recorded.first, self.pictures)
                self.recorded = recorded
            return self.recorded

    def first(self, client: str = "") -> Answer:
        """What the player sees first."""
        with self._turn():
            self.open(client)
            return self._first

    def last(self) -> Answer:
        """What the last call showed."""
        with self._turn():
            self.open()
            return self._last

    def call(self, tool: str, arguments: Mapping[str, Any], client: str = "") -> Answer:
        """Carry out a call; UsageError if the episode has ended."""
        with self._turn():
            recorded = self.open(client)
            observation = recorded.call(tool, arguments)
            self._last = Answer.of(recorded.episode, observation, self.pictures)
            return self._last

    def ending(self) -> str:
        """How the episode ended, in words; empty until then."""
        end = None if self.recorded is None else self.recorded.episode.end
        return "" if end is None else ended(end)

    def stop(self, reason: str) -> None:
        """End the episode on the player's behalf, after the call that is being carried out."""
        with self._turn():
            if self.recorded is not None:
                self.recorded.stop(reason)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except UsageError:
                raise
            except Exception as error:
                self.failure = error
                raise
            finally:
                self._asked = time.monotonic()


def attend(
    desk: Desk, *, serving: Callable[[], bool], idle_s: float, conclude: Callable[[Path], None]
) -> None:
    """Wait until the episode is over and nobody asks any more, or `serving` says that nobody can.

    `conclude` gets the run folder when the episode has ended, while clients can still ask how. An episode
    in which no call comes for `idle_s` seconds ends as stopped by its agent; so does one that Ctrl-C
    interrupts, which is raised again. What broke the episode off is raised.
    """
    concluded = False
    try:
        while serving() and not desk.dismissed and desk.failure is None:
            if desk.ended and not concluded:
                concluded = True
                _conclude(desk, conclude)
            idle = desk.idle_s()
            if desk.ended and idle > LINGER_S:
                break
            if not desk.ended and idle > idle_s:
                if desk.recorded is None:
                    break
                desk.stop(f"no call for {idle_s:g} s")
            time.sleep(POLL_S)
        if desk.failure is None:
            desk.stop("the client went away")
    except KeyboardInterrupt:
        desk.stop("interrupted")
        if not concluded:
            _conclude(desk, conclude)
        raise
    if desk.failure is not None:
        raise desk.failure
    if not concluded:
        _conclude(desk, conclude)


def _conclude(desk: Desk, conclude: Callable[[Path], None]) -> None:
    if desk.recorded is not None:
        conclude(desk.recorded.folder)
