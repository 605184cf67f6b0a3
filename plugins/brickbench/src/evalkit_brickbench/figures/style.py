"""What the figures share: colours that colour-blind people can tell apart, sizes, legends, scales."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalkit.report import cell_text
from evalkit_brickbench.figures.canvas import PAPER, Canvas, Colour, shortened, text_width

INK: Colour = (33, 37, 41)
MUTED: Colour = (96, 103, 112)
GRID: Colour = (226, 230, 234)
OTHER: Colour = (176, 182, 189)
PALETTE: tuple[Colour, ...] = (
    (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (70, 70, 70),
)  # fmt: skip
"""Okabe and Ito's colours without yellow, which is hard to see on paper."""

TITLE_PX, TEXT_PX, SMALL_PX = 16, 12, 11
MARGIN_PX = 20
HEAD_PX = 62
"""Height of a title and the line below it."""
LEGEND_LINE_PX = 20
NAME_PX = 230
"""Longest name in a legend or beside a row."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` along an axis; `ticks` are values with their texts."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float, start: float, end: float) -> float:
        """Where a value lies between two ends of the axis; values beyond it lie at its ends."""
        share = (value - self.low) / (self.high - self.low)
        return start + min(max(share, 0.0), 1.0) * (end - start)


SHARES = Scale(0.0, 1.0, tuple((p / 100, f"{p}%") for p in (0, 25, 50, 75, 100)))
"""From 0 to 100 %."""


def scale_of(values: Iterable[float], *, from_zero: bool, most_ticks: int = 5) -> Scale:
    """A scale with round numbers around the values."""
    known = list(values) or [0.0, 1.0]
    low, high = (0.0 if from_zero else min(known)), max(known)
    if high <= low:
        high = low + 1.0
    rough = (high - low) / (most_ticks - 1)
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(m * magnitude for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * magnitude >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple((number * step, f"{number * step:,.6g}") for number in range(first, last + 1))
    return Scale(first * step, last * step, ticks)


def log_scale(values: Iterable[float], texts: str = "{:,g}") -> Scale:
    """A scale of common logarithms around positive values, with ticks at 1, 2 and 5 times powers of ten."""
    known = [math.log10(value) for value in values] or [0.0, 1.0]
    low, high = min(known) - 0.08, max(known) + 0.08
    steps = [
        multiple * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for multiple in (1, 2, 5)
        if low <= math.log10(multiple * 10.0**power) <= high
    ]
    return Scale(low, high, tuple((math.log10(step), texts.format(step)) for step in steps))


def colours_of(names: Iterable[str]) -> dict[str, Colour]:
    """A colour per name, in order: seven, the same darker, the same lighter, and from there on repeated."""
    shades = [*PALETTE, *(mix(c, INK, 0.5) for c in PALETTE), *(mix(c, PAPER, 0.5) for c in PALETTE)]
    return {name: shades[i % len(shades)] for i, name in enumerate(dict.fromkeys(names))}


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`first` with `share` (0 … 1) of it replaced by `second`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return (red, green, blue)


def ink_on(colour: Colour) -> Colour:
    """Dark or light, whichever can be read on a colour."""
    red, green, blue = colour
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 150 else PAPER


def name_text(name: str, width: float = NAME_PX, size: int = TEXT_PX) -> str:
    """A name on one line that fits: systems are called whatever they like."""
    return shortened(cell_text(name), size, width)


def heading(canvas: Canvas, note: str = "") -> None:
    """The canvas's title, and a line below it."""
    canvas.text((MARGIN_PX, 24), canvas.title, TITLE_PX, INK)
    canvas.text((MARGIN_PX, 45), note, TEXT_PX, MUTED)


def legend_height(names: Sequence[str], width: float) -> float:
    """How high a legend of that width is."""
    return len(_legend_lines(names, width)) * LEGEND_LINE_PX


def legend(canvas: Canvas, top: float, colours: Mapping[str, Colour]) -> None:
    """Names with their colours over the canvas's width."""
    for number, line in enumerate(_legend_lines(list(colours), canvas.width - 2 * MARGIN_PX)):
        x, y = float(MARGIN_PX), top + (number + 0.5) * LEGEND_LINE_PX
        for name in line:
            canvas.box(x, y - 5, x + 14, y + 5, colours[name])
            canvas.text((x + 20, y), name_text(name), TEXT_PX, INK)
            x += _entry_px(name)


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


def _entry_px(name: str) -> float:
    return 20 + text_width(name_text(name), TEXT_PX) + 18
