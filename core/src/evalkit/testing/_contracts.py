"""What classes of a plugin return is of the right type: looked at in every episode that the kit plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.testing._finding import Broken, short
from evalkit.types import Candidate, Execution, Observation, StepResult, Task, Violation


def checked_result(method: str, result: Any) -> StepResult:
    """What `step` or `collect` returned; Broken if it isn't a StepResult with an observation."""
    if not isinstance(result, StepResult):
        raise Broken(f"{method} gives {type(result).__name__}, wanted a StepResult")
    checked_observation(method, result.observation)
    if result.candidate is not None and not isinstance(result.candidate, Candidate):
        raise Broken(f"{method} gives {type(result.candidate).__name__} as candidate, wanted a Candidate")
    checked_violations(method, result.violations)
    return result


def checked_observation(method: str, observation: Any) -> Observation:
    """What a method of an environment returned; Broken if it isn't an Observation."""
    if not isinstance(observation, Observation):
        raise Broken(f"{method} gives {type(observation).__name__}, wanted an Observation")
    return observation


def checked_violations(name: str, answer: Any) -> list[Violation]:
    """What a validator returned; Broken if it isn't a list of violations with code and message."""
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise Broken(f"{name} gives {type(answer).__name__}, wanted a list of Violations")
    for violation in answer:
        if not isinstance(violation, Violation):
            raise Broken(f"{name} gives {type(violation).__name__}, wanted a Violation")
        if not violation.code or not violation.message:
            raise Broken(f"{name}: a violation without code or message: {short(violation)}")
    return list(answer)


def checked_execution(name: str, execution: Any) -> Execution:
    """What an executor returned; Broken if it isn't an Execution under the executor's own name."""
    if not isinstance(execution, Execution):
        raise Broken(f"{name} gives {type(execution).__name__}, wanted an Execution")
    if execution.success is not None and not isinstance(execution.success, bool):
        raise Broken(f"{name}: success is {execution.success!r}, wanted True, False or None")
    if execution.executor not in ("", name):
        raise Broken(f"{name}: says that it is {execution.executor!r}")
    return execution


class CheckedValidator:
    """A validator whose answers are checked."""

    def __init__(self, name: str, validator: Any) -> None:
        self._name, self._validator = name, validator

    def validate(self, task: Task, candidate: Candidate) -> Sequence[Violation]:
        """Passed on."""
        return checked_violations(self._name, self._validator.validate(task, candidate))


class CheckedExecutor:
    """An executor whose evidence is checked, and kept in a list."""

    def __init__(self, name: str, executor: Any, kept: list[Execution]) -> None:
        self._name, self._executor, self._kept = name, executor, kept

    def constants(self) -> Mapping[str, Any]:
        """Passed on."""
        constants: Mapping[str, Any] = self._executor.constants()
        return constants

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """Passed on."""
        found = self._executor.execute(task, candidate, pictures=pictures)
        self._kept.append(checked_execution(self._name, found))
        return self._kept[-1]
