"""`evalkit replay`: play recorded actions again and compare."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import emit, emit_json, json_option
from evalkit.errors import ExitCode


@click.command(
    name="replay",
    epilog="""\b
Examples:
  evalkit replay
  evalkit replay latest --id T1B_Basic_08m
  evalkit replay latest --execute --json""",
)
@click.argument("run", required=False, metavar="[RUN]")
@click.option("--id", "ids", multiple=True, metavar="TASK", help="Only this task (repeatable).")
@click.option("--execute", is_flag=True, help="Run the executors, too, and compare what they find.")
@json_option
def command(run: str | None, ids: tuple[str, ...], execute: bool, as_json: bool) -> int:
    """Play the recorded calls of RUN (default: the latest) again; exit code 1 if anything differs.

    Every call's state hash, verdict and observation is compared with the record. Without --execute the
    recorded executions stand in for the executors. Episodes that ended in an error are skipped.
    """
    from evalkit.cli._common import note
    from evalkit.cli._play import prepare_process
    from evalkit.plugins import load_plugins
    from evalkit.run.replay import replay_run
    from evalkit.store.reader import RunReader, find_run

    prepare_process()
    reader = RunReader(find_run(run, Path("runs")))
    replayed = replay_run(reader, load_plugins(), only=ids, execute=execute)
    if as_json:
        emit_json(replayed.as_json())
    else:
        for phrase in replayed.elsewhere:
            note(phrase)
        for difference in replayed.differences:
            emit(difference.text())
        skipped = f", {replayed.skipped} without a result skipped" if replayed.skipped else ""
        outcome = f"{len(replayed.differences)} differ" if replayed.differences else "all equal"
        emit(
            f"{replayed.run}: {replayed.episodes} episodes, {replayed.calls} calls replayed{skipped}: "
            f"{outcome} ({replayed.comparison})"
        )
    return ExitCode.BELOW_THRESHOLD if replayed.differences else ExitCode.PASS
