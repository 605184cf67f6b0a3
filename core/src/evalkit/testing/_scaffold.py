"""A new plugin: a small benchmark that works, written from the templates beside this module."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from evalkit.errors import StorageError, UsageError
from evalkit.plugins import load_plugins

TEMPLATES = "templates"
ENDING = ".txt"
PLACEHOLDER = "@name@"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def scaffold(name: str, folder: Path) -> Path:
    """Write the package evalkit-NAME into a folder of that name under `folder`, and return its path.

    Raises UsageError for a name that can't be a package's or is taken by an installed plugin, and for a
    folder that is there already and isn't empty; StorageError if it can't be written.
    """
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} can't be a plugin's name: lower-case letters, digits and _, a letter first"
        )
    plugins = load_plugins()
    if name in plugins.names() or name in plugins.benchmarks().owners:
        raise UsageError(f"{name!r} is the name of an installed plugin or benchmark; choose another")
    made = folder / f"evalkit-{name.replace('_', '-')}"
    try:
        if made.exists() and (not made.is_dir() or any(made.iterdir())):
            raise UsageError(f"{made} is there already; nothing was written")
        _write(files("evalkit.testing") / TEMPLATES, made, name)
    except OSError as error:
        raise StorageError(f"can't write to {made}: {error.strerror or error}") from error
    return made


def _write(source: Traversable, target: Path, name: str) -> None:
    """Copy a folder of templates; `src` gets the package's folder inside, names lose the ending."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            inside = f"src/evalkit_{name}" if entry.name == "src" else entry.name
            _write(entry, target / inside, name)
        elif entry.name.endswith(ENDING):
            text = entry.read_text(encoding="utf-8").replace(PLACEHOLDER, name)
            path = target / entry.name.removesuffix(ENDING).replace("NAME", name)
            path.write_text(text, encoding="utf-8", newline="\n")
