"""The transport under every provider's client: it sets the timeouts and records every HTTP attempt.

litellm and the SDKs below it resend some requests on their own, so what was exchanged is known here only.
"""

from __future__ import annotations

import contextlib
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import httpx

from evalkit.models._deadline import time_left_s
from evalkit.models._http import bare_url, redacted, request_id, retry_after_s, secrets_of
from evalkit.models._network import DeadlineBackend
from evalkit.models._types import HttpAttempt, Timeouts

_PHASE_OF_EVENT = {
    "connect_tcp": "connect",
    "connect_unix_socket": "connect",
    "start_tls": "connect",
    "send_request_headers": "write",
    "send_request_body": "write",
    "receive_response_headers": "wait",
    "receive_response_body": "read",
}
_PHASE_OF_ERROR: tuple[tuple[type[Exception], str], ...] = (
    (httpx.ConnectTimeout, "connect"),
    (httpx.WriteTimeout, "write"),
    (httpx.PoolTimeout, "pool"),
    (httpx.ReadTimeout, "read"),
    (httpx.ConnectError, "connect"),
    (httpx.WriteError, "write"),
    (httpx.ReadError, "read"),
)


_PIECE_BYTES = 16 << 10
MAX_RESPONSE_BYTES = 16 << 20
"""The longest response that is read, before and after its content encoding is undone."""


class TooLongError(httpx.ReadError):
    """A response is longer than `MAX_RESPONSE_BYTES`."""

    def __init__(self) -> None:
        super().__init__(f"the response is longer than {MAX_RESPONSE_BYTES >> 20} MiB")


@dataclass(slots=True)
class Call:
    """One call of a client while it runs: the transport it goes through, and what was exchanged."""

    transport: RecordingTransport
    attempts: list[HttpAttempt] = field(default_factory=list)


_current: ContextVar[Call | None] = ContextVar("evalkit_model_call", default=None)


@contextlib.contextmanager
def recording(transport: RecordingTransport) -> Iterator[Call]:
    """Send this thread's requests through `transport` and collect them."""
    call = Call(transport)
    token = _current.set(call)
    try:
        yield call
    finally:
        _current.reset(token)


class CurrentTransport(httpx.BaseTransport):
    """Hands each request to the transport of the call that is running.

    SDK clients live in litellm's caches and outlast the settings they were made with; with this inside,
    pool, timeouts and records are always those of the call.
    """

    def __init__(self) -> None:
        self._outside = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; one that belongs to no call of evalkit isn't recorded."""
        call = _current.get()
        if call is None:
            return self._outside.handle_request(request)
        return call.transport.exchange(request, call)

    def close(self) -> None:
        """Nothing to do: clients of litellm close themselves while others still use this transport."""


