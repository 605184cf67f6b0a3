"""The arguments of a predicate, read from a file: names, lengths, windows, boxes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from evalkit_lmbuild.design import Vector

Reader = Callable[[object], object]
"""Reads one argument; ValueError says what it has to be."""


class PredicateError(ValueError):
    """A human check that can't be put to any design; the text names the predicate and the argument."""


def read(
    predicate: str,
    given: Mapping[str, object],
    required: Mapping[str, Reader],
    optional: Mapping[str, Reader],
) -> dict[str, object]:
    """The arguments of one predicate by name, those that aren't given left out.

    `PredicateError` if a required one is missing, if one is wrong, or isn't known.
    """
    for name in required:
        if name not in given:
            raise PredicateError(f"{predicate} needs {name!r}")
    readers = {**required, **optional}
    found: dict[str, object] = {}
    for name, value in given.items():
        if name == "pred":
            continue
        if name not in readers:
            raise PredicateError(f"{predicate} has no argument {name!r}; it has {', '.join(readers)}")
        try:
            found[name] = readers[name](value)
        except ValueError as error:
            raise PredicateError(f"{predicate}: {name!r} has to be {error}") from error
    return found


def text(value: object) -> str:
    """A name."""
    if not isinstance(value, str) or not value:
        raise ValueError("a name")
    return value


def number(value: object) -> float:
    """A number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number above 0")
    if not (math.isfinite(value) and value > 0):
        raise ValueError("a number above 0")
    return float(value)


def window(value: object) -> tuple[float, float]:
    """A lower and an upper bound, both above 0."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError("two numbers")
    low, high = number(value[0]), number(value[1])
    if low > high:
        raise ValueError("two numbers, the lower one first")
    return low, high


def box(known: Mapping[str, Vector]) -> Reader:
    """Extents of a box: the name of a known one, or three numbers."""

    def extents(value: object) -> Vector:
        if isinstance(value, str) and value in known:
            return known[value]
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise ValueError(f"three numbers, or one of {', '.join(known)}")
        return number(value[0]), number(value[1]), number(value[2])

    return extents


def one_of(known: Collection[str]) -> Reader:
    """One of the known words."""

    def word(value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return value

    return word
