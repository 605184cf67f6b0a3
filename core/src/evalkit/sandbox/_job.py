"""One script to run: checked, read, and put into the words of the supervisor."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import UsageError
from evalkit.sandbox._exchange import frame, stays_inside
from evalkit.sandbox._interpreter import Interpreter, find_interpreter, refuse_wide
from evalkit.sandbox._levels import Level, Limits
from evalkit.sandbox._limits import for_supervisor


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be run, checked and read."""

    script: str
    arguments: tuple[str, ...]
    files: Mapping[str, bytes]
    patterns: tuple[str, ...]
    limits: Limits
    interpreter: Interpreter
    packages: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()

    @classmethod
    def of(
        cls,
        script: Path | str,
        arguments: Sequence[str],
        inputs: Mapping[str, bytes | Path],
        outputs: Sequence[str],
        limits: Limits,
        python: Path | None,
        packages: Sequence[Path],
        hidden: Sequence[Path] = (),
    ) -> Job:
        """Check and read everything; UsageError names what is wrong."""
        name = script.name if isinstance(script, Path) else "script.py"
        if name in inputs:
            raise UsageError(f"input {name!r} has the name of the script; rename one of them")
        for path in (*inputs, *outputs):
            if not stays_inside(path) or "\0" in path:
                raise UsageError(
                    f"{path!r} is not a path inside the workspace; use one like 'out/model.json'"
                )
        for argument in arguments:
            if "\0" in argument:
                raise UsageError(f"argument {argument!r} holds a NUL character")
        files = {name: _content(script if isinstance(script, Path) else script.encode())}
        files |= {path: _content(source) for path, source in inputs.items()}
        if (total := sum(map(len, files.values()))) > limits.disk_bytes:
            raise UsageError(f"script and inputs are {total} bytes, more than disk_bytes={limits.disk_bytes}")
        folders = tuple(Path(os.path.abspath(package)) for package in packages)
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"no folder {folder} to import packages from")
            refuse_wide(folder)
        interpreter = find_interpreter(python)
        unseen = tuple(folder for folder in hidden if folder.is_dir())
        return cls(name, tuple(arguments), files, tuple(outputs), limits, interpreter, folders, unseen)

    def shown(self) -> tuple[Path, ...]:
        """Folders that the script sees besides the system."""
        hidden_by_system = [f for f in self.interpreter.folders if not f.is_relative_to("/usr")]
        return tuple(dict.fromkeys((*hidden_by_system, *self.packages)))

    def message(self, level: Level) -> bytes:
        """The job in the supervisor's frames."""
        limits = for_supervisor(self.limits, level)
        return b"".join(
            (
                *(frame("L", f"{name}={value}".encode()) for name, value in limits.items()),
                *(frame("A", os.fsencode(argument)) for argument in self.arguments),
                *(frame("O", pattern.encode()) for pattern in self.patterns),
                *(frame("I", os.fsencode(path) + b"\0" + content) for path, content in self.files.items()),
                frame("R", self.script.encode()),
            )
        )


def _content(source: bytes | Path) -> bytes:
    if isinstance(source, bytes):
        return source
    try:
        return source.read_bytes()
    except OSError as error:
        raise UsageError(f"can't read {source}: {error.strerror}") from error
