"""The constants of modules as JSON, for records: whatever a module names in upper case."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

LONGEST = 400
"""Characters of JSON up to which a constant is recorded as it is; of tables, the SHA-256."""


def constants_of(modules: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Upper-case constants of modules of this package, by module; each once, in the first that has it.

    Functions, classes and types are no constants. ImportError where a module can't be imported.
    """
    found: dict[str, dict[str, Any]] = {}
    seen: set[tuple[str, str]] = set()
    for name in modules:
        values = vars(import_module(f"evalkit_lmbuild.{name}"))
        own = {key: plain(values[key]) for key in sorted(values) if is_constant(key, values[key])}
        found[name] = {key: value for key, value in own.items() if (key, repr(value)) not in seen}
        seen |= {(key, repr(value)) for key, value in own.items()}
    return found


def is_constant(name: str, value: object) -> bool:
    """Whether a name of a module stands for something that is recorded."""
    return name.isupper() and not name.startswith("__") and _json(value) is not None


def plain(value: object) -> Any:
    """A constant as JSON; a long one as the hash of it."""
    made = _json(value)
    text = json.dumps(made, sort_keys=True)
    return made if len(text) <= LONGEST else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _json(value: object) -> Any | None:
    """A value as JSON; None for what is none."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, re.Pattern):
        return value.pattern
    if isinstance(value, np.ndarray | np.generic):
        return _json(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(_json, value))
    if isinstance(value, tuple | list):
        return [_json(each) for each in value]
    if isinstance(value, Mapping):
        if any(callable(each) for each in value.values()):
            return None
        return {str(key): _json(each) for key, each in sorted(value.items(), key=lambda item: str(item[0]))}
    if is_dataclass(value) and not isinstance(value, type):
        return _json(asdict(value))
    return None
