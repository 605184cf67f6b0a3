"""Errors of the simulation."""

from __future__ import annotations


class EngineMissingError(RuntimeError):
    """The engine's package isn't installed; the message says what to install."""
