"""`evalkit report RUN...`: the figures of one or several runs."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli._checks import CheckOptions, Checks, check_options, say_problems, write_junit
from evalkit.errors import ExitCode, StorageError, UsageError

FORMATS = ("table", "markdown", "csv", "json", "latex", "html", "github")


@click.command(
    name="report",
    epilog="""\b
Examples:
  evalkit report
  evalkit report latest --metric 'success*' --format markdown
  evalkit report runs/a runs/b --format csv -o figures.csv
  evalkit report latest --format html -o report.html
  evalkit report latest --baseline 20260130 --max-regression 0.02""",
)
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to write."
)
@click.option(
    "--metric",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Only metrics whose id or label fits, and no tables of plugins (repeatable).",
)
@check_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file instead."
)
def command(
    runs: tuple[str, ...], form: str, patterns: tuple[str, ...], checks: CheckOptions, output: Path | None
) -> int:
    """Print the figures of RUNs (default: the latest) with their counts and 95 % intervals.

    Each rate is given over the scored episodes and, where episodes are missing, with those counted as
    failures. Several runs are put side by side. Without --fail-under and --baseline nothing is checked, and
    the exit code is 0.
    """
    from evalkit.plugins import load_plugins
    from evalkit.report import github
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader, find_run

    if form == "github" and output is not None:
        raise UsageError("--format github writes to the job's summary and to stdout; leave out -o")
    plugins = load_plugins()
    folders = dict.fromkeys(find_run(name, Path("runs")).resolve() for name in runs or ("latest",))
    readers = [RunReader(folder) for folder in folders]
    wanted = Checks(checks)
    wanted.admit_runs(readers, plugins)
    report = run_report(readers, plugins, patterns)
    if form == "github":
        github.print_report(report, brief=False)
    elif output is None:
        report.print(form)
    else:
        _write(output, report.render(form))
    whole = run_report(readers, plugins) if patterns and wanted else report
    problems = [p for reader in readers for p in wanted.problems(reader, whole.systems, plugins, own=False)]
    say_problems(problems)
    if form == "github":
        github.print_annotations(readers, report.systems, problems)
    if checks.junitxml is not None:
        write_junit(checks.junitxml, readers, plugins)
    return ExitCode.BELOW_THRESHOLD if problems else ExitCode.PASS


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise StorageError(f"can't write {path}: {error.strerror or error}") from error
