"""`evalkit merge`: the parts of a run as one run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    name="merge",
    epilog="""\b
Examples:
  evalkit run polybridge.strict --shard 1/2 -o shards
  evalkit run polybridge.strict --shard 2/2 -o shards
  evalkit merge shards/* -o runs/strict""",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "-o",
    "target",
    required=True,
    type=click.Path(path_type=Path),
    metavar="NEW",
    help="The new run's folder, which must not exist.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Merge although protocol, seed, agents or record version differ; the manifest tells.",
)
def command(runs: tuple[str, ...], target: Path, force: bool) -> None:
    """Put RUNs (shards, or interrupted copies, of one run) together as a new run.

    The new run can be reported, resumed and merged again like any other. An episode that two parts have
    played alike is taken once; played differently, it is an error.
    """
    from evalkit.cli._progress import say
    from evalkit.store.merge import merge_runs
    from evalkit.store.reader import find_run

    merged = merge_runs([find_run(run, Path("runs")) for run in runs], target, force=force)
    for difference in merged.manifest["forced"]:
        say(f"note: the parts differ in {difference['field']}; the first part's counts")
    say(f"{len(merged.index())} of {len(merged.planned())} episodes have ended")
    click.echo(str(target))
