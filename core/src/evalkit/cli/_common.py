"""What the verbs share: options, and where output goes (results to stdout, everything else to stderr)."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.errors import EvalkitError

if TYPE_CHECKING:
    from evalkit.plugins import Plugins
    from evalkit.registry import Registry

#: Longest message, in characters; names and values in it come from anywhere.
MAX_MESSAGE = 2000

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

registry_option = click.option(
    "--registry",
    type=click.Path(path_type=Path),
    envvar="EVALKIT_REGISTRY",
    metavar="FILE",
    help="Registry file; otherwise the nearest registry.yaml upward from here.",
)

overrides_option = click.option(
    "-T",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change the protocol: a setting of the benchmark, limits.calls=5, condition=NAME, "
    "validators+=ID, metrics-=ID … May be given several times.",
)


def open_registry(path: Path | None) -> tuple[Plugins, Registry]:
    """The plugins and the registry in use; what the registry file changes is noted on stderr."""
    from evalkit.plugins import load_plugins
    from evalkit.registry import Registry

    plugins = load_plugins()
    registry = Registry.load(plugins, path)
    for notice in registry.notices:
        note(notice)
    return plugins, registry


def complete_targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Suites and groups that begin with what was typed, for the shell's completion."""
    from evalkit.plugins import load_plugins
    from evalkit.registry import Registry

    try:
        registry = Registry.load(load_plugins(), context.params.get("registry"))
    except EvalkitError:  # a shell that completes has no place for messages
        return []
    return [name for name in (*registry.names(), *registry.groups()) if name.startswith(incomplete)]


def emit(text: str) -> None:
    """Print a result to stdout; characters that its encoding lacks, or that steer terminals, are escaped."""
    from evalkit.report.formats import write_text
    from evalkit.report.table import printable

    write_text(f"{printable(text)}\n", sys.stdout, colour=False)


def emit_json(value: object) -> None:
    """Print a JSON value to stdout."""
    click.echo(json.dumps(value, indent=2))


def one_line(text: str) -> str:
    """A message in one line of at most `MAX_MESSAGE` characters with nothing in it that steers a terminal."""
    from evalkit.report.table import printable

    line = " ".join(printable(text[:MAX_MESSAGE]).split())
    return line if len(text) <= MAX_MESSAGE else f"{line}… ({len(text):,} characters)"


def tell(text: str) -> None:
    """Say something that is no result in one line on stderr."""
    click.echo(f"evalkit: {one_line(text)}", err=True)


def note(text: str) -> None:
    """Say something that is good to know, on stderr."""
    tell(f"note: {text}")


def warn_broken(plugins: Plugins) -> None:
    """Name every broken plugin with the reason, on stderr."""
    for name, reason in sorted(plugins.broken.items()):
        tell(f"warning: plugin {name!r} is broken: {reason}")


class FiniteRange(click.FloatRange):
    """A range of numbers that, unlike click's own, holds neither NaN nor infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails with one line."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


JOBS = click.IntRange(1, 1024)
JOB_TIMEOUT_S = FiniteRange(min=0, min_open=True, max=1e9)
JOB_MEMORY_MIB = click.IntRange(1, 2**30)
SEED = click.IntRange(0, 2**63 - 1)


def emit_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Print rows as aligned columns to stdout, under a heading."""
    from evalkit.report.table import cell_text

    cells = [[column.replace("_", " ").upper() for column in columns]]
    cells += [[cell_text(cell(row[column])) for column in columns] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    for line in cells:
        emit("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def cell(value: object) -> str:
    """A JSON value in a few words: lists with commas, yes and no, a dash for nothing."""
    if value is None or value == "" or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(cell(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {cell(item)}" for key, item in value.items())
    return str(value)
