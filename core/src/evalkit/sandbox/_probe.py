"""How strong a sandbox this machine allows, found by shutting in a harmless command and looking at it."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox._levels import Level, Limits, Report

_SHUT_IN = {"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0000000000000000", "CapBnd": "0000000000000000"}
_TRIAL_TIMEOUT_S = 30

_SWITCHES = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "AppArmor forbids user namespaces; "
        "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` allows them",
    ),
    "/proc/sys/kernel/unprivileged_userns_clone": (
        "0",
        "user namespaces are switched off; `sysctl kernel.unprivileged_userns_clone=1` allows them",
    ),
    "/proc/sys/user/max_user_namespaces": (
        "0",
        "user namespaces are switched off; `sysctl user.max_user_namespaces=10000` allows them",
    ),
}
"""Settings of the kernel that keep bubblewrap from working, the value that does, and what to do."""


@functools.cache
def probe() -> Report:
    """The strongest level that works here and why none above it does; found out once per process (~50 ms)."""
    if sys.platform != "linux":
        return Report(
            Level.NONE, (f"no sandbox on {platform.system()}: run on Linux, in WSL or in a container",)
        )
    from evalkit.sandbox._uids import first_uid

    drops_uid = first_uid() is not None
    no_full = _missing_for_full()
    if not no_full:
        return Report(Level.FULL, (), drops_uid)
    no_uid = _missing_for_uid()
    if not no_uid:
        return Report(Level.UID, (no_full,), drops_uid)
    return Report(Level.LIMITS, (no_full, no_uid))


def require(level: Level) -> Report:
    """The report, if `level` or a stronger one works here; else SandboxError with what is missing for it."""
    report = probe()
    if report.level == Level.NONE:
        raise SandboxError(f"scripts can't be run here: {report.reasons[0]}")
    if report.level < level:
        reason = report.reasons[min(Level.FULL - level, len(report.reasons) - 1)]
        raise SandboxError(
            f"sandbox level {level.label} is required, this machine allows {report.level.label}: {reason}"
        )
    return report


@contextmanager
def filter_descriptor() -> Iterator[int]:
    """A descriptor from which bwrap reads the filter on system calls."""
    from evalkit.sandbox._seccomp import filter_program

    readable, writable = os.pipe()
    try:
        with os.fdopen(writable, "wb") as pipe:
            pipe.write(filter_program(platform.machine()))  # far less than a pipe holds
        yield readable
    finally:
        os.close(readable)


def _missing_for_full() -> str:
    """One line that says what is missing for FULL and how to get it; empty if nothing is."""
    from evalkit.sandbox import _bubblewrap, _seccomp

    if not _seccomp.supports(platform.machine()):
        return f"no filter on system calls for {platform.machine()} processors (only x86_64 and aarch64)"
    missing = [name for name in _bubblewrap.TOOLS if shutil.which(name) is None]
    if "bwrap" in missing:
        return "bubblewrap is not installed; `apt-get install bubblewrap` (or dnf, apk) gets it"
    if missing:
        return f"{', '.join(missing)} not found in PATH; the packages util-linux and mount have them"
    if not Path("/proc/self/task", str(os.getpid()), "children").exists():
        return "the kernel doesn't list child processes (CONFIG_PROC_CHILDREN), so memory can't be watched"
    return _try_full()


def _try_full() -> str:
    from evalkit.sandbox import _bubblewrap
    from evalkit.sandbox._uids import first_uid

    payload = [shutil.which("cat") or "cat", "/proc/self/status"]
    with filter_descriptor() as program:
        argv = _bubblewrap.command(Limits(), (), (), first_uid(), program, payload)
        status, complaint = _run_trial(argv, (program,))
    if complaint:
        return _explain(complaint)
    return _unlike(status, _SHUT_IN)


def _missing_for_uid() -> str:
    from evalkit.sandbox._bubblewrap import without_privileges
    from evalkit.sandbox._uids import first_uid

    uid = first_uid()
    if uid is None:
        return (
            "only root can give scripts a user id of their own"
            if os.geteuid()
            else "no user ids to spare here"
        )
    if shutil.which("setpriv") is None:
        return "setpriv not found in PATH; the package util-linux has it"
    status, complaint = _run_trial(
        [*without_privileges(uid), shutil.which("cat") or "cat", "/proc/self/status"]
    )
    if complaint:
        return f"setpriv can't drop privileges here: {complaint}"
    return _unlike(status, {"NoNewPrivs": "1", "CapEff": _SHUT_IN["CapEff"]})


def _run_trial(argv: list[str], descriptors: tuple[int, ...] = ()) -> tuple[dict[str, str], str]:
    """Fields of the /proc/self/status that the command printed, or its last complaint."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TRIAL_TIMEOUT_S,
            pass_fds=descriptors,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, str(error)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {}, lines[-1] if lines else f"{argv[0]} ended with {done.returncode}"
    fields = (line.partition(":") for line in done.stdout.splitlines())
    return {name: value.strip() for name, _, value in fields}, ""


def _unlike(status: dict[str, str], wanted: dict[str, str]) -> str:
    wrong = [
        f"{name} is {status.get(name, 'missing')}" for name in wanted if status.get(name) != wanted[name]
    ]
    return f"a command that was shut in still had privileges: {', '.join(wrong)}" if wrong else ""


def _explain(complaint: str) -> str:
    """Why a trial of bubblewrap failed, as far as the machine tells, and what helps."""
    if "disable-userns" in complaint:
        return f"bubblewrap is too old, 0.8 or newer is needed ({complaint})"
    for path, (value, advice) in _SWITCHES.items():
        try:
            if Path(path).read_text().strip() == value:
                return f"{advice} ({complaint})"
        except OSError:
            continue  # this kernel has no such switch
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return f"the container forbids namespaces; start it with --privileged ({complaint})"
    return f"bubblewrap doesn't work here ({complaint})"
