"""Levels as files: three per level, and a folder of such triplets is a dataset.

    <name>.layout.json   a layout of the game whose first save is the level's empty bridge
    <name>.save.json     that save decoded
    <name>.context.json  {"context": what a model sees, "analysis": what it must not see}

The budget in the context is the one that is played; `analysis.strict_budget` is what costs are compared to.
It may be left out: then it is the same.

A new layout holds the save alone, since the game's terrain format isn't public; a triplet around a layout
made in the game works the same way.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

from evalkit_polybridge import strictjson
from evalkit_polybridge.context import ContextError, context, level_from_context
from evalkit_polybridge.graph import Bridge, Level, LevelMeta
from evalkit_polybridge.savefile import SaveFileError, from_document, new_layout, read_layout, to_document

_LAYOUT, _SAVE, _CONTEXT = SUFFIXES = (".layout.json", ".save.json", ".context.json")
#: Longest level file that is read, in bytes.
MAX_FILE_BYTES = 16 * 2**20
_FILE_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class LevelFileError(ValueError):
    """A level file that can't be read or written; the message is one line: which file, what, what to do."""


def export_level(level: Level, meta: LevelMeta, folder: Path) -> tuple[Path, Path, Path]:
    """Writes a level's layout, save and context into `folder` (created if need be), each atomically.

    Files that exist are replaced. `meta.parameters` have to be JSON values. Raises `LevelFileError`.
    """
    if not _FILE_SAFE.fullmatch(level.name):
        raise LevelFileError(f"the level name {level.name!r} is no file name: use letters, digits and _ . -")
    texts = _texts(level, meta)
    folder.mkdir(parents=True, exist_ok=True)
    layout, save, visible = (folder / (level.name + suffix) for suffix in SUFFIXES)
    for path, text in zip((layout, save, visible), texts, strict=True):
        _write(path, text)
    return layout, save, visible


def read_folder(folder: Path) -> list[tuple[Level, LevelMeta]]:
    """All levels in `folder`, in the order of their file names; other files are left alone.

    Raises `LevelFileError` if there are none, one of three files is missing, a file can't be read, layout and
    save hold different bridges, or two levels have one name.
    """
    try:
        if not folder.is_dir():
            raise LevelFileError(f"{folder} is no folder: name one with level files")
    except OSError as error:
        raise LevelFileError(f"{folder} can't be read: {error.strerror}") from None
    stems = {path.name.removesuffix(s) for s in SUFFIXES for path in folder.glob(f"*{s}")}
    if not stems:
        raise LevelFileError(f"{folder} holds no level: there is no *{_CONTEXT} in it")
    levels = [_read_level(folder, stem) for stem in sorted(stems)]
    seen: dict[str, str] = {}
    for stem, (level, _) in zip(sorted(stems), levels, strict=True):
        if level.name in seen:
            raise LevelFileError(f"{folder}: {seen[level.name]} and {stem} both hold the level {level.name}")
        seen[level.name] = stem
    return levels


