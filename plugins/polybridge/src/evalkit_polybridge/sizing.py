"""Choosing a material for every member: the cheapest that carries what is required of it.

Two materials on the same two joints are legal and share a member's load, so besides the plain materials
there are doubled members. Shapes: G geometries, m members, o options per member.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evalkit_polybridge.constants import LENGTH_TOLERANCE_M, MATERIALS, ROAD, STEEL, WOOD
from evalkit_polybridge.statics import Bools, Floats, Ints

#: Materials a member may be made of, weakest and cheapest first, for web members and for road panels.
WEB_STACKS = ((WOOD.type,), (STEEL.type,), (WOOD.type, STEEL.type))
ROAD_STACKS = ((ROAD.type,), (ROAD.type, WOOD.type), (ROAD.type, STEEL.type))

#: Price of what can't be had, in dollars: beyond every budget, yet finite, so that sums stay comparable.
UNAVAILABLE = 1e9


@dataclass(frozen=True, slots=True)
class Stock:
    """The options of a level's materials as tables: row 0 for web members, row 1 for road panels, (2, o)."""

    stacks: tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
    strength_pn: Floats
    cost_per_m: Floats
    weight_pn_per_m: Floats
    max_length_m: Floats

    @staticmethod
    def of(materials: tuple[int, ...]) -> Stock:
        """The options that use only these material types; the others have no strength and no length."""

        def table(value: Callable[[tuple[int, ...]], float], absent: float) -> Floats:
            rows = [[value(s) if set(s) <= set(materials) else absent for s in row] for row in stacks]
            return np.array(rows, dtype=np.float64)

        stacks = (WEB_STACKS, ROAD_STACKS)
        return Stock(
            stacks,
            table(lambda s: sum(MATERIALS[m].strength_pn for m in s), 0.0),
            table(lambda s: sum(MATERIALS[m].cost_per_m for m in s), math.inf),
            table(lambda s: sum(MATERIALS[m].weight_pn_per_m for m in s), 0.0),
            table(lambda s: min(MATERIALS[m].max_length_m for m in s), -1.0),
        )


@dataclass(frozen=True, slots=True)
class Pricing:
    """What every option of every member costs.

    Attributes:
        strength_pn, weight_pn_per_m: per member and option, (m, o).
        price: dollars, infinite where the option is not admitted or too short for the member, (G, m, o).
        base: dollars of the cheapest option of every member together, (G,).
        step: dollars more when an option of this member is too weak and the next has to be taken, (G, m, o).
    """

    strength_pn: Floats
    weight_pn_per_m: Floats
    price: Floats
    base: Floats
    step: Floats

    @staticmethod
    def of(stock: Stock, length_m: Floats, road: Bools) -> Pricing:
        """Price members of lengths (G, m), of which `road` (m,) are road panels."""
        row = road.astype(np.int64)
        fits = length_m[:, :, None] <= stock.max_length_m[row] + LENGTH_TOLERANCE_M / 2
        price = np.where(fits, length_m[:, :, None] * stock.cost_per_m[row], np.inf)
        from_here = np.minimum.accumulate(price[:, :, ::-1], axis=2)[:, :, ::-1]
        ladder = np.minimum(
            np.concatenate([from_here, np.full_like(from_here[:, :, :1], np.inf)], axis=2), UNAVAILABLE
        )
        return Pricing(
            stock.strength_pn[row],
            stock.weight_pn_per_m[row],
            price,
            ladder[:, :, 0].sum(axis=1),
            np.diff(ladder, axis=2),
        )

    def cost(self, required_pn: Floats) -> Floats:
        """Dollars (G,) of the cheapest options with the required strengths (G, m).

        `UNAVAILABLE` and more where no option is strong enough.
        """
        weak = self.strength_pn[None] < required_pn[:, :, None]
        total: Floats = self.base + np.einsum("gmo,gmo->g", self.step, weak)
        return total

    def choose(self, required_pn: Floats) -> Ints:
        """For every member the cheapest option with the required strength, else the strongest: (G, m)."""
        possible = np.isfinite(self.price)
        enough = possible & (self.strength_pn[None] >= required_pn[:, :, None])
        cheapest = np.argmin(np.where(enough, self.price, np.inf), axis=2)
        strongest = np.argmax(np.where(possible, self.strength_pn[None], -1.0), axis=2)
        option: Ints = np.where(enough.any(axis=2), cheapest, strongest)
        return option

    def take(self, geometries: Ints) -> Pricing:
        """Only some geometries."""
        return replace(
            self, price=self.price[geometries], base=self.base[geometries], step=self.step[geometries]
        )


def of_option(table: Floats, option: Ints) -> Floats:
    """The entries (G, m) of a table (m, o) for options (G, m)."""
    values: Floats = np.take_along_axis(table[None], option[:, :, None], axis=2)[:, :, 0]
    return values


def greatest_margin(
    cost: Callable[[float], float], budget: float, low: float = 0.02, high: float = 8.0
) -> float:
    """The greatest λ in low…high with cost(λ) ≤ budget, within 0.2 %; `low` when even that costs more.

    `cost` must not decrease with λ.
    """
    if cost(low) > budget:
        return low
    while high / low > 1.002:
        middle = math.sqrt(low * high)
        if cost(middle) <= budget:
            low = middle
        else:
            high = middle
    return low
