"""R.1: can the design be put together in the declared order, and does what is built stand on the way?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalkit_lmbuild.design import Design, Step
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.kernel import Field, approach, components, origin_ok, support_band
from evalkit_lmbuild.kernel.field import Pair
from evalkit_lmbuild.scoring.result import Result
from evalkit_lmbuild.scoring.structure import Targets, stability_targets


@dataclass(frozen=True)
class StepVerdict:
    """A step of the assembly: `failure` is None, "blocked" (no way in), "floating" or "falls over".

    `margin` is the least of min(1, θ/θ*) over the bodies that stand after the step, 0 of a failed step.
    """

    part: str
    failure: str | None
    direction: tuple[float, float, float] | None
    margin: float

    def as_dict(self, number: int) -> dict[str, object]:
        """The verdict for evidence, with the step's number from 0."""
        return {
            "step": number,
            "part": self.part,
            "reason": self.failure,
            "direction": list(self.direction) if self.direction else None,
            "margin": self.margin,
        }


def assembly_score(verdicts: Sequence[StepVerdict], parts: int) -> tuple[float, float]:
    """E (share of steps before the first failure) and S (mean margin), both of all parts; R.1 = ½E + ½S.

    Parts that the sequence leaves out count as steps that weren't taken.
    """
    done = next((i for i, verdict in enumerate(verdicts) if verdict.failure is not None), len(verdicts))
    return done / parts, sum(verdict.margin for verdict in verdicts) / parts


def assembly(design: Design, facts: ObjectFacts, field: Field, targets: Targets | None = None) -> Result:
    """R.1 on a field at 4 mm: steps in the declared order, each into what is placed already.

    A step fails if no straight approach exists, or if the body that the part joins doesn't reach the floor or
    doesn't stand. Failed parts stay where they are, for the steps after. No sequence: 0.
    """
    if not design.parts:
        return Result("R.1", 0.0, "the design is empty")
    steps = _first_mentions(design.sequence)
    if not steps:
        return Result("R.1", 0.0, "no assembly sequence is declared")
    targets = targets or stability_targets(facts.reference)
    verdicts = _Assembly(design, field, targets.tilt_deg).verdicts(steps)
    executable, supported = assembly_score(verdicts, len(design.parts))
    failed = [verdict.as_dict(i) for i, verdict in enumerate(verdicts) if verdict.failure is not None]
    sequenced = {step.part for step in steps}
    evidence = {
        "E": executable,
        "S": supported,
        "first_failure": failed[0] if failed else None,
        "steps": [verdict.as_dict(i) for i, verdict in enumerate(verdicts)],
        "not_in_sequence": [part.id for part in design.parts if part.id not in sequenced],
        "target_tilt_deg": targets.tilt_deg,
    }
    return Result("R.1", (executable + supported) / 2, evidence=evidence)


class _Assembly:
    """A design that is put together step by step."""

    def __init__(self, design: Design, field: Field, target_deg: float) -> None:
        self.design = design
        self.field = field
        self.target_deg = target_deg
        low, high = design.bounds
        self.floor_level = float(low[2]) + support_band(float(high[2] - low[2]), field.pitch)
        joined = [(j.parent, j.child) for j in design.joints if origin_ok(design, j)]
        self.edges: list[Pair] = [*field.touching(), *joined]

    def verdicts(self, steps: Sequence[Step]) -> list[StepVerdict]:
        """What becomes of each step."""
        placed: list[str] = []
        found = []
        for step in steps:
            found.append(self._verdict(step, placed))
            placed.append(step.part)
        return found

    def _verdict(self, step: Step, placed: Sequence[str]) -> StepVerdict:
        on_floor = self._reaches_floor([step.part])
        way = approach(self.field, step.part, placed, step.direction, on_floor)
        if way is None:
            return StepVerdict(step.part, "blocked", None, 0.0)
        bodies = components([*placed, step.part], self.edges)
        own = next(body for body in bodies if step.part in body)
        if not self._reaches_floor(own):
            return StepVerdict(step.part, "floating", way, 0.0)
        if self.field.tilt(own).angle_deg <= 0:
            return StepVerdict(step.part, "falls over", way, 0.0)
        return StepVerdict(step.part, None, way, min(self._margin(body) for body in bodies))

    def _reaches_floor(self, body: Sequence[str]) -> bool:
        return any(self.field.parts[part_id].world.bounds[0][2] <= self.floor_level for part_id in body)

    def _margin(self, body: Sequence[str]) -> float:
        if not self._reaches_floor(body):
            return 0.0
        return min(1.0, max(0.0, self.field.tilt(body).angle_deg / self.target_deg))


def _first_mentions(sequence: Sequence[Step]) -> list[Step]:
    """Steps without repetitions of a part."""
    return list({step.part: step for step in reversed(sequence)}.values())[::-1]
