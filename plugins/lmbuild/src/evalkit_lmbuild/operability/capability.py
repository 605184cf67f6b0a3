"""A capability: something an object has to be able to do, and the links its doing depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["F", "M", "H", "P"]
"""F a subsystem, M a claimed motion, H a human check, P required parts of no subsystem."""


@dataclass(frozen=True)
class Link:
    """One thing that a capability needs: `score` in [0, 1]; `why` says what is missing where it isn't 1."""

    what: str
    score: float
    why: str = ""
    parts: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Capability:
    """A chain of links, at least one, as strong as its weakest."""

    id: str
    kind: Kind
    links: tuple[Link, ...]

    @property
    def weakest(self) -> Link:
        """The link with the lowest score; of equal ones the first."""
        return min(self.links, key=lambda link: link.score)

    @property
    def score(self) -> float:
        """The score of the weakest link."""
        return self.weakest.score

    def as_dict(self) -> dict[str, object]:
        """The capability for evidence: its weakest link in full, of the others the scores."""
        weakest = self.weakest
        return {
            "id": self.id,
            "kind": self.kind,
            "score": self.score,
            "weakest": weakest.what,
            "why": weakest.why,
            "parts": list(weakest.parts),
            "joints": list(weakest.joints),
            "links": {link.what: link.score for link in self.links},
        }
