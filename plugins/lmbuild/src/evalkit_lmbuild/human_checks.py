"""Human checks as they stand in a file: which predicates there are, and what their arguments have to be.

A predicate is a mapping: `pred` names it, the rest are its arguments; lengths in m, areas in m². What they
mean for a design is in `operability.predicates`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from evalkit_lmbuild.design import Vector

BODIES: Mapping[str, Vector] = {"seated_torso": (0.45, 0.35, 0.65), "seated_legs": (0.45, 0.45, 0.40)}
PLACEMENTS: Mapping[str, tuple[int, int]] = {
    "above": (2, 1),
    "below": (2, -1),
    "front": (1, -1),
    "back": (1, 1),
    "left": (0, -1),
    "right": (0, 1),
}
"""Axis and side of the anchor on which a body is."""

Reader = Callable[[object], object]
"""Reads one argument; ValueError says what it has to be."""


class PredicateError(ValueError):
    """A human check that can't be put to any design; the text names the predicate and the argument."""


@dataclass(frozen=True)
class Form:
    """How the arguments of a predicate are read."""

    required: Mapping[str, Reader]
    optional: Mapping[str, Reader] = field(default_factory=dict)


def read_predicate(given: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Name and arguments of a predicate, those that aren't given left out.

    `PredicateError`, in one line, for a predicate that isn't known, and for arguments that are missing, wrong
    or not known.
    """
    predicate = given.get("pred")
    if not isinstance(predicate, str) or predicate not in FORMS:
        raise PredicateError(f"there is no predicate {predicate!r}; there are {', '.join(FORMS)}")
    form = FORMS[predicate]
    for name in form.required:
        if name not in given:
            raise PredicateError(f"{predicate} needs {name!r}")
    readers = {**form.required, **form.optional}
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
    return predicate, found


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


FORMS = {
    "part_present": Form({"role": text}),
    "reachable": Form({"target": text}, {"from": text, "reach_m": number}),
    "ground_contact": Form({}, {"role": text, "min_clusters": number}),
    "colocated": Form({"a": text, "b": text}, {"max_gap_m": number}),
    "grip": Form({"role": text}),
    "surface": Form({"role": text, "min_area_m2": number}, {"height_range_m": window}),
    "clearance": Form(
        {"anchor": text, "box": box(BODIES)}, {"placement": one_of(PLACEMENTS), "min_free": number}
    ),
}
"""The predicates."""
