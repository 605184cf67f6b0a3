"""Two tellings of one episode, the recorded and the replayed: the first thing in which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalkit.errors import EndReason
from evalkit.types import Episode, Event

_COMPARED = ("result", "violation", "execution", "observation")
_WALKS_COUNTERS = ("calls", "tool_calls", "executions", "errors")
_SHOWN_KEYS = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing in an episode that came out otherwise: at which call (0: the start), and what.

    `keys` are paths to what else differs in the same answer.
    """

    episode: str
    call: int
    what: str
    recorded: str
    replayed: str
    keys: tuple[str, ...] = ()

    def text(self) -> str:
        """The difference in one line."""
        keys = f" (also {', '.join(self.keys)})" if self.keys else ""
        return f"{self.episode}: call {self.call}: {self.what}: {self.recorded} → {self.replayed}{keys}"


class _Answer(NamedTuple):
    """What the environment, a validator or an executor said to a call, as far as a replay must repeat it."""

    call: int
    kind: str
    fields: Mapping[str, Any]


class _Leaf(NamedTuple):
    """Parts of two JSON values that differ, and the path to them."""

    path: str
    a: Any
    b: Any


def first_difference(old: Episode, new: Episode, tolerance: float) -> Difference | None:
    """The first difference between the recorded and the replayed episode, or None.

    Floats may differ by `tolerance`, relatively. Hashes have to be equal; pictures and durations don't
    count.
    """
    before, after = list(_answers(old)), list(_answers(new))
    for a, b in zip(before, after, strict=False):
        if (a.call, a.kind) != (b.call, b.kind):
            return _difference(old, a.call, "next event", a.kind, f"{b.kind} at call {b.call}")
        leaves = list(_leaves("", a.fields, b.fields, tolerance))
        if leaves:
            return _told(old, a, leaves)
    shorter = min(len(before), len(after))
    if len(before) > shorter:
        return _difference(old, before[shorter].call, "next event", before[shorter].kind, _end_text(new.end))
    if len(after) > shorter:
        return _difference(old, after[shorter].call, "next event", _end_text(old.end), after[shorter].kind)
    calls = before[-1].call if before else 0
    leaf = next(_leaves("", _walks(old.end), _walks(new.end), 0.0), None)
    if leaf is not None:
        return _difference(old, calls, f"counter {leaf.path}", leaf.a, leaf.b)
    if _end_reason(old.end) not in (None, new.end["reason"]):
        return _difference(old, calls, "end", _end_text(old.end), _end_text(new.end))
    return None


def _answers(episode: Episode) -> Iterator[_Answer]:
    call = 0
    for event in episode.events:
        if event["kind"] == "action":
            call += 1
        elif event["kind"] in _COMPARED:
            yield _Answer(call, event["kind"], _essence(event, episode))


def _essence(event: Event, episode: Episode) -> dict[str, Any]:
    if event["kind"] == "violation":
        return {"valid": event["valid"], "violations": event["violations"]}
    if event["kind"] == "execution":
        return {"success": event["success"], "data": episode.load(event["data"])}
    essence: dict[str, Any] = {name: event[name] for name in ("ok", "state") if name in event}
    if event.get("candidate"):
        essence["candidate"] = episode.load(event["candidate"]["data"])
        essence["files"] = event["candidate"].get("files", {})
    essence["text"] = episode.load(event.get("text", ""))
    essence["data"] = {name: episode.load(value) for name, value in event.get("data", {}).items()}
    return essence


def _told(old: Episode, answer: _Answer, leaves: Sequence[_Leaf]) -> Difference:
    """A difference in one answer. Of a state only the hash is recorded; what else differs may explain it."""
    state = next((leaf for leaf in leaves if leaf.path == "state"), None)
    first = state or leaves[0]
    others = tuple(leaf.path for leaf in leaves if leaf is not first)
    what = "state hash" if state else f"{answer.kind} {first.path}"
    return _difference(old, answer.call, what, first.a, first.b, others[:_SHOWN_KEYS])


def _leaves(path: str, a: Any, b: Any, tolerance: float) -> Iterator[_Leaf]:
    """The smallest parts in which two JSON values differ."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for name in dict.fromkeys([*a, *b]):
            below = f"{path}.{name}" if path else str(name)
            if name in a and name in b:
                yield from _leaves(below, a[name], b[name], tolerance)
            else:
                yield _Leaf(below, a.get(name, "nothing"), b.get(name, "nothing"))
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
        for number, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _leaves(f"{path}[{number}]", x, y, tolerance)
    elif not _equal(a, b, tolerance):
        yield _Leaf(path, a, b)


def _equal(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= tolerance * max(abs(a), abs(b))
    return bool(a == b)


def _end_reason(end: Event) -> str | None:
    """Why play ended, as far as a replay must repeat it.

    None for a limit of what isn't replayed: time, and what the agent spent outside the walk (tokens, say).
    """
    counter = end.get("detail", "").partition(": ")[0]
    return None if end["reason"] == EndReason.LIMIT and not _is_walks(counter) else str(end["reason"])


def _walks(end: Event) -> dict[str, float]:
    """The counters that the walk keeps itself; an agent's own (model calls, tokens) aren't replayed."""
    return {name: value for name, value in end["counters"].items() if _is_walks(name)}


def _is_walks(counter: str) -> bool:
    return counter in _WALKS_COUNTERS or counter.startswith("meter:")


def _end_text(end: Event) -> str:
    detail = f" ({end['detail']})" if end.get("detail") else ""
    return f"end: {end['reason']}{detail}"


def _difference(
    episode: Episode, call: int, what: str, recorded: object, replayed: object, keys: tuple[str, ...] = ()
) -> Difference:
    return Difference(episode.key.text(), call, what, _short(recorded), _short(replayed), keys)


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"
