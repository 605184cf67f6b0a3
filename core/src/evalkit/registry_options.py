"""Changes of a suite from the command line: `-T key=value`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalkit.errors import RegistryError, UnknownNameError, UsageError
from evalkit.registry_files import Block
from evalkit.registry_schema import LIMITS, METER_PREFIX
from evalkit.registry_yaml import Place, parse_yaml, read_yaml

LISTS = ("validators", "executors", "final_executors", "metrics")
_BLOCKS = ("tasks", "limits", "settings")
_WORDS = ("condition", "variant")
_ELSEWHERE = {
    "agent": "name an agent with --agent",
    "thresholds": "give thresholds with --fail-under",
    "benchmark": "choose another suite",
    "version": "it belongs to the suite's author",
    "title": "it belongs to the suite's author",
    "tags": "it belongs to the suite's author",
}

_OPTION = re.compile(r"(?P<key>[A-Za-z_][\w.:-]*?)\s*(?P<sign>\+=|-=|=)(?P<value>.*)", re.DOTALL)


def apply_option(block: Block, option: str) -> Block:
    """A suite's block with one option applied.

    `limits.calls=5`, `tasks.split=core`, `condition=loose`, `metrics=[a, b]`, `validators+=id`,
    `metrics-=id`; any other key is a protocol setting (`frames=4`, also `settings.frames=4`), dots
    lead into nested settings. Values are YAML; `limits.calls=null` lifts a limit. `@FILE` stands for
    what that YAML or JSON file holds. Raises UsageError.
    """
    match = _OPTION.fullmatch(option.strip())
    if match is None:
        raise UsageError(f"-T {option}: write it as key=value, key+=value or key-=value")
    key, sign, value = match["key"], match["sign"], _value(match["value"], option)
    head, _, rest = key.partition(".")
    if key in LISTS:
        return _patch(block, option, key, _changed_list(block, key, sign, value, option))
    if sign != "=":
        raise UsageError(f"-T {option}: {sign} works for {', '.join(LISTS)}")
    if key in _ELSEWHERE:
        raise UsageError(f"-T {option}: {key} can't be changed here; {_ELSEWHERE[key]}")
    if key in _WORDS:
        return _patch(block, option, key, value if isinstance(value, str) else match["value"].strip())
    if head not in _BLOCKS:
        head, rest = "settings", key
    if not rest:
        if not isinstance(value, dict):
            raise UsageError(f"-T {option}: {head} is a mapping; set an entry with {head}.NAME=value")
        return _patch(block, option, head, value)
    if head == "limits":
        return _with_limit(block, option, rest, value)
    return _with_entry(block, option, head, rest.split("."), value)


def _value(text: str, option: str) -> Any:
    text = text.strip()
    if text.startswith("@"):  # no YAML value does
        return _value_in(Path(text[1:]), option)
    try:
        value = parse_yaml(text, None).value
    except RegistryError as error:
        raise UsageError(f"-T {option}: {error}") from error
    return "" if not text else value


def _value_in(path: Path, option: str) -> Any:
    try:
        return read_yaml(path).value
    except RegistryError as error:
        raise UsageError(f"-T {option}: {error}") from error


def _patch(block: Block, option: str, key: str, value: Any, place: Place = ()) -> Block:
    """The block with a key replaced, of which the part at `place` is new and came from the option."""
    new = (key, *place)
    places = {p: where for p, where in block.places.items() if p[: len(new)] != new}
    return Block({**block.data, key: value}, {**places, new: f"-T {option}"}, block.origin)


def _changed_list(block: Block, key: str, sign: str, value: Any, option: str) -> list[Any]:
    names = (
        value if isinstance(value, list) else [part.strip() for part in str(value).split(",") if part.strip()]
    )
    present = list(block.data.get(key, []))
    if sign == "=":
        return names
    if sign == "+=":
        return list(dict.fromkeys([*present, *names]))
    for name in names:
        if name not in present:
            raise UnknownNameError(f"entry of {key}", str(name), present, f"-T {option}")
    return [name for name in present if name not in names]


def _with_limit(block: Block, option: str, name: str, value: Any) -> Block:
    limits = dict(block.data.get("limits", {}))
    if value is None:
        if name not in LIMITS and not name.startswith(METER_PREFIX):
            raise UnknownNameError("limit", name, LIMITS, f"-T {option}")
        limits.pop(name, None)
    else:
        limits[name] = value
    return _patch(block, option, "limits", limits, (name,))


def _with_entry(block: Block, option: str, head: str, path: list[str], value: Any) -> Block:
    """Set a nested entry; what is a mapping on the way is copied, anything else is replaced."""
    root = dict(block.data.get(head, {}))
    inner = root
    for part in path[:-1]:
        below = inner.get(part)
        inner[part] = dict(below) if isinstance(below, dict) else {}
        inner = inner[part]
    inner[path[-1]] = value
    return _patch(block, option, head, root, tuple(path))
