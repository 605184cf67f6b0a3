"""docs/plugins.md names every hook and descriptor, and every check with what it says of itself."""

from __future__ import annotations

import re
from pathlib import Path

import evalkit.hookspecs
from evalkit.errors import EndReason
from evalkit.testing import CHECKS

TEXT = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")


def test_every_hook_is_listed_with_its_arguments() -> None:
    hooks = {name for name in dir(evalkit.hookspecs) if name.startswith("evalkit_")}
    assert hooks == set(re.findall(r"^\| `(evalkit_\w+)\(", TEXT, re.MULTILINE))
    for name in hooks:
        function = getattr(evalkit.hookspecs, name)
        arguments = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
        assert f"`{name}({arguments})`" in TEXT


def test_every_descriptor_is_named() -> None:
    specs = {name for name in dir(evalkit.hookspecs) if name.endswith("Spec")}
    assert specs == set(re.findall(r"`(\w+Spec)`", TEXT))


def test_every_check_is_explained_in_its_own_words() -> None:
    for name, check in CHECKS.items():
        assert check.__doc__ is not None
        assert f"| `{name}` | {check.__doc__.splitlines()[0]} |" in TEXT


def test_end_reasons_are_real() -> None:
    assert set(re.findall(r"`(\w+_error)`", TEXT)) <= set(EndReason)
