"""`stacker` builds something valid for every prompt and for odd stocks, in the colours that are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit import Task, Violation
from evalkit_brickbench.agents.stacker import BRICKS, bricks_for, colours_of
from evalkit_brickbench.designs import candidate_of, look
from evalkit_brickbench.settings import BrickSettings
from evalkit_brickbench.tasks import embedded, load_tasks
from evalkit_brickbench.validator import BuildValidator

TASKS = load_tasks({}, {})


def built(task: Task) -> tuple[list[Violation], bool]:
    """What the validators hold against the build for a task, and whether it stands."""
    lines = [brick.line() for brick in bricks_for(task.inputs)]
    candidate = candidate_of("model.ldr", "\n".join(["0 Wall", *lines, ""]).encode())
    found = look(candidate, BrickSettings(), stand=True)
    assert found.stability is not None
    return list(BuildValidator({}).validate(task, candidate)), found.stability.stable is True


def with_stock(stock: dict[str, dict[str, int]], prompt: str = "Build a hut.") -> Task:
    rules = {"min_parts": 1, "max_parts": sum(map(sum, (c.values() for c in stock.values()))), "stock": stock}
    return Task("t", {"prompt": prompt, "setting": "alt-build", "part_rules": rules}, {})


def colours(inputs: Any) -> list[int]:
    return [brick.colour for brick in bricks_for(inputs)]


@pytest.mark.parametrize("setting", ["model", "set", "alt-build"])
def test_every_prompt_gets_a_valid_build(setting: str) -> None:
    tasks = [task for task in TASKS if task.inputs["setting"] == setting]
    assert len(tasks) == 20
    distinct = {tuple(bricks_for(task.inputs)): task for task in tasks}
    for task in distinct.values():
        assert built(task) == ([], True), task.id


def test_builds_have_the_colours_of_the_prompt_that_the_stock_has() -> None:
    stock = {code for _, code in embedded.stock()}
    bricks = {code for part, code in embedded.stock() if part in BRICKS}
    for task in TASKS:
        said = set(colours_of(task.inputs["prompt"]))
        if task.inputs["setting"] != "alt-build":
            assert set(colours(task.inputs)) <= said, task.id
        elif said & bricks:
            assert set(colours(task.inputs)) <= said & stock, task.id


def test_the_colour_named_first_comes_first() -> None:
    task = with_stock({"3001": {"0": 2, "4": 2, "14": 2}}, "A yellow duck with a red beak.")
    assert colours(task.inputs) == [14, 14, 4, 4]


def test_another_colour_is_taken_where_the_stock_lacks_the_prompts() -> None:
    assert colours(with_stock({"3001": {"0": 2}}, "A yellow duck.").inputs) == [0, 0]


@pytest.mark.parametrize(
    ("stock", "parts"),
    [
        ({"3001": {"4": 6}, "3002": {"4": 6}}, 12),
        ({"3002": {"4": 3}, "3003": {"4": 3}, "3622": {"4": 3}, "3005": {"4": 1}}, 10),
        ({"3003": {"4": 1}, "3009": {"4": 20}}, 1),
        ({"3009": {"4": 1}, "3005": {"4": 30}}, 24),
        ({part: {"4": 1} for part in BRICKS}, 12),
        ({"3001": {"4": 1}}, 1),
        ({"3024": {"0": 5}, "3068b": {"4": 1}}, 1),
        ({"3068b": {"0": 5}}, 1),
    ],
)
def test_odd_stocks(stock: dict[str, dict[str, int]], parts: int) -> None:
    task = with_stock(stock)
    assert len(bricks_for(task.inputs)) == parts
    assert built(task) == ([], True)
