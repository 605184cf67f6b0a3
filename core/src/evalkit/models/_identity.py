"""What makes two requests the same, and where two requests differ."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.models._types import CallKey, Message, ModelRequest
from evalkit.types import Image

_CONTEXT = 24


def identity(source: Mapping[str, str], request: ModelRequest, key: CallKey) -> dict[str, Any]:
    """The model (`ModelClient.source`), the request and the call as JSON; pictures as their SHA-256."""
    found: dict[str, Any] = {
        "source": dict(source),
        "call": key.as_dict(),
        "controls": request.controls.given(),
        "tools": [
            {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}
            for t in request.tools
        ],
        "messages": [_message(message) for message in request.messages],
    }
    if request.strict_tools:
        found["strict_tools"] = True
    return found


def _message(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "text": message.text}
    if message.images:
        found["images"] = _images(message.images)
    if message.tool_calls:
        found["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.raw_arguments} for call in message.tool_calls
        ]
    if message.tool_results:
        found["tool_results"] = [
            {"call_id": r.call_id, "name": r.name, "text": r.text, "images": _images(r.images)}
            for r in message.tool_results
        ]
    if message.opaque:
        found["opaque"] = dict(message.opaque)
    return found


def _images(images: Sequence[Image]) -> list[dict[str, str]]:
    return [
        {"name": i.name, "media_type": i.media_type, "sha256": hashlib.sha256(i.data()).hexdigest()}
        for i in images
    ]


def differences(ours: Any, theirs: Any) -> list[str]:
    """Where two identities differ, in words: `controls.temperature: 0.2, there 0.5`."""
    return list(_walk(ours, theirs, ""))


def distance(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> tuple[int, int]:
    """How far two identities are apart: parts that differ, and messages that aren't shared."""
    pairs = zip(ours["messages"], theirs["messages"], strict=False)
    shared = next((i for i, (a, b) in enumerate(pairs) if a != b), None)
    longest = max(len(ours["messages"]), len(theirs["messages"]))
    common = min(len(ours["messages"]), len(theirs["messages"])) if shared is None else shared
    parts = sum(ours.get(name) != theirs.get(name) for name in {*ours, *theirs})
    return parts, longest - common


def _walk(ours: Any, theirs: Any, where: str) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in dict.fromkeys([*ours, *theirs]):
            path = f"{where}.{name}" if where else name
            if name not in theirs:
                yield f"{path}: {_short(ours[name])}, there nothing"
            elif name not in ours:
                yield f"{path}: nothing, there {_short(theirs[name])}"
            else:
                yield from _walk(ours[name], theirs[name], path)
    elif isinstance(ours, list) and isinstance(theirs, list):
        for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
            yield from _walk(a, b, f"{where}[{number}]")
        if len(ours) != len(theirs):
            yield f"{where}: {len(ours)} entries, there {len(theirs)}"
    elif isinstance(ours, str) and isinstance(theirs, str) and ours != theirs:
        yield f"{where}: {_text_difference(ours, theirs)}"
    elif ours != theirs or type(ours) is not type(theirs):
        yield f"{where}: {_short(ours)}, there {_short(theirs)}"


def _text_difference(ours: str, theirs: str) -> str:
    if len(ours) <= 2 * _CONTEXT and len(theirs) <= 2 * _CONTEXT:
        return f"{ours!r}, there {theirs!r}"
    pairs = zip(ours, theirs, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
    start = max(0, at - _CONTEXT // 2)
    a, b = ours[start : at + _CONTEXT], theirs[start : at + _CONTEXT]
    return f"from character {at} on: {a!r}, there {b!r}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
