"""`evalkit lmbuild rating-sheet` and `calibrate`: the maps of level D from people's ratings."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalkit.report import Table
    from evalkit_lmbuild.calibration.agreement import Agreement
    from evalkit_lmbuild.scoring.levels import Calibration


@click.command(name="rating-sheet", short_help="A sheet for people who rate the designs of runs.")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--rater", "raters", multiple=True, required=True, metavar="NAME", help="Who rates; repeat it.")
def rating_sheet(runs: tuple[str, ...], raters: tuple[str, ...]) -> None:
    """Print a CSV sheet of the designs of RUNs, for ratings of D.1, D.2 and D.3.

    A row per design, metric and rater: `rating` is left empty, to be filled in with a number from 1 to 10.

    \b
    Examples:
      evalkit lmbuild rating-sheet runs/ann runs/bob --rater r1 --rater r2 > ratings.csv
    """
    from evalkit import UsageError
    from evalkit.report import recorded_run
    from evalkit_lmbuild.calibration.ratings import RatingsError, checked_raters, sheet_text
    from evalkit_lmbuild.calibration.sheets import sheet_rows

    try:
        checked_raters(raters)
    except RatingsError as error:
        raise UsageError(str(error)) from error
    click.echo(sheet_text(sheet_rows([recorded_run(name, "lmbuild") for name in runs], raters)), nl=False)


@click.command(short_help="Fit the maps of level D to people's ratings.")
@click.argument("ratings", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--held-out",
    multiple=True,
    metavar="OBJECT",
    help="An object that agreement is measured on; repeat it. Default: every second by name.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the maps here, as JSON in the published shape.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def calibrate(
    ratings: Path, runs: tuple[str, ...], held_out: tuple[str, ...], output: Path | None, as_json: bool
) -> None:
    """Fit the maps of D.1, D.2 and D.3 to RATINGS, and measure agreement on objects that are held out.

    RATINGS is a CSV sheet (`rating-sheet` prints one): object, system, metric, rater, rating (1 to 10).
    Halves of scores are taken from RUNs, or else from columns `judge` and `computed`. Halves get
    clipped lines, fitted together so that their mean comes closest to the mean ratings; its weights are the
    published ones. Agreement is
    Spearman's rank correlation of systems, of designs, and between raters, with the fitted maps and with
    the published ones.

    \b
    Examples:
      evalkit lmbuild calibrate ratings.csv runs/ann runs/bob
      evalkit lmbuild calibrate ratings.csv runs/* --held-out wheelchair --held-out stepladder -o maps.json
    """
    import dataclasses

    from evalkit import UsageError
    from evalkit.report import recorded_run, to_json, to_text
    from evalkit.report.formats import write_text
    from evalkit.report.run_report import terminal_width
    from evalkit_lmbuild.calibration.agreement import agreements
    from evalkit_lmbuild.calibration.fitting import fit
    from evalkit_lmbuild.calibration.ratings import RatingsError, read_ratings, split, with_halves
    from evalkit_lmbuild.calibration.sheets import design_halves
    from evalkit_lmbuild.scoring.levels import CALIBRATION
    from evalkit_lmbuild.scoring.maps import maps_document

    try:
        items = read_ratings(ratings)
        if runs:
            items = with_halves(items, design_halves([recorded_run(name, "lmbuild") for name in runs]))
        fitted, rest = split(items, held_out)
        maps = fit(fitted)
    except RatingsError as error:
        raise UsageError(str(error)) from error
    published = {metric: CALIBRATION[metric] for metric in maps}
    found = {"fitted": agreements(rest, maps), "published": agreements(rest, published)}
    document = maps_document(maps, {item.object for item in fitted}, {item.object for item in rest})
    if output is not None:
        _write(output, to_json(document))
    if as_json:
        listed = {name: [dataclasses.asdict(each) for each in side] for name, side in found.items()}
        write_text(to_json({"maps": document, "agreement": listed}), sys.stdout, colour=False)
    else:
        tables = [_maps_table(maps, document), _agreement_table(found)]
        write_text(to_text(tables, terminal_width()), sys.stdout)


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    from evalkit import UsageError

    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        if temporary.exists():
            temporary.unlink()
        raise UsageError(f"can't write {path}: {error.strerror}") from error


def _maps_table(maps: dict[str, Calibration], document: dict[str, Any]) -> Table:
    from evalkit.report import Column, Table

    rows = []
    for metric, each in maps.items():
        for half, scale, weight in (
            ("judge", each.judge, each.judge_weight),
            ("computed", each.computed, each.computed_weight),
        ):
            if scale is not None:
                rows.append((metric, half, f"{scale.low:.4f}", f"{scale.high:.4f}", f"{weight:g}"))
    columns = tuple(Column(name) for name in ("metric", "half", "0 at", "1 at", "weight"))
    note = f"fitted to {', '.join(document['fit'])}; held out: {', '.join(document['test'])}"
    return Table("maps", "maps of level D", columns, tuple(rows), note)


def _agreement_table(found: Mapping[str, Sequence[Agreement]]) -> Table:
    from evalkit.report import Column, Table

    rows = [
        (
            each.metric,
            maps,
            *(_figure(value) for value in (each.systems, each.items, each.raters)),
            *(each.n_systems, each.n_items, each.n_raters),
        )
        for maps, side in found.items()
        for each in side
    ]
    names = ("metric", "maps", "systems", "designs", "raters", "n systems", "n designs", "n raters")
    columns = tuple(Column(name) for name in names)
    note = "Spearman's rank correlation on the objects held out"
    return Table("agreement", "agreement with people", columns, tuple(rows), note)


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
