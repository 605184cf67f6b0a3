"""The conformance kit: whether a benchmark keeps the contracts that the runtime relies on.

In a plugin's tests, two lines are enough:

    from evalkit.testing import conformance_tests

    TestMine = conformance_tests("mine.smoke")

Elsewhere, `check_benchmark("mine.smoke")` returns a list of `Finding`s, and `evalkit plugin check NAME`
prints them. `CHECKS` maps the name of every check to what it looks at.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.testing._checks import CHECKS, check_benchmark, check_subject
    from evalkit.testing._finding import Finding
    from evalkit.testing._plugin import check_plugin
    from evalkit.testing._pytest import conformance_tests
    from evalkit.testing._subject import Subject, subject_of

__all__ = [
    "CHECKS",
    "Finding",
    "Subject",
    "check_benchmark",
    "check_plugin",
    "check_subject",
    "conformance_tests",
    "subject_of",
]

_ELSEWHERE = {
    "CHECKS": "_checks",
    "Finding": "_finding",
    "Subject": "_subject",
    "check_benchmark": "_checks",
    "check_plugin": "_plugin",
    "check_subject": "_checks",
    "conformance_tests": "_pytest",
    "subject_of": "_subject",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'evalkit.testing' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"evalkit.testing.{_ELSEWHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
