"""R.3: does the object work? The mean over its capabilities of their weakest links."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from evalkit_lmbuild.kernel import KernelError
from evalkit_lmbuild.operability.capability import Capability
from evalkit_lmbuild.operability.moving import Trial, motion_capability, simulation_evidence, trials
from evalkit_lmbuild.operability.predicates import human_capability
from evalkit_lmbuild.operability.subject import Subject
from evalkit_lmbuild.operability.subsystems import required_capability, subsystem_capability
from evalkit_lmbuild.scoring.computed import Scorer
from evalkit_lmbuild.scoring.lacking import lacking
from evalkit_lmbuild.scoring.result import Result, not_applicable
from evalkit_lmbuild.simulation import Actuate, MotionResult, Roll, Settings, SimulationResult, simulate

METRIC = "R.3"


class Operability:
    """Operability of one design under any number of engines and protocols: what is still is judged once."""

    def __init__(self, scorer: Scorer) -> None:
        self._subject = Subject(scorer)

    def result(self, settings: Settings) -> Result:
        """R.3 with every capability and the simulation as evidence.

        A design without parts or without any role scores 0 (a generator's without roles: doesn't apply), as
        does one that can't be put on the lattice. `EngineMissingError` if the engine isn't installed,
        `PredicateError` for a human check that is wrong.
        """
        design = self._subject.design
        if not design.parts:
            return Result(METRIC, 0.0, "the design is empty")
        if why := lacking(METRIC, design):
            return not_applicable(METRIC, why)
        if not any(part.role for part in design.parts):
            return Result(METRIC, 0.0, "no part has a role")
        try:
            moving, simulated = self._moved(settings)
            found = [*self._subsystems, *moving, *self._human, *self._required]
        except KernelError as error:
            return Result(METRIC, 0.0, str(error))
        if not found:
            return not_applicable(METRIC, "the object is claimed to do nothing")
        evidence: dict[str, object] = {"capabilities": [capability.as_dict() for capability in found]}
        reason = ""
        if simulated is not None:
            evidence["simulation"] = simulation_evidence(simulated, self._trials)
            if not simulated.settled.rests:
                reason = f"{simulated.settled.status}: {simulated.settled.reason}; no motion counts"
        score = sum(capability.score for capability in found) / len(found)
        return Result(METRIC, score, reason, evidence)

    @cached_property
    def _subsystems(self) -> list[Capability]:
        each = (subsystem_capability(self._subject, given) for given in self._subject.facts.subsystems)
        return [capability for capability in each if capability is not None]

    @cached_property
    def _human(self) -> list[Capability]:
        return [human_capability(self._subject, check) for check in self._subject.facts.human_checks]

    @cached_property
    def _required(self) -> list[Capability]:
        capability = required_capability(self._subject)
        return [capability] if capability is not None else []

    @cached_property
    def _trials(self) -> list[Trial]:
        return trials(self._subject)

    def _moved(self, settings: Settings) -> tuple[list[Capability], SimulationResult | None]:
        """The capabilities of claimed motions; no simulation where none can be asked of it.

        Claims that ask for the same are simulated once.
        """
        requests = tuple(dict.fromkeys(trial.request for trial in self._trials if trial.request is not None))
        simulated = None
        answers: dict[Actuate | Roll | None, MotionResult] = {}
        if requests:
            settings = replace(settings, free_standing=self._subject.facts.free_standing)
            simulated = simulate(self._subject.design, self._subject.field, requests, settings)
            answers = dict(zip(requests, simulated.motions, strict=True))
        return [motion_capability(trial, answers.get(trial.request)) for trial in self._trials], simulated


def operability(scorer: Scorer, settings: Settings) -> Result:
    """R.3 of a design under one engine and protocol; see `Operability.result`."""
    return Operability(scorer).result(settings)
