"""`scripted:FILE` plays the calls written in a file, one after the other.

The file is JSON or JSON lines: each entry is `{"tool": name, "arguments": {…}}`, or a list of entries
for calls made in one reply. An object maps task ids to such lists, with `"*"` for all other tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit.errors import UsageError
from evalkit.jsonfiles import parse_json, read_file
from evalkit.types import Observation, Reply, StepContext, Stop, Tool, ToolCall


class ScriptedAgent:
    """Plays a fixed list of replies and stops."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        """`argument` is the path of the script; UsageError if it can't be read."""
        if not argument:
            raise UsageError("agent 'scripted' needs a file: --agent scripted:FILE")
        self._scripts = read_scripts(Path(argument))
        self._replies = self._scripts.get("*", [])
        self._next = 0

    def use_task(self, task: str) -> None:
        """Take up the script of a task; the core calls this, since observations don't name tasks."""
        self._replies = self._scripts.get(task, self._scripts.get("*", []))

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """Begin at the first reply."""
        self._next = 0

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next reply of the script."""
        if self._next == len(self._replies):
            return Stop("the script has ended")
        self._next += 1
        return self._replies[self._next - 1]


def read_scripts(path: Path) -> dict[str, list[Reply]]:
    """Task id (or `*`) → replies; UsageError names the entry that is wrong."""
    try:
        text = read_file(path).decode()
    except OSError as error:
        raise UsageError(f"can't read the script {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the script {path} is not UTF-8 at byte {error.start}") from error
    try:
        content = parse_json(text)
    except ValueError:
        content = _json_lines(path, text)
    if isinstance(content, dict) and "tool" not in content:
        return {task: _replies(path, entries) for task, entries in content.items()}
    return {"*": _replies(path, content)}


def _replies(path: Path, entries: Any) -> list[Reply]:
    if isinstance(entries, dict):
        entries = [entries]
    if not isinstance(entries, list):
        raise UsageError(f"{path}: a script is a list of calls {{'tool': …, 'arguments': {{…}}}}")
    return [_reply(path, number, entry) for number, entry in enumerate(entries, 1)]


def _json_lines(path: Path, text: str) -> list[Any]:
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                entries.append(parse_json(line))
            except ValueError as error:
                raise UsageError(f"{path}:{number}: not JSON: {error}") from error
    return entries


def _reply(path: Path, number: int, entry: Any) -> Reply:
    calls = []
    for call in entry if isinstance(entry, list) else [entry]:
        if not isinstance(call, dict) or not isinstance(call.get("tool"), str):
            raise UsageError(f"{path}: entry {number} is not a call {{'tool': …, 'arguments': {{…}}}}")
        arguments = call.get("arguments", {})
        if not isinstance(arguments, dict):
            raise UsageError(f"{path}: entry {number}: 'arguments' is not an object")
        calls.append(ToolCall(call["tool"], arguments))
    return Reply(tuple(calls))
