"""What an agent sees, and what a step gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.types.candidate import Candidate, Violation


@dataclass(slots=True)
class Image:
    """A picture, drawn when somebody looks: `source` is its bytes or a function that makes them."""

    name: str
    source: bytes | Callable[[], bytes]
    media_type: str = "image/png"

    def data(self) -> bytes:
        """The encoded picture; drawn once."""
        if callable(self.source):
            self.source = self.source()
        return self.source


@dataclass(slots=True)
class Observation:
    """What an agent sees next: text, JSON and pictures, in the order of a fixed protocol.

    `done` ends the episode after this observation.
    """

    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    done: bool = False


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the core tells an environment about the episode so far.

    `budget_left` maps each limited counter to what is left of it, `counters` holds what was spent.
    """

    budget_left: Mapping[str, float]
    counters: Mapping[str, float]


@dataclass(slots=True)
class StepResult:
    """What a call did.

    `candidate` is a complete design, if the call made one: the core validates and executes it and hands
    the outcome to `Environment.feedback`. `violations` without a candidate mean that the call was meant
    as a design and can't be read as one. `ok` is False for a mistake of the agent (unknown id, wrong
    argument), which counts as a call and changes nothing.
    """

    observation: Observation
    candidate: Candidate | None = None
    violations: tuple[Violation, ...] = ()
    done: bool = False
    ok: bool = True
