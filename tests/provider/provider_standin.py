"""A provider that speaks the languages of OpenAI, Anthropic and others over HTTP, and misbehaves on request.

    with StandIn() as provider:
        provider.then(reply("hello"), status(429, retry_after="1"), hang())
        ... requests to provider.openai_url or provider.anthropic_url ...
        provider.requests[0].body["temperature"]

Behaviours queued with `then` serve one request each; afterwards `provider.otherwise` serves. Run as a script
it serves `reply("ok")` until it is stopped.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LONGEST_HANG_S = 20.0


@dataclass(frozen=True, slots=True)
class Received:
    """A request that arrived; `wire` is `openai`, `anthropic`, `gemini` or `ollama`."""

    path: str
    wire: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class Exchange:
    """One request while it is answered."""

    def __init__(
        self, handler: BaseHTTPRequestHandler, received: Received, stopping: threading.Event
    ) -> None:
        self.received, self.stopping = received, stopping
        self._handler = handler

    def send(self, status: int, body: bytes, media_type: str = "application/json", **headers: str) -> None:
        """A whole response; `_` in names of headers stands for `-`."""
        self.send_head(status, len(body), media_type, **headers)
        self._handler.wfile.write(body)

    def send_head(self, status: int, length: int, media_type: str, **headers: str) -> None:
        """The beginning of a response."""
        handler = self._handler
        handler.send_response(status)
        handler.send_header("content-type", media_type)
        handler.send_header("content-length", str(length))
        handler.send_header("x-request-id", f"req-{id(self.received) % 10_000}")
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.flush()

    def write(self, data: bytes) -> None:
        """Some bytes of a body."""
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def abort(self) -> None:
        """Reset the connection."""
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        self._handler.close_connection = True


Behaviour = Callable[[Exchange], None]


def openai_body(
    text: str | None,
    calls: Sequence[tuple[str, str]] = (),
    finish: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A chat completion; `calls` are (name, arguments as text)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls, 1)
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stand-in-1",
        "choices": [choice],
    }
    return body | ({"usage": dict(usage)} if usage is not None else {})


def anthropic_body(
    text: str | None,
    calls: Sequence[tuple[str, str]] = (),
    finish: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A message of Anthropic's."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    for number, (name, arguments) in enumerate(calls, 1):
        content.append(
            {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": json.loads(arguments)}
        )
    names = {
        "length": "max_tokens",
        "content_filter": "refusal",
        "tool_calls": "tool_use",
        "stop": "end_turn",
    }
    stop = names[finish or ("tool_calls" if calls else "stop")]
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in-1", "content": content}
    body |= {"stop_reason": stop, "stop_sequence": None}
    return body | ({"usage": dict(usage)} if usage is not None else {})


def gemini_body(
    text: str | None,
    calls: Sequence[tuple[str, str]] = (),
    finish: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A response of Gemini's `generateContent`."""
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": name, "args": json.loads(arguments)}} for name, arguments in calls]
    reasons = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}
    candidate = {
        "content": {"role": "model", "parts": parts},
        "finishReason": reasons.get(finish or "", "STOP"),
    }
    body = {"candidates": [candidate], "modelVersion": "stand-in-1"}
    return body | ({"usageMetadata": dict(usage)} if usage is not None else {})


