"""Plots with two axes: ELO against cost, and how many parts builds have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_brickbench.figures.canvas import PAPER, Canvas, text_width
from evalkit_brickbench.figures.style import (
    GRID,
    HEAD_PX,
    INK,
    MARGIN_PX,
    MUTED,
    OTHER,
    SMALL_PX,
    TEXT_PX,
    Scale,
    colours_of,
    heading,
    legend,
    legend_height,
    log_scale,
    mix,
    name_text,
    scale_of,
)
from evalkit_brickbench.results import Outcomes
from evalkit_brickbench.scene import Floats
from evalkit_brickbench.scoring.ratings import OVERALL, Ratings
from evalkit_brickbench.scoring.tables import main_table

GRID_POINTS = 160
LEAST_BANDWIDTH = 0.05
"""Of a density, in decades: builds with exactly as many parts as allowed would make a spike."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A system's mean cost per prompt and its rating."""

    system: str
    cost_usd: float
    elo: float
    low: float | None
    high: float | None


def priced(found: Outcomes, ratings: Mapping[str, Ratings]) -> list[Priced]:
    """Systems with both a cost above 0 and a rating over all prompts, from cheap to dear."""
    if OVERALL not in ratings:
        return []
    costs = {
        str(row["system"]): row["cost_usd"]
        for row in main_table(found.records, ratings)
        if row["setting"] == OVERALL
    }
    rows = []
    for rated in ratings[OVERALL].systems:
        cost = costs.get(rated.system)
        if isinstance(cost, int | float) and cost > 0:
            rows.append(Priced(rated.system, float(cost), rated.elo.elo, rated.elo.low, rated.elo.high))
    return sorted(rows, key=lambda row: (row.cost_usd, row.system))


def _whose(found: Outcomes, rows: Sequence[Priced]) -> str:
    """Where the costs come from: records, which have list prices, or whoever gave them."""
    given = [row.system in found.priced for row in rows]
    return " as given" if all(given) else ", recorded or as given" if any(given) else " at list prices"


def elo_cost(found: Outcomes, ratings: Mapping[str, Ratings]) -> Canvas:
    """ELO over the mean cost of a prompt (logarithmic), a disc with whiskers per system."""
    rows = priced(found, ratings)
    colours = colours_of(found.systems)
    canvas = Canvas(820, 520, "ELO against cost")
    heading(canvas, f"mean cost of a prompt{_whose(found, rows)}, logarithmic; whiskers: 95 %")
    box = MARGIN_PX + 46.0, HEAD_PX + 24.0, 820.0 - MARGIN_PX - 10, 470.0
    left, top, right, bottom = box
    across = log_scale([row.cost_usd for row in rows], "${:,g}")
    bounds = [b for row in rows for b in (row.elo, row.low, row.high) if b is not None]
    upwards = scale_of(bounds, from_zero=False)
    _frame(canvas, across, upwards, box)
    canvas.text((left, top - 14), "ELO", TEXT_PX, INK)
    taken: list[tuple[float, float, float]] = []
    for row in rows:
        x = across.at(math.log10(row.cost_usd), left, right)
        ends = [upwards.at(bound, bottom, top) for bound in (row.elo, row.low, row.high) if bound is not None]
        if len(ends) > 1:
            canvas.line([(x, min(ends)), (x, max(ends))], mix(colours[row.system], PAPER, 0.35), 2.0)
        taken += [(x - 6, x + 6, float(y)) for y in np.arange(min(ends), max(ends) + 8, 8)]
    for row in rows:
        x = across.at(math.log10(row.cost_usd), left, right)
        y = upwards.at(row.elo, bottom, top)
        canvas.disc((x, y), 5.0, colours[row.system])
        _name(canvas, taken, name_text(row.system), (x, y), box)
    return canvas


def _name(
    canvas: Canvas,
    taken: list[tuple[float, float, float]],
    name: str,
    point: tuple[float, float],
    box: tuple[float, float, float, float],
) -> None:
    """Write a name beside a point, on either side and as near as it meets no other text (start, end, height)
    and stays in the box; a line leads to it where it isn't level with the point."""
    (x, y), width, line = point, text_width(name, TEXT_PX), TEXT_PX + 3.0
    start, height = x + 10, y
    for number in range(120):
        steps, on_left = divmod(number, 2)
        start = x - 10 - width if on_left else x + 10
        height = y + (steps + 1) // 2 * line * (1 if steps % 2 else -1)
        inside = box[0] <= start and start + width <= box[2] and box[1] < height < box[3] - 6
        if inside and all(start + width < s or start > e or abs(height - h) >= line for s, e, h in taken):
            break
    taken.append((start, start + width, height))
    if height != y:
        canvas.line([(x, y), (start - 3 if start > x else start + width + 3, height)], OTHER)
    canvas.text((start, height), name, TEXT_PX, INK)


