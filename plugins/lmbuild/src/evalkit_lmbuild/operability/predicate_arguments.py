"""The arguments of a predicate, read from a file: names, lengths, windows, boxes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from evalkit_lmbuild.design import Vector


class PredicateError(ValueError):
    """A human check that can't be put to any design; the text names the predicate and the argument."""


class Arguments:
    """Arguments of one predicate. `PredicateError` if one is missing, of another kind, or not known."""

    def __init__(
        self,
        predicate: str,
        given: Mapping[str, object],
        required: tuple[str, ...] = (),
        optional: tuple[str, ...] = (),
    ) -> None:
        self._predicate, self._given = predicate, given
        for name in required:
            if name not in given:
                raise PredicateError(f"{predicate} needs {name!r}")
        for name in given:
            if name not in ("pred", *required, *optional):
                raise PredicateError(f"{predicate} has no argument {name!r}")

    def text(self, name: str, default: str | None = None) -> str:
        """A name."""
        value = self._given.get(name, default)
        if not isinstance(value, str) or not value:
            raise self._wrong(name, "a name")
        return value

    def optional_text(self, name: str) -> str | None:
        """A name, or None."""
        return self.text(name) if self._given.get(name) is not None else None

    def number(self, name: str, default: float | None = None) -> float:
        """A number above 0."""
        value = self._given.get(name, default)
        if not _is_number(value) or not float(value) > 0:  # type: ignore[arg-type]
            raise self._wrong(name, "a number above 0")
        return float(value)  # type: ignore[arg-type]

    def window(self, name: str, default: tuple[float, float]) -> tuple[float, float]:
        """A lower and an upper bound."""
        value = self._given.get(name)
        if value is None:
            return default
        if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_number, value)):
            raise self._wrong(name, "two numbers")
        low, high = float(value[0]), float(value[1])
        if low > high:
            raise self._wrong(name, "the lower bound first")
        return low, high

    def box(self, name: str, known: Mapping[str, Vector]) -> Vector:
        """Extents of a box: the name of a known one, or three numbers above 0."""
        value = self._given.get(name)
        if isinstance(value, str) and value in known:
            return known[value]
        if isinstance(value, list | tuple) and len(value) == 3 and all(map(_is_number, value)):
            x, y, z = (float(each) for each in value)
            if min(x, y, z) > 0:
                return x, y, z
        raise self._wrong(name, f"three numbers above 0, or one of {', '.join(known)}")

    def choice(self, value: str, known: Collection[str]) -> str:
        """One of the known words."""
        if value not in known:
            raise PredicateError(f"{self._predicate} knows no {value!r}; it knows {', '.join(known)}")
        return value

    def _wrong(self, name: str, wanted: str) -> PredicateError:
        return PredicateError(f"{self._predicate}: {name!r} has to be {wanted}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
