"""What is exchanged where an agent works in a folder instead of making calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent is told before it works in a folder, and what of it will be taken.

    `text` is its prompt. `deliverables` are the files to hand in, relative paths or patterns (`*.json`,
    `parts/**`): nothing else in the folder is looked at, and of these at most `max_bytes` together. `data` is
    JSON about the task for the record. `shown` are files and folders outside of the workspace that the agent
    may read at their own paths (an interpreter, a library of parts).
    """

    text: str
    deliverables: tuple[str, ...]
    data: Mapping[str, Any] = field(default_factory=dict)
    shown: tuple[Path, ...] = ()
    max_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True)
class Delivery:
    """What an agent handed in.

    `files` by relative path; `omitted` says why others that were asked for weren't taken (a symbolic link,
    too big). `failure` is what cut the work short.
    """

    files: Mapping[str, bytes]
    omitted: Mapping[str, str] = field(default_factory=dict)
    failure: Exception | None = None
