"""`evalkit rescore`: every number again, from the record alone."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    name="rescore",
    epilog="""\b
Examples:
  evalkit rescore
  evalkit rescore latest --metric polybridge.success_at_3 --format json""",
)
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--metric", "metrics", multiple=True, metavar="PATTERN", help="Only these metrics.")
@click.option("--format", "format_", type=click.Choice(["table", "markdown", "csv", "json"]), default="table")
def command(run: str | None, metrics: tuple[str, ...], format_: str) -> None:
    """Compute the scores of RUN (default: the latest) again from its record.

    Nothing is played, executed or judged. Without --metric the scores kept beside the record are replaced.
    """
    from evalkit.plugins import load_plugins
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader, find_run

    reader = RunReader(find_run(run, Path("runs")))
    run_report([reader], load_plugins(), metrics, keep_scores=not metrics).print(format_)
