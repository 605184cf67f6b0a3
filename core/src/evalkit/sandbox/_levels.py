"""What a caller asks for and gets back: levels, limits, outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Literal

from evalkit.errors import UsageError

Status = Literal["ok", "failed", "timeout", "memory", "output", "killed"]
"""How a script ended: exit code 0; another one; out of time; out of memory; more output than allowed;
ended by a signal (its own crash, or because it ended its supervisor)."""


class Level(IntEnum):
    """How well a script is shut in; comparable, the stronger the greater."""

    NONE = 0
    """No sandbox: scripts are not run at all."""
    LIMITS = 1
    """Limits on resources; the script is the user who started it and may do what that user may."""
    UID = 2
    """As LIMITS, under a user id of its own without any privilege (needs root)."""
    FULL = 3
    """Namespaces, a file system of its own, no network, a filter on system calls, and all of the above."""

    @property
    def label(self) -> str:
        """The level's name as it is printed and recorded: none, limits, uid, full."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a script may use up; every limit is a positive number."""

    wall_s: float = 60.0
    """Seconds from the start of the sandbox until everything in it is ended."""
    cpu_s: float = 60.0
    """CPU seconds of one process, rounded up to whole seconds."""
    memory_bytes: int = 2 << 30
    """Address space of one process, and memory in use by all of them together."""
    file_bytes: int = 64 << 20
    """Size of one file."""
    disk_bytes: int = 256 << 20
    """Inputs, workspace, /tmp and /dev/shm together (at FULL)."""
    disk_files: int = 10_000
    """Number of files and folders in workspace, /tmp and /dev/shm (at FULL)."""
    total_output_bytes: int = 16 << 20
    """stdout and stderr together may hold this much, and the collected files together as much again."""
    processes: int = 32
    """Processes and threads alive at the same time, the script included."""
    open_files: int = 256
    """Open files of one process."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0 < value < 1 << 62:
                raise UsageError(f"sandbox limit {item.name} is {value!r}; it has to be a positive number")


@dataclass(frozen=True, slots=True)
class Report:
    """What `probe` found: the strongest level that works here, and why none above it does."""

    level: Level
    reasons: tuple[str, ...] = ()
    """One line for each stronger level, the strongest first: what is missing and how to get it."""
    drops_uid: bool = False
    """Whether scripts run under a user id of their own (only root can give them one)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a script ended and what it left. Nothing in here can be trusted except `level` and `seconds`:
    a script decides what it prints, writes and returns."""

    status: Status
    exit_code: int | None
    """As `subprocess` gives it: negative for a signal; None if the script was ended by the sandbox."""
    stdout: str
    stderr: str
    truncated: bool
    """Whether stdout or stderr was cut at `total_output_bytes`."""
    files: Mapping[str, bytes]
    """Collected outputs by their path in the workspace; empty if the script was ended by the sandbox."""
    omitted: Mapping[str, str] = field(default_factory=dict)
    """Outputs that matched but weren't taken, with the reason: a symbolic link, a device, too big."""
    seconds: float = 0.0
    """Wall time, the sandbox's own start and end included."""
    peak_memory: int = 0
    """Bytes of memory in use at the highest point seen."""
    level: Level = Level.NONE
    fired: str = ""
    """The limit that ended the script, by its name in `Limits`; empty if none did."""
