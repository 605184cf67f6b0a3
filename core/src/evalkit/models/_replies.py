"""Replies as JSON, for cassettes and the cache."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from evalkit.models._types import ModelReply, ModelToolCall, Usage


def reply_json(reply: ModelReply) -> dict[str, Any]:
    """A reply as JSON; its HTTP attempts are left out, because none happen when it is used again."""
    return {
        "text": reply.text,
        "tool_calls": [
            {"id": c.id, "name": c.name, "arguments": c.arguments, "raw": c.raw_arguments, "error": c.error}
            for c in reply.tool_calls
        ],
        "served_by": reply.served_by,
        "usage": reply.usage.as_dict(),
        "finish_reason": reply.finish_reason,
        "sent": dict(reply.sent),
        "not_sent": dict(reply.not_sent),
        "opaque": dict(reply.opaque),
        "seconds": reply.seconds,
        "raw_request": _bytes_json(reply.raw_request),
        "raw_response": _bytes_json(reply.raw_response),
    }


def read_reply(value: Mapping[str, Any]) -> ModelReply:
    """The reply that `reply_json` wrote. KeyError or TypeError if it isn't one."""
    calls = (
        ModelToolCall(c["id"], c["name"], c["arguments"], c["raw"], c["error"]) for c in value["tool_calls"]
    )
    return ModelReply(
        text=value["text"],
        tool_calls=tuple(calls),
        served_by=value["served_by"],
        usage=Usage(**value["usage"]),
        finish_reason=value["finish_reason"],
        sent=value["sent"],
        not_sent=value["not_sent"],
        opaque=value["opaque"],
        seconds=value["seconds"],
        raw_request=_read_bytes(value["raw_request"]),
        raw_response=_read_bytes(value["raw_response"]),
    )


def _bytes_json(data: bytes) -> Any:
    """Bytes as text where they are UTF-8, otherwise as `{"base64": …}`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _read_bytes(value: Any) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else base64.b64decode(value["base64"])
