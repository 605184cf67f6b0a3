"""One episode behind a Unix socket, for `evalkit-call`: through the socket, counters change by calls only.

Whoever runs as the server's user can reach it in other ways; `docs/transports.md` says what that means.
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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.transports._desk import POLL_S, Desk
from evalkit.transports._present import Answer, parsed_json, tools_text, typed
from evalkit.types import Tool

REQUESTS = ("tools", "call", "observe", "budget", "stop")
#: A request may have this many bytes.
MAX_REQUEST_BYTES = 16 * 2**20
#: Longer paths fit into no address of a socket (103 on macOS, 107 on Linux).
MAX_PATH_BYTES = 103
#: A client has this long to send its request.
REQUEST_TIMEOUT_S = 30.0


def answer(desk: Desk, line: bytes) -> dict[str, Any]:
    """The answer to a request; one that is none, or whose episode breaks off, is answered, too."""
    try:
        return _handle(desk, _request(line))
    except UsageError as error:
        return {"ok": False, "code": "bad_request", "text": str(error)}
    except Exception:  # noqa: BLE001 - kept as the desk's failure and raised where the server is attended
        return {"ok": False, "code": "failed", "text": "the episode broke off; its server says why"}


def _handle(desk: Desk, request: Mapping[str, Any]) -> dict[str, Any]:
    what, tools = request["do"], desk.open().episode.tools
    if what == "tools":
        return {"ok": True, "text": tools_text(tools), "tools": [_tool_fields(tool) for tool in tools]}
    if what == "call":
        return _answer_fields(desk.call(request["tool"], _arguments(tools, request)))
    if what == "stop":
        desk.stop("the player stopped")
        return {"ok": True, "text": desk.ending(), "stopped": True}
    fields = _answer_fields(desk.last()) | {"ok": True}
    return fields | {"text": _budget_lines(fields)} if what == "budget" else fields


@contextmanager
def listening(desk: Desk, path: Path) -> Iterator[None]:
    """Answer at a socket that only this user can open, in threads; the socket is removed afterwards.

    UsageError if the socket can't be had.
    """

    class Handler(socketserver.StreamRequestHandler):
        timeout = REQUEST_TIMEOUT_S

        def handle(self) -> None:
            line = b""
            with suppress(OSError):  # a client that says nothing asks nothing
                line = self.rfile.readline(MAX_REQUEST_BYTES + 1)
            if line:
                reply = answer(desk, line)
                with suppress(OSError):  # a client that went away: what it asked for is in the record
                    self.wfile.write(json.dumps(reply).encode("ascii") + b"\n")
                desk.dismissed = desk.dismissed or reply.get("stopped", False)

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
    if not isinstance(request, dict) or request.get("do") not in REQUESTS:
        raise UsageError(f"not a request: 'do' is one of {', '.join(REQUESTS)}")
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


def _answer_fields(told: Answer) -> dict[str, Any]:
    """An answer as JSON for clients; `text` says all of it."""
    observation = told.observation
    return {
        "ok": told.ok,
        "text": told.text(),
        "observation": {
            "text": observation.text,
            "data": dict(observation.data),
            "images": [str(path) for path in told.pictures],
        },
        "budget_left": dict(told.context.budget_left),
        "counters": dict(told.context.counters),
        "end": told.end or None,
    }


def _budget_lines(fields: Mapping[str, Any]) -> str:
    spent, left = fields["counters"], fields["budget_left"]
    names = dict.fromkeys([*spent, *left])
    lines = (
        f"{name}: {spent.get(name, 0):g}" + (f", {left[name]:g} left" if name in left else "")
        for name in names
    )
    return "\n".join(lines)


def _tool_fields(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters()}
