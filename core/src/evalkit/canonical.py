"""Canonical JSON and the hashes made of it.

Sorted keys, no blanks, ASCII escapes (a subset of UTF-8 that also survives lone surrogates), shortest
round-trip floats, −0.0 written as 0.0, NaN, infinities and bottomless nesting refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

#: Deepest nesting of arrays and objects; whatever walks through a recorded value can rely on it.
MAX_DEPTH = 90
_CONTAINERS = (Mapping, list, tuple)

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=True
).encode


def canonical_json(value: Any) -> bytes:
    """The one byte string for a JSON value.

    ValueError for NaN, infinities and nesting deeper than `MAX_DEPTH`, TypeError for what isn't JSON.
    """
    try:
        text = _encode(value)
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if "-0.0" in text:
        text = _encode(_without_negative_zero(value))
    return text.encode("ascii")


def sha256_of(value: Any) -> str:
    """Hex SHA-256 of a JSON value's canonical form."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def is_deeper(value: Any, levels: int) -> bool:
    """Whether arrays and objects are nested in a JSON value more than so many levels deep."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(levels):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(inner, _CONTAINERS)
        ]
        if not level:
            return False
    return True


def _without_negative_zero(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, Mapping):
        return {k: _without_negative_zero(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_negative_zero(v) for v in value]
    return value
