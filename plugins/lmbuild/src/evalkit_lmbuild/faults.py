"""What is wrong with a call's arguments or with a file's fields, in words one can act on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from evalkit_lmbuild.legality import short, unknown

_BRANCH = re.compile(r"str|SequenceStep|(dict|list)\[.*")
"""How pydantic marks the alternatives of an argument in the path to it."""
_WANTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "finite_number": "a finite number",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "an object",
    "string_type": "a text",
}


def arguments_fault(model: type[BaseModel] | None, arguments: Mapping[str, Any]) -> str | None:
    """What is wrong with arguments for a tool's model (None: it takes none), or None."""
    if model is None:
        return "it takes no arguments" if arguments else None
    try:
        model.model_validate(dict(arguments))
    except ValidationError as error:
        return first_fault(error, "argument", tuple(model.model_fields))
    except RecursionError:
        return "the arguments are nested too deep"
    return None


def first_fault(error: ValidationError, what: str, names: Sequence[str]) -> str:
    """The first fault that pydantic found; where a value may be one of several things, all of them are named.

    `names` are those that a model has at its top, `what` they are called.
    """
    errors = error.errors(include_url=False)
    first = errors[0]
    path = _path(first["loc"])
    where, kind, context = _shown(path), first["type"], first.get("ctx", {})
    if kind == "missing":
        return f"{where} is missing"
    if kind == "extra_forbidden":
        return unknown(what, where, names) if len(path) == 1 else f"{where} is no field that it has"
    if kind in _WANTED:
        alike = [_WANTED[e["type"]] for e in errors if _path(e["loc"]) == path and e["type"] in _WANTED]
        return _has_to_be(where, first["input"], " or ".join(dict.fromkeys(alike)))
    if kind == "literal_error":
        return _has_to_be(where, first["input"], f"one of {context['expected'].replace(' or ', ', ')}")
    if kind == "greater_than_equal":
        return _has_to_be(where, first["input"], f"at least {context['ge']:g}")
    if kind == "less_than_equal":
        return _has_to_be(where, first["input"], f"at most {context['le']:g}")
    if kind == "too_short":
        return f"{where} has {_items(context['actual_length'])}; it needs {context['min_length']}"
    if kind == "too_long":
        return f"{where} has more than {_items(context['max_length'])}"
    if kind == "value_error":
        return f"{where}: {context['error']}"
    return f"{where}: {first['msg']}"


def _has_to_be(where: str, given: object, wanted: str) -> str:
    return f"{where} is {short(given)}; it has to be {wanted}"


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"


def _path(given: Sequence[str | int]) -> tuple[str | int, ...]:
    """Names and numbers that lead to a value, without pydantic's marks."""
    if not given:
        return ("the object",)
    head, *rest = given
    return (head, *(step for step in rest if isinstance(step, int) or not _BRANCH.fullmatch(step)))


def _shown(path: Sequence[str | int]) -> str:
    head, *rest = path
    return short(str(head)).strip("'") + "".join(
        f"[{step}]" if isinstance(step, int) else f".{short(step)[1:-1]}" for step in rest
    )
