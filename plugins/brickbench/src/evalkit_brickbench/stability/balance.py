"""A component by itself on the ground, and the centre-of-mass check that is reported beside each verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability.bodies import Body
from evalkit_brickbench.stability.constants import LIMIT_LDU, LONE_MARGIN_LDU, TILT_DEGREES, TOUCH_LDU

TIP_SLACK_LDU = 0.5
"""A component that tips by less than this beyond the limit is left to the simulation."""


def polygon(points: Floats) -> Floats:
    """Corners [h, 2] of the convex hull of points [n, 2], counter-clockwise; one or two if it's flat."""
    ordered = np.unique(np.round(points, 6), axis=0)
    if len(ordered) < 3:
        return ordered

    def chain(rows: Floats) -> list[Floats]:
        kept: list[Floats] = []
        for row in rows:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], row) <= 1e-9:
                kept.pop()
            kept.append(row)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def margin(corners: Floats, point: Floats) -> float:
    """How far inside a convex polygon [h, 2] a point lies, LDU; outside: minus its distance."""
    start, end = corners, np.roll(corners, -1, axis=0)
    along = end - start
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    t = np.clip(((point - start) * along).sum(axis=1) / length, 0.0, 1.0)
    distance = float(np.linalg.norm(start + t[:, None] * along - point, axis=1).min())
    if len(corners) < 3:
        return -distance
    inside = along[:, 0] * (point - start)[:, 1] - along[:, 1] * (point - start)[:, 0]
    return distance if bool((inside >= 0).all()) else -distance


def centre_margin(body: Body, support: Floats) -> float | None:
    """`margin` of a body's centre of mass over its support points [n, 3], from above; None without any."""
    if not len(support):
        return None
    return margin(polygon(support[:, [0, 2]]), body.centre[[0, 2]])


def tilt_shift(body: Body) -> float:
    """How far a tilt by `TILT_DEGREES` moves the centre of mass over the ground under it, LDU."""
    height = max(0.0, body.lowest_ldu - float(body.centre[1]))
    return height * float(np.tan(np.radians(TILT_DEGREES)))


def feet(body: Body) -> Floats:
    """The corners [n, 3] on which a body stands when it is set down on a plane as it is."""
    corners: Floats = body.hull[body.hull[:, 1] >= body.lowest_ldu - TOUCH_LDU]
    return corners


@dataclass(frozen=True, slots=True)
class Tip:
    """How far a body moves when it tips over, LDU, and the index of the corner that moves furthest."""

    motion_ldu: float
    corner: int


def tips(body: Body) -> Tip | None:
    """The motion of a lone body whose centre of mass is clearly outside its support: it turns about the edge
    (or foot) nearest to the centre until another corner meets the ground. None if that isn't clear, or if
    the motion is near the limit: then it has to be simulated.
    """
    support = feet(body)
    corners = polygon(support[:, [0, 2]])
    centre = body.centre[[0, 2]]
    if margin(corners, centre) > -LONE_MARGIN_LDU:
        return None
    pivot = _nearest(corners, centre)
    outward = (centre - pivot) / np.linalg.norm(centre - pivot)
    beyond = (body.hull[:, [0, 2]] - pivot) @ outward
    above = body.lowest_ldu - body.hull[:, 1]
    next_feet = beyond > LONE_MARGIN_LDU
    angle = float(np.arctan2(above[next_feet], beyond[next_feet]).min())
    motion = 2 * np.sin(max(angle, 0.0) / 2) * np.hypot(beyond, above)
    corner = int(motion.argmax())
    if motion[corner] < LIMIT_LDU + TIP_SLACK_LDU:
        return None
    return Tip(float(motion[corner]), corner)


def _nearest(corners: Floats, point: Floats) -> Floats:
    start, end = corners, np.roll(corners, -1, axis=0)
    along = end - start
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    t = np.clip(((point - start) * along).sum(axis=1) / length, 0.0, 1.0)
    candidates = start + t[:, None] * along
    nearest: Floats = candidates[int(np.linalg.norm(candidates - point, axis=1).argmin())]
    return nearest


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
