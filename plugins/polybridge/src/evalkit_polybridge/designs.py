"""Bridges and levels as the JSON that tasks, candidates and records hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit_polybridge.context import context, level_from_context
from evalkit_polybridge.graph import Bridge, Edge, Level, Node


def bridge_to_json(bridge: Bridge) -> dict[str, Any]:
    """Nodes and edges with the field names of the reply contract."""
    return {
        "nodes": [{"id": n.id, "x": n.x, "y": n.y, "isKinematic": n.fixed} for n in bridge.nodes],
        "edges": [
            {"id": e.id, "type": e.material, "anchorAID": e.a, "anchorBID": e.b, "rate": e.rate}
            for e in bridge.edges
        ],
    }


def bridge_from_json(data: Mapping[str, Any]) -> Bridge:
    """The inverse of `bridge_to_json`."""
    nodes = tuple(Node(n["id"], n["x"], n["y"], n["isKinematic"]) for n in data["nodes"])
    edges = tuple(Edge(e["id"], e["type"], e["anchorAID"], e["anchorBID"], e["rate"]) for e in data["edges"])
    return Bridge(nodes, edges)


def level_to_inputs(level: Level) -> dict[str, Any]:
    """What a model may know of a level: its context and its native anchors."""
    return {"context": context(level), "anchors": bridge_to_json(level.empty_bridge())["nodes"]}


def level_from_inputs(inputs: Mapping[str, Any]) -> Level:
    """The inverse of `level_to_inputs`."""
    anchors = bridge_from_json({"nodes": inputs["anchors"], "edges": []})
    return level_from_context(inputs["context"], anchors)
