"""What the figures share: colours that colour-blind people can tell apart, sizes, axes, legends, whiskers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalkit.report import Rate, cell_text
from evalkit_polybridge.drawing import INK, PAPER, Colour
from evalkit_polybridge.figures.canvas import Canvas, shortened, text_width

#: Okabe and Ito's colours without yellow, which is hard to see on paper.
PALETTE: tuple[Colour, ...] = (
    (0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (70, 70, 70),
)  # fmt: skip
OTHER: Colour = (176, 182, 189)
MUTED: Colour = (96, 103, 112)
GRID: Colour = (226, 230, 234)

TITLE_PX, TEXT_PX, SMALL_PX = 16, 12, 11
MARGIN_PX = 20
LEGEND_LINE_PX = 20
#: Longest name in a legend or beside a bar, in pixels.
NAME_PX = 190


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot's rectangle, in which heights are shares of 1."""

    left: float
    top: float
    right: float
    bottom: float

    def y(self, share: float) -> float:
        """Where a share lies."""
        return self.bottom - share * (self.bottom - self.top)


def colours_of(names: Iterable[str]) -> dict[str, Colour]:
    """A colour per name, in order; they repeat after the seventh."""
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(dict.fromkeys(names))}


def ink_on(colour: Colour) -> Colour:
    """Dark or light, whichever can be read on a colour."""
    red, green, blue = colour
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 150 else PAPER


def name_text(name: str, width: float = NAME_PX, size: int = TEXT_PX) -> str:
    """A name on one line that fits: agents are called whatever they like."""
    return shortened(cell_text(name), size, width)


def heading(canvas: Canvas, note: str = "") -> None:
    """The canvas's title, and a line below it."""
    canvas.text((MARGIN_PX, 24), canvas.title, TITLE_PX, INK)
    canvas.text((MARGIN_PX, 45), note, TEXT_PX, MUTED)


def legend_lines(names: Sequence[str], width: float) -> list[list[str]]:
    """Names of a legend in lines that fit a width."""
    lines: list[list[str]] = [[]]
    used = 0.0
    for name in names:
        needed = _entry_px(name)
        if lines[-1] and used + needed > width:
            lines.append([])
            used = 0.0
        lines[-1].append(name)
        used += needed
    return lines


def legend(canvas: Canvas, top: float, colours: Mapping[str, Colour]) -> float:
    """A legend over the canvas's width; returns where it ends."""
    for line in legend_lines(list(colours), canvas.width - 2 * MARGIN_PX):
        x, y = float(MARGIN_PX), top + LEGEND_LINE_PX / 2
        for name in line:
            canvas.box(x, y - 5, x + 14, y + 5, colours[name])
            canvas.text((x + 20, y), name_text(name), TEXT_PX, INK)
            x += _entry_px(name)
        top += LEGEND_LINE_PX
    return top


def _entry_px(name: str) -> float:
    return 20 + text_width(name_text(name), TEXT_PX) + 18


def percent_axis(canvas: Canvas, panel: Panel, *, numbers: bool = True) -> None:
    """Horizontal lines at 0, 25 … 100 %, with their numbers on the left."""
    for percent in (0, 25, 50, 75, 100):
        y = panel.y(percent / 100)
        canvas.line([(panel.left, y), (panel.right, y)], MUTED if percent == 0 else GRID)
        if numbers:
            canvas.text((panel.left - 6, y), f"{percent} %", SMALL_PX, MUTED, "end")


def whisker(canvas: Canvas, panel: Panel, x: float, rate: Rate, colour: Colour) -> None:
    """The rate's interval as a line with ends."""
    if rate.low is None or rate.high is None:
        return
    low, high = panel.y(rate.low), panel.y(rate.high)
    canvas.line([(x, low), (x, high)], colour, 1.2)
    for y in (low, high):
        canvas.line([(x - 3, y), (x + 3, y)], colour, 1.2)
