"""Runs inside the sandbox: takes the job, starts the script, ends what it left running, hands back outputs.

This file is the whole program: it is passed to an interpreter as text (`python -I -S -c`), because the
sandbox doesn't hold evalkit. It imports little, since its start is part of every run. It has no power that
the script lacks, so a script that takes it over gains nothing: all it could do is to lie about itself.

Both directions speak frames: one letter, the length in decimal, a newline, that many bytes.

    in   L name=value  a limit of the script           out  S  started
         A             an argument of the script            E  code, signal, CPU ms, peak bytes
         O             a pattern of outputs                 F  path NUL content
         I             path NUL content of an input         X  path NUL why it wasn't taken
         R             path of the script: go
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

CHUNK = 1 << 16
FRAME_COST = 64
"""What an entry counts in the budget of outputs besides its name and content."""
OVER_BUDGET = "more than total_output_bytes allows"
"""The reason for the first output that doesn't fit; none is taken after it."""


def main(control: int, python: str, mode: str) -> None:
    """Play one script. `control`: the descriptor where frames go out; `python`: the interpreter.

    `mode` is "alone" if every process that this user may signal belongs to the script, else "among others".
    """
    os.set_inheritable(control, False)
    limits: dict[str, int] = {}
    arguments: list[str] = []
    patterns: list[str] = []
    script = ""
    for kind, body in _frames(0):
        if kind == "L":
            name, _, value = body.decode().partition("=")
            limits[name] = int(value)
        elif kind == "A":
            arguments.append(os.fsdecode(body))
        elif kind == "O":
            patterns.append(body.decode())
        elif kind == "I":
            _place(*body.split(b"\0", 1))
        elif kind == "R":
            script = body.decode()
    _send(control, "S", b"")
    child = os.fork()
    if child == 0:
        _become_script(python, [script, *arguments], limits)
    ended = 0
    while ended != child:  # as first process of a namespace, this one inherits the others' orphans
        ended, status, usage = os.wait4(-1, 0)
    if mode == "alone":
        _end_the_rest()
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    cpu_ms = round((usage.ru_utime + usage.ru_stime) * 1000)
    _send(control, "E", f"{code} {number} {cpu_ms} {usage.ru_maxrss * 1024}".encode())
    _hand_back(control, patterns, limits["output"])


def _frames(descriptor: int) -> Iterator[tuple[str, bytes]]:
    with os.fdopen(descriptor, "rb", closefd=False) as stream:
        while header := stream.readline():
            yield header[:1].decode(), stream.read(int(header[1:]))


def _send(control: int, kind: str, body: bytes) -> None:
    view = memoryview(f"{kind}{len(body)}\n".encode() + body)
    while view:
        view = view[os.write(control, view) :]


def _place(name: bytes, content: bytes) -> None:
    path = os.fsdecode(name)
    if "/" in path:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _become_script(python: str, arguments: list[str], limits: dict[str, int]) -> None:
    """In the forked child; doesn't return."""
    try:
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.closerange(3, 1 << 16)
        _offer_to_the_kernel()
        _limit(limits)
        os.execv(python, [python, *arguments])
    except BaseException as error:  # noqa: BLE001 - whatever it is, this copy of the supervisor has to end here
        os.write(2, f"the script can't be started: {error}\n".encode())
    os._exit(127)


def _offer_to_the_kernel() -> None:
    """If the machine runs out of memory, the script is ended first, not a process of the host."""
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _limit(limits: dict[str, int]) -> None:
    """Hard limits, which a process without privileges can't raise again."""
    import resource

    known = {
        "memory": resource.RLIMIT_AS,
        "cpu": resource.RLIMIT_CPU,
        "file": resource.RLIMIT_FSIZE,
        "files": resource.RLIMIT_NOFILE,
        "processes": resource.RLIMIT_NPROC,
        "core": resource.RLIMIT_CORE,
    }
    for name, number in known.items():
        if name in limits:
            hard = resource.getrlimit(number)[1]
            soft = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
            # The soft CPU limit sends SIGXCPU, by which the end is recognised; a second later SIGKILL comes.
            resource.setrlimit(number, (soft, soft + 1 if name == "cpu" and soft != hard else soft))


def _end_the_rest() -> None:
    """Nothing that the script left may change outputs while they are read."""
    try:  # noqa: SIM105 - contextlib would cost a tenth of the supervisor's start
        os.kill(-1, 9)  # everything this user may signal, except this process and the namespace's first
    except ProcessLookupError:
        pass


def _hand_back(control: int, patterns: list[str], budget: int) -> None:
    for path in _matching(patterns):
        name = os.fsencode(path)
        budget -= len(name) + FRAME_COST
        content, reason = _read(path, budget)
        budget -= len(content)
        if reason:
            _send(control, "X", name + b"\0" + reason.encode())
        else:
            _send(control, "F", name + b"\0" + content)
        if reason == OVER_BUDGET:
            return


def _read(path: str, most: int) -> tuple[bytes, str]:
    """The content of a regular file and "", or nothing and why not."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return b"", "a symbolic link" if os.path.islink(path) else f"can't be opened: {error.strerror}"
    try:
        status = os.fstat(descriptor)
        if (status.st_mode & 0o170000) != 0o100000:
            return b"", "not a regular file"
        if status.st_size > most:
            return b"", OVER_BUDGET
        chunks: list[bytes] = []
        left = status.st_size
        while left and (chunk := os.read(descriptor, min(left, CHUNK))):
            chunks.append(chunk)
            left -= len(chunk)
        return b"".join(chunks), ""
    except OSError as error:
        return b"", f"can't be read: {error.strerror}"
    finally:
        os.close(descriptor)


def _matching(patterns: list[str]) -> Iterator[str]:
    """Paths below the workspace that one of the patterns asks for, sorted, each once.

    A path named without wildcards comes if anything is there, reached without a symbolic link.
    """
    found = {pattern for pattern in patterns if not _wild(pattern) and _reached_plainly(pattern)}
    wild = [pattern for pattern in patterns if _wild(pattern)]
    if wild:
        found.update(path for path in _walk() if asked_for(path, wild))
    yield from sorted(found)


def asked_for(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path fits one of the patterns, part by part; `**` stands for any number of folders."""
    parts = path.split("/")
    return any(
        path == pattern or (_wild(pattern) and _fits(parts, pattern.split("/"))) for pattern in patterns
    )


def _wild(pattern: str) -> bool:
    return any(letter in pattern for letter in "*?[")


def _reached_plainly(path: str) -> bool:
    parts = path.split("/")
    parents = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    return os.path.lexists(path) and not any(os.path.islink(parent) for parent in parents)


def _walk() -> Iterator[str]:
    """Everything below the workspace that isn't a folder; no symbolic link is followed."""
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder or "."))
        except OSError:
            continue  # closed by the script, or deeper than a path can say: nothing to take from there
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                folders.append(path)
            else:
                yield path


def _fits(parts: list[str], pattern: list[str]) -> bool:
    from fnmatch import fnmatchcase

    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
