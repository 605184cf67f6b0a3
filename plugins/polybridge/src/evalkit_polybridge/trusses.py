"""The vocabulary of trusses: which joints and members a span may have, before any member gets a material.

A span runs between two road ends (banks, platform corners). A `Topology` is a connectivity: a deck of
panels, a chord above or below it, a web of one kind, and the native supports it leans on. A geometry adds
two lengths to it, the truss's depth and the deck's rise at midspan, so that many geometries of one topology
are arrays and can be solved together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

import numpy as np

from evalkit_polybridge.constants import ROAD
from evalkit_polybridge.graph import Level, Node, Platform
from evalkit_polybridge.statics import Bools, Floats, Ints

Web = Literal["warren", "pratt", "howe"]
WEBS: tuple[Web, ...] = ("warren", "pratt", "howe")
BELOW, ABOVE = -1, 1

#: Longest deck panels tried, in metres; the road's own limit of 2 m is the first.
PANEL_LENGTHS_M = (2.0, 1.67, 1.43, 1.25)


@dataclass(frozen=True, slots=True)
class Span:
    """A gap to bridge: its two road ends and the other native anchors within reach."""

    left: Node
    right: Node
    supports: tuple[Node, ...] = ()

    @property
    def length_m(self) -> float:
        """Horizontal distance between the road ends."""
        return self.right.x - self.left.x

    def line_y(self, x: float) -> float:
        """Height of the straight line between the road ends at `x`."""
        return self.left.y + (self.right.y - self.left.y) * (x - self.left.x) / self.length_m


@dataclass(frozen=True, slots=True)
class Topology:
    """Connectivity of a truss over one span.

    Joints are numbered: deck joints 0…panels from left to right, then chord joints, then native supports.

    Attributes:
        web: kind of web.
        side: `BELOW` or `ABOVE` the deck.
        panels: number of road panels.
        support: how native supports are used, in words; empty without.
        u: position of every joint along the span, 0…1, (n,).
        chord: which joints are lowered or raised by the depth, (n,).
        supports: the native anchors which are the last joints.
        members: joint indices of the members' ends, (m, 2); the road panels come first.
    """

    web: Web
    side: int
    panels: int
    support: str
    u: Floats
    chord: Bools
    supports: tuple[Node, ...]
    members: Ints

    @property
    def kind(self) -> tuple[int, str, int, str]:
        """Side, web, panels and support: what tells two topologies of one span apart."""
        return (self.side, self.web, self.panels, self.support)

    @property
    def road(self) -> Bools:
        """Which members are road panels, (m,)."""
        return np.arange(len(self.members)) < self.panels

    @property
    def fixed(self) -> Bools:
        """Which joints are native anchors, (n,)."""
        fixed = np.zeros(len(self.u), dtype=np.bool_)
        fixed[[0, self.panels]] = True
        fixed[len(self.u) - len(self.supports) :] = True
        return fixed


def coordinates(span: Span, topology: Topology, depth_m: Floats, rise_m: Floats) -> Floats:
    """Joint coordinates (G, n, 2) for G pairs of depth and rise; the deck is a parabola on the span."""
    u = topology.u
    line = span.left.y + (span.right.y - span.left.y) * u
    xy = np.empty((len(depth_m), len(u), 2))
    xy[:, :, 0] = span.left.x + span.length_m * u
    xy[:, :, 1] = line + rise_m[:, None] * 4 * u * (1 - u) + topology.side * depth_m[:, None] * topology.chord
    for joint, anchor in enumerate(topology.supports, start=len(u) - len(topology.supports)):
        xy[:, joint] = (anchor.x, anchor.y)
    return xy


def level_spans(level: Level) -> list[tuple[Span, ...]]:
    """The ways to cut a level into spans, fewest unused platforms first.

    Every platform is either used as ground between two spans or passed over.
    """
    platforms = sorted(level.platforms, key=lambda p: p.x_start)
    ways = [used for count in range(len(platforms), -1, -1) for used in combinations(platforms, count)]
    return [_cut(level, used) for used in ways]


def _cut(level: Level, used: tuple[Platform, ...]) -> tuple[Span, ...]:
    anchors = {node.id: node for node in level.anchors}
    corners = {i for platform in level.platforms for i in platform.anchor_ids}
    extra = [node for node in level.anchors if node.id not in corners | {1, 2}]
    ends = [anchors[1], *(anchors[i] for p in used for i in p.anchor_ids), anchors[2]]
    return tuple(
        Span(left, right, tuple(node for node in extra if left.x <= node.x <= right.x))
        for left, right in zip(ends[::2], ends[1::2], strict=True)
    )


def panel_counts(span: Span) -> list[int]:
    """Numbers of road panels worth trying, fewest first; a panel never exceeds the road's longest member."""
    road_m = math.hypot(span.length_m, span.right.y - span.left.y)
    least = max(2, math.ceil(road_m / ROAD.max_length_m - 1e-9))
    return sorted({max(least, math.ceil(road_m / panel - 1e-9)) for panel in PANEL_LENGTHS_M} | {least + 1})


