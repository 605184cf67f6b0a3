"""Arguments that no well-meaning agent would send, and some that one would, made from a tool's schema."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from evalkit.types import Tool

DEPTH = 60
HUGE_CHARACTERS = 200_000


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
