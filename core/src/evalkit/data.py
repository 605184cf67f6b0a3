"""Data sets that users fetch themselves: where they are kept, and downloads that are checked.

Nothing is downloaded but by `evalkit data pull`. The SHA-256 of a file is pinned by the plugin or recorded
at the first pull; from then on another content is refused until the user accepts it.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from evalkit.errors import StorageError, UsageError

#: The folder for all data sets, instead of the user's data folder.
FOLDER_VARIABLE = "EVALKIT_DATA"
RECORD = "pulled.json"
TIMEOUT_S = 30.0


class Bar(Protocol):
    """Shows how far a download is; `total` is in bytes."""

    total: int

    def update(self, n: int) -> None:
        """`n` more bytes have come."""

    def reset(self) -> None:
        """Back to zero."""

    def close(self) -> None:
        """The end."""


def data_folder(name: str) -> Path:
    """Where the data set of a name is kept; it may not exist."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen) / name
    import platformdirs

    return platformdirs.user_data_path("evalkit", appauthor=False) / "data" / name


def pulled(name: str) -> dict[str, Any] | None:
    """What the record of a pull says (`source`, `time`, `files`: SHA-256 by file), or None if there is none.

    A record is written when a pull is complete.
    """
    try:
        found = json.loads((data_folder(name) / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("files"), dict) else None


@dataclass(slots=True)
class Pull:
    """One `evalkit data pull`: what the plugin's function works with.

    `source` is where to take the data from, a URL or a file; `accept_changed` lets contents differ from those
    recorded at the first pull (not from pinned ones). `say` prints a line of progress.
    """

    name: str
    source: str
    accept_changed: bool = False
    say: Callable[[str], None] = lambda text: None
    bar: Callable[[str], Bar] | None = None
    files: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the data set is kept."""
        return data_folder(self.name)

    def fetch(self, file: str, *, source: str | None = None, sha256: str | None = None) -> Path:
        """Fetch one file into the folder, checked, whole or not at all.

        `source`: a URL or path other than the pull's own; `sha256`: the pinned hash. UsageError if it can't
        be had or has another content, StorageError if it can't be written.
        """
        source = source or self.source
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder, prefix=".pull-") as scratch:
                loaded = Path(scratch) / "file"
                self._load(source, loaded)
                found = _sha256(loaded)
                self._check(file, source, found, sha256)
                target = self.folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(loaded, target)
        except OSError as error:
            raise StorageError(f"can't write to {self.folder}: {error.strerror or error}") from error
        self.files[file] = found
        return target

    def finish(self) -> None:
        """Record what was pulled."""
        record = {
            "source": self.source,
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "files": dict(sorted(self.files.items())),
        }
        scratch = self.folder / f"{RECORD}.new"
        try:
            scratch.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
            os.replace(scratch, self.folder / RECORD)
        except OSError as error:
            raise StorageError(f"can't write to {self.folder}: {error.strerror or error}") from error

    def _load(self, source: str, target: Path) -> None:
        if source.startswith(("http://", "https://")):
            self._download(source, target)
            return
        if not os.path.isfile(source):
            raise UsageError(f"there is no file {source}")
        shutil.copyfile(source, target)

    def _download(self, url: str, target: Path) -> None:
        import logging

        import pooch
        import requests

        pooch.get_logger().setLevel(logging.WARNING)
        bar = self.bar(url) if self.bar else None
        downloader = pooch.HTTPDownloader(progressbar=bar or False, timeout=TIMEOUT_S)
        try:
            pooch.retrieve(url, known_hash=None, fname=target.name, path=target.parent, downloader=downloader)
        except (requests.RequestException, ValueError) as error:
            raise UsageError(f"can't fetch {url}: {_reason(error)}; --from takes what you have") from error

    def _check(self, file: str, source: str, found: str, pinned: str | None) -> None:
        if pinned is not None:
            if found != pinned:
                raise UsageError(f"{source} has SHA-256 {found}, wanted {pinned}: not the pinned version")
            return
        before = (pulled(self.name) or {"files": {}})["files"].get(file)
        if before not in (None, found) and not self.accept_changed:
            raise UsageError(
                f"{source} has SHA-256 {found}, but {before} was pulled before: the data has changed; "
                "--accept-changed takes it all the same"
            )


def _reason(error: Exception) -> str:
    """Why a download failed, in a few words."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}".strip()
    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT_S:g} s"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if isinstance(error, requests.ConnectionError):
        return "the server can't be reached"
    return f"{type(error).__name__}: {str(error)[:200]}"


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
