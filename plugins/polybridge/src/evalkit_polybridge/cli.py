"""`evalkit polybridge`: commands of the benchmark's own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalkit import UsageError
from evalkit_polybridge.agreement_cli import agree
from evalkit_polybridge.levelfiles import LevelFileError, export_level
from evalkit_polybridge.levels.catalogue import Condition, load, load_heldout
from evalkit_polybridge.native.cli import native
from evalkit_polybridge.release.cli import export_paper, release
from evalkit_polybridge.results_cli import figures, tables, trace


@click.group(name="polybridge", short_help="Tables, figures, traces; levels as files; the real game.")
def command() -> None:
    """Results of PolyBridgeBench, its levels as files, and the real game as an executor.

    \b
    Examples:
      evalkit polybridge export levels
      evalkit run polybridge.strict -T tasks.folder=levels
      evalkit polybridge tables runs/strict runs/loose
      evalkit polybridge figures runs/strict runs/loose -o figures
      evalkit polybridge trace latest T1B_Basic_08m
      evalkit polybridge release write runs/strict runs/loose -o release
      evalkit polybridge release check release --simulate
      evalkit polybridge agree runs/embedded runs/native
      evalkit polybridge native doctor
    """


for subcommand in (native, release, export_paper, agree, tables, figures, trace):
    command.add_command(subcommand)


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--budget",
    type=click.Choice(["strict", "loose", "tight"]),
    default="strict",
    show_default=True,
    help="The budget that is written as the level's own; the strict one is kept beside it.",
)
@click.option("--heldout", is_flag=True, help="The 60 held-out levels instead of the 189.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def export(folder: Path, budget: Condition, heldout: bool, as_json: bool) -> None:
    """Write levels into FOLDER, three files each: layout, save and context.

    Files of levels of the same name are replaced. `-T tasks.folder=FOLDER` plays them under the
    budgets of the suite (strict or loose), with `-T tasks.budget=own` under those in the files.

    \b
    Examples:
      evalkit polybridge export levels
      evalkit run polybridge.strict -T tasks.folder=levels
      evalkit polybridge export tight --budget tight --heldout
      evalkit run polybridge.heldout -T tasks.folder=tight -T tasks.budget=own -T condition=tight
    """
    entries = (load_heldout if heldout else load)(budget)
    try:
        for entry in entries:
            export_level(entry.level, entry.meta, folder)
    except LevelFileError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"can't write to {folder}: {error.strerror}") from error
    if as_json:
        names = [entry.level.name for entry in entries]
        click.echo(json.dumps({"folder": str(folder), "budget": budget, "levels": names}, indent=2))
    else:
        click.echo(f"{len(entries)} levels with {budget} budgets, three files each, in {folder}")
