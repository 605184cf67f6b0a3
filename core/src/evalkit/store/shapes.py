"""What the files of a run have to look like: the fields that readers rely on, and their types.

A record may come from anywhere. It is checked once, when it is read, so that nothing behind the reader has
to expect a number where a name belongs. Fields and kinds of events that aren't listed here are left alone:
a later evalkit may add some.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.errors import EndReason
from evalkit.store.planned import MAX_EPISODES

#: Largest counter, time or duration: sums and squares of them stay finite.
MAX_AMOUNT = 2**63
#: Largest integer: it fits into a double.
MAX_INTEGER = 2**1023


@dataclass(frozen=True, slots=True)
class Each:
    """An object with any keys whose values all have one shape."""

    shape: Any


class Number:
    """A number (not true or false)."""


class Amount:
    """A number between ±`MAX_AMOUNT`."""


class Moment:
    """A date and time in ISO format with its time zone."""


class Reason:
    """One of `EndReason`."""


_WORDS: Mapping[Any, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    None: "null",
    Number: "a number",
    Amount: "a number of a sensible size",
    Moment: "a time in ISO format with a time zone",
    Reason: "a known end reason",
}

# In shapes of objects, `name?` is a field that may be missing; a tuple lists alternatives.
_KEY = {"agent": str, "task": str, "condition": str, "epoch": int}
_SPENT = Each(Amount)
_END = {"reason": Reason, "counters": _SPENT, "detail?": str}
_ENTRY = {"key": _KEY, "end": _END, "attempt": int, "events": int, "chain": str, "spent_before?": _SPENT}
_TEXT = (str, dict)
_IMAGE = {"name": str, "blob": (str, None)}
_ARTIFACT = {"name": str, "blob": str, "media_type": str}
_CANDIDATE = {"sha256": str, "data": dict, "files?": Each(str)}
_OBSERVED = {"text?": _TEXT, "data?": dict, "images?": [_IMAGE]}
_EVIDENCE = {
    "executor": str,
    "version": str,
    "candidate_sha256": str,
    "constants_sha256": str,
    "success": (bool, None),
    "data": dict,
    "artifacts?": [_ARTIFACT],
}
_VIOLATION = {
    "code": str,
    "message": str,
    "ids?": [(str, int)],
    "value?": Number,
    "limit?": Number,
    "advisory?": bool,
}
_EVENT = {"kind": str, "seq": int, "time": Amount, "prev": str}
_EVENTS: Mapping[str, Mapping[str, Any]] = {
    "episode_start": {**_EVENT, "key": _KEY, "seed": int},
    "observation": {**_EVENT, **_OBSERVED},
    "action": {**_EVENT, "turn": int, "tool": str, "arguments": dict, "note?": dict},
    "result": {**_EVENT, **_OBSERVED, "ok": bool, "candidate?": (_CANDIDATE, None)},
    "violation": {**_EVENT, "valid": bool, "violations": [_VIOLATION]},
    "execution": {**_EVENT, **_EVIDENCE},
    "model_request": {**_EVENT, "turn": int, "request": str},
    "model_response": {**_EVENT, "turn": int, "cache": str},
    "agent_process": {**_EVENT, "phase": str, "usage?": _SPENT, "artifacts?": [_ARTIFACT]},
    "episode_end": {**_EVENT, **_END, "seconds?": Amount},
}
_MANIFEST = {
    "run": str,
    "created": Moment,
    "suite": {"name": str, "version": (int, str), "title": str, "origin": str, "notices": [str]},
    "protocol": {
        "benchmark": Each(str),
        "tasks": dict,
        "condition": str,
        "variant": str,
        "limits": Each(Number),
        "settings": dict,
        "validators": Each(str),
        "executors": Each(str),
        "final_executors": Each(str),
        "metrics": Each(str),
        "order": [[str]],
    },
    "protocol_hash": str,
    "condition": str,
    "agents": [{"id": str, "name": str, "argument": str, "version": str}],
    "tasks": [str],
    "tasks_sha256": str,
    "epochs": int,
    "seed": int,
    "pictures": bool,
    "executors": Each({"version": str, "constants_sha256": str}),
    "versions": Each(str),
    "platform": {"python": str, "system": str, "machine": str},
    "shard?": ({"number": int, "count": int}, None),
    "job_limits?": {"timeout_s": Amount, "memory_mib": int},
    "merged?": [dict],
    "forced?": [{"field": str}],
}


def manifest_fault(manifest: Mapping[str, Any]) -> str:
    """What is wrong with the content of a run.json, in a few words; empty if nothing is."""
    if fault := _fault(manifest, _MANIFEST, ""):
        return fault
    if len(manifest["protocol"]["benchmark"]) != 1:
        return "protocol.benchmark has to name one benchmark"
    order = manifest["protocol"]["order"]
    if len(order) != 3:
        return "protocol.order has to list validators, executors and final executors"
    if not manifest["executors"].keys() >= {*order[1], *order[2]}:
        return "executors has to name every executor of protocol.order"
    agents = [agent["id"] for agent in manifest["agents"]]
    for name, ids in {"agents": agents, "tasks": manifest["tasks"]}.items():
        if len(set(ids)) < len(ids):
            return f"two of its {name} have one id"
    if manifest["epochs"] < 1 or len(agents) * len(manifest["tasks"]) * manifest["epochs"] > MAX_EPISODES:
        return f"it has to plan at most {MAX_EPISODES:,} episodes, in epochs from 1"
    shard = manifest.get("shard") or {"number": 1, "count": 1}
    return "" if 1 <= shard["number"] <= shard["count"] else "shard has to be one from 1 to its count"


def event_fault(event: Any) -> str:
    """What is wrong with a line of an episode's log; empty if nothing is."""
    kind = event.get("kind") if isinstance(event, dict) else None
    if not isinstance(kind, str):
        return "it has no kind"
    return _fault(event, _EVENTS.get(kind, _EVENT), "")


