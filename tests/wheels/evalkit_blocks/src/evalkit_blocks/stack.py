"""Boxes on a floor, in two dimensions: where they come to rest, and whether they stay there.

A box hangs on a cable above its middle and is lowered until it rests on what is below that point: the highest
box there, or the floor. What carries it is that one box alone, over the width in which the two touch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FLOOR = -1
"""Index of the floor as a support."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box: `x` is its middle, all in metres."""

    x: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """Left side, m."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """Right side, m."""
        return self.x + self.width / 2

    @property
    def mass(self) -> float:
        """Its area, m²: every box has the same density and depth."""
        return self.width * self.height


@dataclass(frozen=True, slots=True)
class Stack:
    """Boxes at rest: `bottoms` are heights above the floor in metres, `supports` indices of what is below."""

    boxes: tuple[Box, ...]
    bottoms: tuple[float, ...]
    supports: tuple[int, ...]

    @property
    def height(self) -> float:
        """Top of the highest box above the floor, m."""
        return max((b + box.height for b, box in zip(self.bottoms, self.boxes, strict=True)), default=0.0)


def settle(boxes: Sequence[Box]) -> Stack:
    """Lower the boxes one after the other."""
    bottoms: list[float] = []
    supports: list[int] = []
    for number, box in enumerate(boxes):
        below = [j for j in range(number) if boxes[j].left < box.x < boxes[j].right]
        support = max(below, key=lambda j: bottoms[j] + boxes[j].height, default=FLOOR)
        supports.append(support)
        bottoms.append(0.0 if support == FLOOR else bottoms[support] + boxes[support].height)
    return Stack(tuple(boxes), tuple(bottoms), tuple(supports))


def margins(stack: Stack) -> list[float]:
    """How far each box is from tipping over, in metres; negative if it tips.

    Every box touches one support, so the contact forces are determinate: the force below box i is the weight
    of i and of all that stands on it, and acts in their common centre of mass

        x_i = Σ m_j x_j / Σ m_j        (j: box i and everything above it)

    Contact is one-sided, so box i stays if and only if x_i lies between the ends of the contact

        max(left_i, left_s) < x_i < min(right_i, right_s)        (s: its support; the floor has no ends)

    and its margin is the distance of x_i from the nearer end.
    """
    mass = [box.mass for box in stack.boxes]
    moment = [box.mass * box.x for box in stack.boxes]
    for i in reversed(range(len(stack.boxes))):  # what is above has a higher index
        support = stack.supports[i]
        if support != FLOOR:
            mass[support] += mass[i]
            moment[support] += moment[i]
    found = []
    for i in range(len(stack.boxes)):
        centre = moment[i] / mass[i]
        left, right = contact(stack, i)
        found.append(min(centre - left, right - centre))
    return found


def contact(stack: Stack, i: int) -> tuple[float, float]:
    """Left and right end, in metres, of where box i touches its support."""
    box, support = stack.boxes[i], stack.supports[i]
    if support == FLOOR:
        return box.left, box.right
    below = stack.boxes[support]
    return max(box.left, below.left), min(box.right, below.right)


def overlaps(stack: Stack, tolerance_m: float = 1e-9) -> list[tuple[int, int]]:
    """Pairs of boxes that share room: a box that was lowered beside a taller one than it has room for."""
    found = []
    for i, box in enumerate(stack.boxes):
        for j in range(i):
            other = stack.boxes[j]
            across = min(box.right, other.right) - max(box.left, other.left)
            tops = (stack.bottoms[i] + box.height, stack.bottoms[j] + other.height)
            upward = min(tops) - max(stack.bottoms[i], stack.bottoms[j])
            if across > tolerance_m and upward > tolerance_m:
                found.append((j, i))
    return found


def stack_from_json(data: Mapping[str, Any]) -> Stack:
    """The stack of `{"boxes": [[x, width, height], …]}`."""
    return settle([Box(*box) for box in data["boxes"]])


def boxes_to_json(boxes: Sequence[Box]) -> dict[str, Any]:
    """Boxes as JSON, in the order in which they are lowered."""
    return {"boxes": [[box.x, box.width, box.height] for box in boxes]}
