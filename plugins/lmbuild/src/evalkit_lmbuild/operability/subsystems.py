"""F and P: are the components there that work together, and does each get what the other hands on?"""

from __future__ import annotations

from evalkit_lmbuild.facts import Connection, Subsystem
from evalkit_lmbuild.lexicon import understood
from evalkit_lmbuild.operability.capability import Capability, Link
from evalkit_lmbuild.operability.reach import reachable
from evalkit_lmbuild.operability.subject import Subject

HOPS = 4
CONTROL_HOPS = 6
MOTION = "motion"
NO_JOINT = 0.5
"""What a connection of motion is worth that crosses no moving joint."""
CONTROLS = frozenset(
    ("pedal", "lever", "handle", "knob", "button", "switch", "crank", "steering wheel"),
)


def subsystem_capability(subject: Subject, subsystem: Subsystem) -> Capability | None:
    """Every named part present, every connection made, every control in reach and chained to the others.

    Names of what isn't built (the ground, the user) are left out; None if nothing remains.
    """
    names = [name for name in subsystem.parts if subject.knows(name)]
    links = [subject.present(name) for name in names]
    links += [
        connected(subject, connection)
        for connection in subsystem.connections
        if subject.knows(connection.start) and subject.knows(connection.end)
    ]
    for name in names:
        if understood(name).head in CONTROLS:
            links.append(reachable(subject, name))
            others = [other for other in names if other != name]
            if others:
                links.append(_chained(subject, name, others))
    return Capability(subsystem.id, "F", tuple(links)) if links else None


def connected(subject: Subject, connection: Connection) -> Link:
    """Whether at most four hops over contacts and joints lead from one component to the other.

    What carries motion has to end on a part that some joint moves (else 0) and to cross a moving joint
    (else ½).
    """
    what = f"{connection.start} – {connection.end} ({connection.carries})"
    starts, ends = (list(subject.factors(name)) for name in (connection.start, connection.end))
    for name, found in ((connection.start, starts), (connection.end, ends)):
        if not found:
            return Link(what, 0.0, f"there is no {name}")
    parts = tuple(dict.fromkeys((*starts, *ends)))
    if not subject.graph.linked(starts, ends, HOPS):
        return Link(what, 0.0, f"no path of {HOPS} contacts or joints", parts)
    if connection.carries != MOTION:
        return Link(what, 1.0, parts=parts)
    moved = {part for ids in subject.moving.values() for part in ids}
    ends = [part for part in ends if part in moved]
    if not subject.graph.linked(starts, ends, HOPS):
        return Link(what, 0.0, f"no joint moves the {connection.end}", parts)
    if not subject.graph.linked_by_joint(starts, ends):
        return Link(what, NO_JOINT, f"no path of {HOPS} contacts or joints crosses a moving joint", parts)
    return Link(what, 1.0, parts=parts)


def _chained(subject: Subject, control: str, others: list[str]) -> Link:
    """Whether a control hangs together with another part of its subsystem over at most six hops."""
    parts = list(subject.factors(control))
    ends = [part for name in others for part in subject.factors(name)]
    if subject.graph.linked(parts, ends, CONTROL_HOPS):
        return Link(f"{control} chained", 1.0, parts=tuple(parts))
    why = f"no path of {CONTROL_HOPS} contacts or joints from the {control} to {', '.join(others)}"
    return Link(f"{control} chained", 0.0, why, tuple(parts))


def required_capability(subject: Subject) -> Capability | None:
    """P: the required parts that no subsystem names; None if there are none."""
    named = {subject.naming.named(name) for each in subject.facts.subsystems for name in each.parts}
    left: dict[str, str] = {}
    for claim in subject.facts.required_parts:
        component = subject.naming.named(claim.part)
        if component is not None and component not in named:
            left.setdefault(component, claim.part)
    links = tuple(subject.present(name) for name in left.values())
    return Capability("P", "P", links) if links else None
