"""`evalkit brickbench tables` and `figures`: what is read from the records of runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evalkit import UsageError

if TYPE_CHECKING:
    from evalkit_brickbench.results import Outcomes
    from evalkit_brickbench.scoring.ratings import Ratings

FORMATS = ("table", "markdown", "csv", "latex", "html")
F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("runs", nargs=-1, metavar="[RUN]..."),
    click.option(
        "--arena", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
        help="Where `evalkit brickbench arena` left its ratings.",
    ),
    click.option(
        "--cost", "costs", multiple=True, metavar="SYSTEM=USD", help="Dollars per build, as you know them."
    ),
    click.option(
        "--rates", multiple=True, metavar="SYSTEM=IN/OUT",
        help="Dollars per million tokens read and written, for the tokens that are recorded.",
    ),
    click.option(
        "--rent", "rents", multiple=True, metavar="SYSTEM=USD",
        help="Dollars per hour of the machine, for the time that is recorded.",
    ),
    click.option(
        "--no-stability", "need_not_stand", multiple=True, metavar="SYSTEM",
        help="Valid without stability, as BrickNet is published.",
    ),
)  # fmt: skip


def of_runs(command: F) -> F:
    """Arguments and options of commands that read runs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_outcomes(options: Mapping[str, Any]) -> tuple[Outcomes, Mapping[str, Ratings], tuple[str, ...]]:
    """The outcomes of the runs, ratings by setting, and the notes that belong to these."""
    from evalkit_brickbench.arena_results import read_ratings
    from evalkit_brickbench.results import Prices, outcomes

    prices = Prices(
        dict(_amount(text, 1) for text in options["costs"]),
        dict(_rates(text) for text in options["rates"]),
        dict(_amount(text, 1) for text in options["rents"]),
    )
    found = outcomes(options["runs"] or ("latest",), prices, options["need_not_stand"])
    if options["arena"] is None:
        return found, {}, ()
    kept = read_ratings(options["arena"])
    ratings, left_out = kept.of_builds(found.builds)
    unrated = sorted(set(found.systems) - kept.builds.keys())
    notes = [f"ratings by {kept.judge}", *kept.notes] if ratings else []
    notes += left_out
    notes += [f"without builds in {options['arena']}: {', '.join(unrated)}"] if unrated else []
    return found, ratings, tuple(notes)


def _amount(text: str, count: int) -> tuple[str, float]:
    name, amounts = _amounts(text, count)
    return name, amounts[0]


def _rates(text: str) -> tuple[str, tuple[float, float]]:
    name, (read, written) = _amounts(text, 2)
    return name, (read, written)


def _amounts(text: str, count: int) -> tuple[str, list[float]]:
    name, _, after = text.rpartition("=")
    try:
        amounts = [float(amount) for amount in after.split("/")]
    except ValueError:
        amounts = []
    if not name or len(amounts) != count or not all(0 <= amount < 1e9 for amount in amounts):
        shown = "/".join(["USD"] * count)
        raise UsageError(f"{text!r}: wanted SYSTEM={shown}, in dollars")
    return name, amounts


@click.command(short_help="Tables of runs together, in the published shape.")
@of_runs
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="How to write."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tables(form: str, as_json: bool, **options: Any) -> None:
    """Print the tables of RUNs (default: the latest) together, in the published shape.

    Main results (Valid, VQA, ELO, Align, Design, cost; overall and per setting), why builds are invalid, what
    they are made of, VQA by category and by type of question, the same agents with and without the building
    library, types of questions. Costs are recorded ones unless you give others.

    \b
    Examples:
      evalkit brickbench tables
      evalkit brickbench tables runs/A runs/B --arena arena --format latex > tables.tex
      evalkit brickbench tables runs/* --no-stability bricknet --cost bricknet=0.001 --cost brickgpt=0.02

    A system is named as in the tables; builds that were handed in have the name of their file or folder.
    Their tokens and time aren't in the records, so --rates and --rent don't work for them.
    """
    from evalkit.report import FORMATS as WRITERS
    from evalkit.report import to_json, to_text
    from evalkit.report.formats import table_json, write_text
    from evalkit.report.run_report import terminal_width
    from evalkit_brickbench.published import published

    found = published(*read_outcomes(options))
    if as_json:
        click.echo(to_json({table.id: table_json(table) for table in found}), nl=False)
    elif form == "table":
        write_text(to_text(found, terminal_width()), sys.stdout)
    else:
        write_text(WRITERS[form](found), sys.stdout, colour=False)


@click.command(short_help="Draw figures of runs: SVG, PNG and CSV.")
@of_runs
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="FOLDER",
    help="Where to write.",
)  # fmt: skip
@click.option(
    "--graph", "graph_task", metavar="TASK", help="Whose question graph to draw; default: the first."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written and left out as JSON.")
def figures(output: Path, graph_task: str | None, as_json: bool, **options: Any) -> None:
    """Draw the figures of RUNs (default: the latest) together: SVG, PNG and the numbers as CSV.

    Metrics with intervals, ELO against cost, VQA by category and by type of question, shares of these types,
    a question graph, numbers of parts, what builds are made of, a gallery, why builds are invalid. The same
    records give the same bytes.

    \b
    Examples:
      evalkit brickbench figures -o figures
      evalkit brickbench figures runs/A runs/B --arena arena -o figures
    """
    from evalkit_brickbench.figures.files import write_figures

    found, ratings, notes = read_outcomes(options)
    written, left_out = write_figures(found, ratings, output, graph_task)
    if as_json:
        files = [str(path) for path in written]
        click.echo(
            json.dumps({"files": files, "left_out": left_out, "notes": [*notes, *found.notes]}, indent=2)
        )
        return
    for path in written:
        click.echo(str(path))
    for name, why in left_out.items():
        click.echo(f"{name} left out: {why}", err=True)
    for note in (*notes, *found.notes):
        click.echo(note, err=True)
