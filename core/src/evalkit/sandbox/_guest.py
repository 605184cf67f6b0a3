"""Programs that need the network, shut in all the same: coding agents with a folder to work in.

A guest sees its workspace, its own program, and a read-only system; not the machine's files, processes or
environment. It does reach the network, and so the services of this machine that listen on localhost. What is
left of it ends with the context.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox import _bubblewrap
from evalkit.sandbox._bubblewrap import Mount
from evalkit.sandbox._landlock import own_abstract_sockets
from evalkit.sandbox._launch import END_AGAIN_S, closing, end_user, kill
from evalkit.sandbox._levels import Level
from evalkit.sandbox._limits import SYSTEM_PATH, children
from evalkit.sandbox._probe import filter_descriptor
from evalkit.sandbox._uids import first_uid, own_uid

MARK = "EVALKIT_GUEST"
"""A variable by which processes are found again where no namespace or user id holds them together."""

_SEARCHES = 100
"""How often processes are looked for: without a sandbox, one that keeps starting others can't be held."""

_PLACES = {"work": _bubblewrap.WORKSPACE, "home": "/home/agent", "tmp": "/tmp", "shm": "/dev/shm"}
"""A guest's writable folders: their names below its root, and where it sees them at FULL."""

_USERS = "agent:x:65534:65534:agent:/home/agent:/bin/sh\n"
"""/etc/passwd at FULL: some programs don't start for a user without a name."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A program and what it gets.

    `argv`: an absolute path and arguments, as seen inside. `root`: a folder of its own that holds `work` and
    is used for nothing else. `shown`: files and folders that it may read, at their own paths. `hidden`:
    folders that it finds empty although they are below one of those, or below /usr (at FULL). `search`:
    folders that come before the system's in PATH. `stdin`: a file to read. `file_bytes`: the longest file
    that it may write. `processes`: how many it may run (counted where it has a user id of its own).
    """

    argv: Sequence[str]
    root: Path
    variables: Mapping[str, str]
    shown: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    search: Sequence[str] = ()
    stdin: Path | None = None
    file_bytes: int = 2 << 30
    processes: int = 1024

    @property
    def path(self) -> str:
        """Its PATH."""
        return ":".join([*dict.fromkeys(self.search), SYSTEM_PATH])


@dataclass(frozen=True, slots=True)
class RunningGuest:
    """The process that was started, with pipes for stdout and stderr; `end` ends everything of the guest."""

    process: subprocess.Popen[bytes]
    end: Callable[[], None]


def guest_place(level: Level, root: Path, name: str) -> str:
    """Where a guest at this level sees one of its folders: `work`, `home`, `tmp` or `shm`."""
    return _PLACES[name] if level == Level.FULL else str(root / name)


@contextmanager
def launched_guest(level: Level, guest: Guest) -> Iterator[RunningGuest]:
    """A started guest; afterwards nothing of it runs, and its root is closed to everybody else.

    SandboxError if it doesn't start, or if there are no user ids to spare.
    """
    for name in _PLACES:
        (guest.root / name).mkdir(exist_ok=True)
    first = first_uid() if level >= Level.UID else None
    if first is None:
        if level == Level.UID:
            raise SandboxError("no user ids to spare here")
        launch = _full(guest, None) if level == Level.FULL else _free(guest)
        with launch as running:
            yield running
        return
    with own_uid(first) as uid:
        _give(guest.root, uid)
        try:
            with _full(guest, uid) if level == Level.FULL else _as_user(guest, uid) as running:
                yield running
        finally:
            guest.root.chmod(0o700)  # the id is free for somebody else from here on


