"""Defaults of options from `evalkit.toml`: one table per verb, keys named like the options.

    [run]
    jobs = 4
    max-calls = 3

The nearest `evalkit.toml` upward from the current folder counts, otherwise the one in the user's
configuration folder. Flags and environment variables come first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from evalkit.errors import UnknownNameError, UsageError

FILE_NAME = "evalkit.toml"


def find_config(folder: Path) -> Path | None:
    """The configuration file in use, or None."""
    for parent in (folder, *folder.parents):
        if (parent / FILE_NAME).is_file():
            return parent / FILE_NAME
    import platformdirs

    path = platformdirs.user_config_path("evalkit", appauthor=False) / FILE_NAME
    return path if path.is_file() else None


def read_config(path: Path, verbs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The tables of a configuration file by verb. UsageError if it isn't one, or names an unknown verb."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    for name, table in tables.items():
        if name not in set(verbs):
            raise UnknownNameError("table", name, verbs, str(path))
        if not isinstance(table, dict):
            raise UsageError(f"{path}: {name!r} has to be a table, [{name}]")
    return tables


def option_defaults(command: click.Command, table: dict[str, Any], path: Path) -> dict[str, Any]:
    """A verb's table with the names that click uses; UnknownNameError for a key that is no option."""
    names = {key: option.name for option in command.params for key in option_keys(option)}
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        known = key.replace("-", "_")
        if known not in names:
            raise UnknownNameError(f"option of {command.name}", key, names, str(path))
        defaults[str(names[known])] = value
    return defaults


def option_keys(parameter: click.Parameter) -> list[str]:
    """The names of an option in configuration files: its long forms, or else the parameter's name."""
    if not isinstance(parameter, click.Option):
        return []
    long = [o[2:].replace("-", "_") for o in parameter.opts if o.startswith("--")]
    return long or [str(parameter.name)]
