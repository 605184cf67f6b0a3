"""Files that are whole or not there: what is cut off in the middle leaves the file before it."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file, and its folder, in place of the one before; OSError if it can't be.

    `mode`: its permissions, from before there is anything in it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    temporary.touch(0o666 if mode is None else mode)
    temporary.write_bytes(data)
    os.replace(temporary, path)
