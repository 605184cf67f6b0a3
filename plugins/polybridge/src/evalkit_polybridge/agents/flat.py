"""`flat`: road panels along the straight line between the supports, the floor of the scale."""

from __future__ import annotations

import math

from evalkit_polybridge.agents.base import BridgeAgent
from evalkit_polybridge.constants import ROAD
from evalkit_polybridge.graph import Bridge, Edge, Level, Node


class FlatAgent(BridgeAgent):
    """Answers every observation with the same bare deck."""

    def design(self, level: Level) -> tuple[Bridge, str]:
        """The deck."""
        return flat_deck(level), "A bare road deck."


def flat_deck(level: Level) -> Bridge:
    """Equal road panels over every gap between ground, and nothing else."""
    nodes, edges = list(level.anchors), []
    by_id = {node.id: node for node in level.anchors}
    stops = [by_id[1]]
    for platform in level.platforms:
        stops += [by_id[platform.anchor_ids[0]], by_id[platform.anchor_ids[1]]]
    stops.append(by_id[2])
    panels: list[tuple[int, int]] = []
    next_id = max(by_id) + 1
    for left, right in zip(stops[::2], stops[1::2], strict=True):
        count = math.ceil(math.hypot(right.x - left.x, right.y - left.y) / ROAD.max_length_m - 1e-9)
        chain = [left.id]
        for i in range(1, count):
            x = round(left.x + (right.x - left.x) * i / count, 4)
            y = round(left.y + (right.y - left.y) * i / count, 4)
            nodes.append(Node(next_id, x, y))
            chain.append(next_id)
            next_id += 1
        chain.append(right.id)
        panels += list(zip(chain, chain[1:], strict=False))
    edges = [Edge(next_id + i, ROAD.type, a, b) for i, (a, b) in enumerate(panels)]
    return Bridge(tuple(nodes), tuple(edges))
