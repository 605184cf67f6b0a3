"""A table as lines of plain text that fit a width, the same on every machine.

Columns shrink where their cells can be broken: between the words of a text, between the value, count and
interval of a figure. All shrink to one limit, so that equal columns stay equal. A table whose columns
can't shrink enough is cut into blocks that repeat the first column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.report.table import Column, Estimate, Rate, Table, cell_parts, printable

GAP = "  "

Parts = list[str]


def table_lines(table: Table, width: int) -> list[str]:
    """The title, the heading, a rule, the rows and the note; no line is longer than it has to be."""
    lines = [line for line in _wrapped(printable(table.title).split(), width) if line]
    columns = [_column_parts(table, index) for index in range(len(table.columns))]
    for number, block in enumerate(_blocks(columns, width)):
        if number:
            lines.append("")
        lines += _block_lines([columns[i] for i in block], [table.columns[i] for i in block], width)
    if not table.rows:
        lines.append("(none)")
    if table.note:
        lines.append("")
        for paragraph in table.note.splitlines():
            lines += _wrapped(printable(paragraph).split(), width)
    return lines


def _column_parts(table: Table, index: int) -> list[Parts]:
    """The heading's and every cell's parts; those of figures padded so that they align."""
    cells = [row[index] for row in table.rows]
    parts = [cell_parts(cell) for cell in cells]
    figures = [i for i, cell in enumerate(cells) if isinstance(cell, Rate | Estimate)]
    for place in range(4):
        size = max((_cells(parts[i][place]) for i in figures), default=0)
        for i in figures:
            text = parts[i][place]
            padding = " " * (size - _cells(text))
            parts[i][place] = padding + text if place == 0 else text + padding
    for i in figures:
        parts[i] = [part for part in parts[i] if part]
    heading = printable(table.columns[index].name).split()
    return [heading, *parts]


def _blocks(columns: Sequence[list[Parts]], width: int) -> Iterator[list[int]]:
    """Which columns stand together: as many as fit at their narrowest, each block with the first."""
    narrowest = [max((_cells(part) for cell in column for part in cell), default=0) for column in columns]
    block = [0]
    used = narrowest[0]
    for index in range(1, len(columns)):
        needed = len(GAP) + narrowest[index]
        if used + needed > width and len(block) > 1:
            yield block
            block, used = [0], narrowest[0]
        block.append(index)
        used += needed
    yield block


def _block_lines(columns: Sequence[list[Parts]], heads: Sequence[Column], width: int) -> list[str]:
    widths = _fit(columns, width)
    height = len(columns[0])
    rows = [
        [_wrapped(column[i], column_width) for column, column_width in zip(columns, widths, strict=True)]
        for i in range(height)
    ]
    lines = _row_lines(rows[0], heads, widths)
    lines.append(GAP.join("─" * column_width for column_width in widths))
    tall = sum(max(map(len, row)) > 1 for row in rows[1:]) * 2 > height - 1
    for number, row in enumerate(rows[1:]):
        if tall and number:
            lines.append("")
        lines += _row_lines(row, heads, widths)
    return lines


def _row_lines(row: Sequence[list[str]], heads: Sequence[Column], widths: Sequence[int]) -> list[str]:
    lines = []
    for number in range(max(map(len, row))):
        texts = []
        for cell, head, width in zip(row, heads, widths, strict=True):
            text = cell[number] if number < len(cell) else ""
            padding = " " * (width - _cells(text))
            texts.append(padding + text if head.align == "right" else text + padding)
        lines.append(GAP.join(texts).rstrip())
    return lines


def _fit(columns: Sequence[list[Parts]], width: int) -> list[int]:
    """Column widths that fit: one limit for all, the largest that is small enough.

    A column that can't be broken at the limit keeps its width, and the others go on shrinking.
    """
    room = width - len(GAP) * (len(columns) - 1)
    widths = [_width(column, None) for column in columns]
    limit = max(widths)
    while sum(widths) > room and (breakable := [w for w in widths if 1 < w <= limit]):
        limit = max(breakable) - 1
        widths = [_width(column, limit) for column in columns]
    return widths


def _width(column: list[Parts], limit: int | None) -> int:
    """The longest line of a column's cells when they are broken at `limit` (None: not broken)."""
    limit = limit if limit is not None else sum(_cells(p) + 1 for cell in column for p in cell)
    return max((_cells(line) for cell in column for line in _wrapped(cell, limit)), default=0)


def _wrapped(parts: Sequence[str], width: int) -> list[str]:
    """Lines of whole parts, filled one after the other; a part wider than the width stands alone.

    A blank part only keeps the place of what follows it on the same line.
    """
    lines: list[str] = []
    for part in parts:
        if lines and _cells(lines[-1]) + 1 + _cells(part) <= width:
            lines[-1] += f" {part}"
        elif not part.isspace():
            lines.append(part)
    return [line.rstrip() for line in lines] or [""]


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
