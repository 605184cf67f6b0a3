"""Prints how many milliseconds of CPU each kind of bridge picture takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evalkit_polybridge import drawing
from evalkit_polybridge.editor import editor_image, start_wheels
from evalkit_polybridge.frames import contact_sheet, frame_image, frame_png
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Region

PANELS = 10
REPEATS = 30


@dataclass(frozen=True)
class StillFrame:
    """The bridge as drawn in the editor, with the vehicles at their starts."""

    t_s: float
    nodes_m: NDArray[np.float64]
    broken: NDArray[np.bool_]
    wheels_m: NDArray[np.float64]
    failure: bool


def truss() -> tuple[Level, Bridge]:
    """A 14 m level with a rock and two vehicles, and a Warren truss of ten panels (39 members)."""
    anchors = (Node(1, 0.0, 0.0, True), Node(2, 14.0, 0.0, True))
    rock = Region(((7.0, -2.0), (4.0, -7.0), (10.0, -7.0)))
    level = Level("benchmark", 14.0, 0.0, anchors, (3.0, 3.0), (1, 2, 3), 13_000.0, regions=(rock,))
    panel_m = 14.0 / PANELS
    deck = [Node(2 + i, panel_m * i, 0.0) for i in range(1, PANELS)]
    chord = [Node(20 + i, panel_m * (i + 0.5), 1.5) for i in range(PANELS)]
    road_ids = [1, *(node.id for node in deck), 2]
    pairs = [(1, a, b) for a, b in pairwise(road_ids)]
    for i, node in enumerate(chord):
        pairs += [(2, road_ids[i], node.id), (2, node.id, road_ids[i + 1])]
        if i:
            pairs.append((3, chord[i - 1].id, node.id))
    edges = tuple(Edge(100 + i, material, a, b) for i, (material, a, b) in enumerate(pairs))
    return level, Bridge((*anchors, *deck, *chord), edges)


def milliseconds(work: Callable[[], object]) -> float:
    """The median CPU time of one call, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return sorted(times)[REPEATS // 2] * 1e3


def main() -> None:
    """Time each picture on the same truss and print one line for each."""
    level, bridge = truss()
    nodes = bridge.node_by_id()
    frame = StillFrame(
        0.0,
        np.array([(nodes[id].x, nodes[id].y) for id in sorted(nodes)]),
        np.zeros(len(bridge.edges), dtype=np.bool_),
        np.array([(front, rear) for rear, front in start_wheels(level)]),
        False,
    )

    def cold_background() -> None:
        drawing.background.cache_clear()
        drawing.background(level, drawing.fit(level, bridge, (640, 360)))

    for name, work in (
        ("background of a frame, once a run", cold_background),
        ("frame_image", lambda: frame_image(level, bridge, frame)),
        ("frame_png", lambda: frame_png(level, bridge, frame)),
        ("contact_sheet", lambda: contact_sheet(level, bridge, [frame] * 9)),
        ("editor_image", lambda: editor_image(level, bridge)),
    ):
        print(f"{name:36} {milliseconds(work):7.2f} ms")


if __name__ == "__main__":
    main()
