"""Shared fixtures: small legal designs, drawn by hypothesis or fixed."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import strategies as st

from evalkit_polybridge.constants import ROAD, WOOD
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Region

LONGEST_PANEL_M = 1.4


def deck_truss(level: Level, depth_m: float, web: str) -> Bridge:
    """A road deck over the span with a wooden Pratt or Warren web, above (depth > 0) or below it."""
    panels = math.ceil(level.span_m / LONGEST_PANEL_M)
    panel = level.span_m / panels
    ids = itertools.count(max(a.id for a in level.anchors) + 1)
    deck = [Node(next(ids), round(panel * i, 4), 0.0) for i in range(1, panels)]
    places = range(1, panels) if web == "pratt" else (i + 0.5 for i in range(panels))
    chord = [Node(next(ids), round(panel * x, 4), depth_m) for x in places]
    road = [1, *(n.id for n in deck), 2]
    other = [n.id for n in chord]
    pairs = [(ROAD, a, b) for a, b in itertools.pairwise(road)]
    pairs += [(WOOD, a, b) for a, b in itertools.pairwise(other)]
    if web == "pratt":
        pairs += [(WOOD, a, b) for a, b in zip(road[1:-1], other, strict=True)]
        pairs += [(WOOD, a, b) for a, b in zip(road[:-2], other, strict=True)]
        pairs += [(WOOD, road[-1], other[-1])]
    else:
        pairs += [(WOOD, a, b) for a, b in zip(road[:-1], other, strict=True)]
        pairs += [(WOOD, a, b) for a, b in zip(other, road[1:], strict=True)]
    edges = tuple(Edge(next(ids), material.type, a, b) for material, a, b in pairs)
    return Bridge((*level.anchors, *deck, *chord), edges)


def narrow_level(span_m: float, lower_anchors: bool) -> Level:
    """A road-and-wood level with a rock 2 m below the deck and a ceiling 2 m above it."""
    anchors = [Node(1, 0.0, 0.0, True), Node(2, span_m, 0.0, True)]
    if lower_anchors:
        anchors += [Node(3, 0.0, -2.0, True), Node(4, span_m, -2.0, True)]
    middle, right = span_m / 2.0, span_m - 1.0
    regions = (
        Region(((middle, -2.0), (middle - 2.5, -7.0), (middle + 2.5, -7.0))),
        Region(((1.0, 2.0), (right, 2.0), (right, 8.0))),
        Region(((1.0, 2.0), (right, 8.0), (1.0, 8.0))),
    )
    return Level("Narrow", span_m, 0.0, tuple(anchors), (3.0,), (1, 2), 50_000.0, (), regions)


@st.composite
def _designs(draw: st.DrawFn) -> tuple[Level, Bridge]:
    level = narrow_level(draw(st.sampled_from((6.0, 7.3, 8.0, 9.1234, 10.0))), draw(st.booleans()))
    depth = draw(st.sampled_from((0.7, 1.0, 1.2345))) * draw(st.sampled_from((1.0, -1.0)))
    return level, deck_truss(level, depth, draw(st.sampled_from(("pratt", "warren"))))


@pytest.fixture(scope="session")
def designs() -> st.SearchStrategy[tuple[Level, Bridge]]:
    """A strategy of levels with a legal design each, its ids in sequence."""
    return _designs()


@pytest.fixture(scope="session")
def design() -> tuple[Level, Bridge]:
    """One of these: a Warren truss below the deck over 8 m."""
    level = narrow_level(8.0, lower_anchors=True)
    return level, deck_truss(level, -1.0, "warren")
