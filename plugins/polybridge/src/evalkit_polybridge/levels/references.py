"""Designs found by calibration, one per level and file: proof that a level can be solved within its budgets.

The references belong to the strict budgets, the optima (the cheapest designs known) to the tight ones.

No agent may import this module, and nothing of it may reach a model.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.levels.catalogue import CatalogueError

REFERENCES_FILE, OPTIMA_FILE = "references.json", "optima.json"
HELDOUT_REFERENCES_FILE, HELDOUT_OPTIMA_FILE = "heldout_references.json", "heldout_optima.json"


def load_references() -> dict[str, Bridge]:
    """Level name → reference design of the 189 levels. Raises CatalogueError."""
    return load_designs(REFERENCES_FILE)


def load_designs(file_name: str) -> dict[str, Bridge]:
    """Level name → design, of one of the four files. Raises CatalogueError if it is missing or damaged."""
    source = resources.files("evalkit_polybridge.levels").joinpath("data", file_name)
    remedy = "run `python -m evalkit_polybridge.calibrate` to write it"
    try:
        return parse_designs(source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CatalogueError(f"levels/data/{file_name} is missing: {remedy}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise CatalogueError(
            f"levels/data/{file_name} is not a file of designs ({error}): {remedy}"
        ) from error


def parse_designs(text: str) -> dict[str, Bridge]:
    """The inverse of `designs_document`. Raises KeyError, TypeError or ValueError on any other text."""
    return {name: _bridge(record) for name, record in json.loads(text).items()}


def designs_document(designs: dict[str, Bridge]) -> str:
    """The text of a file of designs: stable JSON, one level a line.

    A node is [id, x, y, 1 if fixed else 0], a member [id, material, a, b].
    """
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(_record(bridge), separators=(',', ':'))}"
        for name, bridge in sorted(designs.items())
    )
    return f"{{\n{lines}\n}}\n"


def _record(bridge: Bridge) -> dict[str, Any]:
    return {
        "nodes": [[node.id, node.x, node.y, int(node.fixed)] for node in bridge.nodes],
        "edges": [[edge.id, edge.material, edge.a, edge.b] for edge in bridge.edges],
    }


def _bridge(record: dict[str, Any]) -> Bridge:
    return Bridge(
        nodes=tuple(Node(number, float(x), float(y), bool(fixed)) for number, x, y, fixed in record["nodes"]),
        edges=tuple(Edge(number, material, a, b) for number, material, a, b in record["edges"]),
    )
