"""`evalkit brickbench`: commands of the benchmark's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evalkit_brickbench.readers.cli import import_designs
from evalkit_brickbench.results_cli import figures, tables
from evalkit_brickbench.study_cli import study

if TYPE_CHECKING:
    from evalkit_brickbench.judges.anchors import Anchors
    from evalkit_brickbench.judges.asking import Judge
    from evalkit_brickbench.judges.store import ArenaStore

UNFINISHED, OUT_OF_BUDGET = 3, 6
"""Exit codes: some duels couldn't be judged; the budget was used up first."""


@click.group(name="brickbench", short_help="Duels, tables, figures, studies, other systems' designs.")
def command() -> None:
    """Results of BrickBench, and designs of other systems.

    \b
    Examples:
      evalkit brickbench arena runs/A runs/B --judge openai/gpt-5
      evalkit brickbench tables runs/A runs/B --arena arena
      evalkit brickbench figures runs/A runs/B --arena arena -o figures
      evalkit brickbench study design runs/A runs/B --raters 102 -o study
      evalkit brickbench import bricknet.jsonl -o bricknet
    """


for subcommand in (tables, figures, study, import_designs):
    command.add_command(subcommand)


@command.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--judge", "model", required=True, metavar="MODEL", help="The model that judges.")
@click.option("-M", "options", multiple=True, metavar="KEY=VALUE", help="How to reach it, e.g. base_url=….")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("arena"),
    show_default=True,
    help="Where judgements are kept.",
)
@click.option(
    "--anchors",
    "anchors_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The systems that fix the scale, a JSON file. Default: all.",
)
@click.option(
    "--views",
    type=click.Choice(["every-second", "compat"]),
    default="every-second",
    show_default=True,
    help="Four of eight: from all around, or the first four (one side, as in the original release).",
)
@click.option(
    "--view-px", type=click.IntRange(16, 1024), default=512, show_default=True, help="Width of a view."
)
@click.option(
    "--max-cost",
    type=click.FloatRange(0, min_open=True),
    metavar="USD",
    help="Dollars for the judge, this time.",
)
@click.option("--format", "format_", type=click.Choice(["table", "markdown", "csv"]), default="table")
@click.option("--json", "print_json", is_flag=True, help="Print JSON.")
@click.pass_context
def arena(
    ctx: click.Context,
    runs: tuple[str, ...],
    model: str,
    options: tuple[str, ...],
    folder: Path,
    anchors_file: Path | None,
    views: Literal["every-second", "compat"],
    view_px: int,
    max_cost: float | None,
    format_: str,
    print_json: bool,
) -> None:
    """Let a model judge the builds of RUNs pair by pair, and rate the systems.

    Every two systems meet on every task that both have a build for: two questions (alignment with the
    prompt, design), each in both orders. Judgements are kept in a folder, and only what is missing there
    is asked for, so the same command goes on after an interruption. Exits with 3 if the judge couldn't be
    asked about some duels, with 6 if --max-cost ended it. Tables and figures take the folder as --arena.

    \b
    Examples:
      evalkit brickbench arena runs/A runs/B --judge openai/gpt-5 --max-cost 20
      evalkit brickbench arena runs/* --judge openai/gemma -M base_url=http://localhost:8000/v1
      evalkit brickbench arena A B C --judge gpt-5 --anchors core.json --format csv
    """
    from evalkit.models import Budgeted, open_model, parse_options
    from evalkit.report import FORMATS, to_json
    from evalkit_brickbench.arena import Rules, judge_missing, plan, verdicts
    from evalkit_brickbench.arena_results import RESULTS, as_json, results
    from evalkit_brickbench.arena_results import tables as rating_tables
    from evalkit_brickbench.judges.anchors import check_anchors, read_anchors
    from evalkit_brickbench.judges.asking import Judge
    from evalkit_brickbench.judges.entrants import entrants
    from evalkit_brickbench.judges.store import ArenaStore

    anchors: Anchors | None = None if anchors_file is None else read_anchors(anchors_file)
    who = entrants(runs)
    if anchors is not None:
        check_anchors(anchors, who.builds)
    rules = Rules(views, view_px)
    client = open_model(model, parse_options(options))
    asked = client if max_cost is None else Budgeted(client, max_cost)
    store: ArenaStore
    with ArenaStore(folder) as store:
        judge: Judge = Judge(asked, store)
        schedule = plan(who, store, judge.identity, rules, _say)
        if verdicts(schedule, store).missing:
            client.check()
        progress = judge_missing(schedule.questions, store, judge, rules, _say)
        known = verdicts(schedule, store)
        found = results(who, schedule, known, anchors)
        document = to_json(as_json(who, found, known, judge.identity, anchors))
        store.keep_results(RESULTS, document)
    if print_json:
        click.echo(document, nl=False)
    else:
        click.echo(FORMATS[format_](rating_tables(found)))
    if progress.stopped is not None:
        _say(f"stopped: {progress.stopped}")
    if progress.out_of_budget:
        ctx.exit(OUT_OF_BUDGET)
    if known.missing:
        ctx.exit(UNFINISHED)


def _say(line: str) -> None:
    click.echo(f"evalkit: {line}", err=True)
