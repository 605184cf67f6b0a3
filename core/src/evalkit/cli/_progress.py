"""What a person sees while a run goes on: a live view on a terminal, plain lines elsewhere; on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from evalkit.episode import End
from evalkit.errors import END_POLICIES
from evalkit.report.table import printable
from evalkit.types import EpisodeKey

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PLAIN_INTERVAL_S = 5.0


Headline = Callable[[EpisodeKey, Sequence[str]], str]
"""Tells in a few words how the run goes, from the episodes that have ended and their events."""


class ProgressView:
    """Counts episodes; `watch` is the runner's watcher."""

    def __init__(self, total: int, headline: Headline, *, live: bool) -> None:
        self._total, self._headline, self._live = total, headline, live
        self._done = self._errors = 0
        self._calls = self._tokens = self._dollars = 0.0
        self._priced = True
        self._started = self._last_line = time.monotonic()
        self._words = ""
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._live:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                TextColumn("[bold]{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[words]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("episodes", total=self._total, words="")
        else:
            say(f"playing {self._total} episode{'s' if self._total != 1 else ''}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._done:
            self._line()

    def watch(
        self, key: EpisodeKey | None = None, end: End | None = None, bodies: Sequence[str] = ()
    ) -> None:
        """An episode with these events has ended (or, without one, time has passed)."""
        if key is not None and end is not None:
            self._done += 1
            self._count(end)
            if END_POLICIES[end.reason].error:
                self._errors += 1
                say(f"{key.text()}: {end.reason.value}: {end.detail}", self._bar)
            else:
                self._words = self._headline(key, bodies)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._done, words=self._status())
        elif time.monotonic() - self._last_line > PLAIN_INTERVAL_S:
            self._line()

    def _count(self, end: End) -> None:
        self._calls += end.counters.get("calls", 0)
        self._tokens += end.counters.get("tokens", 0)
        self._dollars += end.counters.get("cost", 0)
        self._priced = self._priced and ("cost" in end.counters or not end.counters.get("tokens"))

    def _status(self) -> str:
        words = [self._words] if self._words else []
        words.append(f"{self._calls:g} calls")
        if self._tokens:
            words.append(f"{self._tokens:,.0f} tokens")
            words += [f"${self._dollars:.4f}"] if self._priced else []
        if self._errors:
            words.append(f"{self._errors} errors")
        return " · ".join(words)

    def _line(self) -> None:
        self._last_line = time.monotonic()
        elapsed = self._last_line - self._started
        left = elapsed / self._done * (self._total - self._done) if self._done else None
        remaining = f" · about {left:.0f} s left" if left and self._done < self._total else ""
        say(f"{self._done}/{self._total} episodes · {self._status()} · {elapsed:.1f} s{remaining}")


def say(text: str, bar: Progress | None = None) -> None:
    """A line on stderr, above a live view if there is one.

    Errors quote what agents wrote: it can't start a line of its own, nor steer the terminal or a CI runner
    (GitHub's takes `##[` for a command).
    """
    text = printable(text).replace("\n", " ").replace("##[", "# #[")
    if bar is not None:
        bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        encoding = sys.stderr.encoding or "utf-8"
        sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()
