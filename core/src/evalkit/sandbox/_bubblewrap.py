"""The command that shuts a script in at level FULL.

    unshare   own mounts                     (an ordinary user: in a user namespace, to be allowed to mount)
    sh        a bounded tmpfs for everything that the script writes
    setpriv   own user id (root only), no capabilities, no new privileges
    bwrap     own users, processes, network, IPC, host name, file system; the filter on system calls
    python    the supervisor, then the script

Each replaces the one before, so that the process started is bwrap itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox._interpreter import closed_to_others
from evalkit.sandbox._levels import Limits

WORKSPACE = "/workspace"
HOME = "/tmp"
TOOLS = ("bwrap", "unshare", "setpriv", "mount", "sh")

_STAGE = """
set -eu
stage=$1 options=$2
shift 2
mount -n -t tmpfs -o "$options" evalkit-sandbox "$stage"
mkdir -m 777 "$stage/work" "$stage/tmp" "$stage/shm"
number=0
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir "$stage/$number"; else : > "$stage/$number"; fi
  mount -n --rbind "$1" "$stage/$number"
  number=$((number + 1))
  shift
done
shift
exec "$@"
"""
"""bwrap can't bound the number of files on a tmpfs, and the user it runs as can't reach folders that are
closed to others; so both are done before it starts, in mounts that only this process sees."""

_DEAF = "trap '' INT; exec \"$@\""
"""Python listens to SIGINT unless it is ignored from the start; a script could end its supervisor by it."""

_FIRST = '"$@"; exit $?'
"""A shell as first process of a namespace: it takes up orphans; when its program ends, everything does."""

_STAGES = ("/dev/shm", "/var/tmp", "/mnt")

_SYSTEM_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
"""All that is shown of /etc: where the loader finds libraries."""

_NETWORK_FILES = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/ca-trust"),
    *("/etc/pki/tls/certs", "/etc/crypto-policies"),
)
"""What names and certificates are looked up in, for programs with network."""

_ISOLATION = (
    *("--unshare-user", "--disable-userns", "--uid", "65534", "--gid", "65534"),
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
)


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or folder of the host and where it is seen inside."""

    source: Path
    inside: str
    writable: bool = False


def command(
    limits: Limits,
    shown: Sequence[Path],
    hidden: Sequence[Path],
    uid: int | None,
    seccomp: int,
    payload: Sequence[str],
) -> list[str]:
    """argv that runs `payload` shut in.

    `shown`: folders bound read-only at their own paths; `hidden`: folders in them, or in /usr, that are
    empty inside; `uid`: the id to become (root only);
    `seccomp`: a descriptor from which the filter is read. SandboxError if there is no place for the tmpfs.
    """
    stage = _stage(shown)
    options = f"size={limits.disk_bytes},nr_inodes={limits.disk_files},mode=0755"
    start, binds = _staged(stage, options, [Mount(folder, str(folder)) for folder in shown], uid)
    return [
        *start,
        *(_tool("bwrap"), *_ISOLATION, "--unshare-net", *_system()),
        *("--proc", "/proc", "--dev", "/dev"),
        *("--bind", f"{stage}/shm", "/dev/shm", "--remount-ro", "/dev"),
        *("--bind", f"{stage}/tmp", "/tmp", "--bind", f"{stage}/work", WORKSPACE),
        *binds,
        *_emptied(hidden, [Path("/usr"), *shown]),
        # Last: until then bwrap makes the folders on which it mounts.
        *("--remount-ro", "/", "--chdir", WORKSPACE, "--seccomp", str(seccomp)),
        # As the namespace's first process the supervisor can't be ended or stopped from inside, and bwrap
        # ends only after everything inside has.
        *("--as-pid-1", "--", "/bin/sh", "-c", _DEAF, "sh", *payload),
    ]


