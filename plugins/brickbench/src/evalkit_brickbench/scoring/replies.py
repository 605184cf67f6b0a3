"""Replies of judges that can't be used."""

from __future__ import annotations


class ReplyError(ValueError):
    """A judge's reply isn't what was asked for; the message is the reason, in one line."""


def quoted(text: str, limit: int = 60) -> str:
    """`text` in quotes on one line, cut after `limit` characters."""
    return repr(text if len(text) <= limit else f"{text[:limit]}…")
