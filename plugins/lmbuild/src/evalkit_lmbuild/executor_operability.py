"""Does the object work? R.3 by one engine, under both protocols of the simulation side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Candidate, Execution, Task, UsageError
from evalkit_lmbuild.candidates import candidate_design
from evalkit_lmbuild.executor_geometry import as_json, no_design
from evalkit_lmbuild.formats import DesignError
from evalkit_lmbuild.scoring.result import Result
from evalkit_lmbuild.settings import settings_of
from evalkit_lmbuild.simulation.errors import EngineMissingError
from evalkit_lmbuild.simulation.requests import Engine, Protocol
from evalkit_lmbuild.specs import OPERABILITY, OPERABILITY_PYBULLET
from evalkit_lmbuild.tasks import facts_of

PROTOCOLS: tuple[Protocol, ...] = ("inset", "strict")
NO_PYBULLET = "PyBullet isn't installed: pip install 'evalkit-lmbuild[pybullet]' (Python 3.11)"


def warm() -> None:
    """Compile the loops of the kernel and of the human checks before workers start."""
    from evalkit_lmbuild.kernel import warm as warm_kernel
    from evalkit_lmbuild.operability.spaces import warm as warm_spaces

    warm_kernel()
    warm_spaces()


class OperabilityExecutor:
    """Capabilities of a design, its motions simulated by MuJoCo."""

    engine: Engine = "mujoco"
    id = OPERABILITY.id

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._scored: Protocol = settings_of(settings).simulation

    def constants(self) -> Mapping[str, Any]:
        """Constants of the capabilities and of the simulation, the engine's version, what is scored."""
        from evalkit_lmbuild.operability.constants import as_dict

        try:
            return {"scored": self._scored, **as_dict(self.engine)}
        except ImportError as error:
            if error.name != "pybullet":
                raise
            raise UsageError(NO_PYBULLET) from error

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """R.3 of the protocol that is scored, and of each protocol what differs between them."""
        results: dict[Protocol, Result]
        try:
            results = self._results(task, candidate)
        except DesignError as error:
            results = dict.fromkeys(PROTOCOLS, no_design("R.3", error))
        except EngineMissingError as error:
            raise UsageError(NO_PYBULLET) from error
        data: dict[str, Any] = {
            **as_json(results[self._scored]),
            "engine": self.engine,
            "protocol": self._scored,
            **{str(protocol): _in_short(result) for protocol, result in results.items()},
        }
        return Execution(None, data, (), self.id)

    def _results(self, task: Task, candidate: Candidate) -> dict[Protocol, Result]:
        from evalkit_lmbuild.operability import Operability
        from evalkit_lmbuild.scoring.computed import Scorer
        from evalkit_lmbuild.simulation import Settings

        whole = Operability(Scorer(candidate_design(task, candidate), facts_of(task)))
        return {each: whole.result(Settings(engine=self.engine, protocol=each)) for each in PROTOCOLS}


class PyBulletOperabilityExecutor(OperabilityExecutor):
    """The same, simulated by PyBullet."""

    engine: Engine = "pybullet"
    id = OPERABILITY_PYBULLET.id


def _in_short(result: Result) -> dict[str, Any]:
    """A protocol's score, those of the capabilities, and its simulation."""
    recorded = as_json(result)
    capabilities = recorded["evidence"].get("capabilities", [])
    return {
        "score": recorded["score"],
        "reason": recorded["reason"],
        "capabilities": {
            each["id"]: {key: each[key] for key in ("kind", "score", "why")} for each in capabilities
        },
        "simulation": recorded["evidence"].get("simulation"),
    }
