"""Many attempts at once: the batched call of the executor gives what single calls give, to the bit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit import Candidate, Execution, Task
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.agents.warren import warren
from evalkit_polybridge.constants import LOOSE_BUDGET
from evalkit_polybridge.designs import bridge_to_json
from evalkit_polybridge.executor_embedded import EmbeddedExecutor
from evalkit_polybridge.levels import generate
from evalkit_polybridge.tasks import level_task


@pytest.fixture(scope="module")
def attempts() -> list[tuple[Task, Candidate]]:
    """Flat decks, which fall, and trusses, most of which hold, on levels of several families."""
    pairs = []
    for level, meta in generate()[::24]:
        task = level_task(replace(level, budget=float(LOOSE_BUDGET)), meta)
        pairs += [(task, Candidate(bridge_to_json(build(level)))) for build in (flat_deck, warren)]
    return pairs


@pytest.fixture(scope="module")
def singly(attempts: list[tuple[Task, Candidate]]) -> list[Execution]:
    executor = EmbeddedExecutor({})
    return [executor.execute(task, candidate, pictures=False) for task, candidate in attempts]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_gives_what_single_calls_give(attempts, singly, threads: int) -> None:
    assert {execution.success for execution in singly} == {True, False}
    assert EmbeddedExecutor({}).execute_many(attempts, threads=threads) == singly


def test_the_default_uses_every_cpu_and_keeps_the_order(attempts, singly) -> None:
    assert EmbeddedExecutor({}).execute_many(reversed(attempts)) == singly[::-1]


def test_no_attempt_no_execution() -> None:
    assert EmbeddedExecutor({}).execute_many([]) == []
