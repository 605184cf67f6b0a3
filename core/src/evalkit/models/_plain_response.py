"""Replies in OpenAI's and Anthropic's form, read without litellm where litellm fails over a detail.

litellm raises, for example, over a message without usage, or a field that a compatible server leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


def plain_response(body: Any) -> Any:
    """What litellm would have made of a body, as far as a reply needs it; None if the body is no reply."""
    try:
        if body.get("choices"):
            return _openai(body["choices"][0])
        if body.get("type") == "message":
            return _anthropic(body)
    except (AttributeError, LookupError, TypeError, ValueError):  # some part has another form
        return None
    return None


def _openai(choice: Mapping[str, Any]) -> SimpleNamespace:
    message = choice["message"]
    calls = [
        _call(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    ]
    text, reason = message.get("content"), choice.get("finish_reason")
    if not (text is None or isinstance(text, str)):
        raise TypeError("content is no text")
    return _response(text, calls, reason, reasoning_content=message.get("reasoning_content"))


def _anthropic(body: Mapping[str, Any]) -> SimpleNamespace:
    blocks = body["content"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [
        _call(block["id"], block["name"], json.dumps(block["input"]))
        for block in blocks
        if block["type"] == "tool_use"
    ]
    thinking = [block for block in blocks if block["type"] in ("thinking", "redacted_thinking")]
    reason = str(body.get("stop_reason") or "stop")
    return _response(text, calls, _STOP_REASONS.get(reason, reason), thinking_blocks=thinking)


def _call(identifier: str, name: str, arguments: str) -> SimpleNamespace:
    return SimpleNamespace(id=identifier, function=SimpleNamespace(name=name, arguments=arguments))


def _response(text: str | None, calls: list[Any], reason: str | None, **reasoning: Any) -> SimpleNamespace:
    message = SimpleNamespace(content=text, tool_calls=calls, **reasoning)
    return SimpleNamespace(choices=[SimpleNamespace(message=message, finish_reason=reason)])
