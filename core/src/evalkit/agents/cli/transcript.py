"""What a program printed, line by line into the record, without the secrets it was given."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.agents.cli.redaction import Redactor
    from evalkit.episode import Sink

CHUNK_BYTES = 256 << 10
"""So much goes into one blob."""
CHUNK_S = 30.0
"""What was printed is recorded at least so often: it is what remains of an episode that is interrupted."""
MAX_LINE_BYTES = 16 << 20
"""Longer lines are cut into pieces that nobody reads events from."""


class Transcript:
    """Gathers the lines of stdout and stderr and records them in blobs, with what was used so far."""

    def __init__(self, record: Sink, redactor: Redactor, usage: Callable[[], Mapping[str, float]]) -> None:
        self._record, self._redactor, self._usage = record, redactor, usage
        self._pending: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        self._waiting = 0
        self._number = 0
        self._flushed = time.monotonic()
        #: Bytes printed; counted by who reads them, also of lines that aren't complete yet.
        self.total = 0
        #: The last line of stderr that wasn't empty.
        self.last_words = ""

    def add(self, stream: str, line: bytes) -> bytes:
        """Take a line (or a piece of one) of a stream; gives it back without the secrets in it."""
        line = self._redactor.clean(line)
        if stream == "stderr" and line.strip():
            self.last_words = line.decode("utf-8", "replace").strip()[:500]
        self._pending[stream].append(line)
        self._waiting += len(line)
        if self._waiting >= CHUNK_BYTES or time.monotonic() - self._flushed >= CHUNK_S:
            self.flush()
        return line

    def flush(self) -> None:
        """Record what is waiting."""
        artifacts = []
        for stream, lines in self._pending.items():
            if lines:
                self._number += 1
                blob = self._record.blob(b"".join(lines))
                name = f"{stream}-{self._number:04}.txt"
                artifacts.append({"name": name, "blob": blob, "media_type": "text/plain"})
                lines.clear()
        if artifacts:
            fields = {"phase": "transcript", "artifacts": artifacts, "usage": dict(self._usage())}
            self._record.event("agent_process", fields)
            self._record.flush()
        self._waiting, self._flushed = 0, time.monotonic()


class Lines:
    """Cuts a stream of bytes into lines."""

    def __init__(self) -> None:
        self._rest = b""
        self._cut = False

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Whole lines with their ends, and pieces of too long ones; True for those that are whole."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            yield line + b"\n", not self._cut
            self._cut = False
        if len(self._rest) > MAX_LINE_BYTES:
            yield self._rest, False
            self._rest, self._cut = b"", True

    def end(self) -> Sequence[tuple[bytes, bool]]:
        """The last line, if it has no end."""
        rest, self._rest = self._rest, b""
        return [(rest, not self._cut)] if rest else []
