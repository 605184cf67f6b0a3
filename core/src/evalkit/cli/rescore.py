"""`evalkit rescore`: every number again, from the record alone."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import JOBS


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
@click.option("--execute", is_flag=True, help="First execute final designs that lack evidence.")
@click.option("-j", "jobs", type=JOBS, metavar="N", help="Worker processes for --execute.")
def command(run: str | None, metrics: tuple[str, ...], format_: str, execute: bool, jobs: int | None) -> None:
    """Compute the scores of RUN (default: the latest) again from its record.

    Nothing is played or judged, and nothing executed without --execute. Without --metric the scores kept
    beside the record are replaced.
    """
    from evalkit.cli._play import gather_evidence, prepare_process
    from evalkit.cli._progress import say
    from evalkit.plugins import load_plugins
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader, find_run
    from evalkit.store.writer import RunWriter

    plugins = load_plugins()
    folder = find_run(run, Path("runs"))
    if execute:
        prepare_process()
        writer = RunWriter(folder)
        try:
            gather_evidence(writer, plugins, jobs, say)
        finally:
            writer.close()
    run_report([RunReader(folder)], plugins, metrics, keep_scores=not metrics).print(format_)
