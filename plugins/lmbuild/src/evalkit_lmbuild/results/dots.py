"""The layout of all figures: rows by name, panels side by side, in each a dot with a whisker per system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalkit_lmbuild.results.canvas import PAPER, Canvas, Colour, shortened, text_width

INK: Colour = (33, 37, 41)
MUTED: Colour = (96, 103, 112)
GRID: Colour = (226, 230, 234)
ZERO: Colour = (150, 156, 163)
PALETTE: tuple[Colour, ...] = (
    (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (70, 70, 70),
)  # fmt: skip
"""Okabe and Ito's colours without yellow, which is hard to see on paper."""
TITLE_PX, TEXT_PX, SMALL_PX = 16, 12, 11
MARGIN_PX, HEAD_PX, LEGEND_PX, AXIS_PX, GAP_PX = 20, 62, 20, 34, 42
LANE_PX, MIN_ROW_PX, NAME_PX = 8, 24, 320
MIN_WIDTH_PX = 620


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its interval, as a fraction."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: `marks[row]` by system, absent where there is none; from `low` to `high` in fractions."""

    title: str
    marks: Sequence[Mapping[str, Mark]]
    low: float = 0.0
    high: float = 1.0
    unit: str = "%"
    width: int = 190


def dot_rows(
    title: str, note: str, rows: Sequence[str], panels: Sequence[Panel], systems: Sequence[str]
) -> Canvas:
    """The figure; `systems` are the legend, in order, and give the dots their colours and lanes.

    Where no row has more than one dot, all are in the rows' middle.
    """
    colours = colours_of(systems)
    left = MARGIN_PX + max(min(NAME_PX, text_width(name, TEXT_PX)) for name in rows) + 14
    alone = all(len(marks) <= 1 for panel in panels for marks in panel.marks)
    lanes = {system: 0.0 if alone else i - (len(systems) - 1) / 2 for i, system in enumerate(systems)}
    row_px = MIN_ROW_PX if alone else max(MIN_ROW_PX, LANE_PX * len(systems) + 6)
    width = round(left + sum(panel.width + GAP_PX for panel in panels) - GAP_PX + MARGIN_PX + 12)
    width = max(width, MIN_WIDTH_PX)
    lines = _legend_lines(systems, width - 2 * MARGIN_PX)
    top = HEAD_PX + len(lines) * LEGEND_PX + 32
    bottom = top + row_px * len(rows)
    canvas = Canvas(width, bottom + AXIS_PX, title)
    canvas.text((MARGIN_PX, 24), title, TITLE_PX, INK)
    canvas.text((MARGIN_PX, 45), note, TEXT_PX, MUTED)
    _legend(canvas, lines, colours)
    for number, name in enumerate(rows):
        middle = top + (number + 0.5) * row_px
        canvas.text((left - 12, middle), shortened(name, TEXT_PX, NAME_PX), TEXT_PX, INK, "end")
    x = left
    for panel in panels:
        _axis(canvas, panel, x, top, bottom, row_px)
        for number, marks in enumerate(panel.marks):
            for system, mark in marks.items():
                y = top + (number + 0.5) * row_px + lanes[system] * LANE_PX
                _dot(canvas, panel, mark, x, y, colours[system])
        x += panel.width + GAP_PX
    return canvas


def colours_of(names: Iterable[str]) -> dict[str, Colour]:
    """A colour per name, in order; seven, then the same paler, and from there on repeated."""
    shades = [*PALETTE, *(_paler(colour) for colour in PALETTE)]
    return {name: shades[i % len(shades)] for i, name in enumerate(names)}


def _axis(canvas: Canvas, panel: Panel, left: float, top: float, bottom: float, row_px: float) -> None:
    canvas.text((left, top - 14), panel.title, TEXT_PX, INK)
    right = left + panel.width
    y = top
    while y <= bottom:
        canvas.line([(left, y), (right, y)], GRID)
        y += row_px
    for tick in range(5):
        value = panel.low + (panel.high - panel.low) * tick / 4
        x = _at(panel, value, left)
        canvas.line([(x, top), (x, bottom + 4)], ZERO if panel.low < 0 and tick == 2 else GRID)
        text = f"{value * 100:+.0f}" if panel.low < 0 and tick != 2 else f"{value * 100:.0f}"
        canvas.text((x, bottom + 15), text + panel.unit, SMALL_PX, MUTED, "middle")


def _dot(canvas: Canvas, panel: Panel, mark: Mark, left: float, y: float, colour: Colour) -> None:
    if mark.low is not None and mark.high is not None:
        ends = [(_at(panel, bound, left), y) for bound in (mark.low, mark.high)]
        canvas.line(ends, _paler(colour), 2.0)
    canvas.disc((_at(panel, mark.value, left), y), 3.4, colour)


def _at(panel: Panel, value: float, left: float) -> float:
    """Where a value lies; values beyond the panel lie at its ends."""
    share = (value - panel.low) / (panel.high - panel.low)
    return left + min(max(share, 0.0), 1.0) * panel.width


def _paler(colour: Colour) -> Colour:
    red, green, blue = (round(part + (paper - part) * 0.5) for part, paper in zip(colour, PAPER, strict=True))
    return (red, green, blue)


def _legend_lines(names: Sequence[str], width: float) -> list[list[str]]:
    lines: list[list[str]] = [[]]
    used = 0.0
    for name in names:
        if lines[-1] and used + _entry_px(name) > width:
            lines.append([])
            used = 0.0
        lines[-1].append(name)
        used += _entry_px(name)
    return lines


def _legend(canvas: Canvas, lines: Sequence[Sequence[str]], colours: Mapping[str, Colour]) -> None:
    for number, line in enumerate(lines):
        x, y = float(MARGIN_PX), HEAD_PX + (number + 0.5) * LEGEND_PX
        for name in line:
            canvas.disc((x + 5, y), 5, colours[name])
            canvas.text((x + 16, y), shortened(name, TEXT_PX, NAME_PX), TEXT_PX, INK)
            x += _entry_px(name)


def _entry_px(name: str) -> float:
    return min(NAME_PX, text_width(name, TEXT_PX)) + 36
