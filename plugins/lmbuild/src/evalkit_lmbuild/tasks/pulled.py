"""The official data in the user's data folder: fetched by `evalkit data pull lmbuild`, verified on use.

The data are not for commercial use and no part of this project. `pulled.json` in the folder is the manifest:
the SHA-256 of every file. A file is used only while it is what was pulled.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from evalkit import UsageError
from evalkit.data import data_folder, pulled

SOURCE = "lmbuild"
SETS = ("core_v2", "full_v2")
HOW_TO_GET = f"run `evalkit data pull {SOURCE}`"
PHOTO_PX = 1024
"""Photos are shown at most this large."""


def official_tasks(name: str) -> list[dict[str, Any]]:
    """The tasks of `core_v2` or `full_v2` as they were published; UsageError if they weren't pulled."""
    file = f"{name}.json"
    return read_index(verified_path(file, manifest().get(file, "")).read_bytes(), file)


def manifest() -> Mapping[str, str]:
    """The SHA-256 of every pulled file; UsageError if nothing was pulled."""
    record = pulled(SOURCE)
    if record is None:
        raise UsageError(f"the official data of LMBuild aren't here: {HOW_TO_GET}")
    files: dict[str, str] = record["files"]
    return files


def verified_path(file: str, sha256: str) -> Path:
    """Where a pulled file is; UsageError if it isn't there or isn't what was pulled."""
    path = data_folder(SOURCE) / clean_path(file)
    try:
        status = path.stat()
    except OSError:
        raise UsageError(f"{file} isn't among the pulled data of LMBuild: {HOW_TO_GET}") from None
    if _sha256(path, status.st_mtime_ns, status.st_size) != sha256:
        raise UsageError(f"{path} isn't what was pulled: {HOW_TO_GET} once more")
    return path


def photo_png(file: str, sha256: str) -> bytes:
    """A pulled photo as PNG, its longer side at most 1,024 px; UsageError if it is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(verified_path(file, sha256)) as photo:
            shown = photo.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError) as error:
        raise UsageError(f"{file} can't be read as a picture: {error}") from error
    shown.thumbnail((PHOTO_PX, PHOTO_PX))
    out = io.BytesIO()
    shown.save(out, "PNG")
    return out.getvalue()


def clean_path(path: str) -> str:
    """A path below the data folder with / between names; UsageError if it leads elsewhere."""
    found = PurePosixPath(path.replace("\\", "/"))
    if found.is_absolute() or ".." in found.parts or ":" in path or not found.parts or "\0" in path:
        raise UsageError(f"the path {path[:80]!r} leads out of the data")
    return str(found)


@lru_cache(maxsize=4096)
def _sha256(path: Path, modified_ns: int, size: int) -> str:
    """The hash of a file as it is at this moment of change and size."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_index(data: bytes, source: str) -> list[dict[str, Any]]:
    """The tasks in a list of them; UsageError names the source if it holds none."""
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source} isn't JSON: {error}") from error
    if not isinstance(found, list) or not found or not all(isinstance(task, dict) for task in found):
        raise UsageError(f"{source} isn't a list of tasks")
    return found
