"""The calls of one episode: limited, retried, cached, counted and recorded."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from evalkit.canonical import canonical_json
from evalkit.episode import compact
from evalkit.models._cache import ResponseCache
from evalkit.models._chat import images_of
from evalkit.models._deadline import time_limit
from evalkit.models._errors import ErrorKind, ModelError
from evalkit.models._identity import identity
from evalkit.models._limiter import AdaptiveLimiter
from evalkit.models._retry import RetryPolicy
from evalkit.models._types import CallKey, HttpAttempt, ModelClient, ModelReply, ModelRequest, Usage
from evalkit.types import Image

if TYPE_CHECKING:
    from evalkit.episode import Sink


class ModelSession:
    """Makes the model calls of one episode and leaves their record with `recorder`.

    `counters` holds `llm_calls` (answers of the model; one per call, however often it was tried),
    `http_attempts`, and the tokens that were counted; `uncounted_calls` are answers without a count.
    `cache_hits` of the calls were answered by the cache: `reused_input_tokens` and `reused_output_tokens`
    are the tokens of these answers, which nobody is billed for, and which the other counts leave out.
    `usages` are the counts of what the provider answered, answer by answer.

    `deadline` is the moment of `clock` by which calls have to be over; None sets no limit.
    """

    def __init__(
        self,
        client: ModelClient,
        limiter: AdaptiveLimiter,
        retry: RetryPolicy,
        cache: ResponseCache | None,
        recorder: Sink,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.client, self.limiter, self.retry, self.cache = client, limiter, retry, cache
        self.recorder = recorder
        self.counters: Counter[str] = Counter(llm_calls=0, http_attempts=0, input_tokens=0, output_tokens=0)
        self.usages: list[Usage] = []
        self.deadline: float | None = None
        self._pictures: dict[int, Image] = {}
        self._clock = clock

    def allow(self, seconds: float | None) -> None:
        """Set the deadline, so many seconds from now; None takes it away."""
        self.deadline = None if seconds is None else self._clock() + seconds

    def left_s(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else self.deadline - self._clock()

    def complete(self, request: ModelRequest, *, key: CallKey) -> ModelReply:
        """The model's reply. Raises ModelError when all tries failed, none can help, or the time is up.

        Recorded are `model_request` before the call, an `http_attempt` for each exchange, and
        `model_response` with the reply or the error.
        """
        controls = self.client.controls.filled(request.controls).filled(self.client.defaults)
        request = dataclasses.replace(request, controls=controls)
        same = identity(self.client.source, request, key)
        self._record_request(request, same, key)
        started = self._clock()
        cached = self.cache.get(same) if self.cache is not None else None
        source = "off" if self.cache is None else "miss" if cached is None else "hit"
        attempts: list[HttpAttempt] = []
        try:
            reply = self._tried(request, key, attempts) if cached is None else cached
        except ModelError as error:
            error.attempts = tuple(attempts)
            self._record_error(error, key, source, self._clock() - started)
            raise
        if cached is None:
            reply = dataclasses.replace(reply, seconds=round(self._clock() - started, 6))
        self._count_reply(reply, hit=cached is not None)
        self._record_reply(reply, key, source)
        if self.cache is not None and cached is None:  # paid for and recorded, whatever becomes of the cache
            self.cache.keep(same, reply)
        return reply

    # Trying

    def _tried(self, request: ModelRequest, key: CallKey, attempts: list[HttpAttempt]) -> ModelReply:
        """Try until there is a reply; every exchange is added to `attempts`."""
        tries = 0
        while True:
            tries += 1
            try:
                reply = self._once(request, key)
            except ModelError as error:
                self._note_attempts(error.attempts, attempts, key, tries)
                self._wait(error, tries, key)
            else:
                self._note_attempts(reply.attempts, attempts, key, tries)
                return dataclasses.replace(reply, attempts=tuple(attempts))

    def _wait(self, error: ModelError, tries: int, key: CallKey) -> None:
        """Wait for the next try; raises the error if there is none, `deadline` if the time is up first."""
        wait, left = self.retry.wait_s(error, tries, key), self.left_s()
        if left is not None and error.policy.retried and left <= (wait or 0.0):
            self._count_usage(error.usage)
            self.limiter.pause(left)
            raise ModelError(ErrorKind.DEADLINE, f"the episode's time is up; before that {error}") from error
        if wait is None:
            raise error
        self._count_usage(error.usage)
        self.limiter.pause(wait)

    def _once(self, request: ModelRequest, key: CallKey) -> ModelReply:
        with self.limiter.slot(self.left_s()) as slot, time_limit(self.left_s()):
            try:
                reply = self.client.complete(request, key)
            except ModelError as error:
                if error.kind is ErrorKind.RATE_LIMITED:
                    slot.rate_limited(self.retry.capped(error.retry_after))
                raise
            slot.succeeded()
            return reply

    # Counting

    def _note_attempts(
        self, new: Iterable[HttpAttempt], known: list[HttpAttempt], key: CallKey, tries: int
    ) -> None:
        """Number, count and record the exchanges of a try."""
        for attempt in new:
            attempt.n = len(known) + 1
            known.append(attempt)
            self.counters["http_attempts"] += 1
            fields = {"turn": key.turn, "try": tries, **attempt.as_dict()}
            fields["request"] = self.recorder.blob(attempt.request_body)
            if attempt.response_body:
                fields["response"] = self.recorder.blob(attempt.response_body)
            self.recorder.event("http_attempt", fields)

    def _count_reply(self, reply: ModelReply, *, hit: bool) -> None:
        self.counters["llm_calls"] += 1
        if hit:
            self.counters["cache_hits"] += 1
            self.counters["reused_input_tokens"] += reply.usage.input or 0
            self.counters["reused_output_tokens"] += reply.usage.output or 0
            return
        self._count_usage(reply.usage)
        if reply.usage.input is None or reply.usage.output is None:
            self.counters["uncounted_calls"] += 1
            self.usages.append(reply.usage)

    def _count_usage(self, usage: Usage) -> None:
        """Count tokens; also those of answers that couldn't be used."""
        if usage.input is not None and usage.output is not None:
            self.usages.append(usage)
        counts = {"input_tokens": usage.input, "output_tokens": usage.output}
        counts |= {"cached_tokens": usage.cached, "reasoning_tokens": usage.reasoning}
        self.counters.update({name: count for name, count in counts.items() if count})

    # Recording

    def _record_request(self, request: ModelRequest, same: dict[str, Any], key: CallKey) -> None:
        for image in images_of(request):
            if id(image) not in self._pictures:  # the conversation comes again with every call
                self._pictures[id(image)] = image
                self.recorder.blob(image.data())
        fields: dict[str, Any] = {
            **key.as_dict(),
            "model": self.client.model,
            "controls": request.controls.given(),
            "messages": len(request.messages),
            "tools": [tool.name for tool in request.tools],
            "request": self.recorder.blob(canonical_json(same)),
        }
        self.recorder.event("model_request", fields)
        self.recorder.flush()

    def _record_reply(self, reply: ModelReply, key: CallKey, cache: str) -> None:
        fields: dict[str, Any] = {
            "turn": key.turn,
            "finish_reason": reply.finish_reason,
            "text": compact(reply.text, self.recorder),
            "tool_calls": [
                {"id": c.id, "name": c.name} | ({"error": c.error} if c.error else {})
                for c in reply.tool_calls
            ],
            "served_by": reply.served_by,
            "usage": reply.usage.as_dict(),
            "sent": dict(reply.sent),
            "http_attempts": None if reply.sent.get("unverified") else len(reply.attempts),
            "cache": cache,
            "seconds": reply.seconds,
        }
        if reply.not_sent:
            fields["not_sent"] = dict(reply.not_sent)
        if reply.raw_request:
            fields["raw_request"] = self.recorder.blob(reply.raw_request)
        if reply.raw_response:
            fields["raw_response"] = self.recorder.blob(reply.raw_response)
        self.recorder.event("model_response", fields)

    def _record_error(self, error: ModelError, key: CallKey, cache: str, seconds: float) -> None:
        if error.policy.counts:
            self.counters["llm_calls"] += 1
        self._count_usage(error.usage)
        fields: dict[str, Any] = {
            "turn": key.turn,
            "error": {"kind": error.kind.value, "message": error.detail, "status": error.status},
            "http_attempts": len(error.attempts),
            "cache": cache,
            "seconds": round(seconds, 6),
        }
        if error.phase:
            fields["error"]["phase"] = error.phase
        self.recorder.event("model_response", fields)
