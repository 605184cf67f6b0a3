"""`evalkit report RUN...`: the figures of one or several runs."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.errors import StorageError

FORMATS = ("table", "markdown", "csv", "json")


@click.command(
    name="report",
    epilog="""\b
Examples:
  evalkit report
  evalkit report latest --metric 'success*' --format markdown
  evalkit report runs/a runs/b --format csv -o figures.csv""",
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
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file instead."
)
def command(runs: tuple[str, ...], form: str, patterns: tuple[str, ...], output: Path | None) -> None:
    """Print the figures of RUNs (default: the latest) with their counts and 95 % intervals.

    Each rate is given over the scored episodes and, where episodes are missing, with those counted as
    failures. Several runs are put side by side.
    """
    from evalkit.plugins import load_plugins
    from evalkit.report.run_report import run_report
    from evalkit.store.reader import RunReader, find_run

    folders = dict.fromkeys(find_run(name, Path("runs")).resolve() for name in runs or ("latest",))
    report = run_report([RunReader(folder) for folder in folders], load_plugins(), patterns)
    if output is None:
        report.print(form)
        return
    try:
        output.write_text(report.render(form), encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        raise StorageError(f"can't write {output}: {error.strerror or error}") from error
