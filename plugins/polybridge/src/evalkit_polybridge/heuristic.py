"""The `truss` agent's brain: the truss with the greatest margin that the budget buys.

Plays by the rules: of a level it reads the context and the save, knows no level, runs no simulation, and its
guesses about dynamics are two factors on static forces. It knows more than a model is told, though: what a
PG, a joint and a metre of each material weigh in the embedded executor, the wheelbase of a vehicle and the
distance between vehicles; and the two factors were chosen by measurements there (see docs/truss.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_polybridge.candidates import Batch, Design, assemble, level_batches
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.sizing import greatest_margin, of_option
from evalkit_polybridge.statics import Floats, Ints
from evalkit_polybridge.trusses import ABOVE, BELOW, Topology

#: A truss below the deck survives with less margin than one above, whose web is shaken more.
PREFERENCE = {BELOW: 1.05, ABOVE: 0.95}
#: Candidates that cost more than this times the cheapest for the same margin are dropped after one look.
SHORTLIST_COST = 1.2
#: Rounds of sizing: the forces of an indeterminate truss depend on the materials chosen for them.
ROUNDS = 2
#: Candidates of a span which are sized again one by one, and for how many rounds.
FINALISTS, FINAL_ROUNDS = 5, 5
#: Changes of a finalist's depth in metres and of its rise as a share of the span.
NEAR_DEPTHS_M = (-0.12, -0.08, -0.04, 0.0, 0.04, 0.08, 0.12)
NEAR_RISES = (-0.02, -0.01, 0.0, 0.01, 0.02)
#: Left unspent, in dollars, so that rounding never goes over budget.
CHANGE = 0.05
#: Margins closer than this are equal, so that the last bits of a linear solver never decide.
MARGIN_STEP = 1e-3
#: A retry gives up being different when that would cost more than this share of the best margin.
ACCEPTABLE = 0.8


def propose(level: Level, attempt: int, failures: Sequence[Bridge]) -> Bridge:
    """A legal design for the level, the same for the same arguments.

    Args:
        level: what a model may see of it.
        attempt: 0 for the best design; later ones prefer the other side of the deck, then another web.
        failures: designs that failed before; none of them is proposed again.

    Raises:
        ValueError: no truss of the vocabulary is legal on this level at any price.
    """
    ways = [spans for spans in level_batches(level) if all(spans)]
    if not ways:
        raise ValueError(f"no truss of the vocabulary is legal on level {level.name}")
    budget = level.budget - CHANGE
    best = _best_plan(ways, budget)
    tried = [best.designs()]
    while len(tried) <= attempt or assemble(level, tried[-1]) in failures:
        another = _another_plan(ways, budget, tried, best.margin * ACCEPTABLE)
        if another is None:
            break
        tried.append(another.designs())
    return assemble(level, tried[-1])


def _best_plan(ways: Sequence[Sequence[Sequence[Batch]]], budget: float) -> Plan:
    plans = [Plan.search(spans, budget) for spans in ways]
    return max(plans, key=lambda plan: round(plan.margin / MARGIN_STEP))


def _another_plan(
    ways: Sequence[Sequence[Sequence[Batch]]], budget: float, tried: list[list[Design]], acceptable: float
) -> Plan | None:
    """The best plan that differs most from those tried while keeping an acceptable margin.

    None when every topology has been tried.
    """
    topologies = [design.batch.topology for designs in tried for design in designs]
    sides = {t.side for t in topologies}
    webs = {t.web for t in topologies}
    kinds = {t.kind for t in topologies}
    differs: tuple[Callable[[Topology], bool], ...] = (
        lambda t: t.side not in sides,
        lambda t: t.web not in webs,
        lambda t: (t.side, t.web) not in {kind[:2] for kind in kinds},
        lambda t: t.kind not in kinds,
    )
    plan = None
    for differ in differs:
        rest = [[[b for b in span if differ(b.topology)] for span in spans] for spans in ways]
        rest = [spans for spans in rest if all(spans)]
        if rest:
            plan = _best_plan(rest, budget)
            if plan.margin >= acceptable:
                break
    return plan


@dataclass(frozen=True, slots=True)
class Sized:
    """A batch with the forces to size it for, (G, m) in PN, divided by its side's preference."""

    batch: Batch
    forces: Floats

    @staticmethod
    def of(batch: Batch, option: Ints) -> Sized:
        """Solve the batch with these materials."""
        return Sized(batch, batch.design_forces(option) / PREFERENCE[batch.topology.side])

    @staticmethod
    def of_cheapest(batch: Batch) -> Sized:
        """Solve the batch with the cheapest materials."""
        return Sized.of(batch, batch.pricing.choose(np.zeros_like(batch.length_m)))

    def cost(self, margin: float) -> Floats:
        """Dollars (G,) of carrying `margin` times the forces."""
        return self.batch.pricing.cost(margin * self.forces)

    def single_cost(self, margin: float) -> float:
        """Dollars of the first geometry."""
        return float(self.cost(margin)[0])

    def again(self, margin: float) -> Sized:
        """Size for this margin, then solve with the materials chosen."""
        return Sized.of(self.batch, self.batch.pricing.choose(margin * self.forces))

    def take(self, geometries: Ints) -> Sized:
        """Only some geometries."""
        return Sized(self.batch.take(geometries), self.forces[geometries])

    def refined(self, margin: float) -> Sized:
        """The neighbour in depth and rise, of a single geometry, that costs least for the margin."""
        batch = self.batch
        depth, rise = np.meshgrid(
            batch.depth_m[0] + np.array(NEAR_DEPTHS_M),
            batch.rise_m[0] + np.array(NEAR_RISES) * batch.span.length_m,
        )
        near = batch.with_geometry(depth.ravel(), rise.ravel())
        if near is None:
            return self
        sized = Sized.of_cheapest(near).again(margin).again(margin)
        return sized.take(np.argmin(np.round(sized.cost(margin)), keepdims=True))

    def best_design(self, budget: float) -> tuple[float, Design]:
        """The only geometry with the materials that give the greatest margin for the budget, and that margin.

        A design that no budget so small can buy has a negative margin: the dollars missing.
        """
        found: list[tuple[float, Ints]] = []
        sized = self
        for _ in range(FINAL_ROUNDS):
            margin = greatest_margin(sized.single_cost, budget)
            option = self.batch.pricing.choose(margin * sized.forces)
            solved = Sized.of(self.batch, option)
            strength = of_option(self.batch.pricing.strength_pn, option)
            over = Design(self.batch, 0, option[0]).cost() - budget
            found.append((-over if over > 0 else float((strength / solved.forces).min()), option[0]))
            sized = Sized(self.batch, np.sqrt(sized.forces * solved.forces))
        margin, option = max(found, key=lambda f: round(f[0] / MARGIN_STEP))
        return margin, Design(self.batch, 0, option)


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to cut a level into spans, with candidates sized for the margin that the budget buys."""

    spans: tuple[tuple[Sized, ...], ...]
    margin: float
    budget: float

    @staticmethod
    def search(batches: Sequence[Sequence[Batch]], budget: float) -> Plan:
        """Size all candidates of all spans for a common margin, as great as the budget allows."""
        spans = [[Sized.of_cheapest(batch) for batch in span] for span in batches]
        for _ in range(ROUNDS):
            margin = _common_margin(spans, budget)
            spans = [[sized.again(margin) for sized in _shortlist(span, margin)] for span in spans]
        return Plan(tuple(tuple(span) for span in spans), _common_margin(spans, budget), budget)

    def designs(self) -> list[Design]:
        """The best design of every span."""
        price = [_cheapest(span, self.margin) for span in self.spans]
        chosen: list[Design] = []
        for i, span in enumerate(self.spans):
            budget = self.budget - sum(design.cost() for design in chosen) - sum(price[i + 1 :])
            finals = [
                final.best_design(budget)
                for sized in _finalists(span, self.margin)
                for final in (sized, sized.refined(self.margin))
            ]
            chosen.append(max(finals, key=lambda f: round(f[0] / MARGIN_STEP))[1])
        return chosen


def _cheapest(span: Sequence[Sized], margin: float) -> float:
    return min(float(sized.cost(margin).min()) for sized in span)


def _common_margin(spans: Sequence[Sequence[Sized]], budget: float) -> float:
    return greatest_margin(lambda margin: sum(_cheapest(span, margin) for span in spans), budget)


def _shortlist(span: Sequence[Sized], margin: float) -> list[Sized]:
    limit = SHORTLIST_COST * _cheapest(span, margin)
    kept = [(sized, np.flatnonzero(sized.cost(margin) <= limit)) for sized in span]
    return [sized.take(geometries) for sized, geometries in kept if len(geometries)]


def _finalists(span: Sequence[Sized], margin: float) -> list[Sized]:
    """The cheapest single geometries for the margin."""
    costs = [
        (round(float(cost)), i, g)
        for i, sized in enumerate(span)
        for g, cost in enumerate(sized.cost(margin))
    ]
    return [span[i].take(np.array([g])) for _, i, g in sorted(costs)[:FINALISTS]]
