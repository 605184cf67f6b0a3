"""Tables of typed cells, and the one place where numbers become text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Rate:
    """A ratio of counts with its interval: `58.2 % (110/189) [51.1, 65.0]`, or `– (0/0)`.

    `value`, `low` and `high` are fractions; the unit `%` prints them in percent, `points` (of a difference)
    in percentage points. `word` is printed in place of a value that doesn't exist (`skipped`) or behind one
    that needs a mark (`degraded`).
    """

    value: float | None
    numerator: float | None
    denominator: float
    low: float | None = None
    high: float | None = None
    unit: str = "%"
    word: str = ""
    method: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean or total over `n` episodes with its interval: `2.31 s (n=110) [2.10, 2.52]`.

    `unit` and `word` as in `Rate`; `n` is None where it says nothing. An `int` is printed whole.
    """

    value: float | None
    n: int | None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    word: str = ""
    method: str = ""


Cell = str | int | float | Rate | Estimate | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading and the side its cells keep to (figures are aligned by their parts)."""

    name: str
    align: Literal["left", "right"] = "left"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; `id` names it in JSON and CSV, the first column identifies a row, `note` is printed below.

    `headline` tables are printed right after a run, all others only by `evalkit report`. ValueError if a
    row has another number of cells than there are columns.
    """

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    headline: bool = False

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.id!r}: row {number} has {len(row)} cells for {len(self.columns)} columns"
                )


NO_VALUE = "–"


def cell_text(cell: Cell) -> str:
    """A cell on one line."""
    return " ".join(part for part in cell_parts(cell) if part)


def cell_parts(cell: Cell) -> list[str]:
    """A cell as parts that stay together: a text's words, or a figure's value, count, interval and word.

    A figure always has four parts, some of them empty, so that a column can align them.
    """
    if isinstance(cell, Rate):
        count = f"({_count(cell.numerator)}/{_count(cell.denominator)})"
        return [_headline(cell), count, _interval(cell), cell.word if cell.value is not None else ""]
    if isinstance(cell, Estimate):
        count = "" if cell.n is None else f"(n={cell.n})"
        return [_headline(cell), count, _interval(cell), cell.word if cell.value is not None else ""]
    if isinstance(cell, str):
        return printable(cell).split()
    return [NO_VALUE if cell is None else number(cell)]


def number(value: float) -> str:
    """A number with as many decimals as its size is worth; integers whole, both with thousands' commas."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{_decimals(value)}f}"


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first names and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def printable(text: str) -> str:
    """The text with control and other invisible characters escaped: agents write what they like."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return " " if character.isspace() else character.encode("unicode_escape").decode("ascii")


def _headline(figure: Rate | Estimate) -> str:
    if figure.value is None:
        return figure.word or NO_VALUE
    factor, decimals = _scale(figure, figure.value)
    return f"{figure.value * factor:,.{decimals}f}" + (f" {figure.unit}" if figure.unit else "")


def _interval(figure: Rate | Estimate) -> str:
    if figure.value is None or figure.low is None or figure.high is None:
        return ""
    factor, decimals = _scale(figure, figure.value)
    return f"[{figure.low * factor:,.{decimals}f}, {figure.high * factor:,.{decimals}f}]"


def _scale(figure: Rate | Estimate, value: float) -> tuple[float, int]:
    """What the unit multiplies by, and the decimals that value and interval share."""
    if figure.unit in ("%", "points"):
        return 100.0, 1
    return 1.0, 0 if isinstance(value, int) else _decimals(value)


def _decimals(value: float) -> int:
    size = abs(value)
    return 0 if size >= 10_000 else 1 if size >= 100 else 2 if size >= 1 or size == 0 else 3


def _count(value: float | None) -> str:
    if value is None:
        return NO_VALUE
    return str(int(value)) if float(value).is_integer() else f"{value:g}"
