"""The guide for agents: every example runs, and its model is what the line under it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from evalkit_brickbench.build import Assembly, check
from evalkit_brickbench.guide import guide_text
from evalkit_brickbench.parts.wheels import WheelCatalogue

EXAMPLES = re.findall(
    r"^## (.+?)$|^```python\n(.*?)^```\n(?:> (.+?)$)?", guide_text(), re.DOTALL | re.MULTILINE
)
CLAIM = re.compile(r"(\d+) parts?, (\d+) components?, (\d+) clash(?:es)?, (stable|unstable)")


def _named() -> list[Any]:
    """(code, claim) of the examples, named by their sections."""
    section, found = "First", []
    for heading, code, claim in EXAMPLES:
        if heading:
            section = heading
        else:
            found.append(pytest.param(code, claim, id=section))
    return found


def test_guide_has_the_worked_examples() -> None:
    headings = " ".join(heading for heading, _, _ in EXAMPLES).lower()
    for topic in ("wall", "hinged door", "wheels on an axle", "used twice", "mirrored pair", "repair"):
        assert topic in headings
    assert sum(bool(claim) for _, _, claim in EXAMPLES) >= 10


@pytest.mark.parametrize(("code", "claim"), _named())
def test_example_builds_what_it_says(
    code: str, claim: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheel_catalogue: WheelCatalogue
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "build"}
    exec(compile(code, "example.py", "exec"), names)
    if not claim:
        assert "model" not in names
        return
    model = names["model"]
    assert isinstance(model, Assembly)
    stated = CLAIM.fullmatch(claim)
    assert stated is not None
    found = check(model)
    counts = (str(found.parts), str(len(found.components)), str(len(found.clashes)))
    assert counts == stated.groups()[:3], found.text
    assert found.stable is (stated[4] == "stable"), found.text
