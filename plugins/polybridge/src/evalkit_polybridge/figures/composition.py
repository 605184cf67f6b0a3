"""Charts of what the benchmark holds and of what designs fail on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from evalkit import Task
from evalkit_polybridge.designs import level_from_inputs
from evalkit_polybridge.drawing import INK, PAPER, Colour
from evalkit_polybridge.figures.canvas import Canvas, text_width
from evalkit_polybridge.figures.style import (
    GRID,
    LEGEND_LINE_PX,
    MARGIN_PX,
    MUTED,
    OTHER,
    PALETTE,
    SMALL_PX,
    TEXT_PX,
    colours_of,
    heading,
    ink_on,
    legend,
    legend_lines,
    name_text,
)
from evalkit_polybridge.measures import Planned, System
from evalkit_polybridge.published import FAMILY_TITLES
from evalkit_polybridge.tables import GROUPS, error_counts

ROW_PX = 19
GROUP_PX = 27
TOP_PX = 92


def composition(tasks: Iterable[Task]) -> Canvas:
    """Groups and families with their number of levels, and which spans these have."""
    groups: dict[str, dict[str, list[float]]] = {group: {} for group in GROUPS}
    for task in tasks:
        families = groups.setdefault(str(task.hidden["group"]), {})
        families.setdefault(str(task.hidden["family"]), []).append(level_from_inputs(task.inputs).span_m)
    groups = {group: families for group, families in groups.items() if families}
    count = sum(map(len, groups.values()))
    total = sum(len(spans) for families in groups.values() for spans in families.values())
    canvas = Canvas(860, TOP_PX + count * ROW_PX + len(groups) * GROUP_PX + 46, "What was played")
    heading(
        canvas, f"{total} levels in {count} families; a disc is a span, its number the levels that have it"
    )
    longest = max((span for f in groups.values() for spans in f.values() for span in spans), default=1.0)
    most = max((len(spans) for families in groups.values() for spans in families.values()), default=1)
    bottom = canvas.height - 36.0
    axis = _span_axis(canvas, longest, bottom)
    canvas.text((150, TOP_PX - 18), "levels", TEXT_PX, INK)
    canvas.text((400, TOP_PX - 18), "span in metres", TEXT_PX, INK)
    y = float(TOP_PX)
    for (group, families), colour in zip(groups.items(), PALETTE * len(groups), strict=False):
        held = sum(map(len, families.values()))
        canvas.text((MARGIN_PX, y + 10), f"{GROUPS.get(group, group)}: {held} levels", TEXT_PX, colour)
        y += GROUP_PX - 4
        for family in sorted(families, key=_family_order):
            spans = families[family]
            canvas.text((MARGIN_PX + 6, y + ROW_PX / 2), FAMILY_TITLES.get(family, family), TEXT_PX, INK)
            end = 150 + 190 * len(spans) / most
            canvas.box(150, y + 4, end, y + ROW_PX - 4, colour)
            canvas.text((end + 6, y + ROW_PX / 2), str(len(spans)), SMALL_PX, MUTED)
            for span, levels in sorted(Counter(spans).items()):
                _span_disc(canvas, (400 + span * axis, y + ROW_PX / 2), levels, colour)
            y += ROW_PX
        y += 4
    return canvas


def _family_order(family: str) -> int:
    return list(FAMILY_TITLES).index(family) if family in FAMILY_TITLES else len(FAMILY_TITLES)


def _span_axis(canvas: Canvas, longest: float, bottom: float) -> float:
    """The axis of spans; returns pixels per metre."""
    per_metre = (canvas.width - MARGIN_PX - 10 - 400) / longest
    for metres in range(0, int(longest) + 1, 2):
        x = 400 + metres * per_metre
        canvas.line([(x, TOP_PX), (x, bottom)], GRID)
        canvas.text((x, bottom + 12), f"{metres}", SMALL_PX, MUTED, "middle")
    return per_metre


def _span_disc(canvas: Canvas, at: tuple[float, float], levels: int, colour: Colour) -> None:
    if levels == 1:
        canvas.disc(at, 4.0, colour)
    else:
        canvas.disc(at, 7.5, colour)
        canvas.text(at, str(levels), SMALL_PX, PAPER, "middle")


def errors(systems: Mapping[System, Sequence[Planned]]) -> Canvas:
    """What share of its recorded errors each code has, a bar per agent and condition."""
    counts = {system: error_counts(group) for system, group in systems.items()}
    overall = sum(counts.values(), Counter[str]())
    codes = sorted(overall, key=lambda code: (-overall[code], code))
    colours = colours_of(codes[: len(PALETTE)])
    shown = dict(colours) | ({"other": OTHER} if len(codes) > len(PALETTE) else {})
    width, left = 860, 250.0
    top = 62 + len(legend_lines(list(shown), width - 2 * MARGIN_PX)) * LEGEND_LINE_PX + 12
    canvas = Canvas(width, top + len(counts) * 28 + 44, "What designs fail on")
    heading(canvas, "share of all recorded errors, their number on the right")
    if shown:
        legend(canvas, 62, shown)
    right = width - MARGIN_PX - 60.0
    y = float(top)
    for (agent, condition), counted in counts.items():
        name = name_text(f"{agent}, {condition}", left - MARGIN_PX - 12)
        canvas.text((left - 10, y + 13), name, TEXT_PX, INK, "end")
        _error_bar(canvas, (left, right), y, counted, colours)
        canvas.text((right + 8, y + 13), f"{counted.total():,}", TEXT_PX, MUTED)
        y += 28
    for percent in (0, 25, 50, 75, 100):
        x = left + percent / 100 * (right - left)
        canvas.text((x, y + 12), f"{percent} %", SMALL_PX, MUTED, "middle")
    return canvas


def _error_bar(
    canvas: Canvas,
    ends: tuple[float, float],
    top: float,
    counted: Counter[str],
    colours: Mapping[str, Colour],
) -> None:
    total = counted.total()
    if not total:
        canvas.text((ends[0] + 6, top + 13), "no errors", SMALL_PX, MUTED)
        return
    parts = [(counted[code], colour) for code, colour in colours.items()]
    parts.append((total - sum(count for count, _ in parts), OTHER))
    x = ends[0]
    for count, colour in parts:
        end = x + count / total * (ends[1] - ends[0])
        canvas.box(x, top + 3, max(x, end - 1), top + 23, colour)
        label = f"{count / total * 100:.0f} %"
        if end - x > text_width(label, SMALL_PX) + 8:
            canvas.text(((x + end) / 2, top + 13), label, SMALL_PX, ink_on(colour), "middle")
        x = end
