"""What the building library raises."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN_CANDIDATES = 8


class BuildError(ValueError):
    """Something that can't be built as asked; the message says what to do instead."""


class UnknownPartError(BuildError):
    """No part of the catalogue is meant by a name."""


class AmbiguousPartError(BuildError):
    """Several parts may be meant by a name; `candidates` are the likeliest, at most eight."""

    def __init__(self, message: str, candidates: Sequence[str]) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


def listed(names: Sequence[str], most: int = SHOWN_CANDIDATES) -> str:
    """Names for a message, the first few of them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
