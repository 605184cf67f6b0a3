"""Starts the sandbox of each level, and ends it so that nothing is left."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from evalkit.errors import SandboxError
from evalkit.sandbox import _bubblewrap, _supervisor
from evalkit.sandbox._interpreter import closed_to_others
from evalkit.sandbox._job import Job
from evalkit.sandbox._levels import Level
from evalkit.sandbox._limits import SYSTEM_PATH, children, environment
from evalkit.sandbox._probe import filter_descriptor
from evalkit.sandbox._uids import first_uid, own_uid

_SIGKILL = 9  # `signal` lacks the name on Windows, where this module is importable
END_AGAIN_S = 0.05
_OPEN_FOLDER = "/tmp"
"""Every user may pass through it, which can't be said of $TMPDIR."""


Running = tuple[subprocess.Popen[bytes], int, Callable[[], None]]
"""The process, the descriptor of the supervisor's frames, and what ends everything in the sandbox."""


@contextmanager
def launched(level: Level, job: Job) -> Iterator[Running]:
    """A started sandbox; afterwards nothing of it runs and nothing of it is on disk."""
    first = first_uid() if level >= Level.UID else None
    if level == Level.FULL:
        with own_uid(first) if first is not None else nullcontext() as uid, _full(job, uid) as running:
            yield running
    elif level == Level.UID:
        if first is None:
            raise SandboxError("no user ids to spare here")
        with own_uid(first) as uid, _weaker(level, job, uid) as running:
            yield running
    else:
        with _weaker(level, job, None) as running:
            yield running


@contextmanager
def _full(job: Job, uid: int | None) -> Iterator[Running]:
    variables = environment(job.packages, _bubblewrap.HOME)
    with filter_descriptor() as program, _control_pipe() as (readable, writable):
        payload = _supervise(job, writable, "alone")
        argv = _bubblewrap.command(job.limits, job.shown(), job.hidden, uid, program, payload)
        process = _start(argv, variables, "/", (program, writable.fileno()))
        writable.close()

        def end() -> None:
            while process.returncode is None:
                # The namespace's first process takes all others along, and bwrap ends when they are gone.
                # Bwrap itself is left alone: killed at a bad moment it would leave that process behind.
                for first_inside in children(process.pid):
                    kill(first_inside)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(END_AGAIN_S)

        with closing(process, end):
            yield process, readable.fileno(), end


@contextmanager
def _weaker(level: Level, job: Job, uid: int | None) -> Iterator[Running]:
    if uid is not None:
        _refuse_closed(job)
        end_user(uid)  # what an evalkit that was killed may have left
    dropped = [] if uid is None else _bubblewrap.without_privileges(uid)
    with _workspace(uid, dropped) as folder, _control_pipe() as (readable, writable):
        payload = _supervise(job, writable, "among others" if uid is None else "alone")
        variables = environment(job.packages, str(folder / "tmp"))
        process = _start([*dropped, *payload], variables, str(folder / "work"), (writable.fileno(),))
        writable.close()

        def end() -> None:
            if process.returncode is None:
                kill(-process.pid)
                process.wait()
            if uid is not None:
                end_user(uid)

        with closing(process, end):
            yield process, readable.fileno(), end


def _supervise(job: Job, control: IO[bytes], mode: str) -> list[str]:
    python = str(job.interpreter.executable)
    source = Path(_supervisor.__file__).read_text(encoding="utf-8")
    return [python, "-I", "-S", "-c", source, str(control.fileno()), python, mode]


def _start(
    argv: list[str], variables: dict[str, str], folder: str, descriptors: tuple[int, ...]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=variables,
            cwd=folder,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the sandbox didn't start: {argv[0]}: {error.strerror}") from error


@contextmanager
def closing(process: subprocess.Popen[bytes], end: Callable[[], None]) -> Iterator[None]:
    """Afterwards the process and all it started are ended, and its pipes closed."""
    try:
        yield
    finally:
        end()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def _control_pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """(readable, writable); the writable end is to be closed as soon as the process has it."""
    readable, writable = os.pipe()
    with os.fdopen(readable, "rb", buffering=0) as reader, os.fdopen(writable, "wb", buffering=0) as writer:
        yield reader, writer


@contextmanager
def _workspace(uid: int | None, dropped: list[str]) -> Iterator[Path]:
    """A folder with `work` and `tmp` that belongs to `uid`, removed afterwards with that user's rights."""
    folder = Path(tempfile.mkdtemp(prefix="evalkit-sandbox-", dir=None if uid is None else _OPEN_FOLDER))
    try:
        for path in (folder, folder / "work", folder / "tmp"):
            path.mkdir(exist_ok=True)
            if uid is not None:
                os.chown(path, uid, uid)
        yield folder
    finally:
        remove_tree(folder, dropped)


def remove_tree(folder: Path, dropped: Sequence[str] = ()) -> None:
    """Remove a folder in which untrusted code has worked; `dropped` is argv that gives up privileges.

    SandboxError if something of it can't be removed.
    """
    # rm manages trees that are deeper than Python can recurse, and never follows a symbolic link.
    remove = 'rm -rf "$1" || { chmod -R u+rwX "$1"; rm -rf "$1"; }'
    _quietly([*dropped, "/bin/sh", "-c", remove, "sh", str(folder)])
    if folder.exists():
        raise SandboxError(f"the workspace {folder} can't be removed; remove it")


def _refuse_closed(job: Job) -> None:
    for folder in job.shown():
        if closed_to_others(folder):
            raise SandboxError(
                f"{folder} can't be read by the user id that scripts get; give a Python that everyone "
                "may read (python=Path('/usr/bin/python3')), or install bubblewrap"
            )


def end_user(uid: int) -> None:
    """End every process of a user id at once; the shell that does it is spared by the kernel."""
    _quietly([*_bubblewrap.without_privileges(uid), "/bin/sh", "-c", "kill -9 -1"])


def _quietly(argv: list[str]) -> None:
    null = subprocess.DEVNULL
    subprocess.run(argv, stdin=null, stdout=null, stderr=null, env={"PATH": SYSTEM_PATH}, check=False)


def kill(pid: int) -> None:
    """End a process, or a group given as a negative number; nothing happens if it is gone."""
    try:
        os.kill(pid, _SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
