"""One game at a time: a lock between processes, which ends with its process however that ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalkit_polybridge.native.desktop import GameBusyError, GameError

_POLL_S = 0.1
#: Longer than other workers of one run take for a run of the game each.
WAIT_S = 600.0


@contextmanager
def game_lock(path: Path, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock file at `path` (created if need be); waits while another process holds it.

    GameBusyError if that takes longer than `wait_s` seconds, GameError if the file can't be opened.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise GameError(f"can't open the lock {path}: {error.strerror}") from error
    try:
        deadline = time.monotonic() + wait_s
        while not _taken(descriptor):
            if time.monotonic() > deadline:
                raise GameBusyError(
                    f"another evalkit has driven the game for {wait_s:.0f} s: wait for it or stop it"
                )
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    """Whether the lock could be had; the system gives it back when the descriptor is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
