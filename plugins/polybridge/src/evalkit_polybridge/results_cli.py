"""`evalkit polybridge tables`, `figures` and `trace`: what is read from the records of runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalkit.report import Table

FORMATS = ("table", "markdown", "csv", "latex", "html")


@click.command(short_help="Tables of runs together, in the published shape.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to write."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tables(runs: tuple[str, ...], form: str, as_json: bool) -> None:
    """Print the tables of RUNs (default: the latest) together, in the published shape.

    Main results (Level 1, Level 2, overall), capability groups, recovery and resources, error composition,
    how episodes end, efficiency, what was played. Runs of another protocol than the reported one have rows of
    their own, named by what they deviate in.

    \b
    Examples:
      evalkit polybridge tables
      evalkit polybridge tables runs/strict runs/loose --format latex > tables.tex
    """
    from evalkit.report import FORMATS as WRITERS
    from evalkit.report import write_text
    from evalkit_polybridge.published import published, systems_of
    from evalkit_polybridge.release.gather import named_runs

    found = published(systems_of(named_runs(runs or ("latest",))))
    if as_json or form == "table":
        _show(found, as_json)
    else:
        write_text(WRITERS[form](found), sys.stdout, colour=False)


@click.command(short_help="Draw figures of runs: SVG, PNG and CSV.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="Where to write.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written and left out as JSON.")
def figures(runs: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Draw the figures of RUNs (default: the latest) together: SVG, PNG and the numbers as CSV.

    What was played (families, spans), Valid and Success by call, Success by capability group, error
    composition, and arrows from strict to loose budgets. The same records give the same bytes.

    \b
    Examples:
      evalkit polybridge figures -o figures
      evalkit polybridge figures runs/strict runs/loose -o figures
    """
    from evalkit_polybridge.figures.files import write_figures
    from evalkit_polybridge.published import systems_of
    from evalkit_polybridge.release.gather import named_runs

    systems = systems_of(named_runs(runs or ("latest",)))
    missing = sum(p.trajectory is None for group in systems.values() for p in group)
    written = write_figures(systems, output)
    if as_json:
        document = {
            "files": [str(path) for path in written.files],
            "left_out": written.left_out,
            "from_before": [str(path) for path in written.from_before],
            "episodes_without_result": missing,
        }
        click.echo(json.dumps(document, indent=2))
        return
    for path in written.files:
        click.echo(str(path))
    for name, why in written.left_out.items():
        click.echo(f"{name} left out: {why}", err=True)
    if written.from_before:
        names = ", ".join(path.name for path in written.from_before)
        click.echo(f"{output} still holds {names} from before: not of these runs, delete them", err=True)
    if missing:
        click.echo(f"{missing} planned episodes have no result and are in no figure", err=True)


@click.command(short_help="An episode call by call, as text or picture.")
@click.argument("run", default="latest", metavar="[RUN")
@click.argument("key", required=False, metavar="[KEY]]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.png",
    help="Also draw the episode: its calls side by side.",
)
@click.option("--force", is_flag=True, help="Replace FILE.png if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def trace(run: str, key: str | None, output: Path | None, force: bool, as_json: bool) -> None:
    """Trace the calls of an episode of RUN (default: the latest).

    KEY is a level's name or any part that only one key has. Without it there is a line per episode.

    A letter per call: V refused (unreadable or against a rule), F legal but not crossed, S crossed. Of each
    call cost, run and first break, and how its design differs from the one before.

    \b
    Examples:
      evalkit polybridge trace latest
      evalkit polybridge trace latest T1B_Basic_08m
      evalkit polybridge trace latest truss/T1B_Basic_08m -o trace.png
    """
    from evalkit import UsageError
    from evalkit.report import recorded_episode, recorded_run, write_text
    from evalkit_polybridge.trace import trace as trace_of
    from evalkit_polybridge.trace import trace_json, trace_text, traces_table

    if key is None:
        if output is not None:
            raise UsageError("-o draws one episode; name its KEY")
        _show([traces_table(recorded_run(run, "polybridge").played)], as_json)
        return
    if output is not None and output.suffix.lower() != ".png":
        raise UsageError(f"-o {output}: the drawing is a PNG file, give it a name that ends with .png")
    if output is not None and output.exists() and not force:
        raise UsageError(f"{output} exists; --force replaces it")
    found = trace_of(*recorded_episode(run, key, "polybridge"))
    if as_json:
        click.echo(json.dumps(trace_json(found), indent=2))
    else:
        write_text(trace_text(found), sys.stdout, colour=False)
    if output is not None:
        from evalkit_polybridge.figures.files import write_file
        from evalkit_polybridge.figures.sheet import trace_sheet

        click.echo(f"drawn: {write_file(output, trace_sheet(found))}", err=True)


def _show(found: Sequence[Table], as_json: bool) -> None:
    """Tables for a terminal, or as JSON."""
    from evalkit.report import table_json, terminal_width, to_json, to_text, write_text

    if as_json:
        click.echo(to_json({table.id: table_json(table) for table in found}), nl=False)
    else:
        write_text(to_text(found, terminal_width()), sys.stdout)
