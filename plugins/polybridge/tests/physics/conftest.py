"""Trusses with a known behaviour, and the settled state of a model."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from evalkit_polybridge.constants import ROAD, STEEL
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Platform
from evalkit_polybridge.physics import kernel
from evalkit_polybridge.physics.model import Floats, Model, State, initial_state

MaterialOf = Callable[[str, int], int]


def level(
    span_m: float,
    vehicles_pg: tuple[float, ...] = (3.0,),
    dy_m: float = 0.0,
    platforms: tuple[Platform, ...] = (),
) -> Level:
    """Two banks with a road end each, and the corners of the platforms as anchors."""
    anchors = [Node(1, 0.0, 0.0, True), Node(2, span_m, dy_m, True)]
    for p in platforms:
        for i, x in zip(p.anchor_ids, (p.x_start, p.x_end), strict=True):
            anchors.append(Node(i, x, p.surface_y, True))
    return Level("test", span_m, dy_m, tuple(anchors), vehicles_pg, (1, 2, 3), 1e6, platforms)


def deck(span_m: float, panels: int, dy_m: float = 0.0) -> Bridge:
    """A bare road deck: anchors 1 and 2, joints 3…, members 100…."""
    ids = [1, *range(3, panels + 2), 2]
    nodes = [
        Node(i, round(span_m * n / panels, 4), round(dy_m * n / panels, 4), n in (0, panels))
        for n, i in enumerate(ids)
    ]
    return Bridge(
        tuple(nodes), tuple(Edge(100 + n, ROAD.type, *ends) for n, ends in enumerate(pairwise(ids)))
    )


def truss(
    span_m: float,
    panels: int,
    height_m: float,
    material: MaterialOf = lambda part, i: STEEL.type,
    *,
    howe: bool = False,
) -> Bridge:
    """A deck with a Pratt (or Howe) web above it, below it for a negative height.

    `material(part, i)` chooses for the i-th of the parts chord (panels − 2), post (panels − 1), end (2) and
    diagonal (panels − 2), which get ids from 200 on in this order.
    """
    road = deck(span_m, panels)
    ids = [1, *range(3, panels + 2), 2]
    top = [50 + n for n in range(1, panels)]
    nodes = [Node(50 + n, round(span_m * n / panels, 4), height_m) for n in range(1, panels)]
    parts = [("chord", a, b) for a, b in pairwise(top)]
    parts += [("post", a, b) for a, b in zip(ids[1:-1], top, strict=True)]
    parts += [("end", ids[0], top[0]), ("end", ids[-1], top[-1])]
    for n in range(1, panels - 1):
        falls_right = (n < panels // 2) != howe
        parts.append(("diagonal", top[n - 1], ids[n + 1]) if falls_right else ("diagonal", ids[n], top[n]))
    numbers: dict[str, count[int]] = {part: count() for part in ("chord", "post", "end", "diagonal")}
    edges = [Edge(200 + n, material(part, next(numbers[part])), a, b) for n, (part, a, b) in enumerate(parts)]
    return Bridge((*road.nodes, *nodes), (*road.edges, *edges))


def settle(model: Model, loads_pn: Floats | None = None, seconds: float = 12.0) -> State:
    """The state at rest under the weights, or under other downward loads per node (N,)."""
    if loads_pn is not None:
        model = model._replace(nodes=model.nodes._replace(weight_pn=loads_pn))
    model = model._replace(settings=model.settings._replace(drag_per_s=5.0))
    state = initial_state(model)
    kernel.advance(model, state, 0, round(seconds / model.settings.step_s), False)
    return state


def axial_pn(model: Model, state: State) -> Floats:
    """Forces of the members (M,), tension positive."""
    a, b = model.members.ends.T
    length = np.hypot(*(state.motion[b, :2] - state.motion[a, :2]).T)
    return state.stiffness * (length - model.members.rest_m)


@pytest.fixture(scope="session")
def build() -> SimpleNamespace:
    """The builders and helpers of this file."""
    return SimpleNamespace(level=level, deck=deck, truss=truss, settle=settle, axial_pn=axial_pn)
