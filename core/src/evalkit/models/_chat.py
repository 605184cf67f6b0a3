"""A conversation in the chat-completions form that litellm takes for every provider."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from evalkit.models._arguments import strict_schema
from evalkit.models._types import Message, ModelRequest, ModelToolCall, ToolSchema
from evalkit.types import Image

TOOL_IMAGES_SENTENCE = "These are the pictures of the tool results above, in their order."


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as chat messages.

    Providers disagree about pictures in tool results, so for all of them alike these pictures go, with a
    fixed sentence, into the user message behind the results: the one that follows, or one of their own.
    User messages in a row become one, since some servers want the roles to alternate: so pictures can stand
    before a text.
    """
    found: list[dict[str, Any]] = []
    waiting: list[Image] = []
    for message in messages:
        if waiting and message.role in ("system", "assistant"):
            found.append(_user_message("", (), waiting))
            waiting = []
        if message.role == "tool":
            for result in message.tool_results:
                content = {"role": "tool", "tool_call_id": result.call_id, "content": result.text}
                found.append(content)
                waiting += result.images
        elif message.role == "user":
            asked = _user_message(message.text, message.images, waiting)
            if not waiting and found and found[-1]["role"] == "user":
                found[-1] = {"role": "user", "content": [*_parts(found[-1]), *_parts(asked)]}
            else:
                found.append(asked)
            waiting = []
        elif message.role == "assistant":
            found.append(_assistant_message(message))
        else:
            found.append({"role": "system", "content": message.text})
    if waiting:
        found.append(_user_message("", (), waiting))
    return [_sendable(message) for message in found]


def _sendable(value: Any) -> Any:
    """The value with U+FFFD for lone surrogates: models write them in JSON, and UTF-8 can't carry them."""
    if isinstance(value, str):
        return (
            value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {name: _sendable(part) for name, part in value.items()}
    return [_sendable(part) for part in value] if isinstance(value, list) else value


def _user_message(text: str, images: Sequence[Image], tool_images: Sequence[Image]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if tool_images:
        parts += [{"type": "text", "text": TOOL_IMAGES_SENTENCE}, *map(_image_part, tool_images)]
    if text:
        parts.append({"type": "text", "text": text})
    parts += map(_image_part, images)
    if len(parts) == 1 and text:
        return {"role": "user", "content": text}
    return {"role": "user", "content": parts}


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _image_part(image: Image) -> dict[str, Any]:
    encoded = base64.b64encode(image.data()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{encoded}"}}


def _assistant_message(message: Message) -> dict[str, Any]:
    fields_of = message.opaque.get("tool_calls", {})
    opaque = {name: value for name, value in message.opaque.items() if name != "tool_calls"}
    found: dict[str, Any] = {"role": "assistant", "content": message.text, **opaque}
    if message.tool_calls:
        found["content"] = message.text or None
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _past_arguments(call)},
                **fields_of.get(call.id, {}),
            }
            for call in message.tool_calls
        ]
    return found


def _past_arguments(call: ModelToolCall) -> str:
    """Arguments as the model wrote them; broken ones inside JSON, because providers read them again."""
    return call.raw_arguments if call.error is None else json.dumps({"unreadable": call.raw_arguments})


def chat_tools(tools: Iterable[ToolSchema], *, strict: bool) -> list[dict[str, Any]]:
    """Tools as function definitions: plain JSON Schema, or OpenAI's strict form."""
    found = []
    for tool in tools:
        schema = strict_schema(tool.parameters) if strict else dict(tool.parameters)
        function: dict[str, Any] = {
            "name": tool.name,
            "description": tool.description,
            "parameters": schema,
        }
        if strict:
            function["strict"] = True
        found.append({"type": "function", "function": function})
    return found


def images_of(request: ModelRequest) -> list[Image]:
    """Every picture of a request, in order."""
    found: list[Image] = []
    for message in request.messages:
        found += message.images
        for result in message.tool_results:
            found += result.images
    return found


def without_images(body: bytes, images: Iterable[Image]) -> bytes:
    """A request's body with the base64 text of each picture replaced by `sha256:…`, which names its blob."""
    for image in images:
        data = image.data()
        digest = hashlib.sha256(data).hexdigest().encode("ascii")
        body = body.replace(base64.b64encode(data), b"sha256:" + digest)
    return body
