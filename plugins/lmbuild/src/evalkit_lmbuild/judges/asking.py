"""Asking a model about pictures; a reply that can't be used is asked for again, twice at most."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
from evalkit_lmbuild.scoring.rubrics import ReplyError

TRIES = 3
CONTROLS = Controls(temperature=0.0, max_output_tokens=2048)
"""Greedy; what the user's `-M` says goes before."""
KEPT_CHARACTERS = 4000
"""So much of the last reply is recorded."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """What came of a question: `answer` is None if no reply could be used, and `record` says how it went."""

    answer: T | None
    record: Mapping[str, Any]


class _Attempts:
    """Keeps a call's HTTP attempts, without bodies."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def event(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Keep the event if it is an attempt."""
        if kind == "http_attempt":
            self.found.append(dict(fields))

    def blob(self, data: bytes) -> str:
        """The hash of a body, which isn't kept."""
        return hashlib.sha256(data).hexdigest()

    def flush(self) -> None:
        """Nothing waits."""


class Asker:
    """A model that answers questions about pictures; may be asked by several threads at once."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self._limiters = Limiters()
        self._prices = client.describe().get("prices")

    @property
    def identity(self) -> dict[str, Any]:
        """Name and settings, as far as answers depend on them."""
        controls = self._client.controls.filled(CONTROLS).filled(self._client.defaults)
        return {"source": dict(self._client.source), "controls": controls.given()}

    def ask(self, task: str, text: str, pictures: Sequence[Image], parse: Callable[[str], T]) -> Asked[T]:
        """Show pictures, then the text; `parse` raises ReplyError for a reply that can't be used.

        A refusal or a reply that was cut off counts as one, too. Raises ModelError if the model can't be
        reached, BudgetReachedError if it is one with a budget that is spent.
        """
        request = ModelRequest(
            (Message("user", images=tuple(pictures)), Message("user", text)), controls=CONTROLS
        )
        attempts = _Attempts()
        limiter = self._limiters.of(self._client)
        session = ModelSession(self._client, limiter, RetryPolicy(self._client.attempts), None, attempts)
        failures: list[str] = []
        answer, reply = None, None
        while answer is None and len(failures) < TRIES:
            try:
                reply = session.complete(request, key=CallKey(task, 1, len(failures) + 1))
                if reply.finish_reason == "length":
                    raise ReplyError("the reply was cut off by the limit of output tokens")
                answer = parse(reply.text)
            except ReplyError as error:
                failures.append(str(error))
            except ModelError as error:
                if not error.policy.counts:
                    raise
                failures.append(str(error))
        return Asked(answer, self._record(failures, reply, session) | {"http_attempts": attempts.found})

    def _record(
        self, failures: Sequence[str], reply: ModelReply | None, session: ModelSession
    ) -> dict[str, Any]:
        """How the question went; tokens and dollars of all tries, None where they aren't known."""
        counted = session.usages and not session.counters["uncounted_calls"]
        costs = [cost(usage, self._prices) for usage in session.usages]
        return {
            "failures": list(failures),
            "reply": "" if reply is None else reply.text[:KEPT_CHARACTERS],
            "served_by": None if reply is None else reply.served_by,
            "input_tokens": session.counters["input_tokens"] if counted else None,
            "output_tokens": session.counters["output_tokens"] if counted else None,
            "cost_usd": sum(c for c in costs if c is not None) if costs and None not in costs else None,
        }
