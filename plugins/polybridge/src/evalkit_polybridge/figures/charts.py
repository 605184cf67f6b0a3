"""Charts of what agents achieve: by call, by capability group, and for what cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from evalkit.report import Estimate, Rate
from evalkit_polybridge.drawing import INK, PAPER, Colour, mix
from evalkit_polybridge.figures.canvas import Canvas, text_width
from evalkit_polybridge.figures.style import (
    GRID,
    LEGEND_LINE_PX,
    MARGIN_PX,
    MUTED,
    SMALL_PX,
    TEXT_PX,
    Panel,
    colours_of,
    heading,
    legend,
    legend_lines,
    name_text,
    percent_axis,
    whisker,
)
from evalkit_polybridge.graph import Point
from evalkit_polybridge.measures import MEAN_COST_RATIO, Measure, Planned, System, success, valid
from evalkit_polybridge.tables import GROUPS

Systems = Mapping[System, Sequence[Planned]]

TOP_PX = 62
AXIS_PX = 46
DEVIATION_PX = 15
#: The column of names beside the arrows: room left and right of it, and how wide it may be.
NAMES_LEFT_PX, NAMES_RIGHT_PX, MOST_NAME_PX = 24, 10, 206
#: Discs at an arrow's ends; a strict one that a loose one would cover is a ring around it.
DISC_PX, RING_PX = 6.0, 9.0


def by_call(systems: Systems) -> Canvas:
    """Valid@k above Success@k for k = 1, 2, 3; a column of panels per condition, a line per agent."""
    conditions = list(dict.fromkeys(condition for _, condition in systems))
    width, height = 190, 150
    size = max(620, 2 * MARGIN_PX + AXIS_PX + len(conditions) * (width + 18))
    colours = colours_of(agent for agent, _ in systems)
    top = TOP_PX + len(legend_lines(list(colours), size - 2 * MARGIN_PX)) * LEGEND_LINE_PX + 14
    if any("(" in condition for condition in conditions):
        top += DEVIATION_PX
    canvas = Canvas(size, top + 2 * (height + 50) + 26, "Valid and Success after one, two and three calls")
    heading(canvas, "share of levels with a legal design (above) and with a crossing (below), whiskers: 95 %")
    legend(canvas, TOP_PX, colours)
    for column, condition in enumerate(conditions):
        left = MARGIN_PX + AXIS_PX + column * (width + 18)
        agents = [agent for agent, other in systems if other == condition]
        _column_title(canvas, (left, top + 4), condition, width + 8)
        for row, (name, kind) in enumerate((("Valid", valid), ("Success", success))):
            upper = top + 34 + row * (height + 50)
            panel = Panel(left, upper, left + width, upper + height)
            percent_axis(canvas, panel, numbers=column == 0)
            canvas.text((panel.left, upper - 12), name, SMALL_PX, MUTED)
            lines = {agent: [kind(k) for k in (1, 2, 3)] for agent in agents}
            for place, (agent, measures) in enumerate(lines.items()):
                group = systems[agent, condition]
                aside = min(7.0, 50 / len(agents)) * (place - (len(agents) - 1) / 2)
                _calls_line(canvas, panel, aside, [_rate(m, group) for m in measures], colours[agent])
            for k in (1, 2, 3):
                canvas.text((_call_x(panel, k), panel.bottom + 12), f"@{k}", SMALL_PX, MUTED, "middle")
    return canvas


def _column_title(canvas: Canvas, at: Point, condition: str, width: float) -> None:
    """The condition's name and, in a line above it, what stands in brackets behind it."""
    name, _, deviates = condition.partition(" (")
    canvas.text(at, name, TEXT_PX, INK)
    if deviates:
        text = name_text(deviates.removesuffix(")"), width, SMALL_PX)
        canvas.text((at[0], at[1] - DEVIATION_PX), text, SMALL_PX, MUTED)


def _call_x(panel: Panel, k: int) -> float:
    return panel.left + (k - 0.5) / 3 * (panel.right - panel.left)


