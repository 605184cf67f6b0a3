"""The LDraw library of this machine, if there is one, and fetching it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit import UsageError
from evalkit.data import Pull, data_folder
from evalkit_brickbench.ldraw.library import Library, open_library
from evalkit_brickbench.ldraw.notes import LDrawError

FOLDER_VARIABLE = "LDRAWDIR"
SOURCE = "ldraw"
FILE = "complete.zip"
HOW_TO_GET = f"set {FOLDER_VARIABLE} to an LDraw library, or run `evalkit data pull {SOURCE}`"


def library_path() -> Path | None:
    """Where the library is: what LDRAWDIR names, else what was pulled; None if neither is there."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    pulled = data_folder(SOURCE) / FILE
    return pulled if pulled.is_file() else None


def installed_library() -> Library:
    """The library; UsageError if there is none, or if what is named isn't one."""
    path = library_path()
    if path is None:
        raise UsageError(f"there is no LDraw library: {HOW_TO_GET}")
    try:
        return open_library(path)
    except LDrawError as error:
        raise UsageError(f"the LDraw library can't be used: {error}") from error


def check_suite(condition: str, tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """UsageError if a suite's settings need a library that isn't here or can't be used."""
    for name in ("kit", "meshes"):
        if settings[name] == SOURCE:
            try:
                installed_library()
            except UsageError as error:
                raise UsageError(f"{name}={SOURCE}: {error}") from error


def pull(pull: Pull) -> None:
    """Fetch the whole library as the zip archive that it is distributed as; it is used as it is."""
    path = pull.fetch(FILE)
    try:
        parts = len(open_library(path).names())
    except LDrawError as error:
        path.unlink()
        raise UsageError(f"{pull.source} is no LDraw library: {error}") from error
    pull.say(f"{parts} parts")
