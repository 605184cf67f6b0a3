"""Whether a person can reach something, sitting on the object or standing beside it."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats, Part
from evalkit_lmbuild.kernel import distance_to_surface
from evalkit_lmbuild.operability.capability import Link
from evalkit_lmbuild.operability.subject import Subject

REACH_M = 0.70
SEATED_SHOULDER_M = 0.60
"""Height of the shoulder above the seat."""
STANDING_SHOULDER_M = 1.40
BENT_SHOULDER_M = 0.70
"""How low the shoulder of someone standing gets, who bends down to something."""
SEAT = "seat"
STANDING = "standing"


def reachable(subject: Subject, target: str, origin: str | None = None, reach_m: float = REACH_M) -> Link:
    """1 up to the reach, falling to 0 at twice the reach: the distance from the shoulder to the nearest part.

    `origin` names what the person sits on, or is "standing"; None: the seat if the design has one. Who stands
    does so beside the object where it is nearest, and bends as far as to 0.70 m for what is low.
    """
    what = f"{target} reachable"
    targets = subject.parts(target)
    if not targets:
        return Link(what, 0.0, f"there is no {target}")
    if origin is None:
        origin = SEAT if subject.factors(SEAT) else STANDING
    seats = [] if origin == STANDING else subject.parts(origin)
    if origin != STANDING and not seats:
        return Link(what, 0.0, f"there is no {origin} to reach it from", tuple(part.id for part in targets))
    distances = {
        part.id: distance_to_surface(part, _seated(seats) if seats else _beside(subject, part))
        for part in targets
    }
    nearest = min(distances, key=lambda part: distances[part])
    score = float(np.clip((2 * reach_m - distances[nearest]) / reach_m, 0.0, 1.0))
    why = f"{nearest} is {distances[nearest]:.2f} m from the shoulder" if score < 1 else ""
    return Link(what, score, why, (nearest,))


def _seated(seats: list[Part]) -> Floats:
    """The shoulder above the middle of what is sat on."""
    corners = [part.world.bounds for part in seats]
    low = np.min([low for low, _ in corners], axis=0)
    high = np.max([high for _, high in corners], axis=0)
    x, y = (low[:2] + high[:2]) / 2
    return np.array([x, y, high[2] + SEATED_SHOULDER_M])


def _beside(subject: Subject, target: Part) -> Floats:
    """The shoulder of someone who stands at the edge of the object's bounding box, where it is nearest."""
    low, high = subject.design.bounds
    centre = np.mean(target.world.bounds, axis=0)
    sides = [(float(centre[axis] - low[axis]), axis, low[axis]) for axis in (0, 1)]
    sides += [(float(high[axis] - centre[axis]), axis, high[axis]) for axis in (0, 1)]
    _, axis, edge = min(sides, key=lambda side: side[0])
    shoulder = centre.copy()
    shoulder[axis] = edge
    above = centre[2] - subject.floor_m
    shoulder[2] = subject.floor_m + np.clip(above, BENT_SHOULDER_M, STANDING_SHOULDER_M)
    return np.asarray(shoulder)
