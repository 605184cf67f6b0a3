"""Asking a judge: pictures, then the text; what can't be used is asked for again, twice at most."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from evalkit import Image
from evalkit.models import (
    CallKey,
    Controls,
    Limiters,
    Message,
    ModelClient,
    ModelError,
    ModelReply,
    ModelRequest,
    ModelSession,
    RetryPolicy,
    cost,
)
from evalkit_brickbench.scoring.replies import ReplyError

TRIES = 3
CONTROLS = Controls(temperature=0.0, max_output_tokens=2048)
"""Greedy; what the user's `-M` says goes before."""

T = TypeVar("T")


class Recorder(Protocol):
    """Where calls are written down: events, and the bodies that they refer to by hash."""

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append an event."""

    def blob(self, data: bytes) -> str:
        """SHA-256 of the bytes, which may be kept."""

    def flush(self) -> None:
        """Make sure that all events are written."""


class CallLog:
    """A recorder that keeps the HTTP attempts of calls, without bodies."""

    def __init__(self) -> None:
        self.http_attempts: list[dict[str, Any]] = []

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Keep the event if it is an attempt."""
        if kind == "http_attempt":
            self.http_attempts.append(dict(fields))

    def blob(self, data: bytes) -> str:
        """The hash of a body, which isn't kept."""
        return hashlib.sha256(data).hexdigest()

    def flush(self) -> None:
        """Nothing waits."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of a question: `answer` is None if no reply could be used; `failures` say why, one each.

    `reply` is the last one. Tokens and dollars are those of all tries, None where they aren't known.
    """

    answer: T | None
    failures: tuple[str, ...]
    reply: str
    served_by: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None

    def as_json(self) -> dict[str, Any]:
        """All but the answer."""
        return {
            "failures": list(self.failures),
            "reply": self.reply,
            "served_by": self.served_by,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
        }


class Judge:
    """A model that answers questions about pictures; may be asked by several threads at once."""

    def __init__(self, client: ModelClient, recorder: Recorder) -> None:
        self._client, self._recorder = client, recorder
        self._limiters = Limiters()
        self._prices = client.describe().get("prices")

    @property
    def identity(self) -> dict[str, Any]:
        """Name and settings, as far as answers depend on them."""
        controls = self._client.controls.filled(CONTROLS).filled(self._client.defaults)
        return {"source": dict(self._client.source), "controls": controls.given()}

    @property
    def address(self) -> str:
        """The model's name and, where it isn't the provider's own, where it is asked."""
        source = self._client.source
        where = source.get("base_url")
        return f"{source['model']} at {where}" if where else str(source["model"])

    @property
    def connections(self) -> int:
        """Questions that may be under way at once."""
        return self._client.max_connections

    def ask(
        self,
        task: str,
        text: str,
        pictures: Sequence[bytes],
        parse: Callable[[str], T],
        recorder: Recorder | None = None,
    ) -> Asked[T]:
        """Ask about PNG files; `parse` raises ReplyError for a reply that can't be used. `recorder`: of this
        question alone.

        A refusal or a reply that was cut off counts as one, too. Raises ModelError if the model can't be
        reached, BudgetReachedError if it is one with a budget (`Budgeted`) that is spent.
        """
        images = tuple(Image(f"{number}.png", data) for number, data in enumerate(pictures, 1))
        request = ModelRequest((Message("user", images=images), Message("user", text)), controls=CONTROLS)
        retry = RetryPolicy(self._client.attempts)
        limiter = self._limiters.of(self._client)
        session = ModelSession(self._client, limiter, retry, None, recorder or self._recorder)
        failures: list[str] = []
        answer, reply = None, None
        while answer is None and len(failures) < TRIES:
            try:
                reply = session.complete(request, key=CallKey(task, 1, len(failures) + 1))
                answer = parse(_whole_text(reply))
            except ReplyError as error:
                failures.append(str(error))
            except ModelError as error:
                if not error.policy.counts:
                    raise
                failures.append(str(error))
        return self._asked(answer, failures, reply, session)

    def close(self) -> None:
        """End what waits, and give connections back."""
        self._limiters.close()
        self._client.close()

    def _asked(
        self, answer: T | None, failures: Sequence[str], reply: ModelReply | None, session: ModelSession
    ) -> Asked[T]:
        counted = session.usages and not session.counters["uncounted_calls"]
        costs = [cost(usage, self._prices) for usage in session.usages]
        return Asked(
            answer,
            tuple(failures),
            "" if reply is None else reply.text[:4000],
            None if reply is None else reply.served_by,
            session.counters["input_tokens"] if counted else None,
            session.counters["output_tokens"] if counted else None,
            sum(c for c in costs if c is not None) if costs and None not in costs else None,
        )


def _whole_text(reply: ModelReply) -> str:
    if reply.finish_reason == "length":
        raise ReplyError("the reply was cut off by the limit of output tokens")
    return reply.text
