"""`evalkit completion`: completion scripts for shells."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from evalkit.cli._common import emit, note
from evalkit.errors import UsageError

_INSTALL = {
    "bash": "echo 'eval \"$(evalkit completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(evalkit completion zsh)\"' >> ~/.zshrc",
    "fish": "evalkit completion fish > ~/.config/fish/completions/evalkit.fish",
}


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(list(_INSTALL)))
def command(shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and suites.

    \b
    Install it:
      bash   echo 'eval "$(evalkit completion bash)"' >> ~/.bashrc
      zsh    echo 'eval "$(evalkit completion zsh)"' >> ~/.zshrc
      fish   evalkit completion fish > ~/.config/fish/completions/evalkit.fish
    """
    from evalkit.cli.main import COMPLETION_VARIABLE, PROGRAM, root

    completion = get_completion_class(shell)
    if completion is None:
        raise UsageError(f"this version of click has no completion for {shell}")
    emit(completion(root, {}, PROGRAM, COMPLETION_VARIABLE).source())
    if sys.stdout.isatty():
        note(f"to install it: {_INSTALL[shell]}")
