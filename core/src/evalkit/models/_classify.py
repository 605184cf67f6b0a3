"""What a failed call was: decided by what was exchanged, not by the exception that a library made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.models._errors import ErrorKind, ModelError
from evalkit.models._types import HttpAttempt
from evalkit.models._usage import read_usage

_QUOTA = (
    "insufficient_quota",
    "exceeded your current quota",
    "credit balance is too low",
    "billing_hard_limit",
)
_FILTER = (
    "content_filter",
    "content_policy",
    "content management policy",
    "responsibleai",
    "data_inspection_failed",
)
_OVERFLOW = (
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
    "request_too_large",
)
_KINDS = {"TooLongError": ErrorKind.MALFORMED_REPLY}  # of the transport, whose import takes time
_RETRIED_4XX = (408, 409, 425)
_LONGEST_MESSAGE = 300


def failure(attempts: Sequence[HttpAttempt], error: BaseException | None) -> ModelError:
    """The error that the last of the attempts amounts to; `error` is what the client raised, if it did."""
    if not attempts:
        return _unseen_failure(error)
    last = attempts[-1]
    if last.error is not None:
        timed_out = last.error.endswith("Timeout")
        kind = ErrorKind.TIMEOUT if timed_out else _KINDS.get(last.error, ErrorKind.CONNECTION)
        limit = f"after {last.timeouts[last.phase]:g} s" if timed_out and last.phase else last.detail or ""
        message = f"{last.error} at {last.url} {_short(limit)}".rstrip()
        return ModelError(kind, message, tuple(attempts), last.phase, last.status, last.retry_after)
    assert last.status is not None
    body = json_or_none(last.response_body)
    kind, message = _answered(last.status, body, last)
    if kind is ErrorKind.MALFORMED_REPLY and error is not None:
        message = f"{message}; {_short(str(error).partition(chr(10))[0])}"
    return ModelError(
        kind,
        f"{message} (status {last.status} from {last.url})",
        tuple(attempts),
        status=last.status,
        retry_after=last.retry_after,
        usage=read_usage(body),
    )


def _unseen_failure(error: BaseException | None) -> ModelError:
    """The error that an exception amounts to where no exchange was seen, perhaps because none happened."""
    status = getattr(error, "status_code", None)
    text = str(error)
    if not isinstance(status, int) or status < 400:
        return ModelError(ErrorKind.NOT_SENT, _short(text))
    return ModelError(_by_status(status, text), f"{_short(text)} (status {status})", status=status)


def json_or_none(body: bytes) -> Any:
    """The JSON value of a body; None if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def error_in(body: Any) -> tuple[int | None, str]:
    """The status and text of an error object that came with status 200; text is empty if there is none."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if not error:
        return None, ""
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    return status, json.dumps(error)


def _answered(status: int, body: Any, attempt: HttpAttempt) -> tuple[ErrorKind, str]:
    inner, text = error_in(body)
    if status < 400:
        if text:
            return _by_status(inner or 500, text), _message(body, attempt)
        if isinstance(body, Mapping) and body.get("choices") == []:
            return ErrorKind.EMPTY_CHOICES, "a reply without choices"
        if status >= 300:
            message = "the server sends calls to another address, which isn't followed; correct the address"
            return ErrorKind.MODEL_NOT_FOUND, message
        return ErrorKind.MALFORMED_REPLY, f"not a reply: {_message(body, attempt)}"
    text = text or attempt.response_body.decode("utf-8", "replace")
    return _by_status(status, text), _message(body, attempt)


def _by_status(status: int, text: str) -> ErrorKind:
    text = text.lower()
    if status == 402 or (status in (400, 403, 429) and _says(text, _QUOTA)):
        return ErrorKind.INSUFFICIENT_QUOTA
    if status == 429:
        return ErrorKind.RATE_LIMITED
    if status in (400, 403, 422) and _says(text, _FILTER):
        return ErrorKind.CONTENT_FILTER
    if status in (400, 413, 422) and _says(text, _OVERFLOW):
        return ErrorKind.CONTEXT_OVERFLOW
    if status in (401, 403):
        return ErrorKind.AUTH
    if status == 404:
        return ErrorKind.MODEL_NOT_FOUND
    if status >= 500 or status in _RETRIED_4XX:
        return ErrorKind.SERVER_ERROR
    return ErrorKind.BAD_REQUEST


def _says(text: str, phrases: Sequence[str]) -> bool:
    return any(phrase in text for phrase in phrases)


def _message(body: Any, attempt: HttpAttempt) -> str:
    """What the provider said, in one line."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, Mapping) and isinstance(error.get("message"), str):
        return _short(error["message"])
    if isinstance(body, Mapping) and isinstance(body.get("message"), str):
        return _short(body["message"])
    return _short(error if isinstance(error, str) else attempt.response_body.decode("utf-8", "replace"))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"
