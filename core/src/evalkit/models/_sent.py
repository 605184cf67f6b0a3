"""What a request really held, read from its bytes: libraries rename, add and drop parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.models._classify import json_or_none
from evalkit.models._types import HttpAttempt, ModelRequest

_BULK = (
    "messages",
    "contents",
    "system",
    "systemInstruction",
    "system_instruction",
    "tools",
    "input",
    "prompt",
)
_WIRE_NAMES = {
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP", "p"),
    "max_output_tokens": (
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "maxOutputTokens",
        "num_predict",
    ),
    "reasoning_effort": (
        "reasoning_effort",
        "reasoning",
        "thinking",
        "output_config",
        "thinkingConfig",
        "think",
    ),
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "seed": ("seed",),
    "response_format": (
        "response_format",
        "format",
        "responseMimeType",
        "response_mime_type",
        "output_format",
    ),
}
"""Control → the names it has on the wire, by provider."""


def sent_by(
    attempts: tuple[HttpAttempt, ...], parameters: Mapping[str, Any], request: ModelRequest
) -> dict[str, Any]:
    """What was sent beside the conversation.

    `rewritten` says that the request was changed and sent again; `unverified` that the bytes weren't seen,
    so that the parameters handed to litellm stand for them.
    """
    if attempts:
        body = json_or_none(attempts[-1].request_body)
        found = {k: v for k, v in body.items() if k not in _BULK} if isinstance(body, dict) else {}
    else:
        found = {**parameters, "unverified": True}
    if request.tools:
        found["tool_schemas"] = "openai_strict" if request.strict_tools else "json_schema"
    if len({attempt.request_body for attempt in attempts}) > 1:
        found["rewritten"] = True
    return found


def left_out(request: ModelRequest, sent: Mapping[str, Any]) -> dict[str, str]:
    """Controls of the request that aren't among what was sent, and why."""
    if sent.get("unverified"):
        return {}
    names = set(_names(sent))
    return {
        control: "litellm left it out"
        for control in request.controls.given()
        if names.isdisjoint(_WIRE_NAMES[control])
    }


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield name
            yield from _names(part)
