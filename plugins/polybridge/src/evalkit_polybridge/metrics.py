"""The protocol's metrics: each a number of one episode, made of its trajectory.

What they are called, their denominators and their intervals stand in `specs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evalkit import Episode, Metric, Score, Task
from evalkit_polybridge.trajectory import Trajectory, read_trajectory

NOT_FAILED = "no run failed before call 3"
NOT_REACHED = "no call gave a legal bridge"
NOT_SUCCEEDED = "the episode did not succeed"


def _metric(measure: Callable[[Trajectory, Task], float | None], *, none_means: str = "") -> type[Metric]:
    """A metric class; a `measure` of None is not applicable, because of `none_means`."""

    class TrajectoryMetric:
        def __init__(self, settings: Mapping[str, Any]) -> None:
            pass

        def measure(self, episode: Episode, task: Task) -> Score:
            """The episode's value, or why it is outside the denominator."""
            value = measure(read_trajectory(episode), task)
            return Score.not_applicable(none_means) if value is None else Score(float(value))

    return TrajectoryMetric


def _success_at(k: int) -> type[Metric]:
    """1 if one of the first `k` calls succeeded."""
    return _metric(lambda trajectory, task: trajectory.success_at(k))


def _valid_at(k: int) -> type[Metric]:
    """1 if one of the first `k` calls entered physics."""
    return _metric(lambda trajectory, task: trajectory.valid_at(k))


def _counter(name: str) -> type[Metric]:
    """A counter of the protocol."""
    return _metric(lambda trajectory, task: trajectory.counters()[name])


def _calls_of_success(trajectory: Trajectory, task: Task) -> float | None:
    return None if trajectory.success is None else trajectory.success.number


def _cost_of_success(trajectory: Trajectory, task: Task) -> float | None:
    return None if trajectory.success is None else trajectory.success.cost


def _cost_ratio(trajectory: Trajectory, task: Task) -> float | None:
    cost = _cost_of_success(trajectory, task)
    return None if cost is None else cost / float(task.hidden["strict_budget"])


SuccessAt1, SuccessAt2, SuccessAt3 = _success_at(1), _success_at(2), _success_at(3)
ValidAt1, ValidAt2, ValidAt3 = _valid_at(1), _valid_at(2), _valid_at(3)
RecoveryAt3 = _metric(lambda trajectory, task: trajectory.recovery_at(3), none_means=NOT_FAILED)
FirstAttemptSuccess = _metric(
    lambda trajectory, task: trajectory.first_attempt_success(), none_means=NOT_REACHED
)
ReachedPhysics = _counter("reached_physics")
Calls = _counter("llm_calls_used")
PhysicsAttempts = _counter("physics_attempts")
ValidationRepairCalls = _counter("validation_repair_calls")
PhysicsRepairCalls = _counter("physics_repair_calls")
CallsOfSuccesses = _metric(_calls_of_success, none_means=NOT_SUCCEEDED)
CostOfSuccesses = _metric(_cost_of_success, none_means=NOT_SUCCEEDED)
CostRatio = _metric(_cost_ratio, none_means=NOT_SUCCEEDED)
