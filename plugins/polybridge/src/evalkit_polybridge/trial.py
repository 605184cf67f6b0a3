"""`evalkit try` for bridges: files that hold a design or a level, and the report on a single design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Candidate, Execution, Task, ToolCall, UsageError, Verdict
from evalkit_polybridge import savefile, strictjson
from evalkit_polybridge.contract import MAX_REPLY_CHARACTERS, rounded
from evalkit_polybridge.designs import bridge_from_json, bridge_to_json
from evalkit_polybridge.graph import Bridge
from evalkit_polybridge.levelfiles import LevelFileError, read_level
from evalkit_polybridge.tasks import level_task

#: More than this of a file is never read; what is longer is refused as too large by the contract.
MAX_BYTES = 4 * MAX_REPLY_CHARACTERS + 4


def open_design(path: Path, settings: Mapping[str, Any]) -> ToolCall | Candidate:
    """A model's reply, a layout, a decoded save or an encoded save; whatever is none of these is a reply.

    UsageError if the file can't be read or is a damaged save.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES).decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    try:
        saved = _saved(path, text)
    except savefile.SaveFileError as error:
        raise UsageError(f"{path}: {error}") from error
    return ToolCall("propose", {"text": text}) if saved is None else saved


def read_task(path: Path, settings: Mapping[str, Any]) -> Task:
    """The level that one of its three files belongs to; UsageError if it can't be read."""
    try:
        level, meta = read_level(path)
    except LevelFileError as error:
        raise UsageError(str(error)) from error
    return level_task(level, meta)


def report(
    task: Task,
    candidate: Candidate | None,
    verdict: Verdict,
    executions: Sequence[Execution],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Cost, size and, if it ran, what happened to it."""
    budget = task.inputs["context"]["task_context"]["budget_limit"]
    found: dict[str, Any] = {"cost": None, "budget": budget, "nodes": None, "members": None}
    if candidate is not None:
        bridge = bridge_from_json(candidate.data)
        found |= {
            "cost": round(bridge.cost(), 4),
            "nodes": len(bridge.nodes),
            "members": len(bridge.edges),
        }
    evidence = executions[0].data if executions else {}
    for name in ("outcome", "first_break_s", "first_break_member", "peak_utilisation"):
        found[name] = evidence.get(name)
    for name in ("finish_s", "furthest_x_m"):
        found[name] = evidence.get(name, [])
    return found


def _saved(path: Path, text: str) -> Candidate | None:
    """The design of a save in any of its forms, or None if the text is something else."""
    start = text.lstrip()[:1]
    if start not in ("{", "") and _looks_encoded(text):
        return _candidate(savefile.decode(text)[0])
    if start != "{" or len(text) > MAX_REPLY_CHARACTERS:
        return None
    try:
        document = strictjson.loads(text)
    except strictjson.StrictJsonError:
        return None
    if isinstance(document, dict) and "saveFiles" in document:
        return _candidate(savefile.read_layout(text).bridge)
    if isinstance(document, dict) and "Objects" in document:
        return _candidate(savefile.from_document(document)[0])
    return None


def _candidate(bridge: Bridge) -> Candidate:
    return Candidate(bridge_to_json(rounded(bridge)))


def _looks_encoded(text: str) -> bool:
    """Base64 of a zlib stream starts with `eA`, `eF`, `eJ` or `eN`."""
    compact = text.strip()
    return compact[:2] in ("eA", "eF", "eJ", "eN") and " " not in compact
