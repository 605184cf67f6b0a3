"""Errors of the simulation."""

from __future__ import annotations


class EngineMissingError(RuntimeError):
    """The engine's package isn't installed; the message says what to install."""


class EngineLimitError(ValueError):
    """A model is larger than the engine can hold."""
