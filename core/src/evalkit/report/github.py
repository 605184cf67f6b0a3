"""What GitHub Actions shows of a run: annotations of a step, and Markdown in the summary of the job.

An annotation is a line `::error title=…::message` on stdout. Text comes from agents and plugins, so
everything that would end the line, the message or a property is escaped.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Literal

from evalkit.errors import END_POLICIES, EndReason, StorageError
from evalkit.report.formats import to_markdown, to_text, write_text
from evalkit.report.run_report import Report, terminal_width
from evalkit.report.systems import System, figure_cell
from evalkit.report.table import Table, cell_text, printable
from evalkit.report.thresholds import Problem
from evalkit.store.reader import RunReader

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
#: GitHub shows no more annotations of a level and step.
MOST_ANNOTATIONS = 10
#: GitHub refuses a longer summary of a step.
MOST_SUMMARY_BYTES = 1024 * 1024
#: What of a message GitHub shows.
MOST_CHARACTERS = 4000

Level = Literal["error", "warning", "notice"]


def annotation(level: Level, title: str, message: str) -> str:
    """One annotation, as a line without its end."""
    shown = printable(message)
    shown = shown if len(shown) <= MOST_CHARACTERS else shown[:MOST_CHARACTERS] + " …"
    name = _escaped(printable(title)).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_escaped(shown)}"


def annotation_lines(
    readers: Sequence[RunReader], systems: Sequence[System], problems: Sequence[Problem]
) -> list[str]:
    """Errors for conditions that aren't met and for episodes that ended in one, warnings for agents with
    episodes missing or unscored, a notice per agent with its first figure; at most ten of a level.
    """
    errors = [annotation("error", _name(problem.system), problem.message) for problem in problems]
    for reader in readers:
        suite = reader.manifest["suite"]["name"]
        for key, line in reader.index().items():
            end = line["end"]
            if END_POLICIES[EndReason(end["reason"])].error:
                detail = f"{end['reason']}: {end.get('detail', '')}".removesuffix(": ")
                errors.append(annotation("error", suite, f"{key.text()}: {detail}"))
    warnings = [
        annotation("warning", _name(s), f"{s.planned - s.finished} of {s.planned} episodes have no result")
        for s in systems
        if s.finished < s.planned
    ]
    notices = [line for system in systems for line in _headline(system)]
    return [*_capped("error", errors), *_capped("warning", warnings), *_capped("notice", notices)]


def print_annotations(
    readers: Sequence[RunReader], systems: Sequence[System], problems: Sequence[Problem]
) -> None:
    """Print the annotations of runs on stdout, where GitHub looks for them."""
    lines = annotation_lines(readers, systems, problems)
    write_text("".join(f"{line}\n" for line in lines), sys.stdout, colour=False)


def write_summary(tables: Sequence[Table]) -> bool:
    """Add tables to the job's summary; False if there is none (the variable isn't set).

    A text beyond GitHub's limit is cut at a line. StorageError if the file can't be written.
    """
    path = os.environ.get(SUMMARY_VARIABLE)
    if not path:
        return False
    text = to_markdown(tables) + "\n"
    try:
        with open(path, "ab") as file:
            file.write(_fitting(text.encode("utf-8", "backslashreplace"), MOST_SUMMARY_BYTES - file.tell()))
    except OSError as error:
        raise StorageError(f"can't write {path} ({SUMMARY_VARIABLE}): {error.strerror or error}") from error
    return True


def print_report(report: Report, *, brief: bool) -> None:
    """Put the report into the job's summary as Markdown, and onto stdout as text for the log.

    Without a summary the Markdown goes to stdout. A `brief` one holds only the tables that are headlines.
    """
    tables = [table for table in report.tables if table.headline or not brief]
    text = to_text(tables, terminal_width()) if write_summary(tables) else to_markdown(tables)
    write_text(_defused(text), sys.stdout, colour=False)


def _defused(text: str) -> str:
    """The text without anything that the runner takes for a command: a line that begins with `::`, and the
    older `##[`, which counts anywhere.
    """
    return re.sub(r"(?m)^(\s*)::", r"\1: :", text).replace("##[", "# #[")


def _fitting(data: bytes, room: int) -> bytes:
    if len(data) <= room:
        return data
    end = b"\n(cut: the summary of a step is limited to 1 MiB)\n"
    return data[: max(0, room - len(end))].rpartition(b"\n")[0] + end if room > len(end) else b""


def _headline(system: System) -> Iterable[str]:
    figure = next(iter(system.aggregates.values()), None)
    if figure is not None:
        cell = cell_text(figure_cell(figure, figure, figure.word))
        yield annotation("notice", _name(system), f"{figure.label} {cell}")


def _capped(level: Level, lines: list[str]) -> list[str]:
    if len(lines) <= MOST_ANNOTATIONS:
        return lines
    more = len(lines) - MOST_ANNOTATIONS + 1
    return [*lines[: MOST_ANNOTATIONS - 1], annotation(level, "evalkit", f"{more} more, see the log")]


def _name(system: System) -> str:
    return f"{system.suite} · {system.agent}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
