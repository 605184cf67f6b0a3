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
    `http_attempts`, `cache_hits`, and the tokens that were counted; `uncounted_calls` are answers without
    a count. `usages` are the counts, answer by answer.
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
        self._pictures: dict[int, Image] = {}
        self._clock = clock

    def complete(self, request: ModelRequest, *, key: CallKey) -> ModelReply:
        """The model's reply. Raises ModelError when all tries failed or trying again is pointless.

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
            if self.cache is not None:
                self.cache.put(same, reply)
        self._count_reply(reply, hit=cached is not None)
        self._record_reply(reply, key, source)
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
                wait = self.retry.wait_s(error, tries, key)
                if wait is None:
                    raise
                self._count_usage(error.usage)
                self.limiter.pause(wait)
            else:
                self._note_attempts(reply.attempts, attempts, key, tries)
                return dataclasses.replace(reply, attempts=tuple(attempts))

    def _once(self, request: ModelRequest, key: CallKey) -> ModelReply:
        with self.limiter.slot() as slot:
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
