"""What the tools ask the geometry kernel: touching, colliding, leaning, all at its 4 mm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.kernel import Field

BELOW_M = 0.005
"""Parts lower than this are below ground; parts no higher than this rest on it."""
COLLISION_M3 = 1e-6
SHARE, SHARE_JOINED = 0.10, 0.25
"""Parts collide whose cores share more than this of the smaller one, by whether a joint connects them."""


@dataclass(frozen=True)
class Collision:
    """Two parts in one place: `overlap` m³, `share` of the smaller part's volume."""

    a: str
    b: str
    overlap: float
    share: float

    def seen_from(self, part: str) -> dict[str, Any]:
        """As told about one of the two."""
        return {"with": self.b if part == self.a else self.a} | self._figures()

    def as_pair(self) -> dict[str, Any]:
        """As told about both."""
        return {"a": self.a, "b": self.b} | self._figures()

    def _figures(self) -> dict[str, Any]:
        return {"overlap_cm3": round(self.overlap * 1e6, 2), "frac_of_smaller_part": round(self.share, 3)}


def field_of(design: Design) -> Field:
    """The kernel's view of a design at the tools' pitch."""
    return Field(design.parts)


def touching(field: Field, part: str) -> list[str]:
    """Ids of the parts that touch one."""
    return sorted(b if a == part else a for a, b in field.touching() if part in (a, b))


def collisions(field: Field, design: Design, part: str | None = None) -> list[Collision]:
    """Colliding pairs, the worst first; only those of a part if one is named."""
    joined = {frozenset((joint.parent, joint.child)) for joint in design.joints}
    found = []
    for a, b in field.touching():
        if part is not None and part not in (a, b):
            continue
        overlap = field.deep(a, b)
        if overlap <= COLLISION_M3:
            continue
        share = overlap / min(field.volume(a), field.volume(b))
        if share > (SHARE_JOINED if frozenset((a, b)) in joined else SHARE):
            found.append(Collision(a, b, overlap, share))
    return sorted(found, key=lambda one: (-one.overlap, one.a, one.b))
