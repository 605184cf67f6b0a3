"""`evalkit lmbuild`: commands of the benchmark's own."""

from __future__ import annotations

import click

from evalkit_lmbuild.engines_cli import engines


@click.group(name="lmbuild", short_help="Agreement of the physics engines.")
def command() -> None:
    """Results of LMBuild.

    \b
    Examples:
      evalkit lmbuild engines latest
    """


for subcommand in (engines,):
    command.add_command(subcommand)
