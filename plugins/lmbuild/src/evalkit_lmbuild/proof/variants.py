"""The broken variants: which metrics have to fall, and which may change, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit_lmbuild.proof import breaking
from evalkit_lmbuild.proof.breaking import Break

FALL = 0.1
"""By so much a metric has to fall that a variant breaks."""
STILL = 0.03
"""A metric that a variant doesn't concern changes by no more."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to break references.

    `must` names the metrics that have to fall by `FALL` (where they apply to the object), `may` those that
    may change, each with the reason: fall by any amount, but rise by no more than `STILL`. All others
    have to stay within `STILL`.
    """

    name: str
    breaks: Break
    must: tuple[str, ...]
    may: Mapping[str, str] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """What is done to the design, in one line."""
        return (self.breaks.__doc__ or "").partition("\n")[0]


_GRANULARITY = "the number of parts differs from the reference's"
_BULK = "the outline and the box that both are laid into differ"

VARIANTS: tuple[Variant, ...] = (
    Variant(
        "part removed",
        breaking.part_removed,
        ("A.2", "R.3"),
        {
            "S.1": "what hung on the parts floats",
            "S.2": "fewer contacts, of which as many collide",
            "S.3": "what it stands on, or its weight, is gone",
            "A.1": "the shape lacks them",
            "A.3": "they move, or carry what moves",
            "D.1": _GRANULARITY,
            "D.3": "the volume lacks them",
            "R.1": "they held what comes after",
        },
    ),
    Variant(
        "parts afloat",
        breaking.parts_afloat,
        ("S.1", "R.1"),
        {
            "S.3": "their weight is up there, or the object stood on them",
            "A.1": _BULK,
            "A.2": "they aren't in their places, and what hung on them floats",
            "A.3": "they move, or carry what moves",
            "D.1": "their joints are rejected, their contacts gone",
            "D.3": _BULK,
            "R.3": "they have lost their contacts",
        },
    ),
    Variant(
        "joint axis turned",
        breaking.axis_turned,
        ("A.3",),
        {"R.3": "along the skew axis the part may run into others, or the wheels don't roll"},
    ),
    Variant("joints frozen", breaking.joints_frozen, ("A.3", "R.3")),
    Variant(
        "joints missing",
        breaking.joints_missing,
        ("S.1", "A.3"),
        {
            "S.2": "without a joint less overlap is allowed",
            "D.1": "alike parts without a joint count as needless cuts",
            "R.3": "claimed motions have no joint; connections are contacts alone",
        },
    ),
    Variant(
        "motion blocked",
        breaking.motion_blocked,
        ("R.3",),
        {
            "S.1": "the obstacle hangs in the air",
            "S.3": "its weight",
            "A.1": _BULK,
            "A.2": _BULK,
            "A.3": "poses in which parts and obstacle share more than 2 % of the moving cells aren't free",
            "D.1": _GRANULARITY,
            "D.3": _BULK,
            "R.1": "the obstacle hangs in the air",
            "R.2": "nothing is known of what obstacles are made of",
        },
    ),
    Variant("sequence reversed", breaking.sequence_reversed, ("R.1",)),
    Variant("materials swapped", breaking.materials_swapped, ("R.2",)),
    Variant("roles missing", breaking.roles_missing, ("A.2", "A.3", "R.3")),
    Variant(
        "parts doubled",
        breaking.parts_doubled,
        ("S.2", "D.1"),
        {
            "A.3": "the twin of what moves stands in the way",
            "R.1": "a twin has no step in the sequence",
            "R.3": "the twin of what moves stands in the way",
        },
    ),
    Variant(
        "stretched",
        breaking.stretched,
        ("A.1", "D.3"),
        {
            "S.1": "contacts have another area",
            "S.3": "higher, it tilts sooner",
            "A.2": "parts aren't in their places",
            "A.3": "ranges and offsets are relative to the parts' size",
            "D.1": "origins are farther from the parts",
            "R.1": "higher, it tilts sooner",
            "R.3": "heights are out of reach, parts not in their places",
        },
    ),
    Variant(
        "parts sawn",
        breaking.parts_sawn,
        ("D.1", "D.3"),
        {
            "S.1": "the halves aren't fastened to each other",
            "S.3": "each half is rasterised for itself",
            "A.3": "half a part moves",
            "R.1": "a half has nothing to rest on until the other is there",
            "R.3": "half a part moves, the other half is in its way",
        },
    ),
    Variant(
        "overhanging weight",
        breaking.overhanging,
        ("S.3",),
        {
            "S.1": "the weight touches nothing",
            "A.1": _BULK,
            "A.2": _BULK,
            "A.3": "what the weight hangs on moves along with it",
            "D.1": _GRANULARITY,
            "D.3": _BULK,
            "R.1": "the weight touches nothing",
            "R.2": "nothing is known of what weights are made of",
            "R.3": "it falls over, or parts aren't in their places",
        },
    ),
)
"""In the order of tables."""
