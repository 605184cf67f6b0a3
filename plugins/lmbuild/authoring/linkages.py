"""Solids that mechanisms are made of: rods, tubes, links with eyes and forks, wheels and casters."""

from __future__ import annotations

from itertools import pairwise
from math import cos, radians, sin

from workshop import Solid, box, cylinder, difference, hull, revolve, union

Point = tuple[float, float, float]
ROOM = 0.01
"""Room between an eye and the bottom of the fork it turns in, m."""


def rod_x(radius: float, length: float) -> Solid:
    """A cylinder along X about the origin."""
    return cylinder(radius, length).turned(y=90)


def rod_y(radius: float, length: float) -> Solid:
    """A cylinder along Y about the origin."""
    return cylinder(radius, length).turned(x=90)


def tube(outer: float, inner: float, height: float) -> Solid:
    """A tube along Z about the origin, by its radii."""
    return cylinder(outer, height) - cylinder(inner, 2 * height)


def bent(solid: Solid, *points: Point) -> Solid:
    """A bent bar: the hulls of one small solid at each point and the next."""
    return union(*(hull(solid.at(*a), solid.at(*b)) for a, b in pairwise(points)))


def fork(radius: float, gap: float, cheek: float, bolt: float, stem: float) -> Solid:
    """Two cheeks with eyes at the origin, X across them, on a bridge that ends `stem` below the origin."""
    top = -radius - ROOM
    bridge = box(gap + 2 * cheek, 2 * radius, stem + top).at(z=(top - stem) / 2)
    cheeks = [
        hull(rod_x(radius, cheek), box(cheek, 2 * radius, 0.002).at(z=top - 0.001)).at(x=side)
        for side in (-(gap + cheek) / 2, (gap + cheek) / 2)
    ]
    return difference(union(bridge, *cheeks), rod_x(bolt, 2 * gap + 4 * cheek))


def link(length: float, radius: float, thick: float, bolt: float, cheek: float = 0.0) -> Solid:
    """A bar along Z from an eye at the origin to an eye or, with `cheek`, a fork at z = `length`."""
    eye = rod_x(radius, thick)
    if not cheek:
        bar = hull(eye, eye.at(z=length))
        return difference(bar, rod_x(bolt, 2 * thick), rod_x(bolt, 2 * thick).at(z=length))
    stem = radius + ROOM + 0.016
    bar = hull(eye, box(thick, 2 * radius, 0.002).at(z=length - stem))
    return difference(union(bar, fork(radius, thick, cheek, bolt, stem).at(z=length)), rod_x(bolt, 2 * thick))


def tip(start: Point, length: float, lean: float) -> Point:
    """The end of a link that leans `lean` degrees forward (toward −Y) from the upright."""
    x, y, z = start
    return (x, y - length * sin(radians(lean)), z + length * cos(radians(lean)))


def tyre(radius: float, width: float, bore: float) -> Solid:
    """A wheel about X with rounded shoulders."""
    half, edge = width / 2, radius - width / 5
    rim = [(0, -half), (edge, -half), (radius, -half / 2), (radius, half / 2), (edge, half), (0, half)]
    return difference(revolve(rim).turned(y=90), rod_x(bore, 2 * width))


def caster_fork(radius: float, width: float, bore: float, stem: float, trail: float) -> Solid:
    """A cap over a wheel whose axle is at the origin, with one cheek, a stub axle and a stem upward.

    The stem stands `trail` in front of the axle; its foot, on top of the cap, is at z = radius + 0.018.
    """
    top = radius + 0.012
    cap = hull(box(width + 0.016, 0.05, 0.012).at(0.004, 0, top), cylinder(0.02, 0.012).at(0, -trail, top))
    side = width / 2 + 0.006
    cheek = hull(rod_x(0.016, 0.012).at(x=side), box(0.012, 0.04, 0.01).at(side, 0, top))
    return union(cap, cheek, rod_x(bore, width).at(x=0.006), cylinder(stem, 0.04).at(0, -trail, top + 0.02))
