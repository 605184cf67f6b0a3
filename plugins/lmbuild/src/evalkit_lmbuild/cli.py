"""`evalkit lmbuild`: commands of the benchmark's own."""

from __future__ import annotations

import click

from evalkit_lmbuild.calibrate_cli import calibrate, rating_sheet
from evalkit_lmbuild.engines_cli import engines
from evalkit_lmbuild.proof_cli import proof
from evalkit_lmbuild.results_cli import figures, tables


@click.group(name="lmbuild", short_help="Tables, figures, agreement of engines, calibration.")
def command() -> None:
    """Results of LMBuild.

    \b
    Examples:
      evalkit lmbuild tables runs/core runs/retrieve
      evalkit lmbuild figures runs/core runs/retrieve -o figures
      evalkit lmbuild engines latest
      evalkit lmbuild proof keepsake_box
      evalkit lmbuild calibrate ratings.csv runs/core
    """


for subcommand in (tables, figures, engines, proof, rating_sheet, calibrate):
    command.add_command(subcommand)