def topologies(span: Span, panels: int) -> Iterator[Topology]:
    """Every web on either side of a deck of `panels`, without and with the native supports."""
    for web in WEBS:
        if web == "howe" and panels < 4:
            continue  # the same members as pratt
        for side in (BELOW, ABOVE):
            plain = _plain(web, side, panels)
            yield plain
            yield from _supported(span, plain)


def _plain(web: Web, side: int, panels: int) -> Topology:
    deck_u = np.arange(panels + 1) / panels
    first = panels + 1
    if web == "warren":
        chord_u = (np.arange(panels) + 0.5) / panels
        diagonals = [(j + i, first + j) for j in range(panels) for i in (0, 1)]
    else:
        chord_u = deck_u[1:-1]
        diagonals = _braces(web, side, panels)
    last = first + len(chord_u) - 1
    members = [*pairwise(range(first)), *pairwise(range(first, last + 1)), *diagonals]
    u = np.concatenate([deck_u, chord_u])
    return Topology(web, side, panels, "", u, np.arange(len(u)) >= first, (), np.array(members))


def _braces(web: Web, side: int, panels: int) -> list[tuple[int, int]]:
    """End diagonals, verticals and panel diagonals of a Pratt or Howe truss.

    Under a uniform load Pratt diagonals are pulled and Howe diagonals pushed, on either side of the deck.
    """
    chord = {i: panels + i for i in range(1, panels)}
    members = [(0, chord[1]), (panels, chord[panels - 1])]
    members += [(i, chord[i]) for i in range(1, panels)]
    deck_leads = (web == "pratt") == (side == BELOW)
    for i in range(1, panels - 1):
        left_half = 2 * i + 1 < panels
        deck_first = deck_leads if left_half else not deck_leads
        members.append((i, chord[i + 1]) if deck_first else (i + 1, chord[i]))
    return members


def _supported(span: Span, plain: Topology) -> Iterator[Topology]:
    """Variants of a truss that lean on the span's native supports."""
    at_end = [s for s in span.supports if s.x in (span.left.x, span.right.x)]
    inside = [s for s in span.supports if s not in at_end]
    deck = list(range(plain.panels + 1))
    chord = np.flatnonzero(plain.chord).tolist()
    below_deck = [s for s in at_end if (s.y > span.line_y(s.x)) == (plain.side == ABOVE)]
    if below_deck:
        ties = [(s, chord[0] if s.x == span.left.x else chord[-1]) for s in below_deck]
        yield _lean(plain, "chord end", ties)
    if at_end:
        yield _lean(plain, "bracket", [(s, deck[1] if s.x == span.left.x else deck[-2]) for s in at_end])
    if inside:
        yield _lean(plain, "column", [(s, j) for s in inside for j in _nearest(span, plain, s, deck[1:-1])])
        if plain.side == BELOW:
            yield _lean(plain, "pier", [(s, j) for s in inside for j in _nearest(span, plain, s, chord)])


def _nearest(span: Span, topology: Topology, support: Node, joints: list[int]) -> list[int]:
    """The joints straight above a support, or else the one on either side of it."""
    distance = {j: abs(span.left.x + span.length_m * float(topology.u[j]) - support.x) for j in joints}
    nearest = min(distance.values())
    return [j for j in joints if distance[j] < nearest + 1e-6]


def _lean(plain: Topology, support: str, ties: list[tuple[Node, int]]) -> Topology:
    """Add native supports and the members that tie them to joints of the truss."""
    supports = tuple(dict.fromkeys(anchor for anchor, _ in ties))
    index = {anchor.id: len(plain.u) + i for i, anchor in enumerate(supports)}
    members = np.concatenate([plain.members, [(index[a.id], joint) for a, joint in ties]])
    unused = np.zeros(len(supports))
    return Topology(
        plain.web,
        plain.side,
        plain.panels,
        support,
        np.concatenate([plain.u, unused]),
        np.concatenate([plain.chord, unused > 0]),
        supports,
        members,
    )
