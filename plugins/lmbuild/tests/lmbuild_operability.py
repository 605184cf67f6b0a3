"""Objects with claims, for the tests of operability: a desk, a wheeled chair, a cart, a box with a lid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmbuild_mechanisms import box, cart, lid, wheel

from evalkit_lmbuild.design import Design, Joint, Part
from evalkit_lmbuild.facts import Connection, HumanCheck, Motion, ObjectFacts, RequiredPart, Subsystem
from evalkit_lmbuild.operability import Subject
from evalkit_lmbuild.scoring.computed import Scorer


def named(part: Part, role: str | None) -> Part:
    """The part with a role."""
    return replace(part, role=role)


def required(*names: str) -> tuple[RequiredPart, ...]:
    """Claims of required parts."""
    return tuple(RequiredPart(f"R{i}", name, "needed") for i, name in enumerate(names))


def subject(
    parts: Sequence[Part], *names: str, joints: Sequence[Joint] = (), reference: Sequence[Part] | None = None
) -> Subject:
    """Parts as a design of an object that needs these components; by default they are its reference too."""
    whole = Design(tuple(parts), tuple(joints))
    facts = ObjectFacts(
        "thing",
        "contraption",
        (),
        required_parts=required(*names),
        reference=whole if reference is None else Design(tuple(reference)),
    )
    return Subject(Scorer(whole, facts))


def scorer(design: Design, **claims: object) -> Scorer:
    """A design as its own reference, of an object with these claims."""
    facts = ObjectFacts("thing", "contraption", (), reference=design, **claims)  # type: ignore[arg-type]
    return Scorer(design, facts)


def desk(top_m: float = 0.72) -> list[Part]:
    """A work surface of 1.2 × 0.6 m on two sides, its top at this height."""
    return [
        named(box("top", (0, 0, top_m - 0.015), (1.2, 0.6, 0.03)), "work surface"),
        *(
            named(box(f"side{i}", (x, 0, (top_m - 0.03) / 2), (0.03, 0.6, top_m - 0.03)), "side panel")
            for i, x in enumerate((-0.585, 0.585))
        ),
    ]


def rolling_chair(joint_type: str = "continuous") -> Design:
    """The cart with roles: a frame on four wheels."""
    design = cart(joint_type)
    roles = {part.id: "wheel" if part.id.startswith("wheel") else "frame" for part in design.parts}
    return replace(design, parts=tuple(named(part, roles[part.id]) for part in design.parts))


def lidded() -> Design:
    """The box with a lid, with roles."""
    design = lid()
    return replace(
        design, parts=tuple(named(part, {"box": "body shell"}.get(part.id, "lid")) for part in design.parts)
    )


ROLLING = Motion("K1", "wheels", "frame", "continuous", "roll", "axle")
OPENING = Motion("K1", "lid", "body shell", "revolute", "opens upwards", "back edge")
WHEELS = Subsystem(
    "F1", "running gear", "rolls", ("wheels", "frame"), (Connection("frame", "wheels", "motion"),)
)
SEATED = HumanCheck("H1", ({"pred": "part_present", "role": "frame"},))

__all__ = [
    "OPENING",
    "ROLLING",
    "SEATED",
    "WHEELS",
    "box",
    "desk",
    "lidded",
    "named",
    "required",
    "rolling_chair",
    "scorer",
    "subject",
    "wheel",
]
