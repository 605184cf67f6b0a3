"""Replies kept between runs, off unless asked for, and why a call found none.

A reply is found again only for the same model, request, task, epoch and turn, so that epochs stay
independent draws.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.canonical import canonical_json, sha256_of
from evalkit.errors import StorageError
from evalkit.models._identity import differences, distance
from evalkit.models._replies import read_reply, reply_json
from evalkit.models._types import ModelReply

FORMAT = 1
_SUFFIX = ".reply"
_log = logging.getLogger("evalkit.models")


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """How much a cache holds; `size` in bytes."""

    folder: Path
    entries: int
    size: int


def cache_folder() -> Path:
    """Where the cache of this user is."""
    import platformdirs

    return platformdirs.user_cache_path("evalkit", appauthor=False) / "models"


class ResponseCache:
    """A folder of replies; several processes may share it.

    An entry is a file of two lines: what identifies the call, and the reply.
    """

    def __init__(self, folder: Path) -> None:
        """The folder is made when the first reply is kept."""
        self.folder = folder
        self._unwarned = threading.Lock()

    def get(self, identity: Mapping[str, Any]) -> ModelReply | None:
        """The reply kept for a call (see `identity`), or None. A damaged entry counts as none."""
        try:
            lines = self._path(identity).read_bytes().split(b"\n")
            head, body = json.loads(lines[0]), json.loads(lines[1])
            return read_reply(body) if head["format"] == FORMAT else None
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def put(self, identity: Mapping[str, Any], reply: ModelReply) -> None:
        """Keep a reply. StorageError if it can't be written."""
        path = self._path(identity)
        head = canonical_json({"format": FORMAT, "identity": dict(identity)})
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(head + b"\n" + canonical_json(reply_json(reply)) + b"\n")
            os.replace(temporary, path)
        except OSError as error:
            raise StorageError(
                f"can't write {path}: {error.strerror or error}; --no-cache plays without the cache"
            ) from error

    def keep(self, identity: Mapping[str, Any], reply: ModelReply) -> None:
        """Put a reply, or warn that this can't be done: the reply is lost for later runs only.

        There is one warning, however long the disk stays full.
        """
        try:
            self.put(identity, reply)
        except StorageError as error:
            if self._unwarned.acquire(blocking=False):
                _log.warning("replies aren't kept for later runs: %s", error)

    def nearest(self, identity: Mapping[str, Any], before: float) -> dict[str, Any] | None:
        """What identifies the entry most like a call; None if there is none.

        Only entries older than `before` (Unix time) count: a run's own replies explain nothing.
        """
        best: tuple[tuple[int, int], dict[str, Any]] | None = None
        for path in self._paths():
            if path.stat().st_mtime >= before or (candidate := _head(path)) is None:
                continue
            apart = distance(identity, candidate)
            if best is None or apart < best[0]:
                best = (apart, candidate)
        return None if best is None else best[1]

    def explain(self, identity: Mapping[str, Any], before: float) -> list[str]:
        """Why a call missed: where it differs from the nearest of the entries older than `before`."""
        near = self.nearest(identity, before)
        if near is None:
            return ["the cache held no reply before the run"]
        return differences(dict(identity), near) or ["the entry was damaged or of another version"]

    def info(self) -> CacheInfo:
        """How much there is."""
        sizes = [path.stat().st_size for path in self._paths()]
        return CacheInfo(self.folder, len(sizes), sum(sizes))

    def clear(self) -> int:
        """Delete every entry; how many there were."""
        paths = list(self._paths())
        for path in paths:
            path.unlink(missing_ok=True)
        return len(paths)

    def _paths(self) -> Iterator[Path]:
        return iter(sorted(self.folder.glob(f"*/*{_SUFFIX}")))

    def _path(self, identity: Mapping[str, Any]) -> Path:
        name = sha256_of(dict(identity))
        return self.folder / name[:2] / (name + _SUFFIX)


def _head(path: Path) -> dict[str, Any] | None:
    """What identifies an entry; None if it is damaged or of another version."""
    try:
        with open(path, "rb") as file:
            head = json.loads(file.readline())
        return dict(head["identity"]) if head["format"] == FORMAT else None
    except (OSError, ValueError, LookupError, TypeError):
        return None
