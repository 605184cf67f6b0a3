"""The toy benchmark's statics against stacks with known answers."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).with_name("wheels") / "evalkit_blocks" / "src"


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the toy that knows nothing of evalkit."""
    monkeypatch.syspath_prepend(SOURCE)
    return importlib.import_module("evalkit_blocks.stack")


def test_a_box_lands_on_the_highest_one_below_its_middle(stack: ModuleType) -> None:
    boxes = [stack.Box(0.0, 2.0, 0.5), stack.Box(-0.5, 1.0, 0.3), stack.Box(0.4, 0.8, 0.2)]
    settled = stack.settle(boxes)
    assert settled.supports == (stack.FLOOR, 0, 0)
    assert settled.bottoms == (0.0, 0.5, 0.5)
    assert settled.height == pytest.approx(0.8)


def test_a_box_may_overhang_by_half_of_itself(stack: ModuleType) -> None:
    below = stack.Box(0.0, 1.0, 1.0)
    for overhang in (0.1, 0.49):
        margins = stack.margins(stack.settle([below, stack.Box(overhang, 1.0, 1.0)]))
        assert margins[1] == pytest.approx(0.5 - overhang)
        assert margins[0] == pytest.approx(0.5 - overhang / 2)


@pytest.mark.parametrize("count", [3, 5, 20])
def test_harmonic_overhang_is_the_limit(stack: ModuleType, count: int) -> None:
    # Box k from the top may stand out by 1/(2k) of its width: the boxes above an edge have their centre of
    # mass over it. At 99 % of that it is half a percent of the width inside.
    offsets = [0.99 * sum(1 / (2 * k) for k in range(level, count)) for level in range(count, 0, -1)]
    inside = stack.margins(stack.settle([stack.Box(x, 1.0, 0.1) for x in offsets]))
    assert inside[1:] == pytest.approx([0.005] * (count - 1))
    further = [stack.Box(x + (0.006 if x else 0.0), 1.0, 0.1) for x in offsets]
    assert stack.margins(stack.settle(further))[1] == pytest.approx(-0.001)


def test_a_counterweight_holds_what_would_tip(stack: ModuleType) -> None:
    foot, beam = stack.Box(0.0, 0.2, 1.0), stack.Box(0.0, 2.0, 0.1)
    right, left = stack.Box(0.9, 0.2, 0.5), stack.Box(-0.9, 0.2, 0.5)
    assert min(stack.margins(stack.settle([foot, beam, right]))) < 0
    assert min(stack.margins(stack.settle([foot, beam, right, left]))) == pytest.approx(0.1)


def test_overlaps_are_pairs_of_neighbours_that_share_room(stack: ModuleType) -> None:
    tall, beside = stack.Box(0.0, 1.0, 1.0), stack.Box(0.9, 1.0, 0.4)
    assert stack.overlaps(stack.settle([tall, beside])) == [(0, 1)]
    assert stack.overlaps(stack.settle([tall, stack.Box(1.0, 1.0, 0.4)])) == []
