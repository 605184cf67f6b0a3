"""Tables in the formats that people and programs read; each format is one function."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from evalkit.report._layout import table_lines
from evalkit.report.table import Cell, Column, Estimate, Rate, Table, cell_text, printable

CSV_HEADER = (
    "table", "row", "column", "value", "numerator", "denominator", "low", "high", "unit", "method", "status"
)  # fmt: skip


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "]": "{]}",
    "÷": r"$\div$",
    "×": r"$\times$",
    "−": "$-$",
    "·": r"$\cdot$",
    "–": "--",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
p { margin: 0.25rem 0; opacity: 0.8; font-size: 0.9rem; }
.wide { overflow-x: auto; margin-bottom: 0.5rem; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.8rem 0.3rem 0; }
th { border-bottom: 2px solid; }
td { border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.figure { font-variant-numeric: tabular-nums; white-space: nowrap; }
.right { text-align: right; }
"""

#: Width of text that isn't printed on a terminal.
FILE_WIDTH = 100


def to_text(tables: Sequence[Table], width: int = FILE_WIDTH) -> str:
    """Plain text for a terminal of that many columns; the same bits for the same tables and width."""
    return "\n\n".join("\n".join(table_lines(table, width)) for table in tables) + "\n"


def to_markdown(tables: Sequence[Table]) -> str:
    """Tables in GitHub's dialect of Markdown."""
    return "\n".join("\n".join(_markdown_lines(table)) + "\n" for table in tables)


def to_csv(tables: Sequence[Table]) -> str:
    """One line per value, with its row (the leading texts) and column; empty cells are left out.

    Rates are fractions, whatever their unit, and nothing is rounded. `status` is the word of a figure
    without a value (`skipped`) or with a mark (`degraded`). Names come from agents and records: a text that a
    spreadsheet would take for a formula gets an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEADER)
    for table in tables:
        keys = _key_columns(table)
        for row in table.rows:
            name = " / ".join(cell_text(cell) for cell in row[:keys])
            for column, cell in zip(table.columns[keys:], row[keys:], strict=True):
                if cell is not None and cell != "":
                    writer.writerow(map(_harmless, [table.id, name, column.name, *_csv_fields(cell)]))
    return out.getvalue()


def to_json(value: Mapping[str, Any]) -> str:
    """Indented JSON; ValueError for a NaN."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def to_latex(tables: Sequence[Table]) -> str:
    """Tables as LaTeX `tabular`s that need no package, each with title and note as text around it."""
    return "\n".join("\n".join(_latex_lines(table)) + "\n" for table in tables)


def to_html(tables: Sequence[Table]) -> str:
    """One page that holds the tables and needs nothing else: no scripts, readable on light and dark."""
    title = _html(tables[0].title) if tables else "evalkit"
    body = "\n".join("\n".join(_html_lines(table)) for table in tables)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {
    "table": to_text,
    "markdown": to_markdown,
    "csv": to_csv,
    "latex": to_latex,
    "html": to_html,
}
"""What turns tables into a text; JSON is the `summary` of a report."""


def table_json(table: Table) -> dict[str, Any]:
    """A table as JSON: figures as objects, everything else as it is."""
    return {
        "title": table.title,
        "columns": [column.name for column in table.columns],
        "rows": [[_cell_json(cell) for cell in row] for row in table.rows],
        "note": table.note,
    }


def write_text(text: str, stream: TextIO, *, colour: bool | None = None) -> None:
    """Write a text to a stream; what its encoding can't say is written as an escape.

    In colour (None: if the stream is a terminal), headings are bold, intervals dim, and the words for
    what isn't a value stand out.
    """
    if not (stream.isatty() if colour is None else colour):
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        return
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"\[-?[\d.,]+, -?[\d.,]+\]|─+", "dim")
    styled.highlight_regex(
        r"\b(?:skipped|degraded|undetermined|unscored|left out)\b|\d+ of \d+ episodes? missing", "yellow"
    )
    styled.highlight_regex(r"(?m)^.*\n(?=─)", "bold")
    Console(file=stream, highlight=False, soft_wrap=True).print(styled, end="")


