"""What agents are told: guides to the building library and to the tools, a primer of the LDraw format.

The guide's Markdown has worked examples, which the tests run.
"""

from __future__ import annotations

from importlib.resources import files

GUIDE, PRIMER, TOOLS = "building.md", "ldraw.md", "tools.md"


def guide_text() -> str:
    """The guide to `evalkit_brickbench.build`."""
    return _text(GUIDE)


def primer_text() -> str:
    """What an LDraw file looks like, for those who write one without a library."""
    return _text(PRIMER)


def tools_text() -> str:
    """How to build with tools."""
    return _text(TOOLS)


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
