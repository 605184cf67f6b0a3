"""The one error of files of designs."""

from __future__ import annotations


class DesignError(ValueError):
    """A file that is no design: one line that says what is wrong, where, and what to do."""
