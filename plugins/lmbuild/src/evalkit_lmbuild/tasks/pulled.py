"""The official data in the user's data folder: fetched by `evalkit data pull lmbuild`, verified on use.

The data are not for commercial use and no part of this project. `pulled.json` in the folder is the manifest:
the SHA-256 of every file. A file is used only while it is what was pulled.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from evalkit import UsageError
from evalkit.data import Pull, data_folder, pulled

SOURCE = "lmbuild"
SETS = ("core_v2", "full_v2")
HOW_TO_GET = f"run `evalkit data pull {SOURCE}`"
ARCHIVE = "release.zip"
MAX_FILE_BYTES = 512 << 20
MAX_INDEX_BYTES = 256 << 20
MAX_FILES = 200_000
MAX_UNPACKED_BYTES = 32 << 30
PHOTO_PX = 1024
"""Photos are shown at most this large."""


def pull(pull: Pull) -> None:
    """Fetch the lists of tasks and every file that they name.

    `pull.source` is the release as a zip archive (a URL or a file), or a folder that holds it.
    """
    from evalkit_lmbuild.tasks.official import object_document, paths_of

    with _release(pull) as root:
        for name in SETS:
            found = _find(root, f"{name}.json")
            if found is None:
                if name == SETS[0]:
                    raise UsageError(f"{pull.source} holds no {name}.json")
                continue
            tasks = _index(found.read_bytes(), f"{name}.json")
            files = sorted({path for task in tasks for path in paths_of(task)})
            _fetch(pull, found, files, root)
            for task in tasks:
                object_document(task, pull.files)
            pull.fetch(f"{name}.json", source=str(found))
            pull.say(f"{name}: {len(tasks)} tasks, {len(files)} files")


def official_tasks(name: str) -> list[dict[str, Any]]:
    """The tasks of `core_v2` or `full_v2` as they were published; UsageError if they weren't pulled."""
    file = f"{name}.json"
    return _index(verified_path(file, manifest().get(file, "")).read_bytes(), file)


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


def _index(data: bytes, source: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{source} isn't JSON: {error}") from error
    if not isinstance(found, list) or not found or not all(isinstance(task, dict) for task in found):
        raise UsageError(f"{source} isn't a list of tasks")
    return found


@contextmanager
def _release(pull: Pull) -> Iterator[Path]:
    """The release as a folder, unpacked for the time being if it comes as an archive."""
    folder = Path(pull.source).expanduser()
    if not pull.source.startswith(("http://", "https://")) and folder.is_dir():
        yield folder
        return
    archive = pull.fetch(ARCHIVE)
    del pull.files[ARCHIVE]  # an archive of the same files may have other bytes
    try:
        with TemporaryDirectory(dir=pull.folder, prefix=".unpacked-") as scratch:
            _unpack(archive, Path(scratch), pull.source)
            yield Path(scratch)
    finally:
        archive.unlink()


def _unpack(archive: Path, target: Path, source: str) -> None:
    """All files of an archive below `target`; a path that leads elsewhere or a huge file is refused."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [member for member in opened.infolist() if not member.is_dir()]
            if len(members) > MAX_FILES:
                raise UsageError(f"{source} holds {len(members):,} files, the limit is {MAX_FILES:,}")
            if sum(member.file_size for member in members) > MAX_UNPACKED_BYTES:
                raise UsageError(f"{source} unpacks to more than {MAX_UNPACKED_BYTES >> 30} GiB")
            for member in members:
                if member.file_size > MAX_FILE_BYTES:
                    raise UsageError(
                        f"{source}: {member.filename[:80]} is larger than {MAX_FILE_BYTES >> 20} MiB"
                    )
                path = target / clean_path(member.filename)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(opened.read(member))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise UsageError(f"{source} is no zip archive that can be read: {error}") from error


def _find(root: Path, name: str) -> Path | None:
    """The file of a name that lies least deep, the first of these by path."""
    found = sorted(root.rglob(name), key=lambda path: (len(path.parts), str(path)))
    if found and found[0].stat().st_size > MAX_INDEX_BYTES:
        raise UsageError(f"{name} is larger than {MAX_INDEX_BYTES >> 20} MiB")
    return found[0] if found else None


def _fetch(pull: Pull, index: Path, files: Iterable[str], root: Path) -> None:
    """Files by their paths relative to an index or a folder above it; UsageError names a missing one."""
    above = [folder for folder in index.parents if folder == root or root in folder.parents]
    missing = []
    for file in files:
        known = next((folder / file for folder in above if (folder / file).is_file()), None)
        if known is None:
            missing.append(file)
        elif file not in pull.files:
            pull.fetch(file, source=str(known))
    if missing:
        raise UsageError(
            f"{len(missing)} files that {index.name} names aren't in {pull.source}, such as {missing[0]}; "
            "--from takes an archive or a folder that has them"
        )
