"""`evalkit brickbench study`: people compare builds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit import UsageError

if TYPE_CHECKING:
    from evalkit_brickbench.judges.entrants import Build

SUFFIXES = (".ldr", ".mpd")


@click.group(short_help="People compare builds: pages for raters, ratings from their answers.")
def study() -> None:
    """People compare builds.

    \b
    Examples:
      evalkit brickbench study design runs/A runs/B --raters 102 -o study
      evalkit brickbench study import study answers-*.csv --arena arena
      evalkit brickbench study human runs/A --models sets --raters 9 -o against-people
    """


_RUNS = click.argument("runs", nargs=-1, required=True, metavar="RUN...")
_OUTPUT = click.option(
    "-o", "--output", "folder", type=click.Path(path_type=Path, file_okay=False), required=True,
    metavar="FOLDER", help="Where to write.",
)  # fmt: skip
_RATERS = click.option("--raters", type=click.IntRange(1, 999), required=True, metavar="N", help="How many.")
_PER_RATER = click.option(
    "--per-rater", type=click.IntRange(1, 999), default=40, show_default=True, help="Comparisons for each."
)
_SEED = click.option("--seed", type=int, default=0, show_default=True, help="Of the lots that are drawn.")


@study.command(short_help="Pairs of builds for the same prompt, dealt out to raters.")
@_RUNS
@_OUTPUT
@_RATERS
@_PER_RATER
@_SEED
def design(runs: tuple[str, ...], folder: Path, raters: int, per_rater: int, seed: int) -> None:
    """Deal out pairs of builds for the same prompt, four views each, to raters.

    FOLDER gets a page per rater, which works without a server, answers.csv to fill in by hand instead, and
    key.json, which says whose builds they are: keep that from raters. Pairs of systems, prompts and sides
    come up equally often.

    \b
    Examples:
      evalkit brickbench study design runs/A runs/B --raters 102 -o study
    """
    from evalkit_brickbench.judges.entrants import entrants
    from evalkit_brickbench.study import draw_builds, plan_designs, write_study

    who = entrants(runs)
    shown = draw_builds(who, _say)
    found = plan_designs(who, shown, raters, per_rater, seed)
    write_study(found, [shown], folder)
    for note in found.notes:
        _say(note)
    click.echo(f"{len(found.comparisons)} comparisons for {raters} raters in {folder}")


@study.command(short_help="Builds beside models made by people with as many parts.")
@_RUNS
@click.option(
    "--models",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    required=True,
    metavar="FOLDER",
    help="LDraw files of models made by people.",
)
@_OUTPUT
@_RATERS
@_PER_RATER
@_SEED
def human(runs: tuple[str, ...], models: Path, folder: Path, raters: int, per_rater: int, seed: int) -> None:
    """Deal out builds beside models made by people with about as many parts.

    The models are all .ldr and .mpd files in a folder; none is used more often than it must be. The folder is
    as that of `study design`, and `study import` reads it, too.

    \b
    Examples:
      evalkit brickbench study human runs/A --models sets --raters 9 -o against-people
      evalkit brickbench study import against-people answers-*.csv
    """
    from evalkit_brickbench.judges.entrants import entrants
    from evalkit_brickbench.study import draw_builds, draw_models, plan_human, write_study

    who = entrants(runs)
    shown, people = draw_builds(who, _say), draw_models(_models(models), _say)
    found = plan_human(who, shown, people, raters, per_rater, seed)
    write_study(found, [shown, people], folder)
    for note in found.notes:
        _say(note)
    click.echo(f"{len(found.comparisons)} comparisons for {raters} raters in {folder}")


def _models(folder: Path) -> dict[str, Build]:
    """The models in a folder by file name."""
    from evalkit_brickbench.designs import candidate_of
    from evalkit_brickbench.judges.entrants import Build
    from evalkit_brickbench.ldraw.reader import SIZE_LIMIT_BYTES
    from evalkit_brickbench.study import HUMAN

    found: dict[str, Build] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in SUFFIXES:
            try:
                with open(path, "rb") as file:
                    candidate = candidate_of(path.name, file.read(SIZE_LIMIT_BYTES + 1))
            except OSError as error:
                raise UsageError(f"can't read {path}: {error.strerror}") from error
            found[path.name] = Build(HUMAN, candidate.data["sha256"], candidate, {})
    if not found:
        raise UsageError(f"{folder} has no {' or '.join(SUFFIXES)} file")
    return found


@study.command("import", short_help="Ratings from the answers that came back.")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--arena",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Compare with the ratings that `evalkit brickbench arena` left there.",
)
@click.option("--format", "form", type=click.Choice(["table", "markdown", "csv", "latex"]), default="table")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def import_answers(
    folder: Path, answers: tuple[Path, ...], arena: Path | None, form: str, as_json: bool
) -> None:
    """Rate systems by the ANSWERS to the study in FOLDER, CSV files with columns id and choice.

    A study of designs gives ratings (with --arena also Kendall's τ, how many pairs of systems are ordered
    alike, and the judge's ratings on people's scale); one against people's models, how often each system was
    preferred, with the exact binomial test.

    \b
    Examples:
      evalkit brickbench study import study answers-*.csv --arena arena
    """
    from evalkit.report import FORMATS, to_json
    from evalkit.report.formats import table_json, write_text
    from evalkit_brickbench.arena_results import read_ratings
    from evalkit_brickbench.scoring.ratings import OVERALL
    from evalkit_brickbench.study import read_answers, read_study
    from evalkit_brickbench.study_results import tables

    found = read_study(folder)
    judge: dict[str, float] | None = None
    if arena is not None:
        kept = read_ratings(arena).ratings
        judge = {row.system: row.elo.elo for row in kept[OVERALL].systems} if OVERALL in kept else {}
    shown = tables(found, read_answers(found, answers), judge)
    if as_json:
        click.echo(to_json({table.id: table_json(table) for table in shown}), nl=False)
    else:
        write_text(FORMATS[form](shown), sys.stdout, colour=False)


def _say(line: str) -> None:
    click.echo(f"evalkit: {line}", err=True)
