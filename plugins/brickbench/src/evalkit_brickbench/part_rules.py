"""How many parts, and which, a build may use in each setting of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit_brickbench.inventory import Stock, overdrafts, stock_as_json, stock_from_json
from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.scene import Scene

RULES = "part_rules"
"""Where a task's inputs hold its rules."""
SHOWN = 8


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a build breaks, for a violation."""

    code: str
    message: str
    ids: tuple[str, ...]
    value: float
    limit: float


@dataclass(frozen=True, slots=True)
class PartRules:
    """`min_parts` … `max_parts`, and the stock to build from, if there is one."""

    min_parts: int
    max_parts: int
    stock: Stock | None = None

    @staticmethod
    def of(inputs: Mapping[str, Any]) -> PartRules | None:
        """The rules in a task's inputs; None for a task without."""
        found = inputs.get(RULES)
        if found is None:
            return None
        stock = found.get("stock")
        return PartRules(
            found["min_parts"], found["max_parts"], None if stock is None else stock_from_json(stock)
        )

    def as_json(self) -> dict[str, Any]:
        """The rules for a task's inputs."""
        stock = {} if self.stock is None else {"stock": stock_as_json(self.stock)}
        return {"min_parts": self.min_parts, "max_parts": self.max_parts, **stock}

    def check(self, scene: Scene, catalogue: Catalogue | None = None) -> list[BrokenRule]:
        """The rules that a scene breaks."""
        n, broken = len(scene), []
        if n < self.min_parts:
            message = f"{n} parts, at least {self.min_parts} are wanted"
            broken.append(BrokenRule("too_few_parts", message, (), n, self.min_parts))
        if n > self.max_parts:
            message = f"{n} parts, at most {self.max_parts} are allowed"
            broken.append(BrokenRule("too_many_parts", message, (), n, self.max_parts))
        return broken if self.stock is None else [*broken, *_overdrawn(scene, self.stock, catalogue)]


def _overdrawn(scene: Scene, stock: Stock, catalogue: Catalogue | None) -> list[BrokenRule]:
    short = overdrafts(scene, stock, catalogue)
    if not short:
        return []
    named = ", ".join(f"{o.stem} in colour {o.colour}: {o.used} of {o.available}" for o in short[:SHOWN])
    more = f" and {len(short) - SHOWN} more" if len(short) > SHOWN else ""
    missing = sum(o.used - o.available for o in short)
    message = f"{missing} parts that the stock doesn't have; used of available: {named}{more}"
    return [BrokenRule("not_in_stock", message, tuple(o.stem for o in short), missing, 0)]


SETTINGS: Mapping[str, tuple[int, int]] = {"model": (1, 400), "set": (400, 4000), "alt-build": (1, 783)}
"""Least and most parts by setting; what alt-build may use is in its stock."""
