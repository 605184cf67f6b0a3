"""User ids that belong to nobody, one for each script that runs at the same time (root only).

An id of its own makes a script's processes countable, and endable all at once, and keeps scripts apart.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalkit.errors import SandboxError

POOL_SIZE = 256
_POOLS = (1_900_000_000, 64_000)
"""First ids: above every range that distributions and containers hand out; then one that exists in containers
with 65536 ids."""


def first_uid() -> int | None:
    """Where the pool of ids starts; None if this process can't become one of them (not root, or all ids
    but a few are missing, as in a container of an ordinary user)."""
    if os.geteuid() != 0:
        return None
    extents = []
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, _, length = (int(word) for word in line.split())
        extents.append(range(inside, inside + length))
    for first in _POOLS:
        if any(first in extent and first + POOL_SIZE - 1 in extent for extent in extents):
            return first
    return None


@contextmanager
def own_uid(first: int) -> Iterator[int]:
    """An id that no other script on this machine has meanwhile; SandboxError if all are taken.

    Held by the name of an abstract socket, which the kernel frees when this process ends, however it ends.
    """
    for uid in range(first, first + POOL_SIZE):
        with socket.socket(socket.AF_UNIX) as claim:
            try:
                claim.bind(f"\0evalkit-sandbox-uid-{uid}")
            except OSError:
                continue
            yield uid
            return
    raise SandboxError(f"{POOL_SIZE} scripts run in sandboxes on this machine; wait until some have ended")
