"""`evalkit rescore`: every number again, from the record alone."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import JOBS
from evalkit.errors import UsageError


@click.command(
    name="rescore",
    epilog="""\b
Examples:
  evalkit rescore
  evalkit rescore latest --metric polybridge.success_at_3 --format json
  evalkit rescore latest --judge openai/gpt-5""",
)
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--metric", "metrics", multiple=True, metavar="PATTERN", help="Only these metrics.")
@click.option("--format", "format_", type=click.Choice(["table", "markdown", "csv", "json"]), default="table")
@click.option("--execute", is_flag=True, help="First execute final designs that lack evidence.")
@click.option("-j", "jobs", type=JOBS, metavar="N", help="Worker processes for --execute.")
@click.option(
    "--judge", "judge", metavar="MODEL", help="First let a model judge final designs it hasn't judged."
)
@click.option(
    "-M", "options", multiple=True, metavar="KEY=VALUE", help="How to reach the judge, e.g. base_url=…."
)
def command(
    run: str | None,
    metrics: tuple[str, ...],
    format_: str,
    execute: bool,
    jobs: int | None,
    judge: str | None,
    options: tuple[str, ...],
) -> None:
    """Compute the scores of RUN (default: the latest) again from its record.

    Nothing is played, nothing executed without --execute, and nothing judged without --judge. Without
    --metric the scores kept beside the record are replaced.
    """
    from evalkit.cli._play import gather_evidence, gather_judgements, prepare_process
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
            gathered = gather_evidence(writer, plugins, jobs, say)
        finally:
            writer.close()
        if gathered.interrupted:
            raise KeyboardInterrupt  # it was only noted, so that the record stays whole
    if judge is not None:
        writer = RunWriter(folder)
        try:
            gather_judgements(writer, plugins, judge, options, say)
        finally:
            writer.close()
    elif options:
        raise UsageError("-M is for the judge; name one with --judge")
    run_report([RunReader(folder)], plugins, metrics, keep_scores=not metrics).print(format_)
