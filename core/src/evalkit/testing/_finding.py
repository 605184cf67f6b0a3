"""What a check found, and the small tools with which checks say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: So much of what two texts have in common is told before the place where they differ.
CONTEXT_CHARACTERS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result.

    `message` says in one line what was looked at, what is wrong, or why the check was skipped.
    """

    check: str
    status: Literal["ok", "failed", "skipped"]
    message: str


class Broken(BaseException):
    """A contract is broken; the message says how, in one line.

    No `Exception`, so that it passes through the walk, which takes those for a plugin's.
    """


class Skip(BaseException):
    """There is nothing to check; the message says why."""


def short(value: object, most: int = 80) -> str:
    """A value in a few characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def raised(error: BaseException) -> str:
    """An exception in a few words."""
    return short(f"{type(error).__name__}: {error}", 200).strip("'\"")


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Where two JSON values differ first, in words; None if they don't."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in (*one, *(k for k in other if k not in one)):
            inside = f"{path}.{key}".lstrip(".")
            if key not in one or key not in other:
                return f"{inside} is there only once"
            if found := difference(one[key], other[key], inside):
                return found
        return None
    if _is_list(one) and _is_list(other):
        if len(one) != len(other):
            return f"{path or 'it'} has {len(one)} entries, then {len(other)}"
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            if found := difference(a, b, f"{path}[{i}]"):
                return found
        return None
    if type(one) is type(other) and one == other:
        return None
    if isinstance(one, str) and isinstance(other, str):
        one, other = _apart(one, other)
    return f"{path or 'it'} is {short(one)}, then {short(other)}"


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two long texts from shortly before the place where they differ."""
    pairs = enumerate(zip(one, other, strict=False))
    parted = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    start = parted - CONTEXT_CHARACTERS
    return (one, other) if start <= 0 else (f"…{one[start:]}", f"…{other[start:]}")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
