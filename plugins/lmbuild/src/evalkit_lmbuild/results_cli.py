"""`evalkit lmbuild tables` and `figures`: what is read from the records of runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from evalkit_lmbuild.results.systems import System

FORMATS = ("table", "markdown", "csv", "latex", "html")


def _kinds(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--kind",
        "kinds",
        multiple=True,
        metavar="AGENT=KIND",
        help="Of what kind an agent is: closed, open, domain-specific or offline. Repeatable.",
    )(command)


@click.command(short_help="Tables of runs together, in the published shape.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@_kinds
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    help="Tasks in each of the two samples of the stability table; default: half of all.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to write."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tables(
    runs: tuple[str, ...], kinds: tuple[str, ...], sample: int | None, form: str, as_json: bool
) -> None:
    """Print the tables of RUNs (default: the latest) together, in the published shape.

    Twelve metrics and four levels by system, kinds of systems, mechanism families; paired differences where
    runs differ in tier, rounds or brief alone; how designs fail; calls; from three systems on how far small
    samples can be trusted. Runs of another protocol than the reported one are systems of their own, named by
    what they deviate in.

    \b
    Examples:
      evalkit lmbuild tables
      evalkit lmbuild tables runs/A runs/B runs/C --format latex > tables.tex
      evalkit lmbuild tables runs/OPEN runs/CLOSED --kind MODEL=open --kind OTHER=closed
    """
    from evalkit.report import FORMATS as WRITERS
    from evalkit.report import to_json, to_text
    from evalkit.report.formats import table_json, write_text
    from evalkit.report.run_report import terminal_width
    from evalkit_lmbuild.results.tables import all_tables

    found = all_tables(_systems(runs, kinds), sample)
    if as_json:
        click.echo(to_json({table.id: table_json(table) for table in found}), nl=False)
    elif form == "table":
        write_text(to_text(found, terminal_width()), sys.stdout)
    else:
        write_text(WRITERS[form](found), sys.stdout, colour=False)


@click.command(short_help="Draw figures of runs: SVG, PNG and CSV.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@_kinds
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="Where to write.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written and left out as JSON.")
def figures(runs: tuple[str, ...], kinds: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Draw the figures of RUNs (default: the latest) together: SVG, PNG and the numbers as CSV.

    Levels and metrics by system, levels by mechanism family, how designs fail, paired differences by tier,
    rounds and brief. The same records give the same bytes.

    \b
    Examples:
      evalkit lmbuild figures -o figures
      evalkit lmbuild figures runs/core runs/retrieve runs/create -o figures
    """
    from evalkit_lmbuild.results.figures import write_figures

    written, left_out = write_figures(_systems(runs, kinds), output)
    if as_json:
        click.echo(json.dumps({"files": [str(path) for path in written], "left_out": left_out}, indent=2))
        return
    for path in written:
        click.echo(str(path))
    for name, why in left_out.items():
        click.echo(f"{name} left out: {why}", err=True)


def _systems(runs: tuple[str, ...], kinds: tuple[str, ...]) -> list[System]:
    from evalkit import UsageError
    from evalkit.report import recorded_run
    from evalkit_lmbuild.results.systems import systems_of

    stated = {}
    for text in kinds:
        agent, equals, kind = text.rpartition("=")
        if not equals:
            raise UsageError(f"--kind {text}: write AGENT=KIND")
        stated[agent] = kind
    return systems_of([recorded_run(name, "lmbuild") for name in runs or ("latest",)], stated)
