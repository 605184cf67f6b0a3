"""Writing a release or an export: into a temporary folder first, which takes its name when it is whole."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit_polybridge.release.gather import Gathered
from evalkit_polybridge.release.layout import File, files_of, json_bytes
from evalkit_polybridge.release.manifest import MANIFEST, SESSIONS, file_entry, manifest

NO_IMAGES = "none"
#: The earliest moment that a ZIP file can name: its members have no time of their own.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)


def export_paper(gathered: Gathered, folder: Path) -> int:
    """Write the sessions in the paper's layout into a new folder and return the number of files.

    UsageError if the folder exists or can't be written.
    """
    with _new_folder(folder) as temporary:
        return sum(1 for file in files_of(gathered, images=True) if _write(temporary, file))


def write_release(gathered: Gathered, folder: Path, images: str = "") -> dict[str, Any]:
    """Write a release into a new folder and return its manifest.

    `images` is a ZIP file to pack the pictures into, `none` to leave them out, or empty to keep them where
    they belong. UsageError if folder or ZIP file exist or can't be written. Equal records give equal bytes.
    """
    archive = None if images in ("", NO_IMAGES) else Path(images)
    if archive is not None and archive.exists():
        raise UsageError(f"{archive} is already there: name another file")
    with _new_folder(folder) as temporary:
        files: dict[str, Any] = {}
        pictures: dict[str, Any] = {}
        packed: list[File] = []
        rounds = 0
        for path, data in files_of(gathered, images=images != NO_IMAGES):
            file = (f"{SESSIONS}/{path}", data)
            is_picture = path.endswith(".png")
            (pictures if is_picture else files)[file[0]] = file_entry(data)
            if is_picture and archive is not None:
                packed.append(file)
            else:
                _write(temporary, file)
            if path.endswith("/trajectory.json"):
                rounds += len(json.loads(data)["rounds"])
        described = _pictures(pictures, archive, packed, left_out=images == NO_IMAGES)
        document = manifest(gathered, rounds, files, described)
        _write(temporary, (MANIFEST, json_bytes(document)))
    return document


def _pictures(
    entries: Mapping[str, Any], archive: Path | None, packed: Iterable[File], *, left_out: bool
) -> dict[str, Any]:
    """What the manifest says of the pictures; packs them."""
    described: dict[str, Any] = {"where": "left out" if left_out else "in place"}
    if archive is not None:
        try:
            _pack(archive, packed)
            content = archive.read_bytes()
        except OSError as error:
            raise UsageError(f"can't write {archive}: {error.strerror}") from error
        described = {"where": "packed", "archive": archive.name, **file_entry(content)}
    return {**described, "files": dict(sorted(entries.items()))}


def _pack(archive: Path, files: Iterable[File]) -> None:
    """A ZIP file of stored members in order of their names: the same bytes whatever zlib there is."""
    temporary = archive.with_name(f".{archive.name}.{os.getpid()}.tmp")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as target:
            for name, data in sorted(files):
                member = zipfile.ZipInfo(name, _ZIP_TIME)
                member.create_system = 3
                member.external_attr = 0o644 << 16
                target.writestr(member, data)
        os.replace(temporary, archive)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder beside `folder` that becomes it at the end; it is removed if anything fails."""
    if folder.exists():
        raise UsageError(f"{folder} is already there: name a new folder")
    temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
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
