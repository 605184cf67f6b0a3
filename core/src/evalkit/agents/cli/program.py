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
from typing import IO

from evalkit.errors import SandboxError, UsageError
from evalkit.sandbox import Level
from evalkit.sandbox._guest import Guest, guest_place, launched_guest
from evalkit.sandbox._interpreter import find_interpreter, refuse_wide
from evalkit.workspace import temporary_folder

FIXED = {
    "USER": "agent",
    "LOGNAME": "agent",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "SHELL": "/bin/sh",
}
"""Variables that every program gets."""
VERSION_TIMEOUT_S = 20
UNKNOWN = "unknown"
_VERSION_BYTES = 4096
_VERSION_FILE_BYTES = 64 << 20
_NOT_STARTED = (126, 127)
"""What shells and prlimit end with if there is no such program, or the system can't run it."""
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
def version_of(
    level: Level,
    program: Program,
    arguments: tuple[str, ...],
    shown: tuple[Path, ...],
    environment: tuple[tuple[str, str], ...],
) -> str:
    """The first line that the program prints when asked for its version; `unknown` if it prints none.

    It is as shut in as when it works, and gets nothing that is secret. UsageError if it can't be started.
    """
    with temporary_folder() as root:
        places = {name: guest_place(level, root, name) for name in ("home", "tmp")}
        guest = Guest(
            argv=[str(program.executable), *arguments],
            root=root,
            variables={**FIXED, "HOME": places["home"], "TMPDIR": places["tmp"], **dict(environment)},
            shown=(*program.shown, *shown),
            hidden=plugin_folders(),
            search=program.search,
            file_bytes=_VERSION_FILE_BYTES,
        )
        try:
            with launched_guest(level, guest) as running:
                return _answer(running.process, program)
        except SandboxError as error:
            raise UsageError(str(error)) from error


def _answer(process: subprocess.Popen[bytes], program: Program) -> str:
    """The first line of what a program printed; if it prints more than pipes hold, it doesn't end in time."""
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        code = process.wait(VERSION_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return UNKNOWN
    printed, complaint = map(_first_line, (process.stdout, process.stderr))
    if code in _NOT_STARTED:
        raise UsageError(f"{program.executable} can't be started: {complaint or f'exit code {code}'}")
    return printed if printed and not code else UNKNOWN


def _first_line(pipe: IO[bytes]) -> str:
    os.set_blocking(pipe.fileno(), False)  # a daemon may hold it open
    text = (pipe.read(_VERSION_BYTES) or b"").decode("utf-8", "replace")
    return next(iter(text.strip().splitlines()), "")[:200]


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
