"""`evalkit polybridge agree`."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Where two runs' executors disagree.")
@click.argument("run_a", metavar="A")
@click.argument("run_b", metavar="B")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to write.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def agree(run_a: str, run_b: str, form: str, as_json: bool) -> None:
    """Compare the verdicts of two runs' executors, level by level.

    Verdicts on one and the same design are compared; where a level has no such design, those of the episodes,
    which are counted apart. For both: the 2×2 table, the share of equal verdicts with its 95 % interval
    (Wilson), Cohen's κ, the levels that differ, and how far apart the first breaks are. The protocols may
    differ.

    \b
    Examples:
      evalkit run polybridge.strict --agent truss
      evalkit run polybridge.strict --agent truss --executor native --calibration game.json
      evalkit polybridge agree runs/EMBEDDED runs/NATIVE
      evalkit polybridge agree runs/EMBEDDED runs/NATIVE --format csv > agreement.csv
    """
    from evalkit.report import (
        recorded_run,
        terminal_width,
        to_csv,
        to_json,
        to_markdown,
        to_text,
        write_text,
    )
    from evalkit_polybridge.agreement import as_json as document
    from evalkit_polybridge.agreement import compare, tables

    found = compare(recorded_run(run_a, "polybridge"), recorded_run(run_b, "polybridge"))
    if as_json or form == "json":
        text = to_json(document(found))
    elif form == "table":
        text = to_text(tables(found), terminal_width())
    else:
        text = (to_csv if form == "csv" else to_markdown)(tables(found))
    write_text(text, sys.stdout, colour=None if form == "table" else False)
