"""The published prompts and stock, fetched by the user with `evalkit data pull brickbench`.

The files stay as they are in the folder of data sets and are used only while they are what was pulled. They
carry no categories: a file of the user's may map ids to them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from evalkit import UsageError
from evalkit.data import Pull, data_folder, pulled
from evalkit_brickbench.inventory import InventoryError, colour_codes, read_inventory
from evalkit_brickbench.ldraw.colours import builtin_palette
from evalkit_brickbench.parts.wheels import MissingDataError, WheelCatalogue
from evalkit_brickbench.tasks.schema import Prompt, TaskFileError, read_prompts

SOURCE = "brickbench"
COMMIT = "b3df55e36c669b22ef089b13db1ee841907d09b3"
URL = f"https://raw.githubusercontent.com/kulits/BrickAgent/{COMMIT}/benchmark"
PROMPTS = 100
QUESTIONS: Mapping[str, int] = {"model": 1719, "set": 2369, "alt-build": 1182}
INVENTORY = "alt-build/inventory.json"
TYPES, PIECES = 104, 783
HOW_TO_GET = f"run `evalkit data pull {SOURCE}`"


def task_file(setting: str) -> str:
    """Where the prompts of a setting are, below the folder or the URL."""
    return f"{setting}/tasks.json"


def pull(pull: Pull) -> None:
    """Fetch the prompts of all settings and the stock; a file that isn't the published one is refused.

    `pull.source` is a URL or a folder with `model/tasks.json` and so on below it.
    """
    for setting in QUESTIONS:
        _fetch(pull, task_file(setting), setting)
    _fetch(pull, INVENTORY, None)


def prompts(setting: str) -> list[Prompt]:
    """The published prompts of a setting; UsageError if they weren't pulled or aren't what was pulled."""
    return _prompts(_pulled_text(task_file(setting)), task_file(setting))


def stock() -> dict[tuple[str, int], int]:
    """The published stock, (stem, colour code) → count; UsageError as for `prompts`."""
    return _stock(_pulled_text(INVENTORY), INVENTORY)


def read_categories(path: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Categories by prompt id from the user's file, `{"model-001": "castle"}`.

    `known`: names of categories; UsageError for others, and if the file can't be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} isn't JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path} has to be an object of prompt ids and categories")
    for name, category in found.items():
        if not isinstance(category, str) or category not in known:
            raise UsageError(f"{path}: {name} has category {category!r}; there are {', '.join(known)}")
    return found


def _fetch(pull: Pull, file: str, setting: str | None) -> None:
    source = f"{pull.source.rstrip('/')}/{file}"
    path = pull.fetch(file, source=source)
    try:
        text = _decoded(path.read_bytes(), source)
        pull.say(_checked_stock(text, source) if setting is None else _checked_prompts(text, source, setting))
    except UsageError:
        path.unlink()
        raise


def _checked_prompts(text: str, source: str, setting: str) -> str:
    found = _prompts(text, source)
    counts = len(found), sum(len(prompt.questions) for prompt in found)
    wanted = PROMPTS, QUESTIONS[setting]
    if counts != wanted:
        raise UsageError(
            f"{source} has {counts[0]} prompts with {counts[1]} questions, the published file {wanted[0]} "
            f"with {wanted[1]}"
        )
    return f"{setting}: {counts[0]} prompts, {counts[1]} questions"


def _checked_stock(text: str, source: str) -> str:
    found = _stock(text, source)
    counts = len({stem for stem, _ in found}), sum(found.values())
    if counts != (TYPES, PIECES):
        raise UsageError(
            f"{source} has {counts[1]} pieces of {counts[0]} types, the published file {PIECES} of {TYPES}"
        )
    return f"stock: {counts[1]} pieces of {counts[0]} types"


def _pulled_text(file: str) -> str:
    record = (pulled(SOURCE) or {"files": {}})["files"]
    path = data_folder(SOURCE) / file
    try:
        data = path.read_bytes()
    except OSError:
        data = None
    if data is None or file not in record:
        raise UsageError(f"the published files of BrickBench aren't here: {HOW_TO_GET}")
    if hashlib.sha256(data).hexdigest() != record[file]:
        raise UsageError(f"{path} isn't what was pulled: {HOW_TO_GET} once more")
    return _decoded(data, str(path))


def _decoded(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{source} isn't UTF-8: {error}") from error


def _prompts(text: str, source: str) -> list[Prompt]:
    try:
        return read_prompts(text, source)
    except TaskFileError as error:
        raise UsageError(str(error)) from error


def _stock(text: str, source: str) -> dict[tuple[str, int], int]:
    try:
        codes = colour_codes(builtin_palette(), WheelCatalogue().colour_names)
        return read_inventory(text, codes)
    except (InventoryError, MissingDataError) as error:
        raise UsageError(f"{source}: {error}") from error
