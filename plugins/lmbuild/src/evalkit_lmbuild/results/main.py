"""The main table, levels with their intervals, kinds of systems side by side, mechanism families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit import Score
from evalkit.report import Cell, Column, Estimate, Table
from evalkit_lmbuild.objects import FAMILIES as MECHANISMS
from evalkit_lmbuild.results.systems import FAMILIES, System
from evalkit_lmbuild.scoring.levels import LEVELS, METRICS

ALL_COLUMNS = tuple(name for level, metrics in LEVELS.items() for name in (level, *metrics))
_MARK = (
    "A level is the mean of its three metrics; N/A and skipped ones are left out, a missing design counts 0 "
    "(N/A where no design of the system has what the metric needs)."
)
_DEGRADED = "degraded: without a judge the computed half of D.1 and D.3 stands alone, and D.2 is skipped."


def main_table(systems: Sequence[System]) -> Table:
    """A row per system: four levels and twelve metrics in per cent."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (system.name, system.family, len(system.played), *(figure(_cell(system, n)) for n in ALL_COLUMNS))
        for system in systems
    )
    columns = (*_texts("system", "kind"), *_numbers("n", *ALL_COLUMNS))
    return Table("lmbuild.systems", "LMBuild by system", columns, rows, _note(systems), headline=True)


def levels_table(systems: Sequence[System]) -> Table:
    """A row per system: the four levels with 95 % intervals."""
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        found = [system.level(level) for level in LEVELS]
        rows.append((system.name, *(figure(score, interval=True) for score in found)))
    columns = (*_texts("system"), *_numbers(*LEVELS))
    note = "Intervals: bootstrap over tasks, whose episodes stay together."
    return Table("lmbuild.levels", "The four levels", columns, tuple(rows), note)


def kinds_table(systems: Sequence[System]) -> Table:
    """Means over the systems of each kind, on the metrics that every system of every kind has."""
    cells = {
        system.name: {name: system.cell(name).value for name in METRICS}
        for system in systems
        if system.played
    }
    kinds = {system.name: system.family for system in systems if system.played}
    common, means = compare_kinds(cells, kinds)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (kind, sum(each == kind for each in kinds.values()), *(Estimate(v, None, unit="%") for v in values))
        for kind, values in means.items()
    )
    left = [name for name in METRICS if name not in common]
    note = f"Left out, since a system lacks them: {', '.join(left)}." if left else ""
    columns = (*_texts("kind"), *_numbers("systems", *common))
    return Table("lmbuild.kinds", "Kinds of systems, on metrics that all have", columns, rows, note)


def compare_kinds(
    cells: Mapping[str, Mapping[str, float | None]], kinds: Mapping[str, str]
) -> tuple[list[str], dict[str, list[float]]]:
    """Metrics that all systems have, and their means over the systems of each kind, in the cells' unit.

    `cells` are by system and metric, `kinds` by system.
    """
    names = list(dict.fromkeys(name for found in cells.values() for name in found))
    common = [name for name in names if all(found.get(name) is not None for found in cells.values())]
    means: dict[str, list[float]] = {}
    for kind in sorted(set(kinds.values()), key=FAMILIES.index):
        members = [cells[system] for system in cells if kinds[system] == kind]
        columns = [[value for found in members if (value := found[name]) is not None] for name in common]
        means[kind] = [sum(column) / len(column) for column in columns]
    return common, means


def mechanisms_table(systems: Sequence[System]) -> Table:
    """The four levels by system and mechanism family of the objects."""
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        for family in MECHANISMS:
            part = system.of_family(family)
            if part.played:
                scores = [part.level(level) for level in LEVELS]
                named = (system.name, family.replace("_", " "), len(part.played))
                rows.append((*named, *(figure(score) for score in scores)))
    columns = (*_texts("system", "objects"), *_numbers("n", *LEVELS))
    return Table("lmbuild.mechanisms", "Levels by mechanism family", columns, tuple(rows))


def figure(score: Score, *, interval: bool = False) -> Estimate:
    """A score as a cell in per cent, marked if it is degraded, named if it is missing."""
    word = "" if score.status == "ok" else "N/A" if score.status == "not_applicable" else str(score.status)
    low, high = (score.low, score.high) if interval else (None, None)
    return Estimate(score.value, None, low, high, "%", word)


def _cell(system: System, name: str) -> Score:
    return system.level(name) if name in LEVELS else system.cell(name)


def _note(systems: Sequence[System]) -> str:
    lines = [_MARK]
    if any(system.level("D").status == "degraded" for system in systems):
        lines.append(_DEGRADED)
    lines += [
        f"{system.name}: {single} designs are a single part, their references more; S is S.3 alone"
        for system in systems
        if (single := _single_parts(system))
    ]
    lines += [
        f"{system.name}: {system.missing} planned episodes have no result and aren't counted"
        for system in systems
        if system.missing
    ]
    return "\n".join(lines)


def _single_parts(system: System) -> int:
    """Designs of one part, to which S.1 and S.2 don't apply though the reference has several."""
    rows = [score.evidence for score in system.scores["S.1"] if score.status == "not_applicable"]
    return sum(row.get("n_parts_reference", 1) > 1 for row in rows)


def _texts(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name) for name in names)


def _numbers(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, "right") for name in names)
