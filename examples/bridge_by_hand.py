"""The bridge domain without the benchmark: build a design, check it, let a car cross it, draw it.

python examples/bridge_by_hand.py [OUT.png]
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

from evalkit_polybridge.constants import ROAD, WOOD
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.editor import editor_image
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.levels import generate
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.rules import check

BUDGET = 6500.0


def warren(level: Level, panels: int, depth_m: float) -> Bridge:
    """A Warren truss without verticals below a level deck; ids go on from the anchors'."""
    width = level.span_m / panels
    joints = [Node(i, width * (i - 2), 0.0) for i in range(3, panels + 2)]
    first = panels + 2
    lower = [Node(first + i, width * (i + 0.5), -depth_m) for i in range(panels)]
    deck = [1, *(node.id for node in joints), 2]
    chord = [node.id for node in lower]
    members = [(ROAD.type, a, b) for a, b in pairwise(deck)]
    members += [(WOOD.type, a, b) for a, b in pairwise(chord)]
    for i, node in enumerate(chord):
        members += [(WOOD.type, deck[i], node), (WOOD.type, node, deck[i + 1])]
    last = chord[-1]
    edges = (Edge(last + 1 + i, kind, a, b) for i, (kind, a, b) in enumerate(members))
    return Bridge((*level.anchors, *joints, *lower), tuple(edges))


def main(picture: Path) -> None:
    """Print what the rules and the physics say, and write the picture and the reply."""
    level = next(level for level, _ in generate() if level.name == "T1B_Basic_08m")
    bridge = warren(level, panels=4, depth_m=1.5)
    print(f"{level.name}: {len(bridge.edges)} members, ${bridge.cost():,.0f} of ${BUDGET:,.0f}")
    print("violations:", [problem.code for problem in check(level, bridge)] or "none")
    run = simulate(level, bridge)
    peak = max(run.peak_utilisation.values())
    print(f"{run.outcome} after {run.duration_s:.2f} s, peak utilisation {peak:.2f}")
    picture.write_bytes(editor_image(level, bridge))
    picture.with_suffix(".json").write_text(format_reply(bridge, "A Warren truss below the deck.") + "\n")
    print(f"wrote {picture} and {picture.with_suffix('.json')} (for `evalkit try`)")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("bridge.png"))
