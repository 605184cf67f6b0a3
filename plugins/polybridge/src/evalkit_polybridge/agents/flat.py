"""`flat`: road panels along the straight line between the supports, the floor of the scale."""

from __future__ import annotations

import math
from itertools import pairwise

from evalkit_polybridge.agents.base import BridgeAgent
from evalkit_polybridge.constants import COORDINATE_DECIMALS, ROAD
from evalkit_polybridge.graph import Bridge, Edge, Level, Node


class FlatAgent(BridgeAgent):
    """Answers every observation with the same bare deck."""

    def design(self, level: Level) -> tuple[Bridge, str]:
        """The deck."""
        return flat_deck(level), "A bare road deck."


def flat_deck(level: Level, lift_m: float = 0.0) -> Bridge:
    """Equal road panels over every gap between ground, and nothing else; `lift_m` raises their middle."""
    nodes = list(level.anchors)
    by_id = {node.id: node for node in level.anchors}
    ends = [1, *(anchor for p in level.platforms for anchor in p.anchor_ids), 2]
    panels: list[tuple[int, int]] = []
    next_id = max(by_id) + 1
    for left, right in zip(ends[::2], ends[1::2], strict=True):
        joints = _joints(by_id[left], by_id[right], lift_m)
        ids = list(range(next_id, next_id + len(joints)))
        nodes += [Node(i, x, y) for i, (x, y) in zip(ids, joints, strict=True)]
        panels += pairwise([left, *ids, right])
        next_id += len(joints)
    edges = (Edge(next_id + i, ROAD.type, a, b) for i, (a, b) in enumerate(panels))
    return Bridge(tuple(nodes), tuple(edges))


def _joints(left: Node, right: Node, lift_m: float) -> list[tuple[float, float]]:
    """Where panels meet between two supports: on a straight line, or on two that meet in the middle."""
    run_m, rise_m = right.x - left.x, right.y - left.y
    steepest_m = math.hypot(run_m, abs(rise_m) + 2 * lift_m)
    count = math.ceil(steepest_m / ROAD.max_length_m - 1e-9)
    if lift_m:
        count += count % 2
    shares = [i / count for i in range(1, count)]
    return [
        (
            round(left.x + run_m * share, COORDINATE_DECIMALS),
            round(left.y + rise_m * share + lift_m * (1 - abs(2 * share - 1)), COORDINATE_DECIMALS),
        )
        for share in shares
    ]
