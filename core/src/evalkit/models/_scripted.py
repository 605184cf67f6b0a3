"""`scripted:FILE`: replies written in a file, for tests and demonstrations without a provider.

The file is a JSON list of replies, or an object that maps task ids (`*` for all others) to such lists;
reply number n answers call number n of an episode. A reply is a text, or an object with `text`,
`tool_calls` (`[{"name": …, "arguments": {…}}]`; arguments as a string are taken as the model wrote them),
`finish_reason`, `usage` (`{"input": 10, "output": 5}`), or with `error`, the kind of error to raise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit.errors import UnknownNameError, UsageError
from evalkit.models._arguments import parse_arguments
from evalkit.models._errors import ErrorKind, ModelError
from evalkit.models._options import ModelOptions
from evalkit.models._types import CallKey, Controls, ModelReply, ModelRequest, ModelToolCall, Usage

_KEYS = ("text", "tool_calls", "finish_reason", "usage", "error")
_Scripted = ModelReply | ErrorKind


class ScriptedClient:
    """Answers from a file, the same whatever is asked."""

    provider = "scripted"
    defaults = Controls()
    attempts = 1

    def __init__(self, argument: str, options: ModelOptions) -> None:
        """`argument` is the path; UsageError if the file can't be read or holds something else."""
        if not argument:
            raise UsageError("model 'scripted' needs a file: -m scripted:FILE")
        self.model = f"scripted:{argument}"
        self.controls, self.max_connections = options.controls, options.max_connections
        self._path = Path(argument)
        content = self._read()
        self.source = {"model": self.model, "sha256": hashlib.sha256(content).hexdigest()}
        self._replies = _scripts(self._path, content)

    def complete(self, request: ModelRequest, key: CallKey) -> ModelReply:
        """The reply written for this call. ModelError `no_recording` behind the last one."""
        replies = self._replies.get(key.task, self._replies.get("*", []))
        if key.turn > len(replies):
            message = f"{self._path} has {len(replies)} replies for {key.task}; this is call {key.turn}"
            raise ModelError(ErrorKind.NO_RECORDING, message)
        reply = replies[key.turn - 1]
        if isinstance(reply, ErrorKind):
            raise ModelError(reply, f"scripted in {self._path}")
        return reply

    def describe(self) -> Mapping[str, Any]:
        """The script's path and hash."""
        return {
            **self.source,
            "client": "scripted",
            "controls": self.controls.given(),
            "prices": None,
        }

    def check(self) -> None:
        """Nothing to check: the file was read."""

    def close(self) -> None:
        """Nothing to give back."""

    def _read(self) -> bytes:
        try:
            return self._path.read_bytes()
        except OSError as error:
            raise UsageError(f"can't read the script {self._path}: {error.strerror or error}") from error


def _scripts(path: Path, content: bytes) -> dict[str, list[_Scripted]]:
    try:
        value = json.loads(content)
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        value = {"*": value}
    found = {}
    for task, entries in value.items():
        if not isinstance(entries, list):
            raise UsageError(f"{path}: the replies for {task!r} are not a list")
        found[task] = [_reply(f"{path}: reply {n} for {task!r}", e) for n, e in enumerate(entries, 1)]
    return found


def _reply(where: str, entry: Any) -> _Scripted:
    if isinstance(entry, str):
        return ModelReply(entry)
    if not isinstance(entry, dict):
        raise UsageError(f"{where} is neither a text nor an object")
    for name in entry:
        if name not in _KEYS:
            raise UnknownNameError("key", name, _KEYS, where)
    if "error" in entry:
        if entry["error"] not in list(ErrorKind):
            raise UnknownNameError("kind of error", str(entry["error"]), list(ErrorKind), where)
        return ErrorKind(entry["error"])
    try:
        calls = tuple(_call(n, call) for n, call in enumerate(entry.get("tool_calls", ()), 1))
        usage = Usage(**entry.get("usage", {}))
        default = "tool_calls" if calls else "stop"
        finish = str(entry.get("finish_reason", default))
        return ModelReply(str(entry.get("text", "")), calls, usage=usage, finish_reason=finish)
    except (TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"{where} is not a reply: {error}") from error


def _call(number: int, call: Mapping[str, Any]) -> ModelToolCall:
    arguments = call.get("arguments", {})
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    parsed, error = parse_arguments(raw)
    return ModelToolCall(f"call-{number}", str(call["name"]), parsed, raw, error)
