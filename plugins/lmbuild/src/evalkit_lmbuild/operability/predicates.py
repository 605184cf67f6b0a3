"""H: what a person's use puts to an object, as predicates with arguments.

A predicate is a mapping: `pred` names it, the rest are its arguments; lengths in m, areas in m². `check` says
what is wrong with one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evalkit_lmbuild.design import Part
from evalkit_lmbuild.facts import HumanCheck
from evalkit_lmbuild.kernel import gap
from evalkit_lmbuild.operability.capability import Capability, Link
from evalkit_lmbuild.operability.predicate_arguments import Arguments, PredicateError
from evalkit_lmbuild.operability.reach import REACH_M, reachable
from evalkit_lmbuild.operability.spaces import (
    BODIES,
    PLACEMENTS,
    body_box,
    free_share,
    ground_clusters,
    level_area,
)
from evalkit_lmbuild.operability.subject import Subject

GAP_M = 0.10
GAP_DECAY_M = 0.20
GRIP_M = (0.015, 0.070)
MIN_FREE = 0.9


def human_capability(subject: Subject, check: HumanCheck) -> Capability:
    """A check: as good as its weakest predicate. `PredicateError` for one that is wrong."""
    links = tuple(holds(subject, predicate) for predicate in check.predicates)
    if not links:
        raise PredicateError(f"human check {check.id} has no predicate")
    return Capability(check.id, "H", links)


def holds(subject: Subject, predicate: Mapping[str, object]) -> Link:
    """How far one predicate holds, in [0, 1]. `PredicateError` for one that is wrong."""
    name, arguments = _read(predicate)
    return _PREDICATES[name][0](subject, arguments)


def check(predicate: Mapping[str, object]) -> None:
    """Raise `PredicateError`, in one line, for a predicate that isn't known or has other arguments."""
    _read(predicate)


def _read(predicate: Mapping[str, object]) -> tuple[str, Arguments]:
    name = predicate.get("pred")
    if not isinstance(name, str) or name not in _PREDICATES:
        raise PredicateError(f"there is no predicate {name!r}; there are {', '.join(_PREDICATES)}")
    return name, Arguments(name, predicate, **_PREDICATES[name][1])


def _present(subject: Subject, given: Arguments) -> Link:
    return subject.present(given.text("role"))


def _reachable(subject: Subject, given: Arguments) -> Link:
    return reachable(
        subject, given.text("target"), given.optional_text("from"), given.number("reach_m", REACH_M)
    )


def _ground_contact(subject: Subject, given: Arguments) -> Link:
    """Separate places where the object, or a component of it, meets the ground, of those it needs."""
    role = given.optional_text("role")
    parts = subject.parts(role) if role is not None else list(subject.design.parts)
    what = f"{role or 'the object'} on the ground"
    if not parts:
        return Link(what, 0.0, f"there is no {role}")
    needed = given.number("min_clusters", 1.0 if role is None else float(subject.needed(role)))
    found = ground_clusters(subject.field, [part.id for part in parts])
    score = min(1.0, found / needed)
    why = f"meets the ground in {found} of {needed:g} places" if score < 1 else ""
    return Link(what, score, why, _ids(parts) if role is not None else ())


def _colocated(subject: Subject, given: Arguments) -> Link:
    """1 up to the allowed gap between the nearest parts of two components, 0 from 0.20 m more."""
    a, b = given.text("a"), given.text("b")
    allowed = given.number("max_gap_m", GAP_M)
    what = f"{a} at {b}"
    for name in (a, b):
        if not subject.parts(name):
            return Link(what, 0.0, f"there is no {name}")
    pairs = [(one, two) for one in subject.parts(a) for two in subject.parts(b) if one.id != two.id]
    if not pairs:
        return Link(what, 1.0, parts=_ids(subject.parts(a)))
    touching = set(subject.field.touching())
    gaps = [
        0.0 if (one.id, two.id) in touching or (two.id, one.id) in touching else gap(one, two).gap_m
        for one, two in pairs
    ]
    nearest = int(np.argmin(gaps))
    score = 1.0 - float(np.clip((gaps[nearest] - allowed) / GAP_DECAY_M, 0.0, 1.0))
    why = f"{gaps[nearest]:.3f} m apart, at most {allowed:g} m" if score < 1 else ""
    return Link(what, score, why, _ids(pairs[nearest]))


def _grip(subject: Subject, given: Arguments) -> Link:
    """Share of the two smaller extents of the best part that a hand closes round: 15 to 70 mm."""
    role = given.text("role")
    what = f"{role} can be gripped"
    best = Link(what, 0.0, f"there is no {role}")
    for part in subject.parts(role):
        thin = np.sort(part.mesh.size)[:2]
        score = float(np.mean((thin >= GRIP_M[0] - 1e-9) & (thin <= GRIP_M[1] + 1e-9)))
        why = f"{part.id} is {1000 * thin[0]:.0f} × {1000 * thin[1]:.0f} mm thick" if score < 1 else ""
        if score > best.score or not best.parts:
            best = Link(what, score, why, (part.id,))
    return best


def _surface(subject: Subject, given: Arguments) -> Link:
    """The area, seen from above, of what lies in the window of heights, of the area needed."""
    role = given.text("role")
    what = f"surface of {role}"
    parts = subject.parts(role)
    if not parts:
        return Link(what, 0.0, f"there is no {role}")
    needed = given.number("min_area_m2")
    low, high = given.window("height_range_m", (-np.inf, np.inf))
    area = level_area(parts, low + subject.floor_m, high + subject.floor_m)
    score = min(1.0, area / needed)
    why = f"{area:.3f} of {needed:g} m² between {low:g} and {high:g} m" if score < 1 else ""
    return Link(what, score, why, _ids(parts))


def _clearance(subject: Subject, given: Arguments) -> Link:
    """The free share of the room that a body takes beside a component, of the share needed."""
    anchor, placement = given.text("anchor"), given.text("placement", "above")
    what = f"room {placement} {anchor}"
    parts = subject.parts(anchor)
    if not parts:
        return Link(what, 0.0, f"there is no {anchor}")
    low, high = body_box(parts, given.box("box", BODIES), given.choice(placement, PLACEMENTS))
    free, blocked_by = free_share(subject.field, low, high)
    needed = given.number("min_free", MIN_FREE)
    score = min(1.0, free / needed)
    why = f"{100 * free:.0f} % free, {100 * needed:.0f} % needed" if score < 1 else ""
    return Link(what, score, why, blocked_by if score < 1 else _ids(parts))


def _ids(parts: list[Part] | tuple[Part, ...]) -> tuple[str, ...]:
    return tuple(part.id for part in parts)


_PREDICATES: dict[str, tuple[Callable[[Subject, Arguments], Link], dict[str, tuple[str, ...]]]] = {
    "part_present": (_present, {"required": ("role",)}),
    "reachable": (_reachable, {"required": ("target",), "optional": ("from", "reach_m")}),
    "ground_contact": (_ground_contact, {"optional": ("role", "min_clusters")}),
    "colocated": (_colocated, {"required": ("a", "b"), "optional": ("max_gap_m",)}),
    "grip": (_grip, {"required": ("role",)}),
    "surface": (_surface, {"required": ("role", "min_area_m2"), "optional": ("height_range_m",)}),
    "clearance": (_clearance, {"required": ("anchor", "box"), "optional": ("placement", "min_free")}),
}