def _frame(canvas: Canvas, across: Scale, upwards: Scale, box: tuple[float, float, float, float]) -> None:
    left, top, right, bottom = box
    for value, text in across.ticks:
        x = across.at(value, left, right)
        canvas.line([(x, top), (x, bottom + 4)], GRID)
        canvas.text((x, bottom + 14), text, SMALL_PX, MUTED, "middle")
    for value, text in upwards.ticks:
        y = upwards.at(value, bottom, top)
        canvas.line([(left, y), (right, y)], GRID)
        canvas.text((left - 8, y), text, SMALL_PX, MUTED, "end")
    canvas.line([(left, bottom), (right, bottom)], MUTED)


def part_counts(found: Outcomes, setting: str) -> dict[str, list[int]]:
    """Numbers of parts of a setting's builds, sorted, by system."""
    counts: dict[str, list[int]] = {}
    for outcome in found.all:
        if outcome.record.setting == setting and outcome.record.contents is not None:
            counts.setdefault(outcome.record.system, []).append(outcome.record.contents.parts)
    return {system: sorted(parts) for system, parts in counts.items()}


def density(counts: Sequence[int], at: Floats) -> Floats:
    """Gaussian kernel density per decade [n] of numbers of parts, at common logarithms [n].

    Bandwidth: Silverman's rule, 0.9 · min(σ, IQR / 1.34) · n^−1/5 (B. W. Silverman 1986, eq. 3.31), at least
    `LEAST_BANDWIDTH`.
    """
    logs = np.log10(np.maximum(np.array(counts, np.float64), 1.0))
    spread = float(np.subtract(*np.percentile(logs, [75, 25]))) / 1.34
    sigma = float(logs.std())
    width = 0.9 * (min(sigma, spread) if spread > 0 else sigma) * len(logs) ** -0.2
    width = max(width, LEAST_BANDWIDTH)
    steps = (at[:, None] - logs[None, :]) / width
    found: Floats = np.exp(-0.5 * steps**2).mean(axis=1) / (width * math.sqrt(2 * math.pi))
    return found


def densities(found: Outcomes) -> Canvas:
    """Densities of the number of parts, a panel per setting, a line per system; a mark is the median."""
    settings = [setting for setting in found.settings if part_counts(found, setting)]
    colours = colours_of(found.systems)
    width, height, gap = 680, 130.0, 58.0
    top = HEAD_PX + legend_height(list(colours), width - 2 * MARGIN_PX) + 34
    canvas = Canvas(width, round(top + len(settings) * (height + gap)), "Numbers of parts")
    heading(canvas, "density of builds over the number of parts, logarithmic; ticks on the axis: medians")
    legend(canvas, HEAD_PX, colours)
    everything = [n for setting in settings for parts in part_counts(found, setting).values() for n in parts]
    scale = log_scale([max(1, min(everything)) / 1.3, max(everything) * 1.3])
    left, right = float(MARGIN_PX), float(width - MARGIN_PX)
    for setting in settings:
        canvas.text((left, top - 14), setting, TEXT_PX, INK)
        _density_panel(canvas, part_counts(found, setting), scale, (left, top, right, top + height), colours)
        top += height + gap
    return canvas


def _density_panel(
    canvas: Canvas,
    counts: Mapping[str, Sequence[int]],
    scale: Scale,
    box: tuple[float, float, float, float],
    colours: Mapping[str, tuple[int, int, int]],
) -> None:
    left, top, right, bottom = box
    _frame(canvas, scale, Scale(0.0, 1.0, ()), box)
    at = np.linspace(scale.low, scale.high, GRID_POINTS)
    curves = {system: density(parts, at) for system, parts in counts.items()}
    highest = max(float(curve.max()) for curve in curves.values())
    for system, curve in curves.items():
        points = [
            (scale.at(float(x), left, right), bottom - float(y) / highest * (bottom - top))
            for x, y in zip(at, curve, strict=True)
        ]
        canvas.line(points, colours[system], 2.0)
        median = scale.at(math.log10(max(1.0, float(np.median(counts[system])))), left, right)
        canvas.line([(median, bottom - 9), (median, bottom)], colours[system], 2.5)