def _markdown_lines(table: Table) -> list[str]:
    lines = [f"### {_markdown(table.title)}", ""]
    lines.append(_markdown_row([_markdown(column.name) for column in table.columns]))
    lines.append(_markdown_row(["---:" if c.align == "right" else "---" for c in table.columns]))
    lines += [_markdown_row([_markdown(cell_text(cell)) for cell in row]) for row in table.rows]
    if table.note:
        lines += ["", *(f"{_markdown(line)}  " for line in table.note.splitlines())]
        lines[-1] = lines[-1].rstrip()
    return lines


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    """The text on one line, with what Markdown would read as markup escaped."""
    text = " ".join(printable(text).split())
    for character in "\\`*|":
        text = text.replace(character, f"\\{character}")
    return text.replace("](", "]\\(").replace("<", "&lt;")


def _latex_lines(table: Table) -> list[str]:
    align = "".join("r" if column.align == "right" else "l" for column in table.columns)
    rows = [
        [column.name for column in table.columns],
        *([cell_text(cell) for cell in row] for row in table.rows),
    ]
    head, *body = [" & ".join(map(_latex, row)) + r" \\" for row in rows]
    lines = [_latex(table.title), "", rf"\begin{{tabular}}{{{align}}}", r"\hline", head, r"\hline", *body]
    lines += [r"\hline", r"\end{tabular}"]
    for line in table.note.splitlines():
        lines += ["", _latex(line)]
    return lines


def _latex(text: str) -> str:
    """The text with what LaTeX would read as commands escaped."""
    return "".join(_LATEX.get(character, character) for character in printable(text))


def _html_lines(table: Table) -> list[str]:
    lines = ["<section>", f"<h2>{_html(table.title)}</h2>", '<div class="wide"><table>']
    heads = "".join(f'<th scope="col">{_html(column.name)}</th>' for column in table.columns)
    lines.append(f"<thead><tr>{heads}</tr></thead>\n<tbody>")
    for row in table.rows:
        cells = "".join(map(_html_cell, row, table.columns))
        lines.append(f"<tr>{cells}</tr>")
    lines.append("</tbody></table></div>")
    lines += [f"<p>{_html(line)}</p>" for line in table.note.splitlines()]
    return [*lines, "</section>"]


def _html_cell(cell: Cell, column: Column) -> str:
    kinds = ["right"] if column.align == "right" else []
    kinds += [] if isinstance(cell, str) else ["figure"]
    name = f' class="{" ".join(kinds)}"' if kinds else ""
    return f"<td{name}>{_html(cell_text(cell))}</td>"


def _html(text: str) -> str:
    return html.escape(printable(text))


def _key_columns(table: Table) -> int:
    """How many columns name a row: those of texts before the first that holds anything else."""
    texts = [all(isinstance(row[i], str) for row in table.rows) for i in range(len(table.columns))]
    return max(1, texts.index(False)) if False in texts else 1


def _csv_fields(cell: Cell) -> list[Any]:
    if isinstance(cell, Rate | Estimate):
        numerator = cell.numerator if isinstance(cell, Rate) else None
        denominator = cell.denominator if isinstance(cell, Rate) else cell.n
        counts = [numerator, denominator, cell.low, cell.high]
        return [cell.value, *counts, cell.unit, cell.method, cell.word]
    return [cell, *[""] * 7]


def _harmless(field: Any) -> Any:
    """A field of CSV without control characters, and none that starts a formula in a spreadsheet."""
    if not isinstance(field, str):
        return field
    text = printable(field)
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text


def _cell_json(cell: Cell) -> Any:
    return asdict(cell) if isinstance(cell, Rate | Estimate) else cell
