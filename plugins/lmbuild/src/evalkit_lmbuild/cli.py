"""`evalkit lmbuild`: commands of the benchmark's own."""

from __future__ import annotations

import click

from evalkit_lmbuild.engines_cli import engines
from evalkit_lmbuild.results_cli import figures, tables


@click.group(name="lmbuild", short_help="Tables and figures of runs; agreement of the engines.")
def command() -> None:
    """Results of LMBuild.

    \b
    Examples:
      evalkit lmbuild tables runs/core runs/retrieve
      evalkit lmbuild figures runs/core runs/retrieve -o figures
      evalkit lmbuild engines latest
    """


for subcommand in (tables, figures, engines):
    command.add_command(subcommand)
