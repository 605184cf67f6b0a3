"""What people read of a run: aggregates with intervals, tables, and the formats they are printed in.

    from evalkit.report import Column, Rate, Table, to_text

    reasons = Table("reasons", "Why designs fail", (Column("reason"), Column("share")),
                    (("over budget", Rate(0.25, 3, 12)),))
    print(to_text([reasons], width=80))

Names are loaded on first use. The functions `aggregate` and `aggregate_run` are in the module
`evalkit.report.aggregate`, whose name they would hide here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.report.aggregate import Aggregate, Counterpart
    from evalkit.report.formats import FORMATS, table_json, to_csv, to_json, to_markdown, to_text, write_text
    from evalkit.report.recorded import RecordedRun, recorded_episode, recorded_run
    from evalkit.report.run_report import terminal_width
    from evalkit.report.systems import System, main_tables, summary, systems_of
    from evalkit.report.table import Cell, Column, Estimate, Rate, Table, cell_text, printable

_MODULE_OF = {
    "FORMATS": "formats",
    "Aggregate": "aggregate",
    "Cell": "table",
    "Column": "table",
    "Counterpart": "aggregate",
    "Estimate": "table",
    "Rate": "table",
    "RecordedRun": "recorded",
    "System": "systems",
    "Table": "table",
    "cell_text": "table",
    "main_tables": "systems",
    "printable": "table",
    "recorded_episode": "recorded",
    "recorded_run": "recorded",
    "summary": "systems",
    "systems_of": "systems",
    "table_json": "formats",
    "terminal_width": "run_report",
    "to_csv": "formats",
    "to_json": "formats",
    "to_markdown": "formats",
    "to_text": "formats",
    "write_text": "formats",
}

__all__ = [
    "FORMATS",
    "Aggregate",
    "Cell",
    "Column",
    "Counterpart",
    "Estimate",
    "Rate",
    "RecordedRun",
    "System",
    "Table",
    "cell_text",
    "main_tables",
    "printable",
    "recorded_episode",
    "recorded_run",
    "summary",
    "systems_of",
    "table_json",
    "terminal_width",
    "to_csv",
    "to_json",
    "to_markdown",
    "to_text",
    "write_text",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
