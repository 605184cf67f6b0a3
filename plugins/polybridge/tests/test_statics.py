"""Statics against closed forms and an independent structural library."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from evalkit_polybridge.statics import (
    MechanismError,
    axle_loads,
    member_forces,
    relative_stiffness,
    train_on_deck,
)

WARREN_XY = [(0, 0), (2, 0), (4, 0), (6, 0), (1, -1.5), (3, -1.5), (5, -1.5)]
WARREN = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (0, 4), (4, 1), (1, 5), (5, 2), (2, 6), (6, 3)]


def solve(
    xy: list[tuple[float, float]],
    members: list[tuple[int, int]],
    fixed: list[int],
    loads: list[tuple[int, float, float]],
    stiffness: list[float] | None = None,
) -> np.ndarray:
    load = np.zeros((1, len(xy), 2, 1))
    for joint, fx, fy in loads:
        load[0, joint, :, 0] += (fx, fy)
    mask = np.zeros(len(xy), dtype=bool)
    mask[fixed] = True
    k = np.array([stiffness or [1.0] * len(members)])
    return member_forces(np.array([xy], dtype=float), np.array(members), k, mask, load)[0, :, 0]


def test_two_bars_carry_a_weight_at_their_joint() -> None:
    angle = np.arctan2(1.5, 2.0)
    forces = solve([(0, 0), (4, 0), (2, -1.5)], [(0, 2), (1, 2)], [0, 1], [(2, 0, -300.0)])
    assert forces == pytest.approx([150.0 / np.sin(angle)] * 2, rel=1e-12)


def test_pull_is_positive_and_push_negative() -> None:
    hanging = solve([(0, 0), (0, -1), (1, -1)], [(0, 1), (1, 2)], [0, 2], [(1, 0, -10.0)])
    standing = solve([(0, 0), (0, 1), (1, 0)], [(0, 1), (2, 1)], [0, 2], [(1, 0, -10.0)])
    assert hanging[0] == pytest.approx(10.0)
    assert standing[0] == pytest.approx(-10.0)


def test_stiffness_decides_who_carries_an_indeterminate_load() -> None:
    """Three vertical bars on one joint line share a load in proportion to their stiffness."""
    xy = [(0.0, 0.0), (-1.0, 1.0), (0.0, 1.0), (1.0, 1.0)]
    forces = solve(xy, [(0, 1), (0, 2), (0, 3)], [1, 2, 3], [(0, 0, -100.0)], [1.0, 3.0, 1.0])
    # Elongations: middle δ, sides δ/√2; vertical parts: 3 δ and twice δ/2.
    assert forces == pytest.approx([25 / np.sqrt(2), 75.0, 25 / np.sqrt(2)])


def test_chord_of_a_deep_girder_is_moment_over_depth() -> None:
    """Lower chord of a Warren truss whose right end may slide: the simple beam's moment above it over d."""
    xy = [*WARREN_XY, (6.0, 1000.0)]
    members = [*WARREN, (3, 7)]  # a very long hanger: vertical support without thrust
    forces = solve(xy, members, [0, 7], [(1, 0, -90.0), (2, 0, -90.0)], [1.0] * 11 + [1e6])
    assert forces[3] == pytest.approx(90.0 * 2.0 / 1.5, rel=1e-3)


def test_equals_an_independent_library_on_indeterminate_trusses() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        xy = [(x, y + rng.uniform(-0.2, 0.2)) for x, y in WARREN_XY]
        members = [*WARREN, (0, 5), (4, 2)]
        stiffness = rng.uniform(1e4, 5e5, len(members)).tolist()
        loads = [(j, float(rng.uniform(-50, 50)), float(rng.uniform(-400, 0))) for j in (1, 2, 4, 5, 6)]
        mine = solve(xy, members, [0, 3], loads, stiffness)
        assert mine == pytest.approx(_anastruct(xy, members, stiffness, loads), abs=0.02)


def _anastruct(
    xy: list[tuple[float, float]],
    members: list[tuple[int, int]],
    stiffness: list[float],
    loads: list[tuple[int, float, float]],
) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from anastruct import SystemElements

        system = SystemElements()
        for (a, b), k in zip(members, stiffness, strict=True):
            length = float(np.hypot(xy[b][0] - xy[a][0], xy[b][1] - xy[a][1]))
            system.add_truss_element([list(xy[a]), list(xy[b])], EA=k * length)
        node = {j: system.find_node_id(list(p)) for j, p in enumerate(xy)}
        for support in (0, 3):
            system.add_support_hinged(node[support])
        for joint, fx, fy in loads:
            system.point_load(node[joint], Fx=fx, Fy=fy)
        system.solve()
        return [float(system.get_element_results(i + 1)["Nmax"]) for i in range(len(members))]


def test_many_geometries_and_load_cases_equal_one_at_a_time() -> None:
    flat = np.array(WARREN_XY, dtype=float)
    deep = flat * [1.0, 1.3]
    loads = np.zeros((1, 7, 2, 2))
    loads[0, 1, 1, 0] = -1.0
    loads[0, 5, 0, 1] = 2.0
    fixed = np.array([True, False, False, True, False, False, False])
    stiffness = np.ones((2, len(WARREN)))
    both = member_forces(np.stack([flat, deep]), np.array(WARREN), stiffness, fixed, loads)
    for g, xy in enumerate((flat, deep)):
        for case, load in enumerate(([(1, 0.0, -1.0)], [(5, 2.0, 0.0)])):
            alone = solve([tuple(p) for p in xy.tolist()], WARREN, [0, 3], load)
            assert both[g, :, case] == pytest.approx(alone, abs=1e-12)


def test_a_mechanism_is_refused() -> None:
    with pytest.raises(MechanismError):
        solve([(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 2)], [0, 2], [(1, 0, -1.0)])


def test_stiffness_follows_strength_over_length_but_short_members_are_not_stiffer() -> None:
    k = relative_stiffness(np.array([[800.0, 800.0, 2000.0]]), np.array([[2.0, 0.5, 4.0]]))
    assert k.tolist() == [[400.0, 800.0, 500.0]]


def test_a_train_loads_every_joint_by_the_lever_rule() -> None:
    behind, weight = axle_loads((2.0, 1.0), 4.0, 90.0)
    assert behind.tolist() == [0.0, 1.6, 4.0, 5.6]
    assert weight.tolist() == [90.0, 90.0, 45.0, 45.0]
    loads = train_on_deck(np.arange(0.0, 9.0, 2.0), behind, weight, 0.4)
    at_6m = loads[15]  # axles at 6.0, 4.4, 2.0 and 0.4
    assert at_6m == pytest.approx([45 * 0.8, 45 * 1.2, 90 * 0.8, 90 + 90 * 0.2, 0.0])
    assert loads[0] == pytest.approx([90.0, 0, 0, 0, 0])
    assert loads[-1].sum() == pytest.approx(0.0, abs=46.0)


def test_no_train_position_loads_the_deck_with_more_than_the_train() -> None:
    behind, weight = axle_loads((3.0,), 4.0, 90.0)
    total = train_on_deck(np.linspace(1.0, 7.0, 5), behind, weight, 0.4).sum(axis=1)
    assert total.max() == pytest.approx(270.0)
    assert total.min() >= 0.0
