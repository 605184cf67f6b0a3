"""Sizing: the cheapest sufficient option, prices that grow with what is required, the greatest margin."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit_polybridge.constants import ROAD, STEEL, WOOD
from evalkit_polybridge.sizing import UNAVAILABLE, Pricing, Stock, greatest_margin, of_option

ALL = (ROAD.type, WOOD.type, STEEL.type)
#: A road panel of 2 m, a web member of 2 m and one of 3 m.
LENGTHS = np.array([[2.0, 2.0, 3.0]])
ROADS = np.array([True, False, False])


def pricing(materials: tuple[int, ...] = ALL, lengths: np.ndarray = LENGTHS) -> Pricing:
    return Pricing.of(Stock.of(materials), lengths, ROADS)


@pytest.mark.parametrize(
    ("required", "strength", "cost"),
    [
        ([900, 800, 2000], [900, 800, 2000], 400 + 360 + 1350),
        ([901, 801, 1], [1700, 2000, 2000], 760 + 900 + 1350),
        ([1701, 2001, 1], [2900, 2800, 2000], 1300 + 1260 + 1350),
    ],
)
def test_the_cheapest_sufficient_option_is_chosen(
    required: list[float], strength: list[float], cost: float
) -> None:
    table = pricing()
    need = np.array([required], dtype=float)
    option = table.choose(need)
    assert of_option(table.strength_pn, option)[0].tolist() == strength
    assert table.cost(need)[0] == pytest.approx(cost)


def test_wood_longer_than_two_metres_is_not_on_offer() -> None:
    assert np.isinf(pricing().price[0, 2]).tolist() == [True, False, True]


def test_what_no_option_carries_is_unavailable_and_gets_the_strongest() -> None:
    table = pricing()
    need = np.array([[1.0, 2801.0, 1.0]])
    assert table.cost(need)[0] >= UNAVAILABLE
    assert of_option(table.strength_pn, table.choose(need))[0, 1] == 2800


def test_without_steel_only_wood_and_doubled_roads_are_left() -> None:
    table = Pricing.of(Stock.of((ROAD.type, WOOD.type)), LENGTHS[:, :2], ROADS[:2])
    need = np.array([[1700.0, 800.0]])
    assert of_option(table.strength_pn, table.choose(need))[0].tolist() == [1700, 800]
    assert table.cost(need)[0] == pytest.approx(760 + 360)
    assert table.cost(need + 1)[0] >= 2 * UNAVAILABLE


def test_cost_equals_the_chosen_options_for_random_requirements() -> None:
    rng = np.random.default_rng(3)
    table = pricing()
    for _ in range(100):
        need = rng.uniform(0, [2900, 2800, 2000], (1, 3))
        chosen = np.take_along_axis(table.price, table.choose(need)[:, :, None], axis=2).sum()
        assert table.cost(need)[0] == pytest.approx(chosen)


def test_two_percent_more_margin_would_be_over_budget() -> None:
    table = pricing()
    forces = np.array([[300.0, 500.0, 400.0]])
    margin = greatest_margin(lambda m: float(table.cost(m * forces)[0]), 2700.0)
    assert table.cost(margin * forces)[0] <= 2700.0 < table.cost(1.02 * margin * forces)[0]


def test_a_budget_too_small_for_anything_gives_the_least_margin() -> None:
    assert greatest_margin(lambda _: 10.0, 9.0, low=0.1) == 0.1