class RecordingTransport(httpx.HTTPTransport):
    """A connection pool that applies its own timeouts and describes each exchange as an `HttpAttempt`."""

    def __init__(
        self,
        timeouts: Timeouts,
        max_connections: int,
        *,
        clock: Callable[[], float] = time.perf_counter,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`clock` measures durations, `now` tells Unix time."""
        self.timeouts = timeouts
        self._limits = httpx.Limits(
            max_connections=max_connections, max_keepalive_connections=max_connections
        )
        self._clock, self._now = clock, now
        self._lock = threading.Lock()
        self._proxied: dict[str, httpx.HTTPTransport] = {}
        super().__init__(limits=self._limits)
        _keep_deadlines(self)

    def exchange(self, request: httpx.Request, call: Call) -> httpx.Response:
        """Send a request, read the whole response, and add the attempt to the call, however it ends.

        Nothing in it lasts longer than what is left of the call's time (see `time_limit`).
        """
        left = max(0.0, time_left_s())
        timeouts = {phase: min(seconds, left) for phase, seconds in self.timeouts.as_dict().items()}
        attempt = HttpAttempt(
            n=len(call.attempts) + 1,
            method=request.method,
            url=bare_url(str(request.url)),
            started=self._now(),
            timeouts=timeouts,
        )
        call.attempts.append(attempt)
        secrets = secrets_of(request.headers, dict(request.url.params))
        attempt.request_bytes = len(request.read())
        attempt.request_body = redacted(request.content, secrets)
        watch = _Watch(self._clock)
        request.extensions = {**request.extensions, "timeout": timeouts, "trace": watch.note}
        try:
            return self._answered(request, attempt, secrets)
        except httpx.TransportError as error:
            attempt.error = type(error).__name__
            # what a protocol error quotes is a header, and a header may be the key
            quotes = isinstance(error, httpx.ProtocolError)
            attempt.detail = None if quotes else redacted(str(error).encode(), secrets).decode() or None
            attempt.phase = next((p for kind, p in _PHASE_OF_ERROR if isinstance(error, kind)), None)
            raise
        finally:
            attempt.seconds = round(watch.elapsed(), 6)
            attempt.phases = watch.phases()

    def _answered(self, request: httpx.Request, attempt: HttpAttempt, secrets: list[bytes]) -> httpx.Response:
        response = self._send(request)
        attempt.status = response.status_code
        attempt.request_id = request_id(response.headers)
        attempt.retry_after = retry_after_s(response.headers, self._now())
        pieces: list[bytes] = []
        decoded = b""
        try:
            assert isinstance(response.stream, httpx.SyncByteStream)
            for piece in _bounded(response.stream):
                attempt.response_bytes += len(piece)
                pieces.append(piece)
        finally:
            response.close()
            decoded = _decoded(response, pieces)
            attempt.response_body = redacted(decoded, secrets)
        if any(secret in decoded for secret in secrets):  # nobody behind this gets to see it
            plain = {
                k: v for k, v in response.headers.items() if k not in ("content-encoding", "content-length")
            }
            return httpx.Response(response.status_code, headers=plain, content=attempt.response_body)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=httpx.ByteStream(b"".join(pieces)),
            extensions={k: v for k, v in response.extensions.items() if k != "network_stream"},
        )

    def _send(self, request: httpx.Request) -> httpx.Response:
        """Send through this pool, or one behind the proxy that the environment names for the address."""
        proxies = urllib.request.getproxies()
        proxy = proxies.get(request.url.scheme) or proxies.get("all")
        if not proxy or urllib.request.proxy_bypass(request.url.host):
            return super().handle_request(request)
        with self._lock:
            if proxy not in self._proxied:
                self._proxied[proxy] = httpx.HTTPTransport(limits=self._limits, proxy=proxy)
                _keep_deadlines(self._proxied[proxy])
        return self._proxied[proxy].handle_request(request)

    def close(self) -> None:
        """Close all connections."""
        super().close()
        for transport in self._proxied.values():
            transport.close()


def _keep_deadlines(transport: httpx.HTTPTransport) -> None:
    """Have a transport's connections keep deadlines; httpx offers no argument for what httpcore does."""
    transport._pool._network_backend = DeadlineBackend()


def _bounded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces. TooLongError as soon as they are too long together."""
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > MAX_RESPONSE_BYTES:
            raise TooLongError
        yield piece


def _decoded(response: httpx.Response, pieces: list[bytes]) -> bytes:
    """The body without its content encoding, or as it came. TooLongError if it swells."""
    small = (piece[at : at + _PIECE_BYTES] for piece in pieces for at in range(0, len(piece), _PIECE_BYTES))
    try:
        plain = httpx.Response(200, headers=response.headers, stream=_Pieces(small))
        return b"".join(_bounded(plain.iter_bytes()))
    except httpx.DecodingError:
        return b"".join(pieces)


class _Pieces(httpx.SyncByteStream):
    """Pieces of a body, given out as they are: what is packed is unpacked one piece at a time."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)


class _Watch:
    """How long each phase of an exchange takes, told by the events of httpcore."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = clock()
        self._first: float | None = None
        self._started: dict[str, float] = {}
        self._spent: dict[str, float] = {}

    def note(self, event: str, info: Any) -> None:
        """Take note of an event such as `http11.send_request_body.complete`."""
        step, _, state = event.rpartition(".")
        phase = _PHASE_OF_EVENT.get(step.rpartition(".")[2])
        if self._first is None:
            self._first = self._clock()
        if phase is None:
            return
        if state == "started":
            self._started[step] = self._clock()
        elif step in self._started:
            spent = self._clock() - self._started.pop(step)
            self._spent[phase] = self._spent.get(phase, 0.0) + spent

    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._begun

    def phases(self) -> dict[str, float]:
        """Phase → seconds; `pool` is the time before anything happened, `wait` that until the headers."""
        pool = self.elapsed() if self._first is None else self._first - self._begun
        return {name: round(spent, 6) for name, spent in {"pool": pool, **self._spent}.items()}
