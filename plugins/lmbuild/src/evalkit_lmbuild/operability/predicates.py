"""H: what a person's use puts to an object, as predicates with arguments.

A predicate is a mapping: `pred` names it, the rest are its arguments; lengths in m, areas in m². `check` says
what is wrong with one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evalkit_lmbuild.design import Part, Vector
from evalkit_lmbuild.facts import HumanCheck
from evalkit_lmbuild.kernel import gap
from evalkit_lmbuild.operability.capability import Capability, Link
from evalkit_lmbuild.operability.predicate_arguments import (
    PredicateError,
    Reader,
    box,
    number,
    one_of,
    read,
    text,
    window,
)
from evalkit_lmbuild.operability.reach import reachable
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
ROUNDING_M = 1e-9


def human_capability(subject: Subject, check: HumanCheck) -> Capability:
    """A check: as good as its weakest predicate. `PredicateError` for one that is wrong."""
    links = tuple(holds(subject, predicate) for predicate in check.predicates)
    if not links:
        raise PredicateError(f"human check {check.id} has no predicate")
    return Capability(check.id, "H", links)


def holds(subject: Subject, predicate: Mapping[str, object]) -> Link:
    """How far one predicate holds, in [0, 1]. `PredicateError` for one that is wrong."""
    form, arguments = _read(predicate)
    return form.judge(subject, **arguments)


def check(predicate: Mapping[str, object]) -> None:
    """Raise `PredicateError`, in one line, for a predicate that isn't known or whose arguments are wrong."""
    _read(predicate)


def present(subject: Subject, role: str) -> Link:
    """Whether a component is there."""
    return subject.present(role)


def ground_contact(subject: Subject, role: str | None = None, min_clusters: float | None = None) -> Link:
    """Separate places where the object, or a component of it, meets the ground, of those it needs."""
    parts = subject.parts(role) if role is not None else list(subject.design.parts)
    what = f"{role or 'the object'} on the ground"
    if not parts:
        return Link(what, 0.0, f"there is no {role}")
    needed = min_clusters or (1.0 if role is None else float(subject.needed(role)))
    found = ground_clusters(subject.field, _ids(parts))
    score = min(1.0, found / needed)
    why = f"meets the ground in {found} of {needed:g} places" if score < 1 else ""
    return Link(what, score, why, _ids(parts) if role is not None else ())


def colocated(subject: Subject, a: str, b: str, max_gap_m: float = GAP_M) -> Link:
    """1 up to the allowed gap between the nearest parts of two components, 0 from 0.20 m more."""
    what = f"{a} at {b}"
    for name in (a, b):
        if not subject.parts(name):
            return Link(what, 0.0, f"there is no {name}")
    pairs = [(one, two) for one in subject.parts(a) for two in subject.parts(b) if one.id != two.id]
    if not pairs:
        return Link(what, 1.0, parts=_ids(subject.parts(a)))
    touching = {frozenset(pair) for pair in subject.field.touching()}
    gaps = [0.0 if {one.id, two.id} in touching else gap(one, two).gap_m for one, two in pairs]
    nearest = int(np.argmin(gaps))
    score = 1.0 - float(np.clip((gaps[nearest] - max_gap_m) / GAP_DECAY_M, 0.0, 1.0))
    why = f"{gaps[nearest]:.3f} m apart, at most {max_gap_m:g} m" if score < 1 else ""
    return Link(what, score, why, _ids(pairs[nearest]))


def grip(subject: Subject, role: str) -> Link:
    """Share of the two smaller extents of the best part that a hand closes round: 15 to 70 mm."""
    what = f"{role} can be gripped"
    best = Link(what, 0.0, f"there is no {role}")
    for part in subject.parts(role):
        thin = np.sort(part.mesh.size)[:2]
        score = float(np.mean((thin >= GRIP_M[0] - ROUNDING_M) & (thin <= GRIP_M[1] + ROUNDING_M)))
        why = f"{part.id} is {1000 * thin[0]:.0f} × {1000 * thin[1]:.0f} mm thick" if score < 1 else ""
        if score > best.score or not best.parts:
            best = Link(what, score, why, (part.id,))
    return best


def surface(
    subject: Subject, role: str, min_area_m2: float, height_range_m: tuple[float, float] = (-np.inf, np.inf)
) -> Link:
    """The area, seen from above, of what lies in the window of heights, of the area needed."""
    what = f"surface of {role}"
    parts = subject.parts(role)
    if not parts:
        return Link(what, 0.0, f"there is no {role}")
    low, high = height_range_m
    area = level_area(parts, low + subject.floor_m, high + subject.floor_m)
    score = min(1.0, area / min_area_m2)
    why = f"{area:.3f} of {min_area_m2:g} m² between {low:g} and {high:g} m" if score < 1 else ""
    return Link(what, score, why, _ids(parts))


def clearance(
    subject: Subject, anchor: str, box: Vector, placement: str = "above", min_free: float = MIN_FREE
) -> Link:
    """The free share of the room that a body takes beside a component, of the share needed."""
    what = f"room {placement} {anchor}"
    parts = subject.parts(anchor)
    if not parts:
        return Link(what, 0.0, f"there is no {anchor}")
    free, filling = free_share(subject.field, *body_box(parts, box, placement))
    score = min(1.0, free / min_free)
    why = f"{100 * free:.0f} % free, {100 * min_free:.0f} % needed" if score < 1 else ""
    return Link(what, score, why, filling if score < 1 else _ids(parts))


def _ids(parts: Sequence[Part]) -> tuple[str, ...]:
    return tuple(part.id for part in parts)


@dataclass(frozen=True)
class _Form:
    """A predicate: what judges it, and how its arguments are read."""

    judge: Callable[..., Link]
    required: Mapping[str, Reader]
    optional: Mapping[str, Reader] = field(default_factory=dict)


_FORMS = {
    "part_present": _Form(present, {"role": text}),
    "reachable": _Form(reachable, {"target": text}, {"from": text, "reach_m": number}),
    "ground_contact": _Form(ground_contact, {}, {"role": text, "min_clusters": number}),
    "colocated": _Form(colocated, {"a": text, "b": text}, {"max_gap_m": number}),
    "grip": _Form(grip, {"role": text}),
    "surface": _Form(surface, {"role": text, "min_area_m2": number}, {"height_range_m": window}),
    "clearance": _Form(
        clearance,
        {"anchor": text, "box": box(BODIES)},
        {"placement": one_of(PLACEMENTS), "min_free": number},
    ),
}
_PARAMETERS = {"from": "origin"}
"""Arguments that can't be parameters of that name in Python."""


def _read(predicate: Mapping[str, object]) -> tuple[_Form, dict[str, object]]:
    name = predicate.get("pred")
    if not isinstance(name, str) or name not in _FORMS:
        raise PredicateError(f"there is no predicate {name!r}; there are {', '.join(_FORMS)}")
    form = _FORMS[name]
    found = read(name, predicate, form.required, form.optional)
    return form, {_PARAMETERS.get(key, key): value for key, value in found.items()}
