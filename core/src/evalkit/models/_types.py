"""What goes to a model and what comes back: plain data, the same for every provider."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from evalkit.types import Image, Tool

Role = Literal["system", "user", "assistant", "tool"]
TIMEOUT_PHASES = ("connect", "write", "pool", "read")


@dataclass(frozen=True, slots=True)
class CallKey:
    """Which call this is: `turn` counts the calls of an episode, from 1."""

    task: str
    epoch: int
    turn: int

    def as_dict(self) -> dict[str, Any]:
        """The key as JSON."""
        return {"task": self.task, "epoch": self.epoch, "turn": self.turn}


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A call that a model asks for.

    `arguments` is None, and `error` says why, if `raw_arguments` isn't one JSON object; it is never
    repaired. `raw_arguments` is what the model wrote.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw_arguments: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave, as text and pictures; `call_id` is that of the `ModelToolCall`."""

    call_id: str
    name: str
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    `tool_calls` belong to `assistant`, `tool_results` to `tool` (all results of a turn in one message).
    `opaque` is what the provider wants to see again with an assistant's message (signed reasoning); it
    goes back as it came.
    """

    role: Role
    text: str = ""
    images: tuple[Image, ...] = ()
    tool_calls: tuple[ModelToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    opaque: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as a model sees it; `parameters` is the JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Tool) -> ToolSchema:
        """The schema of an environment's tool."""
        return cls(tool.name, tool.description, tool.parameters())


@dataclass(frozen=True, slots=True)
class Controls:
    """How to sample; None leaves a control to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    reasoning_effort: str | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    response_format: Mapping[str, Any] | None = None

    def given(self) -> dict[str, Any]:
        """The controls that aren't None, as JSON."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items() if v is not None}

    def filled(self, other: Controls) -> Controls:
        """These controls, with those of `other` where this one has None."""
        values = {
            f.name: getattr(other, f.name) for f in dataclasses.fields(self) if getattr(self, f.name) is None
        }
        return dataclasses.replace(self, **values)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model.

    `strict_tools` asks for OpenAI's strict form of tool schemas, in which a property that may be left out
    is required and may be null.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    controls: Controls = Controls()
    strict_tools: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; None where it said nothing.

    `input` includes `cached`, `output` includes `reasoning`.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        """The counts as JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds each phase of an HTTP attempt may take; `read` is the longest silence between two bytes."""

    connect: float = 10.0
    write: float = 60.0
    pool: float = 30.0
    read: float = 300.0

    def as_dict(self) -> dict[str, float]:
        """Phase → seconds."""
        return dataclasses.asdict(self)


@dataclass(slots=True)
class HttpAttempt:
    """One HTTP exchange as the transport saw it; `started` is Unix time, `phases` maps phase → seconds.

    `url` has no query and no credentials. `status` is None if no response came; `error` then names what
    happened, `detail` describes it and `phase` says where. `timeouts` are those that applied. The sizes
    are those on the wire; the bodies are kept without secrets, the response's decoded.
    """

    n: int
    method: str
    url: str
    started: float
    timeouts: Mapping[str, float]
    seconds: float = 0.0
    phases: Mapping[str, float] = field(default_factory=dict)
    status: int | None = None
    error: str | None = None
    detail: str | None = None
    phase: str | None = None
    request_id: str | None = None
    retry_after: float | None = None
    request_bytes: int = 0
    response_bytes: int = 0
    request_body: bytes = field(default=b"", repr=False)
    response_body: bytes = field(default=b"", repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The attempt as JSON, without the bodies."""
        names = [f.name for f in dataclasses.fields(self) if not f.name.endswith("_body")]
        found = {name: getattr(self, name) for name in names}
        return {k: dict(v) if isinstance(v, Mapping) else v for k, v in found.items() if v is not None}


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered.

    `served_by` is the model that answered, as the provider names it (often with a date). `sent` holds what
    was really sent beside messages and tools, `not_sent` each control that was asked for and left out, with
    the reason. `attempts` are the HTTP exchanges behind the reply (none for replies from a file or cache),
    `seconds` the time the call took, waiting between attempts included. `raw_request` and `raw_response`
    are the bodies exchanged, with pictures replaced by their hashes.
    """

    text: str
    tool_calls: tuple[ModelToolCall, ...] = ()
    served_by: str | None = None
    usage: Usage = Usage()
    finish_reason: str = "stop"
    sent: Mapping[str, Any] = field(default_factory=dict)
    not_sent: Mapping[str, str] = field(default_factory=dict)
    opaque: Mapping[str, Any] = field(default_factory=dict)
    attempts: tuple[HttpAttempt, ...] = ()
    seconds: float = 0.0
    raw_request: bytes = field(default=b"", repr=False)
    raw_response: bytes = field(default=b"", repr=False)

    def message(self) -> Message:
        """The reply as the assistant's message of the conversation that goes on."""
        return Message("assistant", self.text, tool_calls=self.tool_calls, opaque=self.opaque)


class ModelClient(Protocol):
    """A way to reach one model; built with `(argument, options)`, used by many threads at once.

    `model` is its name in records, `source` the name and what else tells its answers from those of others
    (an address, a file's hash), `provider` what a limiter is shared by, and `max_connections` how many
    calls may run at once. `controls` take the place of a request's where they
    are given, `defaults` fill what is still open. `attempts` is how often a call is tried in all.
    """

    @property
    def model(self) -> str: ...
    @property
    def source(self) -> Mapping[str, str]: ...
    @property
    def provider(self) -> str: ...
    @property
    def controls(self) -> Controls: ...
    @property
    def defaults(self) -> Controls: ...
    @property
    def attempts(self) -> int: ...
    @property
    def max_connections(self) -> int: ...

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        """Try once, without retries. Raises `ModelError`."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """What identifies the model and its settings, as JSON for the manifest, prices included."""
        ...

    def check(self) -> None:
        """Raise UsageError if a call can't succeed: a missing key or file, nobody at the address."""
        ...

    def close(self) -> None:
        """Give connections and files back."""
        ...


def total_usage(usages: Sequence[Usage]) -> Usage:
    """The sum; a count is None if any part lacks it."""

    def added(name: str) -> int | None:
        parts = [getattr(usage, name) for usage in usages]
        return None if not parts or None in parts else sum(parts)

    return Usage(*(added(f.name) for f in dataclasses.fields(Usage)))
