"""The prompts and the stock that come with the plugin; all of them were written for it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from evalkit_brickbench.inventory import colour_codes, read_inventory
from evalkit_brickbench.ldraw.colours import builtin_palette
from evalkit_brickbench.tasks.schema import Prompt, read_prompts

SMOKE = "smoke"


@cache
def prompts(name: str) -> tuple[Prompt, ...]:
    """The prompts of a setting, or of `smoke`, in the order of their file."""
    file = f"{name}.json"
    return tuple(read_prompts(_text(file), file))


@cache
def stock() -> dict[tuple[str, int], int]:
    """What alt-build may use: (stem, colour code) → count."""
    return read_inventory(_text("inventory.json"), colour_codes(builtin_palette()))


def _text(file: str) -> str:
    return (files("evalkit_brickbench.tasks") / file).read_text(encoding="utf-8")
