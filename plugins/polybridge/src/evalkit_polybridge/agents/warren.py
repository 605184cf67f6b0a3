"""`warren`: one fixed truss under every gap, to see what a rule without reasoning reaches.

Road panels of at most 2 m, below them a Warren truss without verticals of a fixed depth, all of it of steel
where the level admits steel and the budget allows it, otherwise all of wood. Loads, obstacles, extra anchors
and what becomes of a design are not looked at.
"""

from __future__ import annotations

from itertools import pairwise

from evalkit_polybridge.agents.base import BridgeAgent
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.constants import COORDINATE_DECIMALS, STEEL, WOOD
from evalkit_polybridge.graph import Bridge, Edge, Level, Node

DEPTH_M = 1.5


class WarrenAgent(BridgeAgent):
    """Answers every observation with the same truss."""

    def design(self, level: Level) -> tuple[Bridge, str]:
        """The truss."""
        return warren(level), f"A Warren truss below the deck, {DEPTH_M:g} m deep."


def warren(level: Level) -> Bridge:
    """The truss of steel if the level admits steel and the budget buys it, otherwise that of wood."""
    steel = warren_of(level, STEEL.type)
    affordable = STEEL.type in level.materials and steel.cost() <= level.budget
    return steel if affordable else warren_of(level, WOOD.type)


def warren_of(level: Level, material: int) -> Bridge:
    """A joint below the middle of every road panel, tied to the panel's ends and to the next such joint."""
    deck = flat_deck(level)
    place = deck.node_by_id()
    panels = [(edge.a, edge.b) for edge in deck.edges]
    first = max(place) + 1
    chord = [
        Node(
            first + i,
            round((place[a].x + place[b].x) / 2, COORDINATE_DECIMALS),
            round((place[a].y + place[b].y) / 2 - DEPTH_M, COORDINATE_DECIMALS),
        )
        for i, (a, b) in enumerate(panels)
    ]
    members = [(edge.material, *ends) for edge, ends in zip(deck.edges, panels, strict=True)]
    for joint, (a, b) in zip(chord, panels, strict=True):
        members += [(material, a, joint.id), (material, joint.id, b)]
    for (left, (_, end)), (right, (start, _)) in pairwise(zip(chord, panels, strict=True)):
        if end == start:
            members.append((material, left.id, right.id))
    next_id = first + len(chord)
    edges = (Edge(next_id + i, *member) for i, member in enumerate(members))
    return Bridge((*deck.nodes, *chord), tuple(edges))
