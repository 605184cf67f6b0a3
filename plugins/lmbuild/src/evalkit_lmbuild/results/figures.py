"""The figures as files: an SVG, a PNG and a CSV of its numbers each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit import Score, UsageError
from evalkit.report import Rate, Table, to_csv
from evalkit_lmbuild.objects import FAMILIES as MECHANISMS
from evalkit_lmbuild.results.ablations import ALL, FACTORS, Difference, ablation_tables, differences
from evalkit_lmbuild.results.canvas import Canvas
from evalkit_lmbuild.results.dots import Mark, Panel, dot_rows
from evalkit_lmbuild.results.failures import failures_table
from evalkit_lmbuild.results.main import levels_table, main_table, mechanisms_table
from evalkit_lmbuild.results.systems import TITLES, System
from evalkit_lmbuild.scoring.levels import LEVELS, METRICS

WHISKERS = "whiskers: 95 %"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its file name, what draws it and its numbers. `lacks` says why there is none, or nothing."""

    name: str
    draw: Callable[[], Canvas]
    table: Callable[[], Table]
    lacks: str = ""


def figures_of(systems: Sequence[System]) -> list[Figure]:
    """All figures of some systems."""
    found = [
        Figure("levels", lambda: levels(systems), lambda: levels_table(systems)),
        Figure("metrics", lambda: metrics(systems), lambda: main_table(systems)),
        Figure("mechanisms", lambda: mechanisms(systems), lambda: mechanisms_table(systems)),
        Figure("failures", lambda: failures(systems), lambda: failures_table(systems)),
    ]
    tables = {table.id: table for table in ablation_tables(systems)}
    for factor, title in FACTORS.items():
        name = f"lmbuild.{factor}"
        lacks = "" if name in tables else f"no agent was played under two protocols that differ in {factor}"
        found.append(
            Figure(
                factor,
                lambda factor=factor, title=title: changes(title, differences(systems, factor)),  # type: ignore[misc]
                lambda name=name: tables[name],  # type: ignore[misc]
                lacks,
            )
        )
    return found


def write_figures(systems: Sequence[System], folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Write every figure into a folder; returns the paths, and the figures left out with the reason.

    UsageError without an episode that has a result, and if a file can't be written.
    """
    played = [system for system in systems if system.played]
    if not played:
        raise UsageError("these runs have no episode with a result: there is nothing to draw")
    written: list[Path] = []
    left_out: dict[str, str] = {}
    for figure in figures_of(played):
        if figure.lacks:
            left_out[figure.name] = figure.lacks
            continue
        canvas = figure.draw()
        contents = {".svg": canvas.svg(), ".png": canvas.png(), ".csv": to_csv([figure.table()]).encode()}
        for suffix, data in contents.items():
            written.append(_write(folder / f"{figure.name}{suffix}", data))
    return written, left_out


def levels(systems: Sequence[System]) -> Canvas:
    """The four levels by system."""
    panels = [
        Panel(TITLES[level], [_marks({system.name: system.level(level)}) for system in systems])
        for level in LEVELS
    ]
    names = [system.name for system in systems]
    return dot_rows("The four levels", f"mean over objects, {WHISKERS}", names, panels, names)


def metrics(systems: Sequence[System]) -> Canvas:
    """The twelve metrics by system."""
    rows = [_marks({system.name: system.cell(name) for system in systems}) for name in METRICS]
    note = "mean over objects; without a judge D.1 and D.3 are their computed halves, and D.2 is missing"
    panel = Panel("score", rows, width=460)
    titles = [TITLES[name] for name in METRICS]
    return dot_rows("The twelve metrics", note, titles, [panel], [system.name for system in systems])


def mechanisms(systems: Sequence[System]) -> Canvas:
    """The four levels by mechanism family of the objects and system."""
    parts = {
        family: [part for system in systems if (part := system.of_family(family)).played]
        for family in MECHANISMS
    }
    shown = [family for family, found in parts.items() if found]
    panels = [
        Panel(TITLES[level], [_marks({p.name: p.level(level) for p in parts[family]}) for family in shown])
        for level in LEVELS
    ]
    titles = [family.replace("_", " ") for family in shown]
    note = f"mean over objects, {WHISKERS}"
    return dot_rows("Levels by mechanism family", note, titles, panels, [system.name for system in systems])


def failures(systems: Sequence[System]) -> Canvas:
    """How designs fail, by system."""
    names = [system.name for system in systems]
    rows, titles = [], []
    for title, of, *cells in failures_table(systems).rows:
        rates = {name: cell for name, cell in zip(names, cells, strict=True) if isinstance(cell, Rate)}
        rows.append({name: Mark(r.value, r.low, r.high) for name, r in rates.items() if r.value is not None})
        titles.append(f"{title} (of {of})")
    note = f"share of tasks or motions that fail so, {WHISKERS}; thresholds are in the table"
    return dot_rows(
        "How designs fail", note, [_short(t) for t in titles], [Panel("", rows, width=420)], names
    )


def changes(title: str, found: Sequence[Difference]) -> Canvas:
    """What changes of one setting do to every metric and level, by agent and change."""
    lanes = list(dict.fromkeys(_lane(each) for each in found))
    rows: list[Mapping[str, Mark]] = [
        {_lane(each): Mark(each.difference, each.low, each.high) for each in found if each.metric == name}
        for name in ALL
    ]
    reach = max((abs(m.value) for row in rows for m in row.values()), default=0.1)
    reach = next(limit for limit in (0.1, 0.2, 0.4, 1.0) if reach <= limit or limit == 1.0)
    panel = Panel("difference in points", rows, -reach, reach, "", 460)
    note = f"paired by object, {WHISKERS} by bootstrap"
    return dot_rows(f"{title}: what a change does", note, [TITLES[name] for name in ALL], [panel], lanes)


def _lane(each: Difference) -> str:
    return f"{each.agent}: {each.change.replace('→', 'to')}"


def _marks(scores: Mapping[str, Score]) -> dict[str, Mark]:
    return {
        name: Mark(score.value, score.low, score.high)
        for name, score in scores.items()
        if score.value is not None
    }


def _short(title: str) -> str:
    return title.replace("at least half of the required parts", "half of the required parts")


def _write(path: Path, data: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
    return path
