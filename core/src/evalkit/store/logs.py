"""An episode's log as it lies on disk: its events, the chain that ties them, and what breaks it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalkit.errors import RecordError
from evalkit.jsonfiles import parse_json, read_file
from evalkit.store.shapes import event_fault
from evalkit.types import EpisodeKey, Event
from evalkit.types.record import is_reference

_MODEL_KINDS = ("model_request", "http_attempt", "model_response")


@dataclass(slots=True)
class LogReading:
    """What a log holds; `lines[i]` is the line number of `events[i]`.

    `chain` is the hash of the last event's line, `faults` are (line, message) pairs, and `torn` is the
    number of a last line that was not written to its end, or None.
    """

    events: list[Event] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    chain: str = ""
    faults: list[tuple[int, str]] = field(default_factory=list)
    torn: int | None = None

    @property
    def end(self) -> Event | None:
        """The event `episode_end`, if that is how the log ends."""
        if self.events and self.events[-1].get("kind") == "episode_end":
            return self.events[-1]
        return None

    @property
    def complete(self) -> bool:
        """Whether the log is whole and tells the episode to its end."""
        return not self.faults and self.torn is None and self.end is not None


def read_log(path: Path) -> LogReading:
    """Read a log and check its chain; RecordError if the file can't be read at all."""
    try:
        raw = read_file(path)
    except OSError as error:
        raise RecordError(f"can't read {path}: {error.strerror}") from error
    reading = LogReading()
    *whole, rest = raw.split(b"\n")
    for number, line in enumerate(whole, 1):
        _take(reading, number, line)
    if rest:
        reading.torn = len(whole) + 1
    return reading


def _take(reading: LogReading, number: int, line: bytes) -> None:
    previous, reading.chain = reading.chain, hashlib.sha256(line).hexdigest()
    try:
        event = parse_json(line)
    except ValueError:
        reading.faults.append((number, "not JSON"))
        return
    if fault := event_fault(event):
        reading.faults.append((number, f"not an event: {fault}"))
        return
    if event.get("prev") != previous:
        reading.faults.append((number, "its `prev` is not the hash of the line before it"))
    if event.get("seq") != number - 1:
        reading.faults.append((number, f"seq is {event.get('seq')!r}, expected {number - 1}"))
    reading.events.append(event)
    reading.lines.append(number)


def episode_path(folder: Path, key: EpisodeKey) -> Path:
    """The log of an episode's last attempt in a run folder."""
    return folder / "episodes" / f"{key.file_stem()}.jsonl"


def attempt_path(path: Path, attempt: int) -> Path:
    """Where the log of an earlier attempt (from 1) at the episode of `path` is kept."""
    return path.with_suffix(f".attempt{attempt}.jsonl")


def earlier_attempts(path: Path) -> list[Path]:
    """The logs of earlier attempts at the episode of `path`, in order."""
    found: list[Path] = []
    while (earlier := attempt_path(path, len(found) + 1)).exists():
        found.append(earlier)
    return found


def counted(events: Iterable[Event]) -> dict[str, float]:
    """What an episode spent: the counters of its end, or else what its events show.

    Meters are known only at an episode's end; calls, tool calls, executions, errors, and what the model's
    answers or an agent's own program say of tokens, also before.
    """
    turns: set[int] = set()
    spent: dict[str, float] = {"calls": 0, "tool_calls": 0, "executions": 0}
    for event in events:
        kind = event["kind"]
        if kind == "episode_end" and event.get("counters"):
            return dict(event["counters"])
        if kind == "action":
            turns.add(event["turn"])
            spent["tool_calls"] += 1
        elif kind == "execution":
            spent["executions"] += 1
        elif kind == "result" and not event["ok"]:
            spent["errors"] = spent.get("errors", 0) + 1
        elif kind in ("http_attempt", "model_response"):
            spent = added(spent, _counted_of_model(event))
        elif kind == "agent_process":  # its usage is the sum until then
            spent |= event.get("usage", {})
    spent["calls"] = len(turns)
    return spent


def _counted_of_model(event: Event) -> dict[str, float]:
    if event["kind"] == "http_attempt":
        return {"http_attempts": 1}
    if "error" in event:
        return {}
    usage = event.get("usage", {})
    if event.get("cache") == "hit":
        spent: dict[str, float] = {"llm_calls": 1, "cache_hits": 1}
        names = {"input": "reused_input_tokens", "output": "reused_output_tokens"}
    else:
        spent = {"llm_calls": 1}
        names = {name: f"{name}_tokens" for name in ("input", "output", "cached", "reasoning")}
    spent |= {counter: usage[name] for name, counter in names.items() if usage.get(name)}
    if tokens := (usage.get("input") or 0) + (usage.get("output") or 0):
        spent["tokens"] = tokens
    return spent


def added(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """The sum of two sets of counters."""
    return {name: first.get(name, 0) + second.get(name, 0) for name in [*dict.fromkeys([*first, *second])]}


def blob_references(event: Event) -> Iterator[tuple[str, int | None]]:
    """(sha256, size or None) of every blob that an event refers to.

    Only the places where the core writes references count: an agent's arguments may look like one.
    """
    data = event.get("data")
    candidate = event.get("candidate")
    values = list(event.values())
    if event["kind"] in ("observation", "result") and isinstance(data, dict):
        values += data.values()
    if isinstance(candidate, dict):
        values.append(candidate["data"])
        yield from ((sha256, None) for sha256 in candidate.get("files", {}).values())
    for value in values:
        if is_reference(value):
            yield value["blob"], value["size"]
    if event["kind"] in _MODEL_KINDS:
        hashes = (event.get(name) for name in ("request", "response", "raw_request", "raw_response"))
        yield from ((sha256, None) for sha256 in hashes if isinstance(sha256, str))
    for item in [*event.get("images", ()), *event.get("artifacts", ())]:
        if item["blob"] is not None:
            yield item["blob"], None
