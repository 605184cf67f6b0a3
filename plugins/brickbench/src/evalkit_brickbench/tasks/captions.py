"""Captions of BrickNet's validation set, from a file that the user has: prompts without questions.

The file has JSON lines, `{"id": "val-001", "caption": "a red fire truck"}`; ids begin with `val-`, so that
they can't be taken for other tasks. The published set has 512 captions, whose builds have up to 100 parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from evalkit import UsageError
from evalkit_brickbench.tasks.schema import Prompt

SETTING = "bricknet-val"
PREFIX = "val-"
PUBLISHED = 512
MAX_PARTS = 100
MAX_FILE_BYTES = 16 << 20
HOW_TO_GIVE = "give the file of captions: -T tasks.captions=FILE"
_ID = re.compile(rf"{PREFIX}[A-Za-z0-9_.-]{{1,76}}", re.ASCII)


def read_captions(path: Path) -> list[Prompt]:
    """The captions in their order; UsageError names the line that is wrong, or says that there is none."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"{path} is larger than {MAX_FILE_BYTES >> 20} MB")
    found = list(_prompts(data, path))
    if not found:
        raise UsageError(f"{path} has no captions")
    return found


def _prompts(data: bytes, path: Path) -> Iterator[Prompt]:
    seen: dict[str, int] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where} isn't JSON: {error}") from error
        name, caption = (row.get("id"), row.get("caption")) if isinstance(row, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(caption, str) or not caption.strip():
            raise UsageError(f'{where}: wanted {{"id": "{PREFIX}001", "caption": "…"}}')
        if not _ID.fullmatch(name):
            raise UsageError(
                f"{where}: {name!r} is no id; it is {PREFIX!r} and letters, digits, '-', '_', '.'"
            )
        if name in seen:
            raise UsageError(f"{where}: {name} is on line {seen[name]} as well")
        seen[name] = number
        yield Prompt(name, caption, (), {})
