"""The talk with a running sandbox: sends the job, gathers bounded output, ends the script at its limits."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from evalkit.sandbox._levels import Limits
from evalkit.sandbox._limits import Watch
from evalkit.sandbox._supervisor import asked_for

_CHUNK = 1 << 16
_LOOK_EVERY_S = 0.05
"""How often memory is looked at; what a script may take beyond its limit is what it can fill in this time."""
_PATIENCE_S = 5.0
"""How long a script that was ended may take to be gone; only one below FULL that left a daemon needs it."""
_FRAMES_BYTES = 1 << 16
"""Room for the supervisor's own frames beside the outputs'."""


@dataclass(slots=True)
class Transcript:
    """Everything that came out of a sandbox, each stream bounded."""

    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    control: bytearray = field(default_factory=bytearray)
    truncated: bool = False
    fired: str = ""
    """The limit, by its name in `Limits`, for which the script was ended from outside."""


@dataclass(slots=True)
class HandBack:
    """What the supervisor said; the script may have said it in its place."""

    started: bool = False
    ended: bool = False
    exit_code: int = 0
    signal: int = 0
    cpu_ms: int = 0
    peak_bytes: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    omitted: dict[str, str] = field(default_factory=dict)


def frame(kind: str, body: bytes = b"") -> bytes:
    """One message to the supervisor."""
    return f"{kind}{len(body)}\n".encode() + body


def converse(
    process: subprocess.Popen[bytes],
    control: int,
    job: bytes,
    limits: Limits,
    watch: Watch,
    end: Callable[[], None],
) -> Transcript:
    """Talk until the sandbox is gone.

    `control`: the descriptor of the supervisor's frames. `end`: ends all that runs in the sandbox; may be
    called at any time and more than once.
    """
    transcript = Transcript()
    deadline = time.monotonic() + limits.wall_s
    next_look = time.monotonic() + _LOOK_EVERY_S
    with selectors.DefaultSelector() as selector:
        talk = _Talk(process, control, job, limits, selector, transcript)
        while talk.open():
            talk.exchange(_LOOK_EVERY_S)
            if has_ended(process.pid):
                break
            now = time.monotonic()
            if not transcript.fired and now > deadline:
                transcript.fired = "wall_s"
            if not transcript.fired and now > next_look:
                next_look = now + _LOOK_EVERY_S
                if watch.exceeded():
                    transcript.fired = "memory_bytes"
            if transcript.fired:
                break
        end()
        patience = time.monotonic() + _PATIENCE_S
        while talk.open() and time.monotonic() < patience:
            talk.exchange(_LOOK_EVERY_S)
    return transcript


def has_ended(pid: int) -> bool:
    """Whether a child process has ended; its id stays taken, so that nothing else can be killed by it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class _Talk:
    """The four pipes of a sandbox."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        control: int,
        job: bytes,
        limits: Limits,
        selector: selectors.BaseSelector,
        transcript: Transcript,
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._selector = selector
        self._transcript = transcript
        self._budget = limits.total_output_bytes
        self._control_room = limits.total_output_bytes + _FRAMES_BYTES
        self._unsent = memoryview(job)
        self._input = process.stdin
        self._readers = {
            process.stdout.fileno(): transcript.stdout,
            process.stderr.fileno(): transcript.stderr,
            control: transcript.control,
        }
        for descriptor in self._readers:
            selector.register(descriptor, selectors.EVENT_READ)
        os.set_blocking(self._input.fileno(), False)
        selector.register(self._input.fileno(), selectors.EVENT_WRITE)

    def open(self) -> bool:
        """Whether anything may still come."""
        return bool(self._readers)

    def exchange(self, timeout_s: float) -> None:
        """Move what can be moved, waiting at most `timeout_s` for the first byte."""
        for key, _ in self._selector.select(timeout_s):
            if key.fd in self._readers:
                self._receive(key.fd)
            else:
                self._send()

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._input.fileno(), self._unsent[:_CHUNK]) :]
        except BrokenPipeError:
            self._unsent = self._unsent[:0]  # the sandbox ended; why is told by what it wrote
        if not self._unsent:
            self._selector.unregister(self._input.fileno())
            self._input.close()

    def _receive(self, descriptor: int) -> None:
        data = os.read(descriptor, _CHUNK)
        stream = self._readers[descriptor]
        if not data:
            self._selector.unregister(descriptor)
            del self._readers[descriptor]
            return
        if stream is self._transcript.control:
            room = self._control_room - len(stream)
        else:
            room = self._budget - len(self._transcript.stdout) - len(self._transcript.stderr)
            self._transcript.truncated |= len(data) > room
        stream += data[:room]
        if len(data) > room and not self._transcript.fired:
            self._transcript.fired = "total_output_bytes"


def understand(control: bytes, patterns: Sequence[str]) -> HandBack:
    """The supervisor's frames; files only under names that were asked for.

    Frames that make no sense come from a script that meddles: reading stops there.
    """
    said = HandBack()
    try:
        for kind, body in _frames(control):
            if kind == "S":
                said.started = True
            elif kind == "E":
                said.exit_code, said.signal, said.cpu_ms, said.peak_bytes = _numbers(body)
                said.ended = True
            elif kind in ("F", "X"):
                name, content = body.split(b"\0", 1)
                path = name.decode("utf-8", "replace")
                if not asked_for(path, patterns) or not stays_inside(path):
                    raise ValueError(path)
                if kind == "F":
                    said.files[path] = content
                else:
                    said.omitted[path] = content.decode("utf-8", "replace")
    except ValueError:
        said.ended = False
        said.files.clear()
    return said


def _numbers(body: bytes) -> tuple[int, int, int, int]:
    """Exit code, signal, milliseconds, bytes; ValueError if they can't be that."""
    code, number, cpu_ms, peak = map(int, body.split())
    if not (0 <= code < 256 and 0 <= number < 128 and 0 <= cpu_ms < 1 << 48 and 0 <= peak < 1 << 62):
        raise ValueError("numbers out of range")
    return code, number, cpu_ms, peak


def stays_inside(path: str) -> bool:
    """Whether a relative POSIX path names something below the folder it starts from."""
    return not path.startswith("/") and not any(part in ("", ".", "..") for part in path.split("/"))


def _frames(data: bytes) -> Iterator[tuple[str, bytes]]:
    position = 0
    while position < len(data):
        newline = data.index(b"\n", position, position + 32)
        kind, length = chr(data[position]), int(data[position + 1 : newline])
        position = newline + 1 + length
        if length < 0 or position > len(data):
            raise ValueError("a frame is cut short")
        yield kind, data[newline + 1 : position]