def read_level(path: Path) -> tuple[Level, LevelMeta]:
    """The level that one of its three files belongs to. Raises `LevelFileError`."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return _read_level(path.parent, path.name.removesuffix(suffix))
    raise LevelFileError(f"{path} is no level file: its name has to end with one of {', '.join(SUFFIXES)}")


def _texts(level: Level, meta: LevelMeta) -> tuple[str, str, str]:
    """Layout, save and context of a level, as the files hold them."""
    bridge = level.empty_bridge()
    visible = {"context": context(level), "analysis": _analysis(level, meta)}
    try:
        save = to_document(bridge, level.name)
        return new_layout(bridge, level.name), _json_text(save), _json_text(visible)
    except (TypeError, ValueError) as error:
        raise LevelFileError(f"level {level.name} can't be written: {error}") from None


def _json_text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _analysis(level: Level, meta: LevelMeta) -> dict[str, Any]:
    known = {} if meta.strict_budget is None else {"strict_budget": meta.strict_budget}
    return known | {
        "family": meta.family,
        "group": meta.group,
        "suite": meta.suite,
        "tags": list(meta.tags),
        "parameters": meta.parameters,
        "span_m": level.span_m,
        "dy_m": level.dy_m,
        "gaps_m": _gaps_m(level),
    }


def _gaps_m(level: Level) -> list[float]:
    """The unsupported widths between the banks and platforms, from left to right, to 4 decimals."""
    platforms = sorted(level.platforms, key=lambda p: p.x_start)
    starts = [0.0, *(p.x_end for p in platforms)]
    ends = [*(p.x_start for p in platforms), level.span_m]
    return [round(end - start, 4) for start, end in zip(starts, ends, strict=True)]


def _read_level(folder: Path, stem: str) -> tuple[Level, LevelMeta]:
    layout, save, visible = (folder / (stem + suffix) for suffix in SUFFIXES)
    bridge = _saved_bridge(layout, save)
    document = _read_json(visible)
    try:
        level = level_from_context(_section(visible, document, "context"), bridge)
    except ContextError as error:
        raise LevelFileError(f"{visible}: {error}") from None
    return level, _meta(visible, _section(visible, document, "analysis"))


def _saved_bridge(layout: Path, save: Path) -> Bridge:
    """The bridge that the layout's first save and the decoded save both hold."""
    try:
        in_layout = read_layout(_read_text(layout)).bridge
    except SaveFileError as error:
        raise LevelFileError(f"{layout}: {error}") from None
    try:
        bridge, _ = from_document(_read_json(save))
    except SaveFileError as error:
        raise LevelFileError(f"{save}: {error}") from None
    if in_layout != bridge:
        raise LevelFileError(f"{save} is not the first save of {layout.name}: decode it again")
    return bridge


def _section(path: Path, document: Any, name: str) -> dict[str, Any]:
    section = document.get(name) if isinstance(document, dict) else None
    if not isinstance(section, dict):
        raise LevelFileError(f'{path}: "{name}" has to be there, as an object')
    return section


def _meta(path: Path, analysis: dict[str, Any]) -> LevelMeta:
    for name, kind in {"family": str, "group": str, "suite": str, "tags": list, "parameters": dict}.items():
        if not isinstance(analysis.get(name), kind):
            raise LevelFileError(f"{path}: analysis.{name} has to be there, as JSON's {_KINDS[kind]}")
    tags = analysis["tags"]
    if not all(isinstance(tag, str) for tag in tags):
        raise LevelFileError(f"{path}: analysis.tags has to be a list of strings")
    strict = analysis.get("strict_budget")
    if strict is not None and (type(strict) not in (int, float) or not 0.0 < strict < math.inf):
        raise LevelFileError(f"{path}: analysis.strict_budget has to be a positive number of dollars")
    family, group, suite = analysis["family"], analysis["group"], analysis["suite"]
    return LevelMeta(family, group, suite, tuple(tags), analysis["parameters"], strict)


_KINDS: dict[type, str] = {str: "string", list: "array", dict: "object"}


def _read_json(path: Path) -> Any:
    try:
        return strictjson.loads(_read_text(path))
    except strictjson.StrictJsonError as error:
        raise LevelFileError(f"{path} is not JSON: {error}") from None


def _read_text(path: Path) -> str:
    try:
        if not path.is_file() and path.exists():
            raise LevelFileError(f"{path} is no regular file")
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise LevelFileError(f"{path} has more than {MAX_FILE_BYTES} bytes: refused")
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise LevelFileError(
            f"{path} is missing: a level has the three files {', '.join(SUFFIXES)}"
        ) from None
    except OSError as error:
        raise LevelFileError(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise LevelFileError(f"{path} is not UTF-8 at byte {error.start}") from None


def _write(path: Path, text: str) -> None:
    """Replaces `path` in one step, so that a reader finds the old file or the new one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
