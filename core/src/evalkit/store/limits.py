"""Whether logs keep the limits of their protocol, as far as a record alone can tell.

Tokens, cost and time are known only once they are spent, so that an honest episode may exceed those limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evalkit.store.logs import LogReading
from evalkit.types import Event


@dataclass(frozen=True, slots=True)
class _Served:
    """A call beyond the limit of tool calls that was carried out."""

    file: str
    line: int
    tool: str
    number: int


@dataclass(slots=True)
class LimitCheck:
    """Looks at one log after the other.

    Tools may be exempt from the limit of tool calls, which no record says; but one that this limit refused
    once isn't, and can't have been carried out beyond it elsewhere.
    """

    limits: Mapping[str, float]
    _served: list[_Served] = field(default_factory=list)
    _refused: set[str] = field(default_factory=set)

    def look(self, file: str, reading: LogReading) -> Iterator[str]:
        """What an episode counted beyond its limits, a message each."""
        spent = dict(reading.end["counters"]) if reading.end is not None else {}
        turns = {event["turn"] for event in reading.events if event["kind"] == "action"}
        spent["calls"] = max(spent.get("calls", 0), len(turns))
        answers = sum(event["kind"] == "model_response" and "error" not in event for event in reading.events)
        spent["llm_calls"] = max(spent.get("llm_calls", 0), answers)
        for name, limit in self.limits.items():
            strict = name in ("calls", "llm_calls", "executions") or name.startswith("meter:")
            if strict and spent.get(name, 0) > limit:
                yield f"limit {name} exceeded: {spent[name]:g} of {limit:g}"
        self._look_at_calls(file, reading)

    def tool_calls(self) -> Iterator[tuple[str, int, str]]:
        """After the last log: file, line and message of calls carried out beyond the limit of tool calls."""
        for call in self._served:
            if call.tool in self._refused:
                which = f"{call.number} of {self.limits['tool_calls']:g}"
                message = f"limit tool_calls exceeded: {call.tool} was carried out as call {which}"
                yield call.file, call.line, message

    def _look_at_calls(self, file: str, reading: LogReading) -> None:
        limit = self.limits.get("tool_calls")
        tool, number = "", 0
        for line, event in zip(reading.lines, reading.events, strict=True):
            if event["kind"] == "action":
                tool, number = event["tool"], number + 1
            elif event["kind"] == "result" and limit is not None and number > limit:
                if event["ok"]:
                    self._served.append(_Served(file, line, tool, number))
                elif _over_budget(event):
                    self._refused.add(tool)


def _over_budget(result: Event) -> bool:
    data = result.get("data", {})
    words = str(data.get("message") or data.get("error", "")).replace("_", " ")
    return data.get("code") == "over_budget" and "tool calls" in words
