"""Limits as the supervisor gets them, the environment of a script, and the watch over its memory."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evalkit.sandbox._levels import Level, Limits

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Every thread of a BLAS reserves address space, so that a bounded process may fail to start with several."""

_SUPERVISION = {Level.FULL: 1, Level.UID: 1}
"""Processes of the sandbox itself, which the kernel counts together with the script's."""


def environment(packages: tuple[Path, ...], home: str) -> dict[str, str]:
    """All of a script's environment variables: nothing of the caller's, the same everywhere."""
    variables = {
        "PATH": SYSTEM_PATH,
        "HOME": home,
        "TMPDIR": home,
        "USER": "nobody",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        **dict.fromkeys(_ONE_THREAD, "1"),
    }
    if packages:
        variables["PYTHONPATH"] = ":".join(map(str, packages))
    return variables


def for_supervisor(limits: Limits, level: Level) -> dict[str, int]:
    """The limits that the kernel enforces on the script, by the supervisor's names."""
    alongside = _SUPERVISION[level] if level in _SUPERVISION else _running_now()
    return {
        "output": limits.total_output_bytes,
        "processes": limits.processes + alongside,
        "memory": limits.memory_bytes,
        "cpu": math.ceil(limits.cpu_s),
        "file": limits.file_bytes,
        "files": limits.open_files,
        # One byte: too little for a core file, and the one value that also keeps the kernel from starting
        # a crash handler on the host (fs/coredump.c).
        "core": 1,
    }


def _running_now() -> int:
    """Processes and threads of this user: the kernel's limit counts them, too."""
    import psutil

    uid = os.getuid()
    return sum(
        process.info["num_threads"] or 1
        for process in psutil.process_iter(["uids", "num_threads"])
        if process.info["uids"] is not None and process.info["uids"].real == uid
    )


@dataclass(slots=True)
class Watch:
    """Memory of a process and everything below it, looked at from outside.

    The kernel's limit holds for one process; together they could still fill the machine.
    """

    pid: int
    limit_bytes: int
    peak_bytes: int = 0

    def exceeded(self) -> bool:
        """Look once: whether the processes together use more than `limit_bytes`."""
        processes = list(descendants(self.pid))
        used = sum(map(_resident, processes))
        if used > self.limit_bytes:  # pages that processes share were counted for each; look closer
            used = sum(map(_proportional, processes))
        self.peak_bytes = max(self.peak_bytes, used)
        return used > self.limit_bytes


def descendants(pid: int) -> Iterator[int]:
    """Processes below `pid`, nearest first."""
    waiting = [pid]
    while waiting:
        current = waiting.pop(0)
        for child in children(current):
            yield child
            waiting.append(child)


def children(pid: int) -> list[int]:
    """Processes started by any thread of `pid`; empty if it is gone."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except OSError:
        pass  # it ended while being looked at
    return found


def _resident(pid: int) -> int:
    """Bytes in memory; 0 if the process is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _proportional(pid: int) -> int:
    """Bytes in memory with each shared page divided by those who share it."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return _resident(pid)  # kept from us, or gone
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