def _calls_line(canvas: Canvas, panel: Panel, aside: float, rates: Sequence[Rate], colour: Colour) -> None:
    known = [(k, rate, rate.value) for k, rate in enumerate(rates, 1) if rate.value is not None]
    points = [(_call_x(panel, k) + aside, panel.y(value)) for k, _, value in known]
    if len(points) > 1:
        canvas.line(points, mix(colour, PAPER, 0.35), 2.0)
    for (x, y), (_, rate, _) in zip(points, known, strict=True):
        whisker(canvas, panel, x, rate, colour)
        canvas.disc((x, y), 3.6, colour)


def capabilities(systems: Systems) -> Canvas:
    """Success@3 by capability group; a panel per condition, a bar per agent."""
    conditions = list(dict.fromkeys(condition for _, condition in systems))
    colours = colours_of(agent for agent, _ in systems)
    size, height = 820, 150
    top = TOP_PX + len(legend_lines(list(colours), size - 2 * MARGIN_PX)) * LEGEND_LINE_PX + 14
    canvas = Canvas(size, top + len(conditions) * (height + 58) + 6, "Success@3 by capability group")
    heading(canvas, "share of levels that were crossed, whiskers: 95 %")
    legend(canvas, TOP_PX, colours)
    for row, condition in enumerate(conditions):
        upper = top + 22 + row * (height + 58)
        panel = Panel(MARGIN_PX + AXIS_PX, upper, size - MARGIN_PX, upper + height)
        canvas.text((panel.left, upper - 16), condition, TEXT_PX, INK)
        percent_axis(canvas, panel)
        room = (panel.right - panel.left) / len(GROUPS)
        for place, (group, title) in enumerate(GROUPS.items()):
            bars = {
                agent: [p for p in planned if p.hidden["group"] == group]
                for (agent, other), planned in systems.items()
                if other == condition
            }
            _bars(canvas, panel, panel.left + place * room, room, bars, colours)
            middle = (panel.left + (place + 0.5) * room, panel.bottom + 13)
            canvas.text(middle, title, TEXT_PX, MUTED, "middle")
    return canvas


def _bars(
    canvas: Canvas,
    panel: Panel,
    left: float,
    room: float,
    bars: Mapping[str, Sequence[Planned]],
    colours: Mapping[str, Colour],
) -> None:
    width = min(30.0, 0.82 * room / len(bars))
    x = left + room / 2 - len(bars) * width / 2
    for agent, group in bars.items():
        rate = _rate(success(3), group)
        if rate.value is not None:
            canvas.box(x + 1.5, panel.y(rate.value), x + width - 1.5, panel.bottom, colours[agent])
            whisker(canvas, panel, x + width / 2, rate, mix(colours[agent], INK, 0.6))
        x += width


def has_arrows(systems: Systems) -> bool:
    """Whether an agent has played under strict and loose budgets, and otherwise alike."""
    return bool(_pairs(systems))


def _pairs(systems: Systems) -> dict[str, tuple[System, System]]:
    """The systems that an arrow joins, by its name: an agent's, and what its protocol deviates in."""
    found = {}
    for agent, condition in systems:
        budget, _, deviates = condition.partition(" ")
        loose = (agent, f"loose {deviates}".strip())
        if budget == "strict" and loose in systems:
            found[f"{agent} {deviates}".strip()] = ((agent, condition), loose)
    return found


