"""The guide for agents that build with `evalkit_brickbench.build`, as Markdown with examples that run."""

from __future__ import annotations

from importlib.resources import files

NAME = "building.md"


def guide_text() -> str:
    """The guide."""
    return files(__name__).joinpath(NAME).read_text(encoding="utf-8")
