"""Designs of other systems as LDraw files: one by one, or many as rows of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from evalkit_brickbench.ldraw.writer import write_ldr
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.readers.brick_list import BEGINNING, read_brick_list
from evalkit_brickbench.readers.errors import ReaderError
from evalkit_brickbench.readers.path_text import read_path_text
from evalkit_brickbench.scene import Scene

Format = Literal["path-text", "brick-list"]
COLOUR = 71
"""LDraw's light bluish grey: lists of bricks have no colours."""
LARGEST_FILE_BYTES = 256 << 20
LARGEST_TEXT = 4 << 20
"""Characters of one design."""
_NODE = re.compile(r"[a-z]+ [^|]+ \| [a-z]", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sample:
    """A row of a file of samples: `id` names its task, `text` is the design, `row` counts from 1."""

    id: str
    text: str
    row: int


def format_of(text: str) -> Format | None:
    """Which format a text begins in; None if neither, such as for LDraw."""
    first = next((line for line in text[:4000].splitlines() if line.strip()), "")
    if BEGINNING.match(first.strip()):
        return "brick-list"
    return "path-text" if _NODE.match(first) else None


def read_scene(text: str, colour: int = COLOUR) -> Scene:
    """The design in a text of either format; `colour` (an LDraw code) is for lists of bricks.

    ReaderError if it can't be read, MissingDataError without the data of the wheels that path texts need.
    """
    if len(text) > LARGEST_TEXT:
        raise ReaderError(1, f"the text is longer than {LARGEST_TEXT:,} characters")
    found = format_of(text)
    if found is None:
        raise ReaderError(1, "this is neither BrickNet's path text nor BrickGPT's list of bricks")
    return read_path_text(text, _catalogue()) if found == "path-text" else read_brick_list(text, colour)


def as_ldraw(data: bytes, name: str, colour: int = COLOUR) -> bytes:
    """The design in a file as an LDraw file; a file in neither format comes back as it is.

    ReaderError for a file that begins in one of the formats and can't be read.
    """
    try:
        text = data.decode("utf-8").removeprefix("﻿").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return data
    return data if format_of(text) is None else write_ldr(read_scene(text, colour), title=name)


def read_samples(path: Path) -> Iterator[Sample | ReaderError]:
    """The rows of a file of JSON lines, `{"id": …, "text": …}` (or `path` for `text`); a row that isn't one
    comes as the error. OSError if the file can't be read, ReaderError if it is too large."""
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise ReaderError(1, f"the file is larger than {LARGEST_FILE_BYTES >> 20} MiB")
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _sample(line, number)


def _sample(line: bytes, number: int) -> Sample | ReaderError:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return ReaderError(number, f"not JSON: {error}")
    text = row.get("text", row.get("path")) if isinstance(row, dict) else None
    if not isinstance(text, str):
        return ReaderError(number, 'wanted {"id": …, "text": …}')
    name = row.get("id", number)
    shown = str(name) if type(name) in (str, int) else ""
    if not _ID.fullmatch(shown):
        return ReaderError(number, f"{name!r} can't name a task")
    return Sample(shown, text, number)


@lru_cache(maxsize=1)
def _catalogue() -> WheelCatalogue:
    return WheelCatalogue()
