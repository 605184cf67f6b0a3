"""`evalkit rescore`: every number again, from the record alone."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import JOBS
from evalkit.cli._model_options import DOLLARS
from evalkit.errors import ExitCode, UsageError, worst_exit_code


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
@click.option("--max-cost", type=DOLLARS, metavar="USD", help="Dollars for the judge, this time.")
def command(
    run: str | None,
    metrics: tuple[str, ...],
    format_: str,
    execute: bool,
    jobs: int | None,
    judge: str | None,
    options: tuple[str, ...],
    max_cost: float | None,
) -> int:
    """Compute the scores of RUN (default: the latest) again from its record.

    Nothing is played, nothing executed without --execute, and nothing judged without --judge. Without
    --metric the scores kept beside the record are replaced. Exits with 6 if --max-cost ended the judging and
    with 3 if executions or judgements failed; the same command goes on. A design that a judge can't be asked
    about keeps what an earlier judge found.
    """
    from evalkit.cli._play import gather_evidence, gather_judgements, prepare_process
    from evalkit.cli._progress import say
    from evalkit.plugins import load_plugins
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader, find_run
    from evalkit.store.writer import RunWriter

    plugins = load_plugins()
    folder = find_run(run, Path("runs"))
    codes = [ExitCode.PASS]
    if execute:
        prepare_process()
        writer = RunWriter(folder)
        try:
            gathered = gather_evidence(writer, plugins, jobs, say)
        finally:
            writer.close()
        if gathered.interrupted:
            raise KeyboardInterrupt  # it was only noted, so that the record stays whole
        codes += [ExitCode.EPISODE_ERRORS] if gathered.failed else []
    if judge is not None:
        writer = RunWriter(folder)
        try:
            judged = gather_judgements(writer, plugins, judge, options, max_cost, say)
        finally:
            writer.close()
        codes += [ExitCode.EPISODE_ERRORS] if judged.failed else []
        codes += [ExitCode.BUDGET_EXHAUSTED] if judged.stopped is not None else []
    elif options or max_cost is not None:
        raise UsageError("-M and --max-cost are for the judge; name one with --judge")
    run_report([RunReader(folder)], plugins, metrics, keep_scores=not metrics).print(format_)
    return worst_exit_code(codes)
