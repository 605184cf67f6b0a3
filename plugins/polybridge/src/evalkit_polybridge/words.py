"""Words that several messages share."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number of things: `1 fault`, `2 faults`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