@contextmanager
def _full(guest: Guest, uid: int | None) -> Iterator[RunningGuest]:
    users = guest.root / "passwd"
    users.write_text(_USERS, encoding="ascii")
    mounts = [Mount(guest.root / name, inside, writable=True) for name, inside in _PLACES.items()]
    mounts += [Mount(users, "/etc/passwd"), *(Mount(path, str(path)) for path in _unseen(guest.shown))]
    nothing = guest.root / "nothing"
    nothing.mkdir(exist_ok=True)
    nothing.chmod(0o555)
    visible = [Path("/usr"), *guest.shown]
    mounts += [
        Mount(nothing, str(path))
        for path in guest.hidden
        if any(path.is_relative_to(outer) for outer in visible)
    ]
    with filter_descriptor() as program:
        payload = [*_limited(guest, own_user=uid is not None), *guest.argv]
        argv = _bubblewrap.guest_command(mounts, uid, program, guest.path, payload)
        variables = {"PATH": SYSTEM_PATH, **guest.variables}
        process = _start(guest, own_abstract_sockets(argv), variables, "/", (program,))

        def end() -> None:
            while process.returncode is None:
                # As with scripts: the namespace's first process takes all others along.
                for first_inside in children(process.pid):
                    kill(first_inside)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(END_AGAIN_S)

        with closing(process, end):
            yield RunningGuest(process, end)


@contextmanager
def _as_user(guest: Guest, uid: int) -> Iterator[RunningGuest]:
    end_user(uid)  # what an evalkit that was killed may have left
    argv = [*_bubblewrap.without_privileges(uid), *_limited(guest, own_user=True), *guest.argv]
    variables = {"PATH": guest.path, **guest.variables}
    process = _start(guest, own_abstract_sockets(argv), variables, str(guest.root / "work"))

    def end() -> None:
        if process.returncode is None:
            kill(-process.pid)
            process.wait()
        end_user(uid)

    with closing(process, end):
        yield RunningGuest(process, end)


@contextmanager
def _free(guest: Guest) -> Iterator[RunningGuest]:
    mark = uuid.uuid4().hex
    variables = {"PATH": guest.path, **guest.variables, MARK: mark}
    argv = [*_limited(guest, own_user=False), *guest.argv]
    process = _start(guest, argv, variables, str(guest.root / "work"))

    def end() -> None:
        if process.returncode is None:
            kill(-process.pid)
            process.wait()
        _end_marked(mark)

    with closing(process, end):
        yield RunningGuest(process, end)


def _give(root: Path, uid: int) -> None:
    """Make everything below `root` the guest's and closed to others; links are given, not followed.

    `root` itself can only be passed through: the guest puts nothing of its own where its folders are.
    """
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            os.chown(os.path.join(folder, name), uid, uid, follow_symlinks=False)
    for name in _PLACES:
        (root / name).chmod(0o700)
    root.chmod(0o711)


def _unseen(shown: Sequence[Path]) -> list[Path]:
    """What isn't part of the system that every guest sees, outer folders before what is in them."""
    return sorted({path for path in shown if not path.is_relative_to("/usr")})


def _limited(guest: Guest, *, own_user: bool) -> list[str]:
    """argv that bounds what the kernel bounds; without prlimit (not on Linux) nothing is."""
    tool = shutil.which("prlimit")
    if tool is None:
        return []
    processes = [f"--nproc={guest.processes}"] if own_user else []
    return [tool, "--core=0", f"--fsize={guest.file_bytes}", *processes, "--"]


def _start(
    guest: Guest, argv: Sequence[str], variables: Mapping[str, str], folder: str, keep: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    try:
        with open(guest.stdin or os.devnull, "rb") as stdin:
            return subprocess.Popen(
                argv,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=dict(variables),
                cwd=folder,
                pass_fds=keep,
                start_new_session=True,
            )
    except OSError as error:
        raise SandboxError(f"{argv[0]} didn't start: {error.strerror}") from error


def _end_marked(mark: str) -> None:
    """End processes that left the guest's group but kept its environment, until none is found."""
    import psutil

    for _ in range(_SEARCHES):
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(MARK) == mark:
                    process.kill()
                    found = True
        if not found:
            return
