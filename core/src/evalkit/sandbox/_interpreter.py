"""The Python that runs a script, and the folders it lives in."""

from __future__ import annotations

import functools
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import UsageError

_QUESTION = "import sys; print(sys.prefix); print(sys.base_prefix); print(sys.base_exec_prefix)"


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`executable` as it is called (a virtual environment is known by that path) and what has to be readable
    for it to run: its prefixes and the folders of the links that lead to the real file."""

    executable: Path
    folders: tuple[Path, ...]


def find_interpreter(python: Path | None) -> Interpreter:
    """The interpreter `python` (an executable, or the folder of a virtual environment), or this one.

    UsageError if there is none, or if it lives in a folder that must not be shown to a script.
    """
    executable = Path(sys.executable) if python is None else Path(os.path.abspath(python))
    if executable.is_dir():
        executable = executable / "bin" / "python"
    if not os.access(executable, os.X_OK):
        raise UsageError(
            f"no Python at {executable}; give an interpreter or the folder of a virtual environment"
        )
    return _inspect(executable)


@functools.cache
def _inspect(executable: Path) -> Interpreter:
    if executable == Path(sys.executable):
        prefixes = [sys.prefix, sys.base_prefix, sys.base_exec_prefix]
    else:
        prefixes = _ask(executable)
    folders = [Path(prefix) for prefix in prefixes] + _link_folders(executable)
    for folder in folders:
        refuse_wide(folder)
    return Interpreter(executable, tuple(_outermost(folders)))


def _ask(executable: Path) -> list[str]:
    command = [str(executable), "-I", "-c", _QUESTION]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{executable} doesn't answer as a Python interpreter does: {error}") from error
    return done.stdout.splitlines()


def _link_folders(executable: Path) -> list[Path]:
    """Folders of the links from `executable` to the file it stands for, both ends included."""
    folders = [executable.parent]
    current = executable
    while current.is_symlink():
        current = Path(os.path.normpath(current.parent / os.readlink(current)))
        folders.append(current.parent)
    return folders


def _outermost(folders: list[Path]) -> list[Path]:
    """Without duplicates and without folders inside others."""
    ordered = sorted(set(folders), key=lambda folder: len(folder.parts))
    kept: list[Path] = []
    for folder in ordered:
        if not any(folder.is_relative_to(other) for other in kept):
            kept.append(folder)
    return kept


def refuse_wide(folder: Path) -> None:
    """UsageError if showing `folder` to a script would show it the machine: the root or a home folder."""
    home = Path(os.path.expanduser("~"))
    if folder == Path("/") or home.is_relative_to(folder):
        raise UsageError(
            f"the sandbox would have to show all of {folder} to the script; use a folder of its own"
        )


def closed_to_others(folder: Path) -> bool:
    """Whether a user without any rights of its own is kept from a folder, by it or by one above it."""
    read_and_enter = stat.S_IROTH | stat.S_IXOTH
    if folder.stat().st_mode & read_and_enter != read_and_enter:
        return True
    return any(not parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents)
