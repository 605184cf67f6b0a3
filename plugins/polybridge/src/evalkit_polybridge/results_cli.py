"""`evalkit polybridge tables`, `figures` and `trace`: what is read from the records of runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

FORMATS = ("table", "markdown", "csv", "latex", "html")


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to write."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tables(runs: tuple[str, ...], form: str, as_json: bool) -> None:
    """Print the tables of RUNs (default: the latest) together, in the published shape.

    Main results (Level 1, Level 2, overall), capability groups, recovery and resources, error composition,
    how episodes end, efficiency, what was played.

    \b
    Examples:
      evalkit polybridge tables
      evalkit polybridge tables runs/strict runs/loose --format latex > tables.tex
    """
    from evalkit.report import FORMATS as WRITERS
    from evalkit.report import recorded_run, to_json, to_text
    from evalkit.report.formats import table_json, write_text
    from evalkit.report.run_report import terminal_width
    from evalkit_polybridge.published import published, systems_of

    found = published(systems_of([recorded_run(name, "polybridge") for name in runs or ("latest",)]))
    if as_json:
        click.echo(to_json({table.id: table_json(table) for table in found}), nl=False)
    elif form == "table":
        write_text(to_text(found, terminal_width()), sys.stdout)
    else:
        write_text(WRITERS[form](found), sys.stdout, colour=False)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="Where to write.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written and left out as JSON.")
def figures(runs: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Draw the figures of RUNs (default: the latest) together: SVG, PNG and the numbers as CSV.

    What was played (families, spans), Valid and Success by call, Success by capability group, error
    composition, and arrows from strict to loose budgets. The same records give the same bytes.

    \b
    Examples:
      evalkit polybridge figures -o figures
      evalkit polybridge figures runs/strict runs/loose -o figures
    """
    from evalkit.report import recorded_run
    from evalkit_polybridge.figures.files import write_figures
    from evalkit_polybridge.published import systems_of

    systems = systems_of([recorded_run(name, "polybridge") for name in runs or ("latest",)])
    written, left_out = write_figures(systems, output)
    if as_json:
        document = {"files": [str(path) for path in written], "left_out": left_out}
        click.echo(json.dumps(document, indent=2))
        return
    for path in written:
        click.echo(str(path))
    for name, why in left_out.items():
        click.echo(f"{name} left out: {why}", err=True)
