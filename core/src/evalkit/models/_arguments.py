"""Arguments of tool calls as models write them, and the strict form of schemas. Nothing is repaired."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

CUT_OFF = "; the reply was cut off at the output limit"


def parse_arguments(raw: str, *, cut_off: bool = False) -> tuple[dict[str, Any] | None, str | None]:
    """(arguments, None), or (None, what is wrong) if `raw` isn't one JSON object.

    Duplicate keys, NaN and infinities are wrong as well. `cut_off` says that the reply ended at its
    limit, which explains most broken arguments.
    """
    try:
        value = strict_json(raw)
    except ValueError as error:
        return None, f"the arguments are not valid JSON: {error}{CUT_OFF if cut_off else ''}"
    except RecursionError:
        return None, "the arguments are nested too deeply"
    if not isinstance(value, dict):
        return None, f"the arguments are {_kind(value)}, not a JSON object"
    return value, None


def strict_json(text: str) -> Any:
    """The JSON value; ValueError for broken JSON, duplicate keys, NaN and infinities."""
    return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} occurs twice")
        found[key] = value
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value), "a number")


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's strict form of a JSON Schema.

    Objects forbid other properties and require all of theirs; one that could be left out may be null
    instead. Defaults are dropped, because the strict form has none.
    """
    found: dict[str, Any] = _strict(schema)
    return found


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            found[key] = {name: _strict(part) for name, part in value.items()}
        elif key != "default":
            found[key] = _strict(value)
    if isinstance(found.get("properties"), dict):
        required = schema.get("required", ())
        for name, part in found["properties"].items():
            if name not in required and not _takes_null(part):
                found["properties"][name] = {"anyOf": [part, {"type": "null"}]}
        found["required"] = list(found["properties"])
        found["additionalProperties"] = False
    return found


def _takes_null(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    return any(_takes_null(part) for part in schema.get("anyOf", ()))


def without_strict_nulls(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for the plain schema from those for its strict form.

    A null where only the strict form allows one means that the property was left out.
    """
    found: dict[str, Any] = _without_nulls(arguments, schema, schema.get("$defs", {}))
    return found


def _without_nulls(value: Any, schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    schema = defs.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        return [_without_nulls(item, schema["items"], defs) for item in value]
    properties = schema.get("properties")
    if not isinstance(value, Mapping) or not isinstance(properties, Mapping):
        return value
    required = schema.get("required", ())
    found = {}
    for name, item in value.items():
        part = properties.get(name, {})
        if item is None and name in properties and name not in required and not _takes_null(part):
            continue
        found[name] = _without_nulls(item, part, defs)
    return found
