"""What the offline agents share: reading an observation the way a model would, answering in its format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Observation, Reply, StepContext, Stop, Tool, ToolCall
from evalkit_polybridge.context import level_from_context
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.savefile import from_document


class BridgeAgent:
    """Reconstructs the level from context and save, and answers with what `design` gives."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._failures: list[Bridge] = []
        self._last: Bridge | None = None
        self._calls = 0
        self._seed = 0

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new level."""
        self._failures, self._last, self._calls, self._seed = [], None, 0, seed

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """Propose a design; a design that ran and failed is remembered."""
        data = observation.data
        if self._last is not None and data["feedback"]["kind"] == "failure_or_timeout":
            self._failures.append(self._last)
        save, _ = from_document(data["save"])
        level = level_from_context(data["context"], save)
        self._last, thought = self.design(level)
        self._calls += 1
        return Reply((ToolCall("propose", {"text": format_reply(self._last, thought)}),))

    def design(self, level: Level) -> tuple[Bridge, str]:
        """The next design for a level and the thought to go with it."""
        raise NotImplementedError