def guest_command(
    mounts: Sequence[Mount], uid: int | None, seccomp: int, search: str, payload: Sequence[str]
) -> list[str]:
    """argv that runs a program with network in folders of the host, and shows it nothing else of it.

    `mounts` have to hold `WORKSPACE`, /tmp and /dev/shm, writable, before those below them. `search`: the
    program's PATH. `uid`, `seccomp` and errors as in `command`.
    """
    stage = _stage([mount.source for mount in mounts])
    closed = [mount for mount in mounts if not mount.writable]
    start, binds = _staged(stage, _EMPTY_STAGE, closed, uid)
    writable: list[str] = []
    for mount in mounts:
        writable += ["--bind", str(mount.source), mount.inside] if mount.writable else []
    network = [word for file in _NETWORK_FILES for word in ("--ro-bind-try", file, file)]
    return [
        *start,
        *(_tool("bwrap"), *_ISOLATION, *_system(), *network),
        *("--proc", "/proc", "--dev", "/dev", *writable, "--remount-ro", "/dev"),
        *binds,
        *("--remount-ro", "/", "--chdir", WORKSPACE, "--setenv", "PATH", search),
        *("--seccomp", str(seccomp), "--as-pid-1", "--", "/bin/sh", "-c", _FIRST, "sh", *payload),
    ]


_EMPTY_STAGE = "size=1m,nr_inodes=1k,mode=0755"
"""Options of a tmpfs that only holds places to mount on."""


def _emptied(hidden: Sequence[Path], visible: Sequence[Path]) -> list[str]:
    """bwrap's arguments for an empty, closed folder in place of each that would be visible."""
    arguments: list[str] = []
    for folder in hidden:
        if any(folder.is_relative_to(outer) for outer in visible):
            arguments += ["--tmpfs", str(folder), "--remount-ro", str(folder)]
    return arguments


def _staged(
    stage: str, options: str, mounts: Sequence[Mount], uid: int | None
) -> tuple[list[str], list[str]]:
    """argv up to bwrap, and its arguments for read-only mounts: those that `uid` can't reach are taken from
    the stage, where they are put while that is still possible."""
    closed = [mount.source for mount in mounts if uid is not None and closed_to_others(mount.source)]
    binds: list[str] = []
    for mount in mounts:
        staged = mount.source in closed
        source = f"{stage}/{closed.index(mount.source)}" if staged else str(mount.source)
        binds += ["--ro-bind", source, mount.inside]
    shell = (_tool("sh"), "-c", _STAGE, "sh", stage, options, *map(str, closed), "--")
    return [*_own_mounts(uid), *shell, *without_privileges(uid)], binds


def _stage(shown: Sequence[Path]) -> str:
    """A folder that exists anyway, to mount on: its content is out of sight while the sandbox is made."""
    for stage in _STAGES:
        if Path(stage).is_dir() and not any(folder.is_relative_to(stage) for folder in shown):
            return stage
    raise SandboxError(
        f"none of {', '.join(_STAGES)} is free to mount on; move Python or packages out of there"
    )


def without_privileges(uid: int | None) -> list[str]:
    """argv of setpriv: as `uid`, or as the same user if it is None, with nothing that could be regained."""
    become = [] if uid is None else ["--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    # Uid 0 of a user namespace may map itself into another one only with CAP_SETFCAP (user_namespaces(7)).
    bounding = "-all" if uid is not None else "-all,+setfcap"
    return [
        _tool("setpriv"),
        *become,
        "--no-new-privs",
        "--inh-caps=-all",
        f"--bounding-set={bounding}",
        "--",
    ]


def _own_mounts(uid: int | None) -> list[str]:
    as_user = [] if uid is not None else ["--user", "--map-root-user"]
    return [_tool("unshare"), *as_user, "--mount", "--"]


def _tool(name: str) -> str:
    return shutil.which(name) or name


def _system() -> list[str]:
    """bwrap's arguments for a read-only system: /usr, the folders that usually are links into it, the
    loader's list of libraries."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM_LINKS:
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    for file in _SYSTEM_FILES:
        arguments += ["--ro-bind-try", file, file]
    return arguments
