"""`evalkit resume`: go on with an interrupted run, or play again what the infrastructure broke."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import JOB_MEMORY_MIB, JOB_TIMEOUT_S, JOBS
from evalkit.cli._model_options import DOLLARS, ModelChoice, total_budgets
from evalkit.cli._play import FORMATS, PlayOptions, default_format


@click.command(
    name="resume",
    epilog="""\b
Examples:
  evalkit resume
  evalkit resume 20260131-101500-polybridge.strict-3f2a -j 4
  evalkit resume latest --only error,missing""",
)
@click.argument("run", required=False, metavar="[RUN]")
@click.option(
    "--only",
    metavar="KINDS",
    help="Play exactly these: missing, error (any kind of error), unscored (logs that can't be read); "
    "several with commas. Default: missing ones and failures of the infrastructure.",
)
@click.option("-j", "jobs", type=JOBS, metavar="N", help="Worker processes (default: one per core).")
@click.option(
    "--job-timeout", type=JOB_TIMEOUT_S, metavar="S", help="Seconds an episode may take (default: as before)."
)
@click.option(
    "--job-memory", type=JOB_MEMORY_MIB, metavar="MIB", help="Memory of a worker (default: as before)."
)
@click.option("--total-calls", type=click.IntRange(1), metavar="N", help="Calls the whole run may take.")
@click.option("--total-tokens", type=click.IntRange(1), metavar="N", help="Tokens the whole run may use.")
@click.option("--total-time", metavar="T", help="Time that what is left may take.")
@click.option("--total-cost", type=DOLLARS, metavar="USD", help="Dollars per run.")
@click.option("--maxfail", type=click.IntRange(1), metavar="N", help="Stop after N episodes that err.")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="How to print (default: rich on a terminal)."
)
def command(
    run: str | None,
    only: str | None,
    jobs: int | None,
    job_timeout: float | None,
    job_memory: int | None,
    maxfail: int | None,
    total_calls: int | None,
    total_tokens: int | None,
    total_time: str | None,
    total_cost: float | None,
    format_: str | None,
) -> int:
    """Go on with RUN (default: the latest) under the protocol it began with, and print its scores.

    Finished episodes stay as they are. One that was interrupted starts from zero; its old log is kept and
    what it spent still counts. Budgets of the whole run go on from what was spent; --total-… set new ones.
    """
    from evalkit.cli._play import play_and_score, prepare_process
    from evalkit.cli._progress import say
    from evalkit.plugins import load_plugins
    from evalkit.run.resume import left_of, other_packages, recorded_plan, recover, selected
    from evalkit.run.runner import DEFAULT_CONNECTIONS
    from evalkit.store.reader import RunReader, find_run
    from evalkit.store.writer import RunWriter

    prepare_process()
    budgets = total_budgets(total_calls, total_tokens, total_time, total_cost)
    plugins = load_plugins()
    reader = RunReader(find_run(run, Path("runs")))
    plan = recorded_plan(reader, plugins)
    if budgets:
        agents = plan.setup.agents
        given = next((agent.options for agent in agents if agent.options), ())
        choice = ModelChoice(options=given, totals=budgets)
        choice.check(plugins, plan.suite, [agent.id for agent in agents])
    for difference in other_packages(reader):
        say(f"note: {difference}")
    with RunWriter(reader.folder) as writer:
        if writer.lock.note:
            say(f"note: {writer.lock.note}")
        if recovered := recover(reader, writer):
            say(f"note: {len(recovered)} episodes had ended but were not in the index; they are now")
        keys = selected(reader, only.split(",") if only else None)
        ended = len(reader.index())
        say(f"{reader.name}: {ended} of {len(plan.keys)} episodes have ended; playing {len(keys)}")
        limits = reader.manifest["job_limits"]
        options = PlayOptions(
            jobs=jobs,
            timeout_s=job_timeout or limits["timeout_s"],
            memory_mib=job_memory or limits["memory_mib"],
            max_errors=maxfail,
            format=format_ or default_format(),
            connections=reader.manifest.get("connections", DEFAULT_CONNECTIONS),
            cache=reader.manifest.get("cache", False),
            totals=left_of(reader, budgets or reader.manifest.get("totals", {})),
        )
        return play_and_score(plan, keys, plugins, writer, options)
