"""One prompt's questions and what they depend on, from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit_brickbench.figures.canvas import PAPER, Canvas, shortened, wrapped
from evalkit_brickbench.figures.charts import KIND_COLOURS
from evalkit_brickbench.figures.style import (
    HEAD_PX,
    INK,
    MARGIN_PX,
    MUTED,
    OTHER,
    SMALL_PX,
    heading,
    legend,
    mix,
)
from evalkit_brickbench.tasks.schema import Question

BOX_W, BOX_H, GAP_X, GAP_Y = 196.0, 46.0, 54.0, 12.0
LINE_H = 16.0
"""Height of a place where a line passes a layer."""
LINES = 2


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a layer: a question, or where the line from `key` to a later layer's `target` passes."""

    key: str
    target: str = ""


def layers(questions: Sequence[Question]) -> list[list[Question]]:
    """Questions by depth: those that depend on nothing, then those that depend on these, and so on."""
    by_key = {question.key: question for question in questions}
    depth: dict[str, int] = {}

    def depth_of(key: str) -> int:
        if key not in depth:
            depth[key] = 1 + max((depth_of(other) for other in by_key[key].dependencies), default=-1)
        return depth[key]

    found: list[list[Question]] = []
    for question in questions:
        while len(found) <= depth_of(question.key):
            found.append([])
        found[depth[question.key]].append(question)
    return found


def arranged(questions: Sequence[Question]) -> list[list[Slot]]:
    """The layers with room for lines that pass a layer; each slot stands near what leads to it, by the mean
    place of that in the layer before."""
    by_depth = layers(questions)
    depth = {question.key: number for number, layer in enumerate(by_depth) for question in layer}
    leads_to: dict[Slot, list[Slot]] = {Slot(question.key): [] for question in questions}
    columns = [[Slot(question.key) for question in layer] for layer in by_depth]
    for question in questions:
        for key in question.dependencies:
            before = Slot(key)
            for number in range(depth[key] + 1, depth[question.key]):
                passing = Slot(key, question.key)
                leads_to.setdefault(passing, [])
                if passing not in columns[number]:
                    columns[number].append(passing)
                if before != passing:
                    leads_to[passing].append(before)
                before = passing
            leads_to[Slot(question.key)].append(before)
    place: dict[Slot, float] = {}
    for column in columns:
        column.sort(key=lambda slot: _mean([place[before] for before in leads_to[slot] if before in place]))
        place |= {slot: (number + 0.5) / len(column) for number, slot in enumerate(column)}
    return columns


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def question_graph(task: str, prompt: str, questions: Sequence[Question]) -> Canvas:
    """A box per question in the colour of its kind, a line from each to what depends on it."""
    columns = arranged(questions)
    width = max(620, round(2 * MARGIN_PX + len(columns) * (BOX_W + GAP_X) - GAP_X))
    text = wrapped(prompt, SMALL_PX, width - 2 * MARGIN_PX, 4)
    top = HEAD_PX + 16.0 * len(text) + 34
    highest = max(sum(map(_height, column)) for column in columns)
    canvas = Canvas(width, round(top + highest + MARGIN_PX), f"Questions about {task}")
    heading(canvas, "a question counts only if all that it depends on, to its left, hold as well")
    for number, line in enumerate(text):
        canvas.text((MARGIN_PX, HEAD_PX + 6 + 16 * number), line, SMALL_PX, MUTED)
    legend(canvas, HEAD_PX + 16 * len(text), KIND_COLOURS)
    middles = [_middles(column, top, highest) for column in columns]
    depth = {slot.key: number for number, column in enumerate(columns) for slot in column if not slot.target}
    for question in questions:
        for key in question.dependencies:
            _link(canvas, middles, key, question.key, depth)
    for question in questions:
        number = depth[question.key]
        _box(canvas, question, _left(number), middles[number][Slot(question.key)] - BOX_H / 2)
    return canvas


def _height(slot: Slot) -> float:
    return LINE_H if slot.target else BOX_H + GAP_Y


def _left(number: int) -> float:
    return MARGIN_PX + number * (BOX_W + GAP_X)


def _middles(column: Sequence[Slot], top: float, highest: float) -> Mapping[Slot, float]:
    """Heights of the middles of a layer's slots, which are spread over the whole height."""
    spare = (highest - sum(map(_height, column))) / len(column)
    found, y = {}, top
    for slot in column:
        found[slot] = y + (_height(slot) + spare) / 2
        y += _height(slot) + spare
    return found


def _link(
    canvas: Canvas, middles: Sequence[Mapping[Slot, float]], key: str, target: str, depth: Mapping[str, int]
) -> None:
    """The line from a question to one that depends on it, straight through the layers between them."""
    first, last = depth[key], depth[target]
    x, y = _left(first) + BOX_W, middles[first][Slot(key)]
    for number in range(first + 1, last + 1):
        to = middles[number][Slot(target) if number == last else Slot(key, target)]
        canvas.line(_bend((x, y), (_left(number), to)), OTHER, 1.5)
        if number < last:
            canvas.line([(_left(number), to), (_left(number) + BOX_W, to)], OTHER, 1.5)
        x, y = _left(number) + BOX_W, to


def _bend(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    """A smooth curve that leaves and arrives level (cubic Bézier), in short pieces."""
    (x1, y1), (x2, y2) = start, end
    middle = (x1 + x2) / 2
    points = []
    for step in range(17):
        t = step / 16
        a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
        points.append((a * x1 + (b + c) * middle + d * x2, (a + b) * y1 + (c + d) * y2))
    return points


def _box(canvas: Canvas, question: Question, x: float, y: float) -> None:
    colour = KIND_COLOURS.get(question.kind, OTHER)
    canvas.box(x, y, x + BOX_W, y + BOX_H, mix(colour, PAPER, 0.88))
    canvas.box(x, y, x + 4, y + BOX_H, colour)
    room = BOX_W - 16
    lines = wrapped(question.question, SMALL_PX, room, LINES)
    canvas.text((x + 10, y + 9), shortened(question.subtype, 9, room), 9, MUTED)
    for number, line in enumerate(lines):
        canvas.text((x + 10, y + 22 + 14 * number), line, SMALL_PX, INK)
