"""`evalkit verify`: is a record what was written?"""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import emit, emit_json, json_option
from evalkit.errors import ExitCode


@click.command(
    name="verify",
    epilog="""\b
Examples:
  evalkit verify
  evalkit verify results/20260131-101500-polybridge.strict-3f2a --json""",
)
@click.argument("run", required=False, metavar="[RUN]")
@json_option
def command(run: str | None, as_json: bool) -> int:
    """Check the record of RUN (default: the latest) for damage; exit code 1 if there is any.

    Hash chains, index, plan, limits and blobs have to agree. What a killed run leaves behind (torn last
    lines, episodes without an end) is noted and no damage: `evalkit resume` goes on from there.
    """
    from evalkit.store.reader import find_run
    from evalkit.store.verify import verify_run

    found = verify_run(find_run(run, Path("runs")))
    if as_json:
        emit_json(found.as_json())
    else:
        for finding in found.findings:
            emit(finding.text())
        damages = sum(finding.level == "damage" for finding in found.findings)
        emit(
            f"{found.run}: {found.ended} of {found.planned} episodes, {found.events} events, "
            f"{found.blobs} blobs: {f'{damages} damaged' if damages else 'no damage'}"
        )
    return ExitCode.PASS if found.clean else ExitCode.BELOW_THRESHOLD