def ollama_body(
    text: str | None,
    calls: Sequence[tuple[str, str]] = (),
    finish: str | None = None,
    usage: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A response of Ollama's `/api/chat`."""
    message: dict[str, Any] = {"role": "assistant", "content": text or ""}
    if calls:
        message["tool_calls"] = [
            {"function": {"name": name, "arguments": json.loads(arguments)}} for name, arguments in calls
        ]
    body = {"model": "stand-in-1", "message": message, "done": True, "done_reason": finish or "stop"}
    return body | (dict(usage) if usage is not None else {})


_BODIES = {
    "openai": openai_body,
    "anthropic": anthropic_body,
    "gemini": gemini_body,
    "ollama": ollama_body,
}
_TOKEN_NAMES = {
    "openai": ("prompt_tokens", "completion_tokens"),
    "anthropic": ("input_tokens", "output_tokens"),
    "gemini": ("promptTokenCount", "candidatesTokenCount"),
    "ollama": ("prompt_eval_count", "eval_count"),
}
_PATHS = {
    "/chat/completions": "openai",
    "/messages": "anthropic",
    ":generateContent": "gemini",
    "/api/chat": "ollama",
}


def reply(
    text: str | None = "ok",
    calls: Sequence[tuple[str, str]] = (),
    finish: str | None = None,
    *,
    tokens: tuple[int, int] | None = (11, 7),
) -> Behaviour:
    """A proper reply; `tokens` (input, output) None leaves the usage out."""

    def behave(exchange: Exchange) -> None:
        wire = exchange.received.wire
        usage = None if tokens is None else dict(zip(_TOKEN_NAMES[wire], tokens, strict=True))
        body = _BODIES[wire](text, calls, finish, usage)
        exchange.send(200, json.dumps(body).encode())

    return behave


def status(
    code: int, message: str = "no", *, kind: str = "error", retry_after: str | None = None
) -> Behaviour:
    """An error as providers send it; `kind` is its code (OpenAI) or type (Anthropic)."""

    def behave(exchange: Exchange) -> None:
        if exchange.received.wire == "anthropic":
            body: dict[str, Any] = {"type": "error", "error": {"type": kind, "message": message}}
        else:
            body = {"error": {"message": message, "type": kind, "param": None, "code": kind}}
        headers = {} if retry_after is None else {"retry_after": retry_after}
        exchange.send(code, json.dumps(body).encode(), **headers)

    return behave


def page(code: int, body: str = "<html><h1>Bad gateway</h1></html>") -> Behaviour:
    """What a proxy in front of a provider sends."""
    return lambda exchange: exchange.send(code, body.encode(), "text/html")


def raw(body: bytes, code: int = 200) -> Behaviour:
    """Any bytes, called JSON."""
    return lambda exchange: exchange.send(code, body)


def drop() -> Behaviour:
    """The connection is reset instead of a response."""
    return lambda exchange: exchange.abort()


def hang() -> Behaviour:
    """Nothing comes, until the server is stopped."""

    def behave(exchange: Exchange) -> None:
        exchange.stopping.wait(LONGEST_HANG_S)
        exchange.abort()

    return behave


def stall() -> Behaviour:
    """A response that stops in the middle of its body."""

    def behave(exchange: Exchange) -> None:
        exchange.send_head(200, 1000, "application/json")
        exchange.write(b'{"id": ')
        exchange.stopping.wait(LONGEST_HANG_S)
        exchange.abort()

    return behave


def cut() -> Behaviour:
    """A response whose connection ends in the middle of its body."""

    def behave(exchange: Exchange) -> None:
        exchange.send_head(200, 1000, "application/json")
        exchange.write(b'{"id": ')
        exchange.abort()

    return behave


def drip(pause_s: float = 0.05, pieces: int = 5) -> Behaviour:
    """A proper reply, slowly: in pieces with pauses between them."""

    def behave(exchange: Exchange) -> None:
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        body = json.dumps(openai_body("slow", usage=usage)).encode()
        exchange.send_head(200, len(body), "application/json")
        size = len(body) // pieces + 1
        for start in range(0, len(body), size):
            exchange.write(body[start : start + size])
            exchange.stopping.wait(pause_s)

    return behave


class StandIn:
    """The server, on a free port of this machine; use it as a context manager."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[Received] = []
        self.otherwise: Behaviour = reply()
        self._queue: deque[Behaviour] = deque()
        self._stopping = threading.Event()
        self._arrival = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler_class(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    @property
    def openai_url(self) -> str:
        """The address for clients of OpenAI's language."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        """The address for clients of Anthropic's language."""
        return f"http://127.0.0.1:{self.port}"

    def then(self, *behaviours: Behaviour) -> None:
        """Serve one request with each of these, in order."""
        self._queue.extend(behaviours)

    def await_requests(self, count: int) -> None:
        """Wait until so many requests have arrived. TimeoutError if they don't."""
        with self._arrival:
            if not self._arrival.wait_for(lambda: len(self.requests) >= count, LONGEST_HANG_S):
                raise TimeoutError(f"{len(self.requests)} of {count} requests arrived")

    def serve(self, exchange: Exchange) -> None:
        """Answer a request."""
        with self._arrival:
            self.requests.append(exchange.received)
            self._arrival.notify_all()
        try:
            behaviour = self._queue.popleft()
        except IndexError:
            behaviour = self.otherwise
        behaviour(exchange)

    def start(self) -> StandIn:
        """Serve in a thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End what hangs, and the server."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    __enter__ = start

    def __exit__(self, *exception: object) -> None:
        self.stop()


def _handler_class(provider: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each body waits 40 ms for the acknowledgement of its header

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length) or b"{}")
            path = self.path.partition("?")[0]
            wire = next((w for end, w in _PATHS.items() if path.endswith(end)), None)
            received = Received(
                self.path, wire or "openai", {k.lower(): v for k, v in self.headers.items()}, body
            )
            exchange = Exchange(self, received, provider._stopping)
            if wire is None:
                exchange.send(404, b'{"error": {"message": "no such path"}}')
                return
            try:
                provider.serve(exchange)
            except OSError:  # the client went away
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


if __name__ == "__main__":
    with StandIn() as standin:
        print(f"OpenAI: {standin.openai_url}   Anthropic: {standin.anthropic_url}", flush=True)
        threading.Event().wait()
