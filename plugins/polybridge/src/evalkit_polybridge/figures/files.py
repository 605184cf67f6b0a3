"""The figures as files: an SVG, a PNG and a CSV of its numbers each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit import UsageError
from evalkit.report import Table, to_csv
from evalkit_polybridge import published
from evalkit_polybridge.figures import charts, composition
from evalkit_polybridge.figures.canvas import Canvas
from evalkit_polybridge.measures import Planned, System
from evalkit_polybridge.tables import error_composition

Systems = Mapping[System, Sequence[Planned]]

SUFFIXES = (".svg", ".png", ".csv")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its file name, what draws it and what tabulates it.

    `lacks` says why the given episodes don't make this figure, or nothing.
    """

    name: str
    draw: Callable[[Systems], Canvas]
    table: Callable[[Systems], Table]
    lacks: Callable[[Systems], str] = lambda systems: ""


def _lacks_pairs(systems: Systems) -> str:
    return "" if charts.has_arrows(systems) else "no agent has runs under both strict and loose budgets"


FIGURES: tuple[Figure, ...] = (
    Figure(
        "composition",
        lambda systems: composition.composition(published.tasks_of(systems)),
        lambda systems: published.composition(published.tasks_of(systems)),
    ),
    Figure("by_call", charts.by_call, published.by_call),
    Figure("capabilities", charts.capabilities, published.capabilities),
    Figure("errors", composition.errors, error_composition),
    Figure("efficiency", charts.efficiency, published.efficiency, _lacks_pairs),
)


@dataclass(frozen=True, slots=True)
class Written:
    """What `write_figures` did: paths, figures left out with the reason, and files of those from before."""

    files: Sequence[Path]
    left_out: Mapping[str, str]
    from_before: Sequence[Path]


def write_figures(systems: Systems, folder: Path) -> Written:
    """Write every figure into a folder.

    Files of a figure that is left out stay if they are there, for nothing says that this package wrote them.
    UsageError if a file can't be written.
    """
    left_out: dict[str, str] = {}
    written: list[Path] = []
    for figure in FIGURES:
        if why := figure.lacks(systems):
            left_out[figure.name] = why
            continue
        canvas = figure.draw(systems)
        table = to_csv([figure.table(systems)]).encode()
        for suffix, data in zip(SUFFIXES, (canvas.svg(), canvas.png(), table), strict=True):
            written.append(write_file(folder / f"{figure.name}{suffix}", data))
    stale = [folder / f"{name}{suffix}" for name in left_out for suffix in SUFFIXES]
    return Written(written, left_out, [path for path in stale if path.exists()])


def write_file(path: Path, data: bytes) -> Path:
    """Write a file in one step, its folder too if need be; UsageError if that can't be done."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(data)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
    return path
