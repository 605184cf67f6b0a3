"""Verdicts about pairs of shapes at relative poses, kept in memory and on disk."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from evalkit_brickbench._collisions_poses import Keys

FORMAT = 1
"""Part of the file's name: one up whenever verdicts are reached in another way."""
MEMORY_LIMIT = 4_000_000
_BATCH = 500
_WAIT_S = 5.0

_log = logging.getLogger(__name__)


class VerdictStore:
    """Small whole numbers by keys of 128 bits. Processes may share the file; it's only a cache: what is
    damaged is made anew, and without a writable folder verdicts live in memory alone."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._memory: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def get(self, keys: Keys) -> list[int | None]:
        """The verdict for each key [k, 2], None where there is none."""
        names = _names(keys)
        with self._lock:
            missing = [name for name in names if name not in self._memory]
            if missing:
                self._remember(self._read(missing))
            return [self._memory.get(name) for name in names]

    def put(self, keys: Keys, verdicts: Sequence[int]) -> None:
        """Keep a verdict for each key [k, 2]."""
        rows = list(zip(_names(keys), verdicts, strict=True))
        with self._lock:
            self._remember(rows)
            self._write(rows)

    def _remember(self, rows: Sequence[tuple[bytes, int]]) -> None:
        if len(self._memory) + len(rows) > MEMORY_LIMIT:
            self._memory.clear()
        self._memory.update(rows)

    def _read(self, names: Sequence[bytes]) -> list[tuple[bytes, int]]:
        if self._path is None or not self._path.exists():
            return []
        rows: list[tuple[bytes, int]] = []
        try:
            with _Connection(self._path) as connection:
                # Another process may just have made the file and not yet its table.
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'verdicts'").fetchone():
                    return []
                for start in range(0, len(names), _BATCH):
                    some = names[start : start + _BATCH]
                    marks = ",".join("?" * len(some))
                    rows += connection.execute(
                        f"SELECT key, verdict FROM verdicts WHERE key IN ({marks})", some
                    )
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            return []
        return rows

    def _write(self, rows: Sequence[tuple[bytes, int]]) -> None:
        if self._path is None or not rows:
            return
        for last in (False, True):
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with _Connection(self._path) as connection, connection:
                    connection.execute(
                        "CREATE TABLE IF NOT EXISTS verdicts "
                        "(key BLOB PRIMARY KEY, verdict INTEGER NOT NULL) WITHOUT ROWID"
                    )
                    connection.executemany("INSERT OR IGNORE INTO verdicts VALUES (?, ?)", rows)
                return
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
                if last or self._path is None:
                    return

    def _give_up(self, error: Exception) -> None:
        """Remove a damaged file, so that the next write starts a new one; do without the file if it can't be
        used at all; let a busy one be."""
        assert self._path is not None
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            _log.warning("%s: busy, verdicts are kept in memory", self._path)
        elif isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            _log.warning("%s: damaged (%s), made anew", self._path, error)
            self._path.unlink(missing_ok=True)
        else:
            _log.warning("%s: can't be used (%s), verdicts are kept in memory", self._path, error)
            self._path = None


class _Connection:
    """A connection that is closed at the end, `sqlite3`'s own doesn't."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, timeout=_WAIT_S)

    def __enter__(self) -> sqlite3.Connection:
        # Nothing is lost that can't be had again, so no write waits for the disk.
        self._connection.execute("PRAGMA synchronous = OFF")
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _names(keys: Keys) -> list[bytes]:
    data = np.ascontiguousarray(keys, dtype="<u8").tobytes()
    return [data[start : start + 16] for start in range(0, len(data), 16)]


@lru_cache(maxsize=1)
def default_store() -> VerdictStore:
    """The store in the user's cache folder, shared by everything in this process."""
    import platformdirs

    folder = platformdirs.user_cache_path("evalkit", appauthor=False) / "brickbench"
    return VerdictStore(folder / f"collisions-{FORMAT}.sqlite")