def efficiency(systems: Systems) -> Canvas:
    """Success@3 over the mean cost of successes ÷ strict budget: an arrow per agent, strict → loose."""
    pairs = _pairs(systems)
    by_agent = colours_of(agent for agent, _ in systems)
    colours = {name: by_agent[strict[0]] for name, (strict, _) in pairs.items()}
    places = {system: _place(systems[system]) for pair in pairs.values() for system in pair}
    longest = max([1.5, *(place[0] for place in places.values() if place)])
    steps = math.ceil(longest * 2 + 0.3)
    canvas = Canvas(860, 490, "Efficiency: from strict to loose budgets")
    heading(canvas, "hollow: strict, full: loose; an agent without a success has no cost and is named below")
    widest = max((text_width(name, TEXT_PX) for name in pairs), default=0.0)
    names_px = min(math.ceil(widest) + 1, MOST_NAME_PX)
    panel = Panel(MARGIN_PX + AXIS_PX, 92, canvas.width - NAMES_LEFT_PX - names_px - NAMES_RIGHT_PX, 408)
    percent_axis(canvas, panel)
    scale = (panel.right - panel.left) / (steps / 2)
    for step in range(steps + 1):
        x = panel.left + step / 2 * scale
        canvas.line([(x, panel.top), (x, panel.bottom)], MUTED if step == 2 else GRID, dashed=step == 2)
        canvas.text((x, panel.bottom + 12), f"{step / 2:g}", SMALL_PX, MUTED, "middle")
    middle = (panel.left + panel.right) / 2
    canvas.text(
        (middle, panel.bottom + 32),
        "mean cost of successes as a share of the strict budget",
        TEXT_PX,
        INK,
        "middle",
    )
    canvas.text((panel.left, panel.top - 12), "Success@3", TEXT_PX, INK)
    ends: dict[str, Point] = {}
    for name, pair in pairs.items():
        found = [places[system] for system in pair]
        points = [None if p is None else (panel.left + p[0] * scale, panel.y(p[1])) for p in found]
        end = _arrow(canvas, points[0], points[1], colours[name])
        if end is not None:
            ends[name] = end
    _names(canvas, panel, ends, colours)
    poor = [f"{a} {c}" for (a, c), place in places.items() if place is None]
    if poor:
        text = name_text(f"no success: {', '.join(poor)}", canvas.width - 2 * MARGIN_PX, SMALL_PX)
        canvas.text((MARGIN_PX, canvas.height - 16), text, SMALL_PX, MUTED)
    return canvas


def _place(group: Sequence[Planned]) -> tuple[float, float] | None:
    """Mean cost ratio and Success@3, or None without a success."""
    cost, rate = MEAN_COST_RATIO[1](group), _rate(success(3), group)
    if not isinstance(cost, Estimate) or cost.value is None or rate.value is None:
        return None
    return cost.value, rate.value


def _arrow(canvas: Canvas, strict: Point | None, loose: Point | None, colour: Colour) -> Point | None:
    """Draw what there is of an arrow; returns its end, where the name belongs."""
    if strict is not None and loose is not None:
        length = math.dist(strict, loose)
        if length > 16:
            ux, uy = (loose[0] - strict[0]) / length, (loose[1] - strict[1]) / length
            tip = (loose[0] - 7 * ux, loose[1] - 7 * uy)
            base = (tip[0] - 10 * ux, tip[1] - 10 * uy)
            canvas.line([(strict[0] + 6 * ux, strict[1] + 6 * uy), base], colour, 2.0)
            wings = [(base[0] - 4.5 * uy, base[1] + 4.5 * ux), (base[0] + 4.5 * uy, base[1] - 4.5 * ux)]
            canvas.polygon([tip, *wings], colour)
    if strict is not None:
        covered = loose is not None and math.dist(strict, loose) < DISC_PX
        canvas.disc(strict, RING_PX if covered else DISC_PX, PAPER, colour)
    if loose is not None:
        canvas.disc(loose, DISC_PX, colour)
    return loose or strict


def _names(canvas: Canvas, panel: Panel, ends: Mapping[str, Point], colours: Mapping[str, Colour]) -> None:
    """Names in a column beside the plot, in the order of their arrows' ends, each with a line to its end."""
    x, step = panel.right + NAMES_LEFT_PX, 18.0
    in_order = sorted(ends, key=lambda agent: (ends[agent][1], -ends[agent][0]))
    lowest = panel.bottom - step * (len(in_order) - 1)
    y = -math.inf
    for place, agent in enumerate(in_order):
        end_x, end_y = ends[agent]
        y = max(y + step, min(end_y, lowest + step * place))
        canvas.line([(end_x + 6, end_y), (x - 4, y)], mix(colours[agent], PAPER, 0.5))
        canvas.text((x, y), name_text(agent, canvas.width - x - NAMES_RIGHT_PX), TEXT_PX, INK)


def _rate(measure: Measure, group: Sequence[Planned]) -> Rate:
    cell = measure[1](group)
    if not isinstance(cell, Rate):
        raise TypeError(f"{measure[0]} is no rate")
    return cell
