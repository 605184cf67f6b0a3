"""An episode as the protocol counts it: one outcome per call, read from the record's events alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalkit import Episode, Turn
from evalkit_polybridge.designs import bridge_from_json
from evalkit_polybridge.graph import Bridge

Outcome = Literal["V", "F", "S", "?"]

#: The code of a run that failed although every rule was obeyed.
RUN_FALSE_AFTER_VALID = "RUN_FALSE_AFTER_VALID"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the agent and what became of it.

    `outcome` is V (refused: unreadable or against a rule), F (run, not crossed), S (run, crossed) or ?
    (the play broke off before there was an outcome). `codes` names every kind of mistake once, in the order
    of the record, and leaves out mere advice. `execution` is the event of the run, if there was one.
    """

    number: int
    outcome: Outcome
    codes: tuple[str, ...]
    execution: Mapping[str, Any] | None
    _turn: Turn = field(repr=False)
    _load: Callable[[Any], Any] = field(repr=False, compare=False)

    @property
    def ran(self) -> bool:
        """The design was legal and entered physics."""
        return self.outcome in ("F", "S")

    @property
    def turn(self) -> Turn:
        """The turn of the record that the call is."""
        return self._turn

    @property
    def reply(self) -> str:
        """The text that was sent; empty if the call brought none."""
        return str(self._load(self._turn.action["arguments"]).get("text", ""))

    @property
    def design(self) -> Bridge | None:
        """The design, also of a refused call; None if the reply could not be read as one."""
        candidate = (self._turn.result or {}).get("candidate")
        return None if candidate is None else bridge_from_json(self._load(candidate["data"]))

    @property
    def cost(self) -> float | None:
        """Material cost of the design in dollars, worked out from the recorded design."""
        design = self.design
        return None if design is None else design.cost()

    @property
    def evidence(self) -> Mapping[str, Any]:
        """What the executor measured; empty without a run."""
        if self.execution is None:
            return {}
        data: Mapping[str, Any] = self._load(self.execution["data"])
        return data


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The calls of an episode in order; as text one letter each, for example `VFS`."""

    calls: tuple[Call, ...]

    def __str__(self) -> str:
        return "".join(call.outcome for call in self.calls)

    @property
    def attempts(self) -> tuple[Call, ...]:
        """The calls whose design entered physics."""
        return tuple(call for call in self.calls if call.ran)

    @property
    def success(self) -> Call | None:
        """The call that succeeded, or None."""
        return next((call for call in self.calls if call.outcome == "S"), None)

    def valid_at(self, k: int) -> bool:
        """Whether one of the first `k` calls entered physics."""
        return any(call.ran for call in self.calls[:k])

    def success_at(self, k: int) -> bool:
        """Whether one of the first `k` calls succeeded."""
        return "S" in str(self)[:k]

    def recovery_at(self, k: int) -> bool | None:
        """Whether a success followed a failed run within `k` calls; None if there was nothing to recover.

        The denominator holds episodes with a failed run before call `k`; since every attempt takes a call,
        such a run also lies before physics attempt `k`. Several failed runs count once.
        """
        outcomes = str(self)[:k]
        first_failure = outcomes[: k - 1].find("F")
        return None if first_failure < 0 else "S" in outcomes[first_failure:]

    def first_attempt_success(self) -> bool | None:
        """Whether the first design that entered physics succeeded; None if none did."""
        return self.attempts[0].outcome == "S" if self.attempts else None

    def counters(self) -> dict[str, int]:
        """The protocol's counters by their names in its records; `reached_physics` is 0 or 1.

        Validation-repair calls ended in a parse, geometry or validation failure; physics-repair calls
        answered the feedback on a failed run, which is what the call before them got.
        """
        outcomes, calls = str(self), len(self.calls)
        return {
            "rounds_used": calls,
            "llm_calls_used": calls,
            "physics_attempts": len(self.attempts),
            "validation_repair_calls": outcomes.count("V"),
            "physics_repair_calls": outcomes[:-1].count("F"),
            "reached_physics": int(bool(self.attempts)),
        }


def read_trajectory(episode: Episode) -> Trajectory:
    """The trajectory of an episode, from its events; calls that the budget refused are none."""
    return trajectory_of(episode.turns(), episode.load)


def trajectory_of(turns: Iterable[Turn], load: Callable[[Any], Any]) -> Trajectory:
    """The trajectory of an episode's turns; `load` gives the value behind what stands for a blob."""
    counted = [turn for turn in turns if _mistake(turn, load) != "OVER_BUDGET"]
    return Trajectory(tuple(_call(number, turn, load) for number, turn in enumerate(counted, 1)))


def _call(number: int, turn: Turn, load: Callable[[Any], Any]) -> Call:
    refusal = _refusal_codes(turn, load)
    if refusal:
        return Call(number, "V", refusal, None, turn, load)
    if not turn.executions:
        return Call(number, "?", (), None, turn, load)
    # The verdict is the first executor's: it is the one that the agent hears of and that ends the episode.
    execution = turn.executions[0]
    if execution["success"] is True:
        return Call(number, "S", (), execution, turn, load)
    return Call(number, "F", (RUN_FALSE_AFTER_VALID,), execution, turn, load)


def _refusal_codes(turn: Turn, load: Callable[[Any], Any]) -> tuple[str, ...]:
    """Why a call was refused, by the rules or because it brought no design at all; empty if it wasn't."""
    if turn.violations is None:
        mistake = _mistake(turn, load)
        return (mistake,) if mistake else ()
    listed = turn.violations["violations"]
    return tuple(dict.fromkeys(v["code"] for v in listed if not v.get("advisory")))


def _mistake(turn: Turn, load: Callable[[Any], Any]) -> str:
    """The code of a call that never reached the environment (unknown tool, wrong arguments), or nothing."""
    if turn.result is None or turn.result["ok"]:
        return ""
    return str(load(turn.result["data"])["code"]).upper()
