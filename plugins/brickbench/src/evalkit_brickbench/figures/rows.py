"""The layout of most figures: a name per row, and panels side by side that show something of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalkit_brickbench.figures.canvas import PAPER, Canvas, Colour, text_width
from evalkit_brickbench.figures.style import (
    GRID,
    HEAD_PX,
    INK,
    MARGIN_PX,
    MUTED,
    NAME_PX,
    SMALL_PX,
    TEXT_PX,
    Scale,
    heading,
    ink_on,
    legend,
    legend_height,
    mix,
    name_text,
)

ROW_PX = 24
GROUP_PX = 26
AXIS_PX = 30
GAP_PX = 30
LABEL_PX = 46
"""Least room to the right of a panel's axis for the texts of its rows."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its interval and colour."""

    value: float
    colour: Colour
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: `marks` and `texts` are by row. `dots` have whiskers and a lane each, which None leaves empty;
    `bars` begin at the left end, `stacks` lie behind one another. Texts stand behind the marks."""

    title: str
    scale: Scale
    marks: Sequence[Sequence[Mark | None]]
    kind: Literal["dots", "bars", "stacks"] = "dots"
    texts: Sequence[str] = ()
    width: int = 200


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a common name (or none), in order."""

    name: str
    rows: Sequence[str]


def draw_rows(
    title: str, note: str, groups: Sequence[Group], panels: Sequence[Panel], colours: Mapping[str, Colour]
) -> Canvas:
    """A figure of rows and panels; `colours` are the legend, which may be empty."""
    names = [name_text(name) for group in groups for name in group.rows]
    left = MARGIN_PX + max([*(text_width(name, TEXT_PX) for name in names), 60]) + 14
    row_px = max(
        ROW_PX, 6 * max((len(m) for p in panels if p.kind == "dots" for m in p.marks), default=0) + 8
    )
    width = round(left + sum(p.width + _aside(p) + GAP_PX for p in panels) - GAP_PX + MARGIN_PX + 14)
    width = max(width, 560)
    top = HEAD_PX + (legend_height(list(colours), width - 2 * MARGIN_PX) + 8 if colours else 0) + 22
    height = sum(len(g.rows) * row_px + (GROUP_PX if g.name else 0) for g in groups)
    canvas = Canvas(width, round(top + height + AXIS_PX + 12), title)
    heading(canvas, note)
    if colours:
        legend(canvas, HEAD_PX, colours)
    places = _places(groups, top, row_px)
    between = [y - row_px / 2 for _, y in places[1:]] if row_px > ROW_PX else []
    x = left
    for panel in panels:
        _axis(canvas, panel, x, top, top + height, between)
        for number, (_, y) in enumerate(places):
            _row(canvas, panel, number, x, y, row_px)
        x += panel.width + _aside(panel) + GAP_PX
    _names(canvas, groups, left, top, row_px)
    return canvas


def _aside(panel: Panel) -> int:
    widest = max((text_width(text, SMALL_PX) for text in panel.texts), default=0.0)
    return max(LABEL_PX, round(widest) + 12) if any(panel.texts) else 0


def _places(groups: Sequence[Group], top: float, row_px: float) -> list[tuple[str, float]]:
    """Names and the heights of the middles of the rows."""
    found = []
    y = top
    for group in groups:
        y += GROUP_PX if group.name else 0
        for name in group.rows:
            found.append((name, y + row_px / 2))
            y += row_px
    return found


def _names(canvas: Canvas, groups: Sequence[Group], left: float, top: float, row_px: float) -> None:
    y = top
    for group in groups:
        if group.name:
            canvas.text((MARGIN_PX, y + GROUP_PX / 2 + 2), name_text(group.name, NAME_PX), TEXT_PX, MUTED)
            y += GROUP_PX
        for name in group.rows:
            canvas.text((left - 10, y + row_px / 2), name_text(name), TEXT_PX, INK, "end")
            y += row_px


def _axis(
    canvas: Canvas, panel: Panel, left: float, top: float, bottom: float, between: Sequence[float]
) -> None:
    """Title, ticks and the lines between rows, whose heights are `between`."""
    right = left + panel.width
    canvas.text((left, top - 12), panel.title, TEXT_PX, INK)
    for y in between:
        canvas.line([(left, y), (right, y)], GRID)
    for value, text in panel.scale.ticks:
        x = panel.scale.at(value, left, right)
        canvas.line([(x, top), (x, bottom + 4)], GRID)
        canvas.text((x, bottom + 14), text, SMALL_PX, MUTED, "middle")
    canvas.line([(left, bottom), (right, bottom)], MUTED)


def _row(canvas: Canvas, panel: Panel, number: int, left: float, y: float, row_px: float) -> None:
    marks = panel.marks[number]
    if panel.kind == "dots":
        _dots(canvas, panel, marks, left, y, row_px)
        beside = left + panel.width + 8
    else:
        beside = _bars(canvas, panel, [mark for mark in marks if mark is not None], left, y) + 6
    if panel.texts and panel.texts[number]:
        canvas.text((beside, y), panel.texts[number], SMALL_PX, MUTED)


def _dots(
    canvas: Canvas, panel: Panel, marks: Sequence[Mark | None], left: float, y: float, row_px: float
) -> None:
    right, lane_px = left + panel.width, min(6.0, (row_px - 8) / max(1, len(marks)))
    for lane, mark in enumerate(marks):
        if mark is None:
            continue
        middle = y + (lane - (len(marks) - 1) / 2) * lane_px
        if mark.low is not None and mark.high is not None:
            ends = [(panel.scale.at(bound, left, right), middle) for bound in (mark.low, mark.high)]
            canvas.line(ends, mix(mark.colour, PAPER, 0.35), 2.0)
        at = (panel.scale.at(mark.value, left, right), middle)
        canvas.disc(at, 4.0 if len(marks) == 1 else 3.2, mark.colour)


def _bars(canvas: Canvas, panel: Panel, marks: Sequence[Mark], left: float, y: float) -> float:
    """Draw the marks of a row as one bar, the parts of a stack with their numbers; returns where it ends."""
    total, end = 0.0, left
    for mark in marks:
        total += mark.value
        x = panel.scale.at(total, left, left + panel.width)
        canvas.box(end, y - 8, x - 0.5, y + 8, mark.colour)
        text = f"{mark.value:g}" if panel.kind == "stacks" else ""
        if text and x - end > text_width(text, SMALL_PX) + 4:
            canvas.text(((end + x) / 2, y), text, SMALL_PX, ink_on(mark.colour), "middle")
        end = x
    return end
