"""The physics of any graph it accepts, legal or not: finite, bounded, the same bits from both engines."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.physics import simulate

#: Nothing gets farther than this from where it was, in metres: 12 s of free fall are 700 m.
MAX_TRAVEL_M = 2000.0


@given(data=st.data())
def test_a_run_stays_finite_and_bounded(data: st.DataObject) -> None:
    span = data.draw(st.sampled_from((2.0, 6.0, 8.0)))
    loads = tuple(data.draw(st.lists(st.sampled_from((0.5, 3.0, 30.0)), min_size=1, max_size=3)))
    anchors = (Node(1, 0.0, 0.0, True), Node(2, span, 0.0, True))
    level = Level("Fuzz", span, 0.0, anchors, loads, (1, 2, 3), 50_000.0)
    ids = itertools.count(3)
    places = st.tuples(st.floats(-1.0, span + 1.0), st.floats(-3.0, 3.0))
    nodes = [*anchors, *(Node(next(ids), x, y) for x, y in data.draw(st.lists(places, max_size=12)))]
    for near in data.draw(st.lists(st.sampled_from(nodes), max_size=6)):
        shift = data.draw(st.sampled_from((0.0, 1e-300, 1e-12, 1e-4)))
        nodes.append(Node(next(ids), near.x + shift, near.y))
    known = [node.id for node in nodes]
    ends = st.lists(st.sampled_from(known), min_size=2, max_size=2, unique=True)
    pairs = data.draw(st.lists(st.tuples(ends, st.sampled_from((1, 1, 2, 3))), max_size=40))
    bridge = Bridge(tuple(nodes), tuple(Edge(next(ids), kind, a, b) for (a, b), kind in pairs))
    run = simulate(level, bridge, frames=True)
    assert run.frames is not None
    start = np.array([[node.x, node.y] for node in sorted(nodes, key=lambda node: node.id)])
    for frame in run.frames:
        assert np.abs(frame.nodes_m - start).max() < MAX_TRAVEL_M
        assert np.abs(frame.wheels_m).max() < MAX_TRAVEL_M
    assert np.isfinite([*run.peak_utilisation.values(), *run.furthest_x_m]).all()
    assert simulate(level, bridge, frames=True).digest == run.digest
    short = {"window_s": 0.05, "early_stop": False}
    assert simulate(level, bridge, **short).digest == simulate(level, bridge, engine="numpy", **short).digest
