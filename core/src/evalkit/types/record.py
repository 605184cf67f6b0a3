"""An episode as its record tells it: events, turns, scores."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.canonical import canonical_json

Event = Mapping[str, Any]
"""One line of an episode's log: `seq`, `kind`, `time`, `prev` and what the kind brings."""


@dataclass(frozen=True, slots=True, order=True)
class EpisodeKey:
    """Which episode: agent × task × condition × epoch."""

    agent: str
    task: str
    condition: str
    epoch: int

    def text(self) -> str:
        """The key as people read and type it."""
        return f"{self.agent}/{self.task}/{self.condition}/{self.epoch}"

    def digest(self) -> str:
        """Ten hex digits that tell keys apart in file names."""
        return hashlib.sha256(self._canonical()).hexdigest()[:10]

    def file_stem(self) -> str:
        """File name without ending: a readable slug of the task and the digest."""
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", self.task).strip("-")[:60] or "task"
        return f"{slug}-{self.digest()}"

    def seed(self, run_seed: int) -> int:
        """The episode's seed: the same for every agent and condition."""
        payload = canonical_json([run_seed, self.task, self.epoch])
        return int.from_bytes(hashlib.sha256(payload).digest()[:6], "big")

    def as_dict(self) -> dict[str, Any]:
        """The key as JSON."""
        return {"agent": self.agent, "task": self.task, "condition": self.condition, "epoch": self.epoch}

    def _canonical(self) -> bytes:
        return canonical_json([self.agent, self.task, self.condition, self.epoch])


def is_reference(value: Any) -> bool:
    """Whether a recorded value stands for a blob."""
    return isinstance(value, dict) and value.keys() == {"blob", "size", "media_type"}


@dataclass(slots=True)
class Turn:
    """One call and all that followed from it; each field is an event or None."""

    number: int
    action: Event
    result: Event | None = None
    violations: Event | None = None
    executions: list[Event] = field(default_factory=list)
    observation: Event | None = None

    @property
    def proposed(self) -> bool:
        """The call was meant as a design (legal or not)."""
        return self.violations is not None or (
            self.result is not None and self.result.get("candidate") is not None
        )

    @property
    def valid(self) -> bool:
        """The call was a design and the validators let it pass."""
        return self.proposed and (self.violations is None or self.violations["valid"])

    @property
    def succeeded(self) -> bool:
        """An execution of this call's candidate succeeded."""
        return any(e.get("success") is True for e in self.executions)


@dataclass(slots=True)
class Episode:
    """One finished episode, read from its record.

    `load` fetches a blob by its reference (`{"blob": sha256, …}`) or returns an inline value as it is.
    `gathered` is the evidence that executors found after play, by task, candidate and executor.
    """

    key: EpisodeKey
    events: list[Event]
    end: Event
    load: Callable[[Any], Any]
    gathered: Mapping[tuple[str, str, str], Event] = field(default_factory=dict)

    @property
    def counters(self) -> Mapping[str, float]:
        """What was spent, by counter."""
        counters: Mapping[str, float] = self.end["counters"]
        return counters

    def of(self, kind: str) -> Iterator[Event]:
        """Events of one kind, in order."""
        return (e for e in self.events if e["kind"] == kind)

    def turns(self) -> list[Turn]:
        """The calls in order, each with its result, verdict, executions and feedback."""
        turns: list[Turn] = []
        for event in self.events:
            kind = event["kind"]
            if kind == "action":
                turns.append(Turn(len(turns) + 1, event))
            elif turns:
                turn = turns[-1]
                if kind == "result":
                    turn.result = event
                elif kind == "violation":
                    turn.violations = event
                elif kind == "execution":
                    turn.executions.append(event)
                elif kind == "observation":
                    turn.observation = event
        return turns

    def final_design(self) -> Event | None:
        """The last complete design as recorded: `sha256`, `data`, `files`; None if there was none."""
        for event in reversed(self.events):
            if event["kind"] == "result" and event.get("candidate") is not None:
                found: Event = event["candidate"]
                return found
        return None

    def final_candidate(self) -> Any:
        """JSON of the last complete design, or None."""
        design = self.final_design()
        return None if design is None else self.load(design["data"])

    def evidence(self, executor: str) -> Event | None:
        """What an executor found about the last complete design, in the loop or after play."""
        design = self.final_design()
        if design is None:
            return None
        after = self.gathered.get((self.key.task, design["sha256"], executor))
        if after is not None:
            return after
        for event in reversed(self.events):
            if event["kind"] == "execution" and event["executor"] == executor:
                return event if event["candidate_sha256"] == design["sha256"] else None
        return None


#: Shared by all scores without evidence: a long run holds many.
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's value for an episode or a run.

    `status` is `ok`, `not_applicable` (outside the denominator), `skipped`, `degraded`, `undetermined`
    or `unscored`; `value` is None unless `ok` or `degraded`. For run metrics, `numerator` and
    `denominator` are counts where the value is their ratio, and `low`, `high` an interval of the
    metric's own.
    """

    value: float | None
    status: str = "ok"
    evidence: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    numerator: float | None = None
    denominator: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def not_applicable(cls, why: str = "") -> Score:
        """Outside the metric's denominator."""
        return cls(None, "not_applicable", {"why": why} if why else {})
