"""JSON from a source nobody vouches for: one value, no extensions, bounded work, and errors that explain.

Python's own reader accepts NaN, lets the last of two equal keys win, turns 1e999 into infinity and
can exhaust the stack; none of that may happen to a model's reply or to a file from elsewhere.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

#: Deepest nesting of arrays and objects that is read.
MAX_DEPTH = 20
#: Longest numeral that is read, in characters; a double needs fewer than 30.
MAX_NUMERAL = 100

_WHITESPACE = " \t\n\r"
# Strings are matched whole, so that brackets inside them don't count; an unclosed one runs to the end.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_PYTHON_WORD = re.compile(r"(True|False|None|undefined)\b")
_NON_NUMBER = re.compile(r"[-+]?(NaN|Infinity|inf|nan)\b")


class StrictJsonError(ValueError):
    """The text is not one acceptable JSON value; the message is one line.

    `position` is the 1-based number of the character at fault where one can be named, else None.
    """

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


def loads(text: str) -> Any:
    """The JSON value that `text` consists of, white space around it allowed.

    Raises `StrictJsonError` for anything else: also for duplicate keys, NaN and infinities, numbers that
    overflow a double, numerals over `MAX_NUMERAL` characters and nesting deeper than `MAX_DEPTH`.
    """
    if not text.strip(_WHITESPACE):
        raise StrictJsonError("the text is empty")
    _refuse_deep_nesting(text)
    try:
        return _DECODER.decode(text.strip(_WHITESPACE))
    except json.JSONDecodeError as error:
        shift = len(text) - len(text.lstrip(_WHITESPACE))
        raise _explained(text, error.pos + shift, error.msg) from None


def quoted(text: str, limit: int = 40) -> str:
    """The beginning of `text` between quotes, safe to print: escapes stand for what isn't printable."""
    return repr(text if len(text) <= limit else text[:limit] + "…")


def _refuse_deep_nesting(text: str) -> None:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise StrictJsonError(f"nested deeper than {MAX_DEPTH} levels", match.start() + 1)
        elif match[0] in "]}":
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise StrictJsonError(f"the key {quoted(key)} occurs twice in one object")
        result[key] = value
    return result


def _int(numeral: str) -> int:
    _refuse_long(numeral)
    return int(numeral)


def _float(numeral: str) -> float:
    _refuse_long(numeral)
    value = float(numeral)
    if not math.isfinite(value):
        raise StrictJsonError(f"the number {numeral} is too large")
    return value


def _refuse_long(numeral: str) -> None:
    if len(numeral) > MAX_NUMERAL:
        raise StrictJsonError(f"a number of {len(numeral)} characters, at most {MAX_NUMERAL} are read")


def _constant(name: str) -> Any:
    raise StrictJsonError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_constant
)


def _explained(text: str, at: int, reason: str) -> StrictJsonError:
    """Why a reader that stopped at index `at` for `reason` could not read `text`, for whoever wrote it."""
    start = len(text) - len(text.lstrip(_WHITESPACE))
    if text.startswith("```", start):
        return StrictJsonError("a Markdown fence (```) encloses the JSON", start + 1)
    if text[start] not in "{[":
        return _no_json_first(text, start)
    if reason == "Extra data":
        return _something_after(text, at)
    return StrictJsonError(_mistake(text, at, reason), at + 1)


def _no_json_first(text: str, start: int) -> StrictJsonError:
    brace = text.find("{", start)
    if brace < 0:
        return StrictJsonError(f"there is no JSON object, the text begins {quoted(text[start:])}", start + 1)
    return StrictJsonError(
        f"other text stands before the JSON object, which begins at character {brace + 1}: "
        f"{quoted(text[start:brace])}",
        start + 1,
    )


def _something_after(text: str, at: int) -> StrictJsonError:
    rest = text[at:].lstrip(_WHITESPACE)
    position = len(text) - len(rest) + 1
    if rest[0] in "{[":
        return StrictJsonError(f"several JSON values, the second begins at character {position}", position)
    return StrictJsonError(
        f"other text follows the JSON value at character {position}: {quoted(rest)}", position
    )


def _mistake(text: str, at: int, reason: str) -> str:
    """What is wrong inside the JSON value where the reader stopped."""
    before, rest = text[:at].rstrip(_WHITESPACE), text[at:].lstrip(_WHITESPACE)
    place = f"at character {at + 1}"
    if not rest or reason.startswith("Unterminated string"):
        return f"the JSON breaks off: the text ends, after {len(text)} characters, before it is complete"
    if (before.endswith(",") and rest[0] in "]}") or re.match(r",\s*[\]}]", rest):
        return f"a trailing comma {place}"
    if rest.startswith(("//", "/*", "#")):
        return f"a comment {place}: JSON has none"
    if rest[0] in "'‘’“”":
        return f'a quote {place} that is not the plain double quote (") of JSON'
    if word := _PYTHON_WORD.match(rest):
        return f"{word[0]} {place} is not a JSON word (true, false, null)"
    if _NON_NUMBER.match(rest):
        return f"{quoted(rest[:9])} {place}: numbers have to be finite"
    if reason.startswith("Invalid control character"):
        return f"an unescaped control character {place} inside a string: write \\n for a line break"
    return f"invalid JSON {place}: {reason}"
