"""Writing a release or an export: into a temporary folder first, which takes its name when it is whole."""

from __future__ import annotations

import glob
import json
import os
import secrets
import shutil
import signal
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit_polybridge.release.findings import is_picture
from evalkit_polybridge.release.gather import Gathered
from evalkit_polybridge.release.layout import File, files_of, json_bytes
from evalkit_polybridge.release.manifest import (
    IN_PLACE,
    LEFT_OUT,
    MANIFEST,
    PACKED,
    SESSIONS,
    file_entry,
    manifest,
)

NO_IMAGES = "none"
#: Besides Ctrl-C: a request to terminate and a terminal that goes away, where the system has them.
_REQUESTS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
#: The earliest moment that a ZIP file can name: its members have no time of their own.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def export_paper(gathered: Gathered, folder: Path) -> int:
    """Write the sessions in the paper's layout into a new folder and return the number of files.

    UsageError if the folder exists or can't be written.
    """
    with _interruptible(), _new_folder(folder) as temporary:
        return sum(1 for file in files_of(gathered, images=True) if _write(temporary, file))


def write_release(gathered: Gathered, folder: Path, images: str = "") -> dict[str, Any]:
    """Write a release into a new folder and return its manifest.

    `images` is a ZIP file to pack the pictures into, `none` to leave them out, or empty to keep them where
    they belong. UsageError if folder or ZIP file exist or can't be written. Equal records give equal bytes.
    """
    archive = None if images in ("", NO_IMAGES) else Path(images)
    files: dict[str, Any] = {}
    pictures: dict[str, Any] = {}
    rounds = 0
    with _interruptible(), _packing(archive, folder) as pack, _new_folder(folder) as temporary:
        for path, data in files_of(gathered, images=images != NO_IMAGES):
            name = f"{SESSIONS}/{path}"
            (pictures if is_picture(path) else files)[name] = file_entry(data)
            if pack is not None and is_picture(path):
                pack.add(name, data)
            else:
                _write(temporary, (name, data))
            if path.endswith("/trajectory.json"):
                rounds += len(json.loads(data)["rounds"])
        described = {"where": LEFT_OUT if images == NO_IMAGES else IN_PLACE}
        if pack is not None:
            described = pack.close()
        listed = {**described, "files": dict(sorted(pictures.items()))}
        document = manifest(gathered, rounds, files, listed)
        _write(temporary, (MANIFEST, json_bytes(document)))
    return document


def leftovers(*paths: Path) -> list[Path]:
    """Temporary files and folders of these outputs: of a writer that was killed, or still writes."""
    return sorted(found for path in paths for found in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"))


def _temporary(path: Path) -> Path:
    """Where an output is written first; no other process takes the same name, not even one of the same id."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Requests to end the process are like Ctrl-C inside, so that what is half written is removed.

    Requests that somebody handles or ignores stay theirs; only the main thread hears any.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    heard = threading.current_thread() is threading.main_thread()
    taken = [r for r in _REQUESTS if heard and signal.getsignal(r) is signal.SIG_DFL]
    for request in taken:
        signal.signal(request, interrupt)
    try:
        yield
    finally:
        for request in taken:
            signal.signal(request, signal.SIG_DFL)


class _Pack:
    """A ZIP file of stored members without times: the same bytes whatever zlib there is."""

    def __init__(self, temporary: Path, name: str) -> None:
        self._path, self._name = temporary, name
        self._zip = zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED)

    def add(self, name: str, data: bytes) -> None:
        """Append a file."""
        member = zipfile.ZipInfo(name, _ZIP_TIME)
        member.create_system = 3
        member.external_attr = 0o644 << 16
        self._zip.writestr(member, data)

    def close(self) -> dict[str, Any]:
        """End the file, if it hasn't ended, and say what the manifest has to know of it."""
        self._zip.close()
        return {"where": PACKED, "archive": self._name, **file_entry(self._path.read_bytes())}


@contextmanager
def _packing(archive: Path | None, folder: Path) -> Iterator[_Pack | None]:
    """A pack that becomes the file `archive` at the end, after the folder: both are there or none."""
    if archive is None:
        yield None
        return
    if archive.resolve() == folder.resolve():
        raise UsageError(f"{archive} can't be both the folder and the file of pictures: name another file")
    if archive.exists():
        raise UsageError(f"{archive} is already there: name another file")
    temporary = _temporary(archive)
    try:
        pack = _Pack(temporary, archive.name)
        try:
            yield pack
        finally:
            pack.close()
        _finish(temporary, archive, folder)
    except OSError as error:
        raise UsageError(f"can't write {archive}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _finish(temporary: Path, archive: Path, folder: Path) -> None:
    """Give the archive its name; a folder without it would be no release."""
    try:
        os.replace(temporary, archive)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that becomes it at the end; it is removed if anything fails."""
    if folder.exists():
        raise UsageError(f"{folder} is already there: name a new folder")
    temporary = _temporary(folder)
    try:
        temporary.mkdir(parents=True)
        yield temporary
        os.rename(temporary, folder)
    except OSError as error:
        raise UsageError(f"can't write {folder}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _write(folder: Path, file: File) -> bool:
    path = folder / file[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file[1])
    return True
