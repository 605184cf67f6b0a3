"""H: what a person's use puts to an object, predicate by predicate (their form is in `human_checks`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from evalkit_lmbuild.design import Part, Vector
from evalkit_lmbuild.facts import HumanCheck
from evalkit_lmbuild.human_checks import PredicateError, read_predicate
from evalkit_lmbuild.kernel import gap
from evalkit_lmbuild.operability.capability import Capability, Link
from evalkit_lmbuild.operability.reach import reachable
from evalkit_lmbuild.operability.spaces import (
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
    name, arguments = read_predicate(predicate)
    return _JUDGES[name](subject, **{_PARAMETERS.get(key, key): value for key, value in arguments.items()})


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
    apart_m, nearest = _nearest(subject, pairs)
    score = 1.0 - float(np.clip((apart_m - max_gap_m) / GAP_DECAY_M, 0.0, 1.0))
    why = f"{apart_m:.3f} m apart, at most {max_gap_m:g} m" if score < 1 else ""
    return Link(what, score, why, _ids(nearest))


def _nearest(subject: Subject, pairs: Sequence[tuple[Part, Part]]) -> tuple[float, tuple[Part, Part]]:
    """The smallest gap, m, and its pair; parts that touch have none. Far boxes are not looked into."""
    touching = {frozenset(pair) for pair in subject.field.touching()}
    bounds = np.array([(*one.world.bounds, *two.world.bounds) for one, two in pairs])
    boxes_m = np.linalg.norm(
        np.maximum(0.0, np.maximum(bounds[:, 0] - bounds[:, 3], bounds[:, 2] - bounds[:, 1])), axis=1
    )
    best_m, best = np.inf, pairs[0]
    for index in np.argsort(boxes_m, kind="stable").tolist():
        if boxes_m[index] >= best_m:
            break
        one, two = pairs[index]
        apart_m = 0.0 if {one.id, two.id} in touching else gap(one, two).gap_m
        if apart_m < best_m:
            best_m, best = apart_m, pairs[index]
    return float(best_m), best


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
    where = f" between {low:g} and {high:g} m" if np.isfinite(high) else ""
    why = f"{area:.3f} of {min_area_m2:g} m²{where}" if score < 1 else ""
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


_JUDGES: Mapping[str, Callable[..., Link]] = {
    "part_present": present,
    "reachable": reachable,
    "ground_contact": ground_contact,
    "colocated": colocated,
    "grip": grip,
    "surface": surface,
    "clearance": clearance,
}
_PARAMETERS = {"from": "origin"}
"""Arguments that can't be parameters of that name in Python."""
