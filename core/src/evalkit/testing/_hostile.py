"""Arguments that no well-meaning agent would send, and some that one would; files that none would hand in."""

from __future__ import annotations

import copy
import json
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from evalkit.testing._finding import short
from evalkit.types import Tool

DEPTH = 60
HUGE_CHARACTERS = 200_000
LARGE_BYTES = 1_000_000
#: Values of a JSON file, or words of a text, that are replaced one at a time.
SPOILED_AT = 6
MANY_DIGITS = "9" * 5_000


def _nested(value: Any, depth: int) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def _nested_objects(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


#: Values for any argument, whatever its type.
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    2**63,
    10**30,
    0.5,
    -0.0,
    1e-300,
    1e308,
    math.nan,
    math.inf,
    -math.inf,
    "",
    "0",
    "x" * HUGE_CHARACTERS,
    "\x00\ud800\u202e",
    "[" * 20_000,
    "{}",
    '{"a": NaN, "a": 1e999}',
    [],
    [None],
    {},
    {"": None},
    _nested(1, DEPTH),
    _nested_objects(DEPTH),
)


def accepts(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether arguments pass the tool's schema, and so reach the environment."""
    if tool.arguments is None:
        return not arguments
    try:
        tool.arguments.model_validate(dict(arguments))
    except ValidationError:
        return False
    return True


def hostile_arguments(tool: Tool) -> Iterator[dict[str, Any]]:
    """Arguments for a tool: one value replaced at a time, one left out, one too many."""
    base = sample_arguments(tool)
    yield base
    yield base | {"no_such_argument": 1}
    yield {"": base}
    for name in base:
        yield {key: value for key, value in base.items() if key != name}
        for value in VALUES:
            yield base | {name: value}
    if len(base) > 1:
        for value in VALUES:
            yield dict.fromkeys(base, value)


def sample_arguments(tool: Tool) -> dict[str, Any]:
    """Small arguments of the right types, if the schema is a simple one; all arguments, optional ones too."""
    schema = tool.parameters()
    sample = _sample(schema, schema.get("$defs", {}), 0)
    return sample if isinstance(sample, dict) else {}


def _sample(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> Any:
    if depth > DEPTH:
        return None
    if "$ref" in schema:
        return _sample(definitions.get(schema["$ref"].rpartition("/")[2], {}), definitions, depth + 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return _sample(schema[key][0], definitions, depth + 1)
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _sample(part, definitions, depth + 1) for name, part in properties.items()}
    if kind == "array":
        parts = schema.get("prefixItems") or [schema.get("items", {})] * schema.get("minItems", 0)
        return [_sample(part, definitions, depth + 1) for part in parts]
    if kind in ("number", "integer"):
        return _number(schema, whole=kind == "integer")
    return {"string": "x" * max(1, schema.get("minLength", 1)), "boolean": True}.get(kind or "")


def _number(schema: Mapping[str, Any], *, whole: bool) -> float:
    """A number within the limits of its schema, 1 if that is."""
    low: float = schema.get("minimum", schema.get("exclusiveMinimum", -math.inf))
    high: float = schema.get("maximum", schema.get("exclusiveMaximum", math.inf))
    if low < 1 < high:
        return 1 if whole else 1.0
    if math.isinf(low):
        return high - 1
    if math.isinf(high):
        return low + 1
    middle = (low + high) / 2
    return int(middle) if whole else middle


def hostile_contents(max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Files of at most `max_bytes` that hold nothing of use, each with a few words that say what it is."""
    large = min(max_bytes, LARGE_BYTES)
    deep = large // 8
    yield "empty", b""
    yield "random bytes", random.Random(0).randbytes(4096)
    yield "NUL bytes", bytes(1000)
    yield "line ends", b"\r\n\n\r" * 100
    yield "one huge word", b"x" * large
    yield "many words", b"1 0 " * (large // 4)
    yield "many lines", b"1 0\n" * (large // 4)
    yield "arrays in arrays", b"[" * deep + b"]" * deep
    yield "objects in objects", b'{"a":' * deep + b"1" + b"}" * deep
    yield "a surrogate", b'"\\ud800"'
    yield "Latin-1", "gr\xfc\xdfe".encode("latin-1")
    for text in ("null", "[]", "{}", "NaN", "-1e999", MANY_DIGITS, '{"a": NaN, "a": 1e999}'):
        yield short(text, 30), text.encode()


def spoiled_contents(content: bytes) -> Iterator[tuple[str, bytes]]:
    """A good file spoiled, each time with a few words that say how; nothing for an empty one."""
    if not content:
        return
    middle = len(content) // 2
    yield "cut in half", content[:middle]
    yield "twice", content * 2
    yield "NUL in the middle", content[:middle] + b"\x00" + content[middle:]
    yield "a byte that is no UTF-8 in the middle", content[:middle] + b"\xff" + content[middle:]
    yield "with a byte order mark", b"\xef\xbb\xbf" + content
    try:
        text = content.decode("utf-8")
    except ValueError:
        return
    yield "as UTF-16", text.encode("utf-16")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from _spoiled_text(text)
    else:
        yield from _spoiled_json(value)


def _spoiled_text(text: str) -> Iterator[tuple[str, bytes]]:
    words = re.split(r"(\s+)", text)
    for at in _spread([i for i, word in enumerate(words) if word.strip()]):
        for other in ("nan", "1e999", "-1", MANY_DIGITS, "\x00"):
            changed = "".join([*words[:at], other, *words[at + 1 :]])
            yield f"{short(words[at], 20)} replaced by {short(other, 20)}", changed.encode()


def _spoiled_json(value: Any) -> Iterator[tuple[str, bytes]]:
    for path in _spread(list(_paths(value))):
        for other in VALUES:
            words = f"{'/'.join(map(str, path))} replaced by {short(other, 20)}"
            yield words, json.dumps(_replaced(value, path, other)).encode()


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something lies in a JSON value, what lies deeper too."""
    entries: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, inside in entries:
        yield (*path, key)
        yield from _paths(inside, (*path, key))


def _replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    changed = copy.deepcopy(value)
    inside = changed
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = other
    return changed


def _spread(places: list[Any]) -> list[Any]:
    """Some of many, from first to last."""
    if len(places) <= SPOILED_AT:
        return places
    return [places[i * (len(places) - 1) // (SPOILED_AT - 1)] for i in range(SPOILED_AT)]
