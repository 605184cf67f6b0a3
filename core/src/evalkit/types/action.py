"""What an agent does: tool calls, several at a time if it likes, or stopping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that an environment offers.

    `arguments` is a pydantic model (with `extra="forbid"`) that the core checks every call against; None
    means that the tool takes nothing. The core spends every meter in `meters` before the call runs, also
    when the call fails. `past_budget` tools are still served when the budget of tool calls is used up
    (a final `submit`).
    """

    name: str
    description: str
    arguments: type[BaseModel] | None = None
    meters: tuple[str, ...] = ()
    past_budget: bool = False

    def parameters(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        if self.arguments is None:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        return self.arguments.model_json_schema()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the tool's name and its arguments as a JSON object.

    `error` says why the arguments that a model wrote can't be read; such a call counts and changes nothing.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an agent answers to one observation: calls that run in order, and a note for the record.

    `note` is kept in the record and never reaches the environment (an agent's own account of what it
    tried, as JSON).
    """

    calls: tuple[ToolCall, ...]
    note: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """The agent has nothing more to do."""

    reason: str = ""
