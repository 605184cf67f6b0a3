"""The tasks that help texts and documents name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalkit.cli._reference import reference
from evalkit_polybridge.levels import generate

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "docs/models.md", "docs/ci.md", "docs/transports.md"]
TASK = re.compile(r"\b[TG]\d[A-Z]?[_-](?:\w+(?:-\d+)*)")


@pytest.mark.parametrize("name", ["the help texts", *DOCUMENTS])
def test_tasks_in_examples_exist(name: str) -> None:
    text = reference() if name == "the help texts" else (ROOT / name).read_text(encoding="utf-8")
    named = set(TASK.findall(text))
    assert named <= {level.name for level, _ in generate()}
    assert named or name != "the help texts"
