"""M: claimed motions as requests to the simulation, and what its answers are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from evalkit_lmbuild.design import Design
from evalkit_lmbuild.facts import Motion
from evalkit_lmbuild.lexicon import understood
from evalkit_lmbuild.operability.capability import Capability, Link
from evalkit_lmbuild.operability.spaces import BAND_M
from evalkit_lmbuild.operability.subject import Subject
from evalkit_lmbuild.scoring.kinematics import MOTION_CLASSES
from evalkit_lmbuild.simulation import Actuate, MotionResult, Roll, SimulationResult
from evalkit_lmbuild.simulation.groups import FLOOR_BAND_M

ROLLING = frozenset(("wheel", "roller", "tire", "track"))
"""What rolls on the ground; steering, hand and fly wheels are words of their own."""
VERBS = {"turn": "turns", "slide": "slides", "ball": "swivels", "cylindrical": "turns and slides"}


@dataclass(frozen=True)
class Trial:
    """A claimed motion and what is asked of the simulation: if nothing can be, no request, and `why`."""

    claim: Motion
    request: Actuate | Roll | None
    why: str = ""
    parts: tuple[str, ...] = ()


def trials(subject: Subject) -> list[Trial]:
    """What to simulate for each claimed motion of something that has to be built."""
    return [_trial(subject, claim) for claim in subject.facts.motions if subject.knows(claim.moving_part)]


def _trial(subject: Subject, claim: Motion) -> Trial:
    parts = tuple(subject.factors(claim.moving_part))
    if not parts:
        return Trial(claim, None, f"there is no {claim.moving_part}")
    joints = candidates(subject, claim)
    if not joints:
        verb = VERBS[MOTION_CLASSES[claim.joint_type]]
        return Trial(claim, None, f"no joint {verb} the {claim.moving_part}", parts)
    if rolls(subject, claim):
        return Trial(claim, Roll(rolling_parts(subject)), parts=parts)
    return Trial(claim, Actuate(joints, freedom=_freedom(claim)), parts=parts)


def candidates(subject: Subject, claim: Motion) -> tuple[str, ...]:
    """Joints of the claimed class that move the component: those with it as their child, then the others."""
    wanted = MOTION_CLASSES[claim.joint_type]
    fits = {wanted, "cylindrical"} if wanted in ("turn", "slide") else {wanted}
    joints = [joint for joint in subject.movers if MOTION_CLASSES[joint.type] in fits]
    parts = set(subject.factors(claim.moving_part))
    direct = [joint.id for joint in joints if joint.child in parts]
    return tuple(direct + [j.id for j in joints if j.id not in direct and parts & set(subject.moving[j.id])])


def _freedom(claim: Motion) -> Literal["turn", "slide"] | None:
    """Which freedom of a cylindrical joint is claimed."""
    kind = MOTION_CLASSES[claim.joint_type]
    return "turn" if kind == "turn" else "slide" if kind == "slide" else None


def rolls(subject: Subject, claim: Motion) -> bool:
    """Whether the claimed turn is that of a wheel the object runs on, which is tested by rolling.

    A wheel that hangs in the air in the reference (of a spinning wheel, a pulley), or that has legs beside it
    on the ground (of a wheelbarrow, which is lifted to run), is turned instead.
    """
    if not subject.facts.free_standing or MOTION_CLASSES[claim.joint_type] != "turn":
        return False
    if understood(claim.moving_part).head not in ROLLING:
        return False
    return _grounded(subject, claim.moving_part) and _runs(subject.facts.reference)


def _grounded(subject: Subject, name: str) -> bool:
    """Whether the reference has a part of the component on the ground; True where that isn't known."""
    reference = subject.facts.reference
    if reference is None:
        return True
    wanted = subject.naming.named(name)
    parts = [part for part in reference.parts if subject.naming.component(part) == wanted]
    return not parts or any(_lowest(reference, part.id) <= BAND_M for part in parts)


def _runs(reference: Design | None) -> bool:
    """Whether the reference stands on nothing but what rolls; True without one."""
    return reference is None or all(
        understood(part.role or "").head in ROLLING
        for part in reference.parts
        if _lowest(reference, part.id) <= FLOOR_BAND_M
    )


def _lowest(design: Design, part: str) -> float:
    """Height of a part's lowest point above the design's, m."""
    return float(design.by_id[part].world.bounds[0][2] - design.bounds[0][2])


def rolling_parts(subject: Subject) -> tuple[str, ...]:
    """All parts that roll: when one kind of wheel is tested the others are released too."""
    claimed = {claim.moving_part for claim in subject.facts.motions if subject.knows(claim.moving_part)}
    names = [
        name for name in sorted(claimed) if understood(name).head in ROLLING and _grounded(subject, name)
    ]
    chosen = {part for name in names for part in subject.factors(name)}
    return tuple(part.id for part in subject.design.parts if part.id in chosen)


def motion_capability(trial: Trial, answer: MotionResult | None) -> Capability:
    """A claimed motion, worth what the simulation says; without an answer 0, with the reason."""
    what = f"{trial.claim.moving_part} {VERBS[MOTION_CLASSES[trial.claim.joint_type]]}"
    if answer is None:
        return Capability(trial.claim.id, "M", (Link(what, 0.0, trial.why, trial.parts),))
    joint = answer.best.joint if answer.best is not None else ""
    joints = (joint,) if joint else trial.request.joints if isinstance(trial.request, Actuate) else ()
    why = "" if answer.status == "works" else f"{answer.status}: {answer.reason}"
    return Capability(trial.claim.id, "M", (Link(what, answer.score, why, trial.parts, joints),))


def simulation_evidence(result: SimulationResult, trials: Sequence[Trial]) -> dict[str, object]:
    """What the simulation saw: how the object settled, every motion, what was switched off or lies flush."""
    motions = [
        {
            "claims": [trial.claim.id for trial in trials if trial.request == answer.request],
            "test": "roll" if isinstance(answer.request, Roll) else "actuate",
            "score": answer.score,
            "status": answer.status,
            "reason": answer.reason,
            "best": asdict(answer.best) if answer.best is not None else None,
            "attempts": len(answer.attempts),
            "masked": [asdict(pair) for pair in answer.masked],
            "flush": [list(pair) for pair in answer.flush],
            "notes": list(answer.notes),
        }
        for answer in result.motions
    ]
    return {
        "engine": result.settings.engine,
        "protocol": result.settings.protocol,
        "settled": asdict(result.settled),
        "motions": motions,
        "root": list(result.root),
        "bodies": [list(parts) for parts in result.bodies],
        "collisions_off": [list(pair) for pair in result.excluded],
        "dropped_loops": list(result.dropped_loops),
    }
