"""`evalkit polybridge tables`, `figures` and `trace`: what is read from the records of runs."""

from __future__ import annotations

import sys

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
