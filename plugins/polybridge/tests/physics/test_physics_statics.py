"""Settled forces against a nonlinear static solution, and against anaStruct (linear)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from evalkit_polybridge.constants import STEEL
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.physics.model import Floats, Model, build_model


def newton_equilibrium(model: Model, loads_pn: Floats) -> tuple[Floats, Floats]:
    """Large-displacement equilibrium of springs and downward loads: positions (N, 2), tensions (M,)."""
    xy = model.nodes.place_m.copy()
    free = np.repeat(model.nodes.inverse_mass > 0.0, 2)
    k, rest, ends = model.members.stiffness, model.members.rest_m, model.members.ends.astype(int)
    outer = np.zeros(xy.size)
    outer[1::2] = -loads_pn
    for fraction in np.linspace(0.1, 1.0, 10):
        for _ in range(30):
            span = xy[ends[:, 1]] - xy[ends[:, 0]]
            length = np.hypot(*span.T)
            tension, unit = k * (length - rest), span / length[:, None]
            residual = outer * fraction
            tangent = np.zeros((xy.size, xy.size))
            for m, (a, b) in enumerate(ends):
                dofs = [2 * a, 2 * a + 1, 2 * b, 2 * b + 1]
                pull = tension[m] * unit[m]
                residual[dofs] += [*pull, *-pull]
                along = np.outer(unit[m], unit[m])
                block = k[m] * along + tension[m] / length[m] * (np.eye(2) - along)
                tangent[np.ix_(dofs, dofs)] += np.block([[block, -block], [-block, block]])
            step = np.linalg.solve(tangent[np.ix_(free, free)], residual[free])
            xy.reshape(-1)[free] += step
            if np.abs(step).max() < 1e-13:
                break
    return xy, tension


@pytest.mark.parametrize("height_m", [1.7, -1.7])
def test_settled_forces_and_sag_are_those_of_nonlinear_statics(
    build: SimpleNamespace, height_m: float
) -> None:
    bridge = build.truss(14.0, 10, height_m)
    model = build_model(build.level(14.0, ()), bridge)
    loads = model.nodes.weight_pn.copy()
    loads[2:11] += 90.0  # a heavy deck: the largest force comes close to what steel bears
    state = build.settle(model, loads)
    xy, tension = newton_equilibrium(model, loads)
    assert (state.break_step < 0).all()
    assert np.abs(tension).max() > 0.6 * STEEL.strength_pn
    np.testing.assert_allclose(build.axial_pn(model, state), tension, atol=1e-9 * np.abs(tension).max())
    sag_m = (model.nodes.place_m - state.motion[:, :2])[:, 1].max()
    assert sag_m == pytest.approx((model.nodes.place_m - xy)[:, 1].max(), rel=1e-9)


def _cantilever(x_braced: bool) -> Bridge:
    """Two panels held by two anchors at the wall; determinate without the crossed diagonals."""
    nodes = (
        Node(1, 0.0, 0.0, True), Node(2, 0.0, 1.0, True),
        *(Node(3 + 2 * i + j, 1.2 * (i + 1), float(j)) for i in range(2) for j in (0, 1)),
    )  # fmt: skip
    pairs = [(1, 3), (2, 4), (3, 4), (3, 5), (4, 6), (5, 6), (2, 3), (4, 5)]
    pairs += [(1, 4), (3, 6)] if x_braced else []
    return Bridge(nodes, tuple(Edge(100 + i, STEEL.type, *p) for i, p in enumerate(pairs)))


def _two_bars(rise_m: float) -> Bridge:
    nodes = (Node(1, 0.0, 0.0, True), Node(2, 3.0, 0.0, True), Node(3, 1.0, rise_m))
    return Bridge(nodes, (Edge(100, STEEL.type, 1, 3), Edge(101, STEEL.type, 3, 2)))


def _without(bridge: Bridge, edge_id: int) -> Bridge:
    return Bridge(bridge.nodes, tuple(e for e in bridge.edges if e.id != edge_id))


TRUSSES = {
    "two bars above": lambda build: _two_bars(1.0),
    "two bars below": lambda build: _two_bars(-1.5),
    "cantilever": lambda build: _cantilever(False),
    "cantilever, X-braced": lambda build: _cantilever(True),
    "three-hinged Pratt": lambda build: _without(build.truss(8.0, 4, 1.2), 102),
    "Pratt above": lambda build: build.truss(8.0, 4, 1.2),
    "Pratt below": lambda build: build.truss(8.0, 4, -1.2),
    "Howe above": lambda build: build.truss(8.0, 6, 1.2, howe=True),
    "Howe below": lambda build: build.truss(12.0, 8, -1.0, howe=True),
    "Pratt with wooden posts": lambda build: build.truss(8.0, 6, 1.4, lambda part, i: 2 + (part != "post")),
    "deep Pratt": lambda build: build.truss(6.0, 4, 2.4),
    "long Pratt": lambda build: build.truss(16.0, 10, 2.0),
}


def _anastruct_forces(model: Model, loads_pn: Floats) -> Floats:
    from anastruct import SystemElements

    system = SystemElements()
    place = model.nodes.place_m
    for (a, b), k, rest in zip(
        model.members.ends, model.members.stiffness, model.members.rest_m, strict=True
    ):
        system.add_truss_element(location=[place[a].tolist(), place[b].tolist()], EA=float(k * rest))
    for i, load in enumerate(loads_pn):
        node = system.find_node_id(place[i].tolist())
        if node is None:
            continue
        if model.nodes.inverse_mass[i] == 0.0:
            system.add_support_hinged(node_id=node)
        elif load:
            system.point_load(node_id=node, Fy=-float(load))
    system.solve()
    return np.array([system.get_element_results(m + 1)["Nmax"] for m in range(len(model.members.rest_m))])


@pytest.mark.parametrize("name", TRUSSES)
def test_small_loads_give_the_forces_of_a_linear_structural_library(
    build: SimpleNamespace, name: str
) -> None:
    """Forces of linear statics are off by the change of shape, which is in proportion to the load.

    Members of ≤ 5 % utilisation are strained by ≤ 2.5e-4; a slender truss turns by some 10 times that. So a
    difference of 1 % of the largest force is allowed, and half the load must halve it.
    """
    model = build_model(build.level(20.0, ()), TRUSSES[name](build))
    loads = np.where(model.nodes.inverse_mass > 0.0, 1.0 + np.arange(len(model.nodes.weight_pn)), 0.0)
    loads *= 0.05 * STEEL.strength_pn / np.abs(_anastruct_forces(model, loads)).max()
    differences = []
    for share in (1.0, 0.5):
        linear = _anastruct_forces(model, loads * share)
        settled = build.axial_pn(model, build.settle(model, loads * share))
        differences.append(np.abs(settled - linear).max() / np.abs(linear).max())
    assert differences[0] < 0.01
    assert differences[1] < 0.55 * differences[0]
