"""A bare deck between the two banks, proposed once."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Observation, Reply, StepContext, Stop, Tool, ToolCall

LEFT, RIGHT, ROAD = 1, 2, 1
PANEL_M = 2.0


class FlatAgent:
    """Reads the anchors off the save and answers in the benchmark's format."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._proposed = False

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new level."""
        self._proposed = False

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The deck, and then no more."""
        if self._proposed:
            return Stop("a bare deck is all there is")
        self._proposed = True
        return Reply((ToolCall("propose", {"text": json.dumps(deck(observation.data["save"]))}),))


def deck(save: Mapping[str, Any]) -> dict[str, Any]:
    """Equal road panels in a straight line from the left to the right anchor."""
    anchors = [item for item in save["Objects"] if item["isKinematic"]]
    at = {anchor["id"]: (anchor["x"], anchor["y"]) for anchor in anchors}
    (x0, y0), (x1, y1) = at[LEFT], at[RIGHT]
    count = math.ceil(math.hypot(x1 - x0, y1 - y0) / PANEL_M)
    first = max(at) + 1
    ids = [LEFT, *range(first, first + count - 1), RIGHT]
    nodes = [{"id": a["id"], "x": a["x"], "y": a["y"], "isKinematic": True} for a in anchors]
    for i, number in enumerate(ids[1:-1], 1):
        x, y = x0 + (x1 - x0) * i / count, y0 + (y1 - y0) * i / count
        nodes.append({"id": number, "x": round(x, 4), "y": round(y, 4), "isKinematic": False})
    edges = [
        {"id": first + count - 1 + i, "type": ROAD, "anchorAID": a, "anchorBID": b}
        for i, (a, b) in enumerate(itertools.pairwise(ids))
    ]
    return {"action": "modify", "thought_process": "A bare deck.", "nodes": nodes, "edges": edges}
