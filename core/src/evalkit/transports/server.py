"""One episode behind a Unix socket, for `evalkit-call`: the player can't reach its counters.

A request is a line of JSON, its answer another one. Requests of several clients are answered one after
the other; a client that goes away, or sends what is no request, costs nobody anything.
"""

from __future__ import annotations

import json
import os
import socket
import socketserver
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.transports._driven import ended
from evalkit.transports._present import Answer, Pictures, parsed_json, tools_text, typed
from evalkit.transports._session import RecordedEpisode
from evalkit.types import Observation, Tool

#: A request may have this many bytes.
MAX_REQUEST_BYTES = 16 * 2**20
#: Longer paths fit into no address of a socket (103 on macOS, 107 on Linux).
MAX_PATH_BYTES = 103
#: A client has this long to send its request.
REQUEST_TIMEOUT_S = 30.0
#: After the end, questions are answered for this long.
LINGER_S = 60.0
POLL_S = 0.1


class EpisodeServer:
    """Answers requests about one episode."""

    def __init__(self, recorded: RecordedEpisode, pictures: Pictures) -> None:
        self._recorded = recorded
        self._pictures = pictures
        self._lock = threading.Lock()
        self._answer = Answer.of(recorded.episode, recorded.first, pictures)
        self.stopped = False
        self.failure: Exception | None = None
        self.last_request = time.monotonic()

    def handle(self, line: bytes) -> dict[str, Any]:
        """The answer to a request; a bad one is answered, too."""
        with self._lock:
            self.last_request = time.monotonic()
            try:
                return self._handle(_request(line))
            except UsageError as error:
                return {"ok": False, "code": "bad_request", "text": str(error)}
            except Exception as error:  # noqa: BLE001 - raised again where the server is waited for
                self.failure = error
                return {"ok": False, "code": "failed", "text": "the episode broke off; its server says why"}

    def stop(self, reason: str) -> None:
        """End the episode, after the call that is being carried out."""
        with self._lock:
            self._recorded.stop(reason)

    @property
    def ended(self) -> bool:
        """Whether the episode is over."""
        return self._recorded.episode.end is not None

    def _handle(self, request: Mapping[str, Any]) -> dict[str, Any]:
        episode, what = self._recorded.episode, request["do"]
        if what == "tools":
            tools = [_tool_fields(tool) for tool in episode.tools]
            return {"ok": True, "text": tools_text(episode.tools), "tools": tools}
        if what == "call":
            observation = self._recorded.call(request["tool"], _arguments(episode.tools, request))
            self._answer = Answer.of(episode, observation, self._pictures)
            return _answer_fields(self._answer)
        if what == "stop":
            end = self._recorded.stop("the player stopped")
            self.stopped = True
            return _answer_fields(Answer(True, Observation(), (), episode.context, ended(end)))
        fields = _answer_fields(self._answer)
        return fields | {
            "ok": True,
            "text": _budget_lines(self._answer) if what == "budget" else fields["text"],
        }


def serve(server: EpisodeServer, path: Path, *, idle_s: float, ready: Callable[[], None]) -> None:
    """Answer on a Unix socket until the episode is over and nobody asks any more.

    `ready` is called when clients can connect. An episode in which no call comes for `idle_s` seconds, or
    whose server is interrupted, ends as stopped by its agent. Raises what kept the record from being
    written, and UsageError if the socket can't be had.
    """
    with _listening(path, server):
        ready()
        try:
            while not _over(server, idle_s):
                time.sleep(POLL_S)
        except KeyboardInterrupt:
            server.stop("the server was stopped")
            raise
    if server.failure is not None:
        raise server.failure


def _over(server: EpisodeServer, idle_s: float) -> bool:
    if server.failure is not None or server.stopped:
        return True
    idle = time.monotonic() - server.last_request
    if server.ended:
        return idle > LINGER_S
    if idle > idle_s:
        server.stop(f"no call for {idle_s:g} s")
    return False


@contextmanager
def _listening(path: Path, server: EpisodeServer) -> Iterator[None]:
    """A server in threads at a socket that only this user can open; the socket is removed afterwards."""

    class Handler(socketserver.StreamRequestHandler):
        timeout = REQUEST_TIMEOUT_S

        def handle(self) -> None:
            line = b""
            with suppress(OSError):  # a client that says nothing asks nothing
                line = self.rfile.readline(MAX_REQUEST_BYTES + 1)
            if line:
                answer = json.dumps(server.handle(line)).encode("ascii") + b"\n"
                with suppress(OSError):  # a client that went away: what it asked for is in the record
                    self.wfile.write(answer)

    class Listener(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    free_socket(path)
    before = os.umask(0o177)
    try:
        listener = Listener(str(path), Handler)
    except OSError as error:
        raise UsageError(f"can't listen at {path}: {error.strerror or error}") from error
    finally:
        os.umask(before)
    thread = threading.Thread(target=listener.serve_forever, args=(POLL_S,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown()
        listener.server_close()
        path.unlink(missing_ok=True)


def free_socket(path: Path) -> None:
    """Make sure that a server can listen at a path, and remove a socket that a dead one left there.

    UsageError if this system has no Unix sockets, or if something else is there.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise UsageError("this system has no Unix sockets; `evalkit mcp` works everywhere")
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise UsageError(
            f"the path of a socket has at most {MAX_PATH_BYTES} bytes; take a shorter one than {path}"
        )
    if not path.parent.is_dir():
        raise UsageError(f"can't listen at {path}: there is no folder {path.parent}")
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise UsageError(f"{path} exists and is no socket; name another file")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise UsageError(f"an episode is already served at {path}; `evalkit-call {path} stop` ends it")


def _request(line: bytes) -> Mapping[str, Any]:
    """A request that was checked; UsageError says what is wrong with it."""
    if len(line) > MAX_REQUEST_BYTES:
        raise UsageError(f"a request has at most {MAX_REQUEST_BYTES:,} bytes")
    request = parsed_json(line)
    if not isinstance(request, dict) or request.get("do") not in (
        "tools",
        "call",
        "observe",
        "budget",
        "stop",
    ):
        raise UsageError("not a request: 'do' is tools, call, observe, budget or stop")
    if request["do"] == "call" and not isinstance(request.get("tool"), str):
        raise UsageError("not a call: 'tool' is not a name")
    return request


def _arguments(tools: Any, request: Mapping[str, Any]) -> dict[str, Any]:
    arguments, pairs = request.get("arguments", {}), request.get("pairs", {})
    if not isinstance(arguments, dict) or not isinstance(pairs, dict):
        raise UsageError("not a call: 'arguments' and 'pairs' are JSON objects")
    if not all(isinstance(text, str) for text in pairs.values()):
        raise UsageError("not a call: 'pairs' maps names to texts")
    return arguments | typed(tools, request["tool"], pairs)


def _answer_fields(answer: Answer) -> dict[str, Any]:
    """An answer as JSON for clients; `text` says all of it."""
    observation = answer.observation
    return {
        "ok": answer.ok,
        "text": answer.text(),
        "observation": {
            "text": observation.text,
            "data": dict(observation.data),
            "images": [str(path) for path in answer.pictures],
        },
        "budget_left": dict(answer.context.budget_left),
        "counters": dict(answer.context.counters),
        "end": answer.end or None,
    }


def _budget_lines(answer: Answer) -> str:
    spent, left = answer.context.counters, answer.context.budget_left
    names = dict.fromkeys([*spent, *left])
    lines = [
        f"{name}: {spent.get(name, 0):g}" + (f", {left[name]:g} left" if name in left else "")
        for name in names
    ]
    return "\n".join(lines)


def _tool_fields(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters()}
