"""What tools work on, and what they give back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from evalkit_lmbuild.scene import Scene

TIERS = ("A", "B", "C")
"""A retrieves parts from the catalogue, C creates them, B does both."""


@dataclass(frozen=True)
class Rules:
    """The protocol as far as tools know it.

    `strict` is the released dialect of programs; `extras` says whether tools that only the paper counts are
    on offer (`inspect_joint`).
    """

    tier: str = "B"
    rounds: int = 1
    strict: bool = True
    extras: bool = True


@dataclass
class Session:
    """A scene, its rules, and what is left of the budgets (by counter, as far as they are limited)."""

    scene: Scene
    rules: Rules
    budget_left: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A picture that is drawn when somebody looks; `draw` gives a PNG file."""

    name: str
    draw: Callable[[], bytes]


@dataclass(frozen=True)
class Outcome:
    """What a call gives: JSON and pictures."""

    data: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()


class Refusal(Exception):  # noqa: N818 - the answer to a mistake of the agent
    """A call that can't be carried out; the text says why and what to do."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool: its arguments as a pydantic model (None: it takes none), and the function that carries it out.

    `meter` is what a call spends beside a tool call. `past_budget` tools are served when calls are used up.
    """

    name: str
    description: str
    run: Callable[..., Outcome]
    arguments: type[BaseModel] | None = None
    meter: str | None = None
    tiers: tuple[str, ...] = TIERS
    past_budget: bool = False
    extra: bool = False

    def offered(self, rules: Rules) -> bool:
        """Whether the tool is on offer under these rules."""
        return rules.tier in self.tiers and (rules.extras or not self.extra)
