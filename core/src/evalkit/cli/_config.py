"""Defaults of options from `evalkit.toml`: one table per verb, keys named like the options.

    [run]
    jobs = 4
    max-calls = 3

The nearest `evalkit.toml` upward from the current folder counts, otherwise the one in the user's
configuration folder. Flags and environment variables come first.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from evalkit.errors import UnknownNameError, UsageError
from evalkit.jsonfiles import read_file

FILE_NAME = "evalkit.toml"
#: Longest configuration file that is read, in bytes.
MAX_BYTES = 2**20


def find_config(folder: Path) -> Path | None:
    """The configuration file in use, or None; folders on the way up that can't be looked into hold none."""
    for parent in (folder, *folder.parents):
        if os.path.isfile(parent / FILE_NAME):
            return parent / FILE_NAME
    import platformdirs

    path = platformdirs.user_config_path("evalkit", appauthor=False) / FILE_NAME
    return path if os.path.isfile(path) else None


def read_config(path: Path, verbs: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The tables of a configuration file by verb. UsageError if it isn't one, or names an unknown verb."""
    try:
        tables = tomllib.loads(read_file(path, MAX_BYTES).decode())
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:  # not UTF-8, not TOML, or a number of too many digits
        raise UsageError(f"{path}: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{path}: its values are nested too deeply") from error
    for name, table in tables.items():
        if name not in set(verbs):
            raise UnknownNameError("table", name, verbs, str(path))
        if not isinstance(table, dict):
            raise UsageError(f"{path}: {name!r} has to be a table, [{name}]")
    return tables


def option_defaults(command: click.Command, table: dict[str, Any], path: Path) -> dict[str, Any]:
    """A verb's table with the names that click uses, and values as the command line would give them.

    UnknownNameError for a key that is no option, UsageError for a value that no option can have.
    """
    options = {key: option for option in command.params for key in option_keys(option)}
    defaults: dict[str, Any] = {}
    for key, value in table.items():
        known = key.replace("-", "_")
        if known not in options:
            raise UnknownNameError(f"option of {command.name}", key, options, str(path))
        option = options[known]
        defaults[str(option.name)] = _value(option, value, f"{path}: {key} of {command.name}")
    return defaults


def _value(option: click.Parameter, value: Any, where: str) -> Any:
    if isinstance(option, click.Option) and option.is_flag:
        if isinstance(value, bool):
            return value
        raise UsageError(f"{where} has to be true or false")
    values = value if option.multiple and isinstance(value, list) else [value]
    for item in values:
        if not isinstance(item, str | int | float) or isinstance(item, bool) or "\0" in str(item):
            several = ", or a list of them" if option.multiple else ""
            raise UsageError(f"{where} has to be a string or a number{several}")
    return [str(item) for item in values] if option.multiple else str(value)


def option_keys(parameter: click.Parameter) -> list[str]:
    """The names of an option in configuration files: its long forms, or else the parameter's name."""
    if not isinstance(parameter, click.Option):
        return []
    long = [o[2:].replace("-", "_") for o in parameter.opts if o.startswith("--")]
    return long or [str(parameter.name)]