def end_fault(end: Any) -> str:
    """What is wrong with how the index says that an episode ended; empty if nothing is."""
    return _fault(end, _END, "")


def entry_fault(line: Any) -> str:
    """What is wrong with a line of the index; empty if nothing is."""
    return _fault(line, _ENTRY, "")


def evidence_fault(line: Any) -> str:
    """What is wrong with a line of evidence gathered after play; empty if nothing is."""
    return _fault(line, {**_EVIDENCE, "task": str, "error?": str}, "")


def _fault(value: Any, shape: Any, where: str) -> str:
    kind = type(shape)
    if kind is dict:
        return _object_fault(value, shape, where)
    if kind is list:
        return _each_fault(value, list, enumerate, shape[0], where)
    if kind is Each:
        return _each_fault(value, dict, dict.items, shape.shape, where)
    if kind is tuple:
        return _alternatives_fault(value, shape, where)
    return "" if _fits(value, shape) else _wrong(where, _WORDS[shape])


def _fits(value: Any, kind: Any) -> bool:
    if kind is int:
        return type(value) is int and abs(value) <= MAX_INTEGER
    if kind is Number or kind is Amount:
        if type(value) is float:  # always finite: the parser sees to that
            return kind is Number or abs(value) <= MAX_AMOUNT
        return type(value) is int and abs(value) <= (MAX_INTEGER if kind is Number else MAX_AMOUNT)
    if kind is Moment:
        return isinstance(value, str) and _is_moment(value)
    if kind is Reason:
        return isinstance(value, str) and value in _REASONS
    return value is None if kind is None else type(value) is kind


_REASONS = frozenset(reason.value for reason in EndReason)


def _is_moment(text: str) -> bool:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return moment.tzinfo is not None and moment.year >= 1970


def _object_fault(value: Any, fields: Mapping[str, Any], where: str) -> str:
    if not isinstance(value, dict):
        return _wrong(where, "an object")
    for name, shape in fields.items():
        plain = name.removesuffix("?")
        if plain in value:
            inner = value[plain]
            if type(inner) is shape and shape is not int:  # most fields: spares a call
                continue
            if fault := _fault(inner, shape, f"{where}.{plain}" if where else plain):
                return fault
        elif plain == name:
            return f"{where}.{name} is missing" if where else f"{name} is missing"
    return ""


def _each_fault(value: Any, kind: type, items: Any, shape: Any, where: str) -> str:
    if type(value) is not kind:
        return _wrong(where, "a list" if kind is list else "an object")
    for place, inner in items(value):
        if fault := _fault(inner, shape, f"{where}[{place!r:.40}]"):
            return fault
    return ""


def _alternatives_fault(value: Any, shapes: tuple[Any, ...], where: str) -> str:
    faults = [_fault(value, shape, where) for shape in shapes]
    if "" in faults:
        return ""
    # an object that was meant to be one of the alternatives is told what it lacks
    meant = [f for f, shape in zip(faults, shapes, strict=True) if type(shape) is dict]
    if isinstance(value, dict) and meant:
        return meant[0]
    return _wrong(where, " or ".join("an object" if isinstance(s, Mapping) else _WORDS[s] for s in shapes))


def _wrong(where: str, wanted: str) -> str:
    return f"{where or 'it'} has to be {wanted}"
