"""`evalkit data pull lmbuild`: the lists of official tasks and every file they name, hashed one by one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from evalkit import UsageError
from evalkit.data import Pull
from evalkit_lmbuild.tasks.official import object_document, paths_of
from evalkit_lmbuild.tasks.pulled import SETS, clean_path, read_index

ARCHIVE = "release.zip"
MAX_FILE_BYTES = 512 << 20
MAX_INDEX_BYTES = 256 << 20
MAX_FILES = 200_000
MAX_UNPACKED_BYTES = 32 << 30


def pull(pull: Pull) -> None:
    """Fetch the lists of tasks and every file that they name.

    `pull.source` is the release as a zip archive (a URL or a file), or a folder that holds it.
    """
    with _release(pull) as root:
        for name in SETS:
            found = _find(root, f"{name}.json")
            if found is None:
                if name == SETS[0]:
                    raise UsageError(f"{pull.source} holds no {name}.json")
                continue
            tasks = read_index(found.read_bytes(), f"{name}.json")
            files = sorted({path for task in tasks for path in paths_of(task)})
            _fetch(pull, found, files, root)
            for task in tasks:
                object_document(task, pull.files)
            pull.fetch(f"{name}.json", source=str(found))
            pull.say(f"{name}: {len(tasks)} tasks, {len(files)} files")


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
