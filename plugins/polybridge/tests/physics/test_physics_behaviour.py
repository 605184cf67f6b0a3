"""What has to happen: known collapses and crossings, and the laws the kernel keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from evalkit_polybridge.constants import (
    CONTACT_STIFFNESS_PN_PER_M,
    GRAVITY_M_PER_S2,
    MAX_NODE_RATE_PER_S,
    ROAD,
    STEEL,
    WHEEL_RADIUS_M,
    WHEELBASE_M,
    WOOD,
)
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Platform
from evalkit_polybridge.physics import kernel, reference, simulate
from evalkit_polybridge.physics.model import Model, State, X, Y, build_model, initial_state

BRACES = {("end", 0), ("end", 1), *(("diagonal", i) for i in range(8))}
OUTER_BRACES = {("end", 0), ("end", 1), *(("diagonal", i) for i in (0, 1, 6, 7))}


def humped(bridge: Bridge, rise_m: float) -> Bridge:
    """The bridge with all of its free joints raised."""
    return replace(bridge, nodes=tuple(n if n.fixed else replace(n, y=n.y + rise_m) for n in bridge.nodes))


@pytest.mark.parametrize("span_m", [8.0, 10.0])
def test_a_long_flat_deck_falls_under_its_own_weight(build: SimpleNamespace, span_m: float) -> None:
    run = simulate(build.level(span_m), build.deck(span_m, round(span_m / 2)))
    assert run.outcome == "lost"
    assert run.first_break_s == pytest.approx(0.4, abs=0.05)


def test_a_six_metre_deck_breaks_under_the_car_and_not_before(build: SimpleNamespace) -> None:
    run = simulate(build.level(6.0), build.deck(6.0, 3))
    assert run.outcome == "lost"
    assert run.first_break_s is not None
    assert run.furthest_x_m[0] > 0.0
    assert simulate(build.level(6.0, ()), build.deck(6.0, 3)).broken == ()


def test_a_four_metre_deck_holds_a_light_car(build: SimpleNamespace) -> None:
    run = simulate(build.level(4.0, (1.0,)), build.deck(4.0, 2))
    assert run.outcome == "crossed"
    assert max(run.peak_utilisation.values()) < 0.8


@pytest.mark.parametrize(
    ("steel", "crosses"),
    [(OUTER_BRACES, False), (BRACES | {("chord", 3), ("chord", 4)}, False), (None, True)],
)
def test_two_vehicles_need_a_steel_web(
    build: SimpleNamespace, steel: set[tuple[str, int]] | None, crosses: bool
) -> None:
    """14 m, 10 panels, a web of 27: 6 steel braces fail, 12 steel members fail, all steel stands."""
    bridge = build.truss(14.0, 10, 1.4, lambda *m: STEEL.type if steel is None or m in steel else WOOD.type)
    count = sum(edge.material == STEEL.type for edge in bridge.edges)
    assert count == (27 if steel is None else len(steel))
    run = simulate(build.level(14.0, (3.0, 3.0)), bridge)
    assert run.success is crosses
    assert run.outcome == ("crossed" if crosses else "lost")


@pytest.mark.parametrize("howe", [False, True])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_heavy_vehicle_needs_a_deeper_truss(build: SimpleNamespace, side: float, howe: bool) -> None:
    level = build.level(14.0, (9.0,))
    shallow = simulate(level, build.truss(14.0, 10, 1.7 * side, howe=howe))
    assert shallow.outcome == "lost"
    assert shallow.furthest_x_m[0] > 3.0
    assert simulate(level, build.truss(14.0, 10, 2.0 * side, howe=howe)).success


@pytest.mark.parametrize("weight_pg", [1.0, 3.0, 9.0])
def test_a_steep_entry_stalls_the_vehicle_on_an_intact_bridge(
    build: SimpleNamespace, weight_pg: float
) -> None:
    run = simulate(build.level(10.0, (weight_pg,)), humped(build.truss(10.0, 8, -1.4), 1.5))
    assert (run.outcome, run.broken, run.duration_s) == ("timeout", (), 12.0)
    assert run.furthest_x_m[0] < 1.5


def test_vehicles_behind_a_stalled_one_keep_their_distance(build: SimpleNamespace) -> None:
    run = simulate(build.level(10.0, (3.0, 3.0)), humped(build.truss(10.0, 8, -1.4), 1.5), frames=True)
    assert run.frames is not None
    for frame in run.frames:
        assert frame.wheels_m[0, 1, X] - frame.wheels_m[1, 0, X] > 0.0
    assert run.outcome == "timeout"


def test_platforms_are_ground(build: SimpleNamespace) -> None:
    level = build.level(10.0, platforms=(Platform(3.0, 7.0, 0.0, -5.0, (3, 4)),))
    middle = tuple(Node(i, x, 0.0) for i, x in ((5, 1.5), (6, 8.5)))
    roads = (Edge(10, 1, 1, 5), Edge(11, 1, 5, 3), Edge(12, 1, 4, 6), Edge(13, 1, 6, 2))
    light = replace(level, vehicles_pg=(1.0,))
    assert simulate(light, Bridge((*level.anchors, *middle), roads)).success
    assert not simulate(replace(light, platforms=()), Bridge((*level.anchors, *middle), roads)).success


def test_the_longest_journey_fits_the_window(build: SimpleNamespace) -> None:
    """26.25 m of flat travel: the limit of the levels."""
    platform = Platform(0.0, 20.65, 0.0, -5.0, (3, 4))
    run = simulate(Level("flat", 20.65, 0.0, (), (3.0,), (), 0.0, (platform,)), Bridge((), ()))
    assert run.success
    assert run.finish_s[0] == pytest.approx(26.25 / 2.5 + 0.8, abs=0.1)


def test_nothing_to_drive_on_loses_the_vehicle(build: SimpleNamespace) -> None:
    level = build.level(8.0)
    run = simulate(level, level.empty_bridge())
    assert run.outcome == "lost"
    assert run.lost_s == run.duration_s
    assert run.first_break_member is None


def _deepest_in_ground(level: Level, model: Model, state: State) -> float:
    """How far free nodes and wheels get into banks and platforms within 12 s (m)."""
    boxes = [(-60.0, 0.0, 0.0), (level.span_m, level.span_m + 60.0, level.dy_m)]
    deepest = -1.0
    for step in range(0, 23040, 120):
        kernel.advance(model, state, step, step + 120, False)
        points = np.vstack([state.motion[model.nodes.inverse_mass > 0.0, :2], state.wheels[:, :2]])
        for low, high, top in boxes:
            inside = np.minimum.reduce([points[:, X] - low, high - points[:, X], top - points[:, Y]])
            deepest = max(deepest, float(inside.max()))
    return deepest


def test_debris_does_not_pass_through_banks(build: SimpleNamespace) -> None:
    level = build.level(8.0, (3.0,))
    model = build_model(level, build.deck(8.0, 12))
    assert _deepest_in_ground(level, model, initial_state(model)) < 0.06
    ghost = model._replace(
        nodes=model.nodes._replace(stopped_by_ground=model.nodes.stopped_by_ground & False)
    )
    assert _deepest_in_ground(level, ghost, initial_state(ghost)) > 0.5


@pytest.mark.parametrize("advance", [kernel.advance, reference.advance])
@pytest.mark.parametrize("offset_m", [-0.02, 0.0, 0.02])
def test_a_wheel_over_a_shared_end_is_pushed_once(
    build: SimpleNamespace, advance: Callable[..., int], offset_m: float
) -> None:
    model = build_model(build.level(4.0), build.deck(4.0, 2))
    state = initial_state(model)
    x, y = 2.0 + offset_m, WHEEL_RADIUS_M - 0.003
    state.wheels[:, :2] = (x, y), (x, y + WHEELBASE_M)
    advance(model, state, 0, 1, False)
    push = state.wheels[0, 3] * model.vehicles.mass[0] / model.settings.step_s
    assert push == pytest.approx(0.003 * CONTACT_STIFFNESS_PN_PER_M, rel=0.01)


def test_an_undamped_truss_keeps_its_energy(build: SimpleNamespace) -> None:
    model = build_model(build.level(8.0, ()), build.truss(8.0, 4, 1.2))
    model = model._replace(
        nodes=model.nodes._replace(weight_pn=np.zeros_like(model.nodes.weight_pn)),
        members=model.members._replace(damping=np.zeros_like(model.members.damping)),
        settings=model.settings._replace(drag_per_s=0.0),
    )
    state = initial_state(model)
    free = model.nodes.inverse_mass > 0.0
    state.motion[free, 2:] = np.random.default_rng(1).normal(0.0, 0.3, (int(free.sum()), 2))
    energies = []
    for step in range(0, 60 * 1920, 8):
        kernel.advance(model, state, step, step + 8, False)
        kinetic = 0.5 * ((state.motion[free, 2:] ** 2).sum(axis=1) / model.nodes.inverse_mass[free]).sum()
        stretch = build.axial_pn(model, state) / model.members.stiffness
        energies.append(kinetic + 0.5 * (model.members.stiffness * stretch**2).sum())
    assert (state.break_step < 0).all()
    first, last = np.mean(energies[:2400]), np.mean(energies[-2400:])
    assert last == pytest.approx(first, rel=0.01)
    assert max(energies) < 1.5 * first


def _brittle_lattice() -> Bridge:
    """Fine steel lattice whose light joints would oscillate faster than the step can follow."""
    columns, size = 17, 0.25
    nodes = [
        Node({0: 1, columns - 1: 2}.get(i, 10 + i), i * size, 0.0, i in (0, columns - 1))
        for i in range(columns)
    ]
    nodes += [Node(50 + i, i * size, -size) for i in range(columns)]
    low, high = nodes[columns:], nodes[:columns]
    pairs = [(a.id, b.id) for row in (low, high) for a, b in pairwise(row)]
    pairs += [(a.id, b.id) for a, b in zip(low, high, strict=True)]
    pairs += [(a.id, b.id) for a, b in zip(low, high[1:], strict=False)]
    pairs += [(a.id, b.id) for a, b in zip(high, low[1:], strict=False)]
    edges = [Edge(100 + i, STEEL.type, *p) for i, p in enumerate(pairs)]
    edges += [Edge(300 + i, ROAD.type, a.id, b.id) for i, (a, b) in enumerate(pairwise(high))]
    return Bridge(tuple(nodes), tuple(edges))


def test_the_inertia_floor_prevents_spurious_breaks(build: SimpleNamespace) -> None:
    model = build_model(build.level(4.0, (1.0,)), _brittle_lattice())
    free = model.nodes.inverse_mass > 0.0
    bare = np.where(free, GRAVITY_M_PER_S2 / np.where(free, model.nodes.weight_pn, 1.0), 0.0)
    assert (model.nodes.inverse_mass[free] < 0.5 * bare[free]).all()
    rate = np.sqrt(
        2.0 * np.bincount(model.members.ends.reshape(-1), np.repeat(model.members.stiffness, 2), len(bare))
    )
    assert (rate * np.sqrt(model.nodes.inverse_mass)).max() <= MAX_NODE_RATE_PER_S * (1 + 1e-12)
    breaks = []
    for inverse_mass in (model.nodes.inverse_mass, bare):
        variant = model._replace(nodes=model.nodes._replace(inverse_mass=inverse_mass))
        state = initial_state(variant)
        kernel.advance(variant, state, 0, 23040, False)
        breaks.append(int((state.break_step >= 0).sum()))
    assert breaks[0] == 0
    assert breaks[1] > 10


def test_half_of_every_member_weighs_on_either_end_even_when_broken(build: SimpleNamespace) -> None:
    """Two loose panels hang from an anchor each: the fall starts with g, whatever has broken."""
    bridge = build.deck(4.0, 2)
    model = build_model(build.level(4.0, ()), bridge)
    half = 0.5 * 2.0 * ROAD.weight_pn_per_m
    np.testing.assert_allclose(model.nodes.weight_pn[:3], [1.0 + half, 1.0 + half, 1.0 + 2.0 * half])
    state = initial_state(model)
    state.stiffness[:] = state.damping[:] = 0.0
    kernel.advance(model, state, 1920, 1921, False)
    assert state.motion[2, 3] == pytest.approx(-GRAVITY_M_PER_S2 * model.settings.step_s)


def test_graphs_that_cannot_be_built_are_refused(build: SimpleNamespace) -> None:
    level, bridge = build.level(4.0), build.deck(4.0, 2)
    for edge, message in [
        (Edge(9, 1, 1, 77), "known nodes"),
        (Edge(9, 1, 1, 1), "different"),
        (Edge(9, 8, 1, 2), "material 8"),
        (Edge(100, 1, 1, 2), "same id"),
    ]:
        with pytest.raises(ValueError, match=message):
            simulate(level, replace(bridge, edges=(*bridge.edges, edge)))
    with pytest.raises(ValueError, match="same id"):
        simulate(level, replace(bridge, nodes=(*bridge.nodes, bridge.nodes[0])))
