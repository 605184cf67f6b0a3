"""Errors of files of designs, and of what completes them."""

from __future__ import annotations


class DesignError(ValueError):
    """A file that is no design: one line that says what is wrong, where, and what to do."""


class CompletionError(RuntimeError):
    """What finds joints isn't there, fails, or gives none that a design may have; no fault of the design."""
