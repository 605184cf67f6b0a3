"""`evalkit plugin`: begin a plugin, and check that one keeps its contracts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from evalkit.cli._common import emit, emit_json, json_option, note
from evalkit.errors import ExitCode


@click.group(name="plugin", short_help="Begin a plugin, or check an installed one.")
def command() -> None:
    """Begin a plugin of your own, or check that an installed one keeps its contracts.

    \b
    Examples:
      evalkit plugin new beams
      evalkit plugin check beams
    """


@command.command()
@click.argument("name")
@click.option(
    "-o",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="Folder in which to put the package's folder (default: here).",
)
def new(name: str, folder: Path) -> None:
    """Write a small working package, evalkit-NAME, with tests; its path is printed.

    NAME is the benchmark's: lower-case letters, digits and _. Nothing is overwritten.

    \b
    Examples:
      evalkit plugin new beams
      evalkit plugin new beams -o ~/src
    """
    from evalkit.testing._scaffold import scaffold

    made = scaffold(name, folder)
    emit(str(made))
    note(f"next: pip install -e {made}, evalkit run {name}.smoke, evalkit plugin check {name}")


@command.command()
@click.argument("name")
@click.option(
    "--suite", "suites", multiple=True, metavar="SUITE", help="Check this suite (may be given several times)."
)
@click.option(
    "--visible",
    multiple=True,
    metavar="KEY",
    help="A key of Task.hidden whose values agents may see (may be given several times).",
)
@json_option
def check(name: str, suites: tuple[str, ...], visible: tuple[str, ...], as_json: bool) -> ExitCode:
    """Check the installed plugin NAME with the conformance kit: a line per check.

    Without --suite, one suite of each benchmark that the plugin brings or adds to is played, the one tagged
    smoke if there is any. Exits with 1 if a check failed.

    \b
    Examples:
      evalkit plugin check beams
      evalkit plugin check beams --suite beams.hard --json
    """
    from evalkit.cli._play import prepare_process
    from evalkit.plugins import load_plugins
    from evalkit.testing import Finding, check_plugin

    prepare_process()
    found: list[tuple[str, Finding]] = []
    for subject, finding in check_plugin(name, suites=suites, visible=visible):
        if not as_json:
            if not found or found[-1][0] != subject:
                emit(subject)
            emit(f"  {finding.status:<7}  {finding.check:<11}  {finding.message}")
        found.append((subject, finding))
    counts = {s: sum(f.status == s for _, f in found) for s in ("ok", "skipped", "failed")}
    if as_json:
        findings = [{"subject": subject, **asdict(finding)} for subject, finding in found]
        origin = str(load_plugins().origin_of(name))
        emit_json({"plugin": name, "origin": origin, "ok": not counts["failed"], "findings": findings})
    else:
        emit(", ".join(f"{count} {status}" for status, count in counts.items()))
    return ExitCode.BELOW_THRESHOLD if counts["failed"] else ExitCode.PASS
