"""The program behind a template: where it is, what it needs to be seen to run, which version it is."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.sandbox._interpreter import find_interpreter, refuse_wide

VERSION_TIMEOUT_S = 60
_SHEBANG_BYTES = 512


@dataclass(frozen=True, slots=True)
class Program:
    """`executable`: the file itself, links followed. `shown`: what has to be readable for it to run.
    `search`: folders in which it looks for its interpreter."""

    executable: Path
    shown: tuple[Path, ...]
    search: tuple[str, ...]


def find_program(name: str) -> Program:
    """The program `name`, from PATH or as a path; UsageError if it isn't there or can't be shown."""
    found = shutil.which(os.path.expanduser(name))
    if found is None:
        raise UsageError(f"there is no program {name!r} to start; install it, or put its folder into PATH")
    link, executable = Path(os.path.abspath(found)), Path(os.path.realpath(found))
    shown = [executable, *_package(executable)]
    search = [str(executable.parent)]
    for path in _interpreters(executable):
        search.append(str(path.parent))
        if "python" in path.name:
            shown += find_interpreter(path).folders
        else:
            shown.append(Path(os.path.realpath(path)))
            if path.is_symlink():
                search.append(os.path.dirname(os.path.realpath(path)))
    search.append(str(link.parent))
    return Program(executable, tuple(dict.fromkeys(shown)), tuple(dict.fromkeys(search)))


def extra(paths: list[str]) -> list[Path]:
    """Files and folders that a template wants shown; UsageError if one isn't there or shows too much."""
    found = [Path(os.path.abspath(os.path.expanduser(path))) for path in paths]
    for path in found:
        if not path.exists():
            raise UsageError(f"the template shows {path}, which doesn't exist")
        refuse_wide(path)
    return found


def plugin_folders() -> list[Path]:
    """Where the packages of plugins are installed: they hold tasks, references and scorers."""
    from evalkit.plugins import CORE_PLUGIN, load_plugins

    plugins = load_plugins()
    found: list[Path] = []
    for name in plugins.names():
        package = plugins.module_of(name).partition(".")[0] if name != CORE_PLUGIN else ""
        spec = importlib.util.find_spec(package) if package else None
        if spec is not None and spec.submodule_search_locations:
            found += [Path(os.path.realpath(folder)) for folder in spec.submodule_search_locations]
    return list(dict.fromkeys(found))


@functools.cache
def version_of(executable: Path, arguments: tuple[str, ...]) -> str:
    """The first line that the program prints when asked for its version; `unknown` if it prints none."""
    try:
        done = subprocess.run(
            [str(executable), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "unknown"
    except OSError as error:
        raise UsageError(f"{executable} can't be started: {error.strerror}") from error
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    return lines[0][:200] if lines and done.returncode == 0 else "unknown"


def _package(executable: Path) -> list[Path]:
    """The folder of the Node package that a program belongs to, with all that was installed for it."""
    parts = executable.parts
    if "node_modules" not in parts:
        return []
    return [Path(*parts[: parts.index("node_modules") + 1])]


def _interpreters(executable: Path) -> Iterator[Path]:
    """The interpreter in the first line of a script, and what `env` finds in its place."""
    with open(executable, "rb") as file:
        first = file.read(_SHEBANG_BYTES).partition(b"\n")[0]
    if not first.startswith(b"#!"):
        return
    words = shlex.split(first[2:].decode("utf-8", "replace"))
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise UsageError(f"{executable} needs {' '.join(words[:1]) or 'an interpreter'}, which isn't there")
    yield Path(os.path.abspath(found))
