"""A gallery: a prompt per row, a system per column, each build drawn once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.render3d import png
from evalkit_brickbench.designs import read
from evalkit_brickbench.figures.canvas import PNG_SCALE, Canvas, wrapped
from evalkit_brickbench.figures.charts import ranked
from evalkit_brickbench.figures.style import (
    GRID,
    HEAD_PX,
    INK,
    MARGIN_PX,
    MUTED,
    SMALL_PX,
    TEXT_PX,
    heading,
    name_text,
)
from evalkit_brickbench.pictures import draw, instances
from evalkit_brickbench.results import Outcome, Outcomes
from evalkit_brickbench.scoring.ratings import Ratings
from evalkit_brickbench.scoring.tables import invalid_reason
from evalkit_brickbench.settings import settings_of

TILE_PX, GAP_PX, WORDS_PX = 170, 12, 220
VIEW = 1
"""From the front and the right: what most pictures of models show."""
MOST_SYSTEMS = 6
PER_SETTING = 2


@dataclass(frozen=True, slots=True)
class Tile:
    """A build in the gallery; `reason` says why it is invalid, None for a valid one."""

    outcome: Outcome
    reason: str | None


def tiles(found: Outcomes, ratings: Mapping[str, Ratings]) -> dict[str, dict[str, Tile]]:
    """What is shown, by task and system: of each setting the prompts that most systems have a build for."""
    systems = ranked(found, ratings)[:MOST_SYSTEMS]
    by_task: dict[str, dict[str, Tile]] = {}
    for outcome in found.all:
        if outcome.record.system in systems and outcome.record.task == outcome.task.id:
            tile = Tile(outcome, invalid_reason(outcome.record))
            by_task.setdefault(outcome.task.id, {})[outcome.record.system] = tile
    chosen: list[str] = []
    for setting in found.settings:
        names = [name for name, row in by_task.items() if _setting(row) == setting]
        chosen += sorted(names, key=lambda name: -_built(by_task[name]))[:PER_SETTING]
    return {name: {s: by_task[name][s] for s in systems if s in by_task[name]} for name in chosen}


def _setting(row: Mapping[str, Tile]) -> str:
    return next(iter(row.values())).outcome.record.setting


def _built(row: Mapping[str, Tile]) -> int:
    return sum(tile.outcome.sha256 is not None for tile in row.values())


def gallery(found: Outcomes, ratings: Mapping[str, Ratings]) -> Canvas:
    """The builds as pictures from one side, below each its number of parts and why it is invalid, if so."""
    shown = tiles(found, ratings)
    systems = list(dict.fromkeys(system for row in shown.values() for system in row))
    left, top, row_px = MARGIN_PX + WORDS_PX, HEAD_PX + 26.0, TILE_PX + 30 + GAP_PX
    width = left + len(systems) * (TILE_PX + GAP_PX) - GAP_PX + MARGIN_PX
    canvas = Canvas(width, round(top + len(shown) * row_px + 8), "Gallery")
    heading(canvas, "one view of each build; below, its parts and why it is invalid, if it is")
    for column, system in enumerate(systems):
        middle = left + column * (TILE_PX + GAP_PX) + TILE_PX / 2
        canvas.text((middle, HEAD_PX + 10), name_text(system, TILE_PX), TEXT_PX, INK, "middle")
    for number, (name, row) in enumerate(shown.items()):
        y = top + number * row_px
        first = next(iter(row.values())).outcome
        _words(canvas, name, first, y)
        for column, system in enumerate(systems):
            if system in row:
                _tile(canvas, row[system], left + column * (TILE_PX + GAP_PX), y)
    return canvas


def _words(canvas: Canvas, name: str, outcome: Outcome, top: float) -> None:
    canvas.text((MARGIN_PX, top + 10), name_text(name, WORDS_PX - 16), TEXT_PX, INK)
    prompt = str(outcome.task.inputs["prompt"])
    for place, line in enumerate(wrapped(prompt, SMALL_PX, WORDS_PX - 20, 11)):
        canvas.text((MARGIN_PX, top + 28 + 14 * place), line, SMALL_PX, MUTED)


def _tile(canvas: Canvas, tile: Tile, left: float, top: float) -> None:
    picture = _picture(tile.outcome)
    if picture is None:
        canvas.box(left, top, left + TILE_PX, top + TILE_PX, GRID)
    else:
        canvas.picture((left, top), (TILE_PX, TILE_PX), picture)
    contents = tile.outcome.record.contents
    parts = "" if contents is None else f"{contents.parts} parts"
    below = ", ".join(filter(None, (parts, tile.reason)))
    canvas.text((left + TILE_PX / 2, top + TILE_PX + 12), below, SMALL_PX, MUTED, "middle")


def _picture(outcome: Outcome) -> bytes | None:
    """A PNG file; None without a build or a shape to draw."""
    build = outcome.load()
    if build is None:
        return None
    scene = instances(read(build.candidate, settings_of(build.settings)))
    return png(draw(scene, VIEW, TILE_PX * PNG_SCALE)) if scene else None


def rows(shown: Mapping[str, Mapping[str, Tile]]) -> Sequence[tuple[str, str, int | None, str, str]]:
    """Task, system, parts, `valid` or the reason, and SHA-256 of the model file of each tile."""
    return [
        (
            task,
            system,
            None if (contents := tile.outcome.record.contents) is None else contents.parts,
            tile.reason or "valid",
            tile.outcome.sha256 or "",
        )
        for task, row in shown.items()
        for system, tile in row.items()
    ]
