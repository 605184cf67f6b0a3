"""`random`: legal designs drawn at random, to see what chance alone reaches."""

from __future__ import annotations

import random

from evalkit_polybridge.agents.base import BridgeAgent
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.constants import MATERIALS
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.rules import check, is_legal

#: How many nodes and members are tried beyond the deck.
EXTRA_NODES = 12
EXTRA_MEMBERS = 60
LIFT_STEP_M = 0.25
LIFT_STEPS = 17


class RandomAgent(BridgeAgent):
    """The bare deck with random nodes and members added as long as the design stays legal."""

    def design(self, level: Level) -> tuple[Bridge, str]:
        """A legal design that depends on the episode's seed and the call."""
        source = random.Random(f"{self._seed}/{self._calls}")
        return random_design(level, source), "Random members on a bare deck."


def random_design(level: Level, source: random.Random) -> Bridge:
    """A legal design, if a bare deck can be one: whatever would break a rule is dropped at once."""
    bridge = _deck(level)
    for _ in range(EXTRA_NODES):
        bridge = _with_node(level, bridge, source)
    for _ in range(EXTRA_MEMBERS):
        a, b = source.sample([node.id for node in bridge.nodes], 2)
        bridge = _if_legal(level, bridge, _with_members(bridge, [(a, b)], source, level))
    return _renumbered(bridge)


def _deck(level: Level) -> Bridge:
    """The bare deck, its middle raised until it keeps clear of what stands in its way."""
    lifts = (step * LIFT_STEP_M for step in range(LIFT_STEPS))
    decks = (flat_deck(level, lift) for lift in lifts)
    return next((deck for deck in decks if is_legal(check(level, deck))), flat_deck(level))


def _with_node(level: Level, bridge: Bridge, source: random.Random) -> Bridge:
    """A node near the deck, held by members to two others that it can reach."""
    x = round(source.uniform(0.0, level.span_m), 4)
    y = round(min(0.0, level.dy_m) + source.uniform(-2.0, 2.5), 4)
    reach = max(MATERIALS[t].max_length_m for t in level.materials)
    near = [n.id for n in bridge.nodes if 0.0 < (n.x - x) ** 2 + (n.y - y) ** 2 < reach**2]
    if len(near) < 2:
        return bridge
    new = _next_id(bridge)
    grown = Bridge((*bridge.nodes, Node(new, x, y)), bridge.edges)
    ends = [(new, other) for other in source.sample(near, 2)]
    return _if_legal(level, bridge, _with_members(grown, ends, source, level))


def _with_members(bridge: Bridge, ends: list[tuple[int, int]], source: random.Random, level: Level) -> Bridge:
    first = _next_id(bridge)
    webs = [t for t in level.materials if t != 1]
    new = tuple(Edge(first + i, source.choice(webs), a, b) for i, (a, b) in enumerate(ends))
    return Bridge(bridge.nodes, (*bridge.edges, *new))


def _if_legal(level: Level, before: Bridge, after: Bridge) -> Bridge:
    return after if is_legal(check(level, after)) else before


def _next_id(bridge: Bridge) -> int:
    return max([n.id for n in bridge.nodes] + [e.id for e in bridge.edges]) + 1


def _renumbered(bridge: Bridge) -> Bridge:
    """The same design with new nodes, then members, numbered on from the anchors."""
    first = max(n.id for n in bridge.nodes if n.fixed) + 1
    free = [n for n in bridge.nodes if not n.fixed]
    name = {n.id: n.id for n in bridge.nodes if n.fixed} | {n.id: first + i for i, n in enumerate(free)}
    nodes = tuple(Node(name[n.id], n.x, n.y, n.fixed) for n in bridge.nodes)
    first += len(free)
    edges = (Edge(first + i, e.material, name[e.a], name[e.b], e.rate) for i, e in enumerate(bridge.edges))
    return Bridge(nodes, tuple(edges))
