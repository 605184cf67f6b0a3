"""Why a model gave no usable reply, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from evalkit.errors import EndReason, EvalkitError
from evalkit.models._types import HttpAttempt, Usage


class ErrorKind(StrEnum):
    """The classes of event that end a call without a usable reply."""

    RATE_LIMITED = "rate_limited"
    """Too many requests (429)."""
    SERVER_ERROR = "server_error"
    """The provider failed (5xx, 408, 409, 425, 529), or said so in a reply with status 200."""
    TIMEOUT = "timeout"
    """A phase took too long: connect, write, pool or read (`ModelError.phase`)."""
    CONNECTION = "connection"
    """The connection was refused or broke."""
    MALFORMED_REPLY = "malformed_reply"
    """Status 200 with something that is no reply: broken JSON, HTML, fields missing."""
    EMPTY_CHOICES = "empty_choices"
    """Status 200 with no choice in it."""
    CONTENT_FILTER = "content_filter"
    """The provider refused the prompt or withheld the reply."""
    CONTEXT_OVERFLOW = "context_overflow"
    """The conversation is longer than the model takes."""
    BAD_REQUEST = "bad_request"
    """The provider doesn't accept the request (other 4xx)."""
    NOT_SENT = "not_sent"
    """The request failed before anything was sent."""
    NO_RECORDING = "no_recording"
    """A script or cassette holds no reply for this call."""
    NOT_KEPT = "not_kept"
    """A cassette can't be written; what the model answered is lost."""
    CANCELLED = "cancelled"
    """The run was interrupted while the call waited."""
    DEADLINE = "deadline"
    """The episode's time was used up before a reply had come."""
    MODEL_NOT_FOUND = "model_not_found"
    """The provider doesn't know the model, or the address is wrong (404, or a redirection)."""
    AUTH = "auth"
    """The key is missing, wrong or not allowed (401, 403)."""
    INSUFFICIENT_QUOTA = "insufficient_quota"
    """The account has no credit left (402, or 429 that says so)."""


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """What follows: `retried` by the session, `fatal` for every call of the model, `counts` as an LLM call.

    A call counts if the outcome is the model's answer to what the agent sent, rather than weather.
    """

    retried: bool
    fatal: bool
    counts: bool


_WEATHER = ErrorPolicy(retried=True, fatal=False, counts=False)
_ANSWER = ErrorPolicy(retried=False, fatal=False, counts=True)
_REFUSED = ErrorPolicy(retried=False, fatal=False, counts=False)
_FATAL = ErrorPolicy(retried=False, fatal=True, counts=False)

ERROR_POLICIES: Mapping[ErrorKind, ErrorPolicy] = MappingProxyType(
    {
        ErrorKind.RATE_LIMITED: _WEATHER,
        ErrorKind.SERVER_ERROR: _WEATHER,
        ErrorKind.TIMEOUT: _WEATHER,
        ErrorKind.CONNECTION: _WEATHER,
        ErrorKind.MALFORMED_REPLY: _WEATHER,
        ErrorKind.EMPTY_CHOICES: _WEATHER,
        ErrorKind.CONTENT_FILTER: _ANSWER,
        ErrorKind.CONTEXT_OVERFLOW: _ANSWER,
        ErrorKind.BAD_REQUEST: _REFUSED,
        ErrorKind.NOT_SENT: _REFUSED,
        ErrorKind.NO_RECORDING: _REFUSED,
        ErrorKind.CANCELLED: _REFUSED,
        ErrorKind.DEADLINE: _REFUSED,
        ErrorKind.NOT_KEPT: _FATAL,
        ErrorKind.MODEL_NOT_FOUND: _FATAL,
        ErrorKind.AUTH: _FATAL,
        ErrorKind.INSUFFICIENT_QUOTA: _FATAL,
    }
)


class ModelError(EvalkitError):
    """A call that ended without a usable reply.

    `attempts` are the HTTP exchanges of the call, over all tries; `retry_after` the seconds the provider
    asked to wait; `usage` what it counted nevertheless.
    """

    end_reason = EndReason.MODEL_ERROR

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        attempts: tuple[HttpAttempt, ...] = (),
        phase: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage = Usage(),  # noqa: B008 - frozen
    ) -> None:
        where = f" ({phase})" if phase else ""
        super().__init__(f"{kind.value}{where}: {message}")
        self.kind, self.detail, self.attempts = kind, message, attempts
        self.phase, self.status, self.retry_after, self.usage = phase, status, retry_after, usage

    def __reduce__(self) -> tuple[type[ModelError], tuple[Any, ...]]:
        """Workers hand errors over by pickling, which by default repeats the message alone."""
        fields = (
            self.kind,
            self.detail,
            self.attempts,
            self.phase,
            self.status,
            self.retry_after,
            self.usage,
        )
        return ModelError, fields

    def explained(self, hint: str) -> ModelError:
        """The same error, whose message also says what may help."""
        kind, message, *rest = self.__reduce__()[1]
        return ModelError(kind, f"{message}; {hint}", *rest)

    @property
    def policy(self) -> ErrorPolicy:
        """What follows from the kind of error."""
        return ERROR_POLICIES[self.kind]
