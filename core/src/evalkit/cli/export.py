"""`evalkit export`: what a run played, in a format that other tools read."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._common import emit, emit_json, json_option
from evalkit.errors import ExitCode


@click.command(
    name="export",
    epilog="""\b
Examples:
  evalkit export -o trajectories
  evalkit export 20260131-101500-polybridge.strict-3f2a --format atif -o trajectories --json""",
)
@click.argument("run", required=False, metavar="[RUN]")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["atif"]),
    default="atif",
    show_default=True,
    help="atif: Agent Trajectory Interchange Format v1.8, a JSON file per episode.",
)
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="DIR",
    help="Folder for the files.",
)
@json_option
def command(run: str | None, format_: str, folder: Path, as_json: bool) -> int:
    """Write the episodes of RUN (default: the latest) as trajectories to DIR, and print the files' names."""
    from evalkit.cli._progress import say
    from evalkit.plugins import load_plugins
    from evalkit.run.scoring import score_run
    from evalkit.store.reader import RunReader, find_run
    from evalkit.transports.atif import export_run
    from evalkit.types import EpisodeKey

    reader = RunReader(find_run(run, Path("runs")))
    unreadable: dict[EpisodeKey, str] = {}
    files = [str(path) for path in export_run(reader, score_run(reader, load_plugins()), folder, unreadable)]
    for key, why in unreadable.items():
        say(f"{key.text()}: left out: {why}")
    if not files:
        say(f"{reader.name} has no finished episode to export")
    if as_json:
        emit_json({"run": reader.name, "format": format_, "files": files})
    elif files:
        emit("\n".join(files))
    return ExitCode.EPISODE_ERRORS if unreadable else ExitCode.PASS
