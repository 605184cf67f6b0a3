"""The reference of the command line as Markdown, made from the commands themselves.

    python -m evalkit.cli._reference > docs/cli.md

Commands of plugins are left out, and nothing depends on the terminal or on what is installed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from evalkit.cli.main import PROGRAM, VERBS, root

INTRODUCTION = """\
# Command line

<!-- made by `python -m evalkit.cli._reference > docs/cli.md`; change the commands instead -->

`evalkit COMMAND -h` prints the same at the terminal. Results go to stdout, everything else to stderr. Every
option can also be set by the environment variable that stands behind it, and in `evalkit.toml` (the nearest
one upward from the current folder, or the one in the user's configuration folder): a table per command, keys
named like the options (`[run]`, `jobs = 4`). Flags come before the environment, the environment before the
file. Options that can be repeated take several values from the environment, separated by blanks, and a list
from the file.

Every command has `-h`/`--help` and `--debug`, which prints the traceback of an error (`EVALKIT_DEBUG=1` does
it for all). `EVALKIT_PLUGINS=a,b` loads these plugins only; `EVALKIT_REGISTRY` names the registry file.

| Exit code | Meaning |
|---|---|
| 0 | Everything asked for was done; a model that fails a task is not an error. |
| 1 | A threshold was missed, a metric regressed, a design tried doesn't work, or a check found something. |
| 2 | The command line or an input file is wrong. |
| 3 | Some episodes ended in an error and have no result. |
| 4 | evalkit or a plugin failed. |
| 5 | The selection holds no task. |
| 6 | A budget of the whole run was used up before all episodes were played. |
| 130 | Interrupted with Ctrl-C or SIGTERM; what was finished is kept. |

Where several apply, the first of 130, 4, 2, 5, 6, 3, 1 is returned.
"""


def reference() -> str:
    """The whole reference, with a line end."""
    context = click.Context(root, info_name=PROGRAM)
    lines = [INTRODUCTION]
    lines += [
        f"* [`{PROGRAM} {verb}`](#{PROGRAM}-{verb}): {summary}" for verb, (_, _, summary) in VERBS.items()
    ]
    for verb in VERBS:
        command = root.get_command(context, verb)
        if command is None:
            raise LookupError(f"the verb {verb!r} has no command")
        lines += _command_lines(command, [PROGRAM, verb])
    return "\n".join(lines) + "\n"


def _command_lines(command: click.Command, path: Sequence[str]) -> Iterator[str]:
    """A command with its subcommands; `path` is what one types to call it."""
    words = " ".join(path)
    yield f"\n{'#' * len(path)} {words}\n"
    usage = [words, *(["[OPTIONS]"] if _options(command) else []), *map(_argument, _arguments(command))]
    if isinstance(command, click.Group):
        usage.append("COMMAND …")
    yield f"```\n{' '.join(usage)}\n```"
    yield from _prose(command.help or "")
    options = [option for option in _options(command) if not option.hidden]
    if options:
        yield "\n| Option | Meaning | Environment |\n|---|---|---|"
        for option in options:
            yield f"| {_names(option)} | {_meaning(option)} | {_variable(option, path)} |"
    yield from _prose(command.epilog or "")
    if isinstance(command, click.Group):
        for name, inner in _subcommands(command).items():
            yield from _command_lines(inner, [*path, name])


def _subcommands(group: click.Group) -> Mapping[str, click.Command]:
    return dict(sorted(group.commands.items()))


def _arguments(command: click.Command) -> list[click.Argument]:
    return [parameter for parameter in command.params if isinstance(parameter, click.Argument)]


def _options(command: click.Command) -> list[click.Option]:
    """All options but --debug and --help, which every command has."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return [option for option in options if "--debug" not in option.opts and "--help" not in option.opts]


def _argument(argument: click.Argument) -> str:
    if argument.metavar:
        return argument.metavar
    name = (argument.name or "").upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _names(option: click.Option) -> str:
    flags = ", ".join([*option.opts, *option.secondary_opts])
    value = "" if option.is_flag or option.count else f" {_value(option)}"
    return f"`{flags}{value}`".replace("|", "\\|")


def _value(option: click.Option) -> str:
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return option.type.name.split()[0].upper()


def _meaning(option: click.Option) -> str:
    notes = []
    if option.show_default and option.default is not None:
        notes.append(f"default: {_default(option.default)}")
    if option.multiple:
        notes.append("repeatable")
    text = " ".join((option.help or "").replace(" (repeatable)", "").split())
    return _cell(text + (f" ({', '.join(notes)})" if notes else ""))


def _default(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _variable(option: click.Option, path: Sequence[str]) -> str:
    """The environment variable of an option: its own, or the one that click makes of the command's path."""
    if option.envvar:
        return f"`{option.envvar if isinstance(option.envvar, str) else option.envvar[0]}`"
    return "`" + "_".join([*path, str(option.name)]).upper().replace("-", "_") + "`"


def _prose(text: str) -> Iterator[str]:
    """A help text: paragraphs as they are, those marked with \\b as a block of code."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b\n"):
            heading, *block = paragraph[2:].split("\n")
            yield f"\n{heading}\n\n```sh\n{inspect.cleandoc(chr(10).join(['', *block]))}\n```"
        elif paragraph:
            yield "\n" + _cell(" ".join(paragraph.split()))


def _cell(text: str) -> str:
    """Text that Markdown leaves alone."""
    for character in "\\|*_<>[]":
        text = text.replace(character, f"\\{character}")
    return text


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(reference())
