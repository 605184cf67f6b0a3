"""What an agent gets to build with: the building library, the guide or the primer, a way to start Python.

The library is a copy outside of the workspace, because an agent's isolation hides the installed package,
which holds the tasks' questions. Only what is named here is copied.
"""

from __future__ import annotations

import compileall
import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit_brickbench.guide import guide_text, primer_text
from evalkit_brickbench.parts._wheel_cache import cache_folder

TASK = "task.json"
GUIDE = "GUIDE.md"
PRIMER = "LDRAW.md"
PYTHON = "python"
LDRAW = "ldraw"

#: Modules and packages of the library: what building, checking and looking need.
LIBRARY: Mapping[str, tuple[str, ...]] = {
    "evalkit_brickbench": (
        *("__init__.py", "py.typed", "build", "guide", "ldraw", "parts", "stability"),
        *("_collisions_inset.py", "_collisions_poses.py", "_collisions_shapes.py", "_collisions_store.py"),
        *("_connections_contacts.py", "_connections_match.py", "_connections_place.py"),
        *("collisions.py", "connections.py", "designs.py", "inspection.py", "inventory.py", "library.py"),
        *("part_rules.py", "pictures.py", "report.py", "scene.py", "settings.py"),
    ),
    "evalkit": ("__init__.py", "canonical.py", "data.py", "errors.py", "py.typed", "render3d", "types"),
}
_SUFFIXES = (".py", ".md", ".typed")

_STARTER = """\
#!/bin/sh
PYTHONPATH={library} exec {python} "$@"
"""


@cache
def library_files() -> Mapping[str, bytes]:
    """The building library as agents get it: content by relative path, sorted."""
    found: dict[str, bytes] = {}
    for package, names in LIBRARY.items():
        for name in names:
            found |= _below(files(package).joinpath(name), f"{package}/{name}")
    return dict(sorted(found.items()))


def _below(place: Traversable, path: str) -> dict[str, bytes]:
    if place.is_file():
        return {path: place.read_bytes()} if path.endswith(_SUFFIXES) else {}
    found: dict[str, bytes] = {}
    for inside in place.iterdir():
        found |= _below(inside, f"{path}/{inside.name}")
    return found


@cache
def library_sha256() -> str:
    """Hash of the library's files and their names."""
    digest = hashlib.sha256()
    for name, content in library_files().items():
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def library_folder() -> Path:
    """The library in a folder of the user's cache, from which it can be imported; made if it isn't there.

    UsageError if it can't be written.
    """
    folder = cache_folder() / f"library-{library_sha256()[:16]}"
    if not _intact(folder):
        try:
            _make(folder)
        except OSError as error:
            raise UsageError(
                f"the building library can't be put into {folder.parent}: {error.strerror}; set "
                "XDG_CACHE_HOME to a folder that can be written to"
            ) from error
    return folder


def _make(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f"{folder.name}."))
    try:
        for name, content in library_files().items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        # Where agents can't write, Python would compile it at each start.
        compileall.compile_dir(made, quiet=2)
        made.chmod(0o755)
        _move(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)  # nothing is there if it was put in place


def _intact(folder: Path) -> bool:
    try:
        return all((folder / name).read_bytes() == content for name, content in library_files().items())
    except OSError:
        return False


def _move(made: Path, folder: Path) -> None:
    """Put a folder in place; another process may have been quicker, or what is there may be damaged."""
    try:
        os.rename(made, folder)
    except OSError:
        if not _intact(folder):
            shutil.rmtree(folder)
            os.rename(made, folder)


def furnish_library(folder: Path, inputs: Mapping[str, Any]) -> tuple[Path, ...]:
    """Put task, guide and a way to start Python with the library into a workspace.

    Returns the folders outside of it that have to be shown to the agent: the library, and Python's own.
    """
    _write_task(folder, inputs)
    (folder / GUIDE).write_text(guide_text(), encoding="utf-8")
    library = library_folder()
    starter = folder / PYTHON
    words = {"library": shlex.quote(str(library)), "python": shlex.quote(sys.executable)}
    starter.write_text(_STARTER.format(**words), encoding="utf-8")
    starter.chmod(0o755)
    return tuple(dict.fromkeys((library, *_python_folders())))


def furnish_ldraw(folder: Path, inputs: Mapping[str, Any], library: Path) -> tuple[Path, ...]:
    """Put task, format primer and a link to the LDraw library into a workspace, and nothing to build with.

    `library`: a folder, or the zip archive that it is distributed as. Returns what has to be shown.
    """
    _write_task(folder, inputs)
    (folder / PRIMER).write_text(primer_text(), encoding="utf-8")
    place = library.absolute()
    # To the folder of an archive: of what else is in there the agent sees nothing.
    (folder / LDRAW).symlink_to(place if place.is_dir() else place.parent, target_is_directory=True)
    return (place,)


def _write_task(folder: Path, inputs: Mapping[str, Any]) -> None:
    (folder / TASK).write_text(json.dumps(dict(inputs), indent=2) + "\n", encoding="utf-8")


def _python_folders() -> Iterator[Path]:
    """Where this Python and its packages are; UsageError if showing that would show the user's files."""
    for folder in (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent):
        if Path.home().is_relative_to(folder):
            raise UsageError(
                f"Python is installed in {folder}, all of which agents would see; use another one"
            )
        yield folder
