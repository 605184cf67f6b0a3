"""From litellm's response and the bytes behind it to a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalkit.models._arguments import parse_arguments, without_strict_nulls
from evalkit.models._classify import error_in, failure, json_or_none
from evalkit.models._errors import ErrorKind, ModelError
from evalkit.models._sent import left_out, sent_by
from evalkit.models._types import HttpAttempt, ModelReply, ModelRequest, ModelToolCall, Usage
from evalkit.models._usage import read_usage, token_count


def read_response(
    response: Any,
    request: ModelRequest,
    attempts: tuple[HttpAttempt, ...],
    parameters: Mapping[str, Any],
    not_sent: Mapping[str, str],
) -> ModelReply:
    """The reply. ModelError if what was exchanged is none, whatever litellm made of it.

    `attempts` may be empty for providers whose traffic isn't seen; `parameters` then stand for what was
    sent, and litellm's counts for the usage.
    """
    body = json_or_none(attempts[-1].response_body) if attempts else None
    if attempts and _no_reply(attempts[-1], body):
        raise failure(attempts, None)
    choices = list(getattr(response, "choices", None) or ())
    if not choices:
        raise failure(attempts, None) if attempts else ModelError(ErrorKind.EMPTY_CHOICES, "no choices")
    choice = choices[0]
    finish = str(choice.finish_reason or "stop")
    sent = sent_by(attempts, parameters, request)
    usage = read_usage(body) if attempts else _litellm_usage(response)
    if finish == "content_filter":
        message = "the provider withheld the reply"
        raise ModelError(ErrorKind.CONTENT_FILTER, message, attempts, status=200, usage=usage)
    return ModelReply(
        text=choice.message.content or "",
        tool_calls=_tool_calls(choice.message, request, cut_off=finish == "length"),
        served_by=_served_by(response, body),
        usage=usage,
        finish_reason=finish,
        sent=sent,
        not_sent={**left_out(request, sent), **not_sent},
        opaque=_opaque(choice.message),
        attempts=attempts,
        seconds=round(sum(attempt.seconds for attempt in attempts), 6),
        raw_request=attempts[-1].request_body if attempts else b"",
        raw_response=attempts[-1].response_body if attempts else b"",
    )


def _no_reply(last: HttpAttempt, body: Any) -> bool:
    """Whether the last exchange is an error that litellm turned into something like a reply."""
    if last.status is None or last.status >= 400 or body is None:
        return True
    return bool(error_in(body)[1]) or body.get("choices") == [] if isinstance(body, Mapping) else True


def _tool_calls(message: Any, request: ModelRequest, *, cut_off: bool) -> tuple[ModelToolCall, ...]:
    found = []
    schemas = {tool.name: tool.parameters for tool in request.tools}
    for number, call in enumerate(message.tool_calls or (), 1):
        name, raw = call.function.name or "", call.function.arguments or ""
        arguments, error = parse_arguments(raw, cut_off=cut_off)
        if arguments is not None and request.strict_tools and name in schemas:
            arguments = without_strict_nulls(arguments, schemas[name])
        found.append(ModelToolCall(call.id or f"call-{number}", name, arguments, raw, error))
    return tuple(found)


def _opaque(message: Any) -> dict[str, Any]:
    """What the provider wants to see again: signed reasoning, and reasoning that led to tool calls."""
    found: dict[str, Any] = {}
    if blocks := getattr(message, "thinking_blocks", None):
        found["thinking_blocks"] = _plain(blocks)
    elif message.tool_calls and (text := getattr(message, "reasoning_content", None)):
        found["reasoning_content"] = text
    calls = {
        call.id: {"provider_specific_fields": _plain(fields)}
        for call in message.tool_calls or ()
        if (fields := getattr(call, "provider_specific_fields", None))
    }
    return found | ({"tool_calls": calls} if calls else {})


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda model: model.model_dump()))


def _served_by(response: Any, body: Any) -> str | None:
    name = body.get("model") if isinstance(body, Mapping) else getattr(response, "model", None)
    return str(name) if name else None


def _litellm_usage(response: Any) -> Usage:
    """litellm's counts; it says 0 and 0 where the provider said nothing."""
    usage = getattr(response, "usage", None)
    counts = [token_count(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens")]
    return Usage(*counts) if any(counts) else Usage()
