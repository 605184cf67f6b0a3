"""`evalkit lmbuild engines`."""

from __future__ import annotations

import sys

import click


@click.command(short_help="How often MuJoCo and PyBullet agree.")
@click.argument("run", metavar="RUN")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to write.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def engines(run: str, form: str, as_json: bool) -> None:
    """Compare what both engines say of the final designs of a run, capability by capability.

    A capability works from 0.9. For both protocols: the share of capabilities of which the engines say the
    same, with its 95 % interval (Wilson), how often only one says that it works, and which those are.

    \b
    Examples:
      evalkit run lmbuild.core -T final_executors=lmbuild.operability,lmbuild.operability_pybullet
      evalkit lmbuild engines latest
      evalkit lmbuild engines runs/BOTH --format csv > engines.csv
    """
    from dataclasses import asdict

    from evalkit.report import recorded_run, to_csv, to_json, to_markdown, to_text
    from evalkit.report.formats import write_text
    from evalkit.report.run_report import terminal_width
    from evalkit_lmbuild.engines import compared, tables

    found = compared(recorded_run(run, "lmbuild").played, run)
    if as_json or form == "json":
        text = to_json({"pairs": [asdict(pair) | {"agrees": pair.agrees} for pair in found]})
    elif form == "table":
        text = to_text(tables(found), terminal_width())
    else:
        text = (to_csv if form == "csv" else to_markdown)(tables(found))
    write_text(text, sys.stdout, colour=None if form == "table" else False)
