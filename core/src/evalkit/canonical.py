"""Canonical JSON and the hashes made of it.

Sorted keys, no blanks, ASCII escapes (a subset of UTF-8 that also survives lone surrogates), shortest
round-trip floats, −0.0 written as 0.0, NaN and infinities refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=True
).encode


def canonical_json(value: Any) -> bytes:
    """The one byte string for a JSON value. ValueError for NaN, TypeError for what isn't JSON."""
    text = _encode(value)
    if "-0.0" in text:
        text = _encode(_without_negative_zero(value))
    return text.encode("ascii")


def sha256_of(value: Any) -> str:
    """Hex SHA-256 of a JSON value's canonical form."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _without_negative_zero(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0
    if isinstance(value, Mapping):
        return {k: _without_negative_zero(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_without_negative_zero(v) for v in value]
    return value
