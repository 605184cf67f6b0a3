"""The reference designer: the cheapest truss of the vocabulary that crosses in the embedded executor.

Statics rank the candidates; runs in which nothing can break measure the peak forces in the best of them;
members are then chosen for the measured forces until a design stays below a target utilisation. No agent
may import this.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evalkit_polybridge.candidates import Batch, Design, assemble, level_batches
from evalkit_polybridge.constants import STEP_S
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.heuristic import Sized
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.statics import Floats

#: Peak utilisation allowed in references, because outcomes near 1 flip on tiny changes, and in optima.
REFERENCE_UTILISATION, OPTIMUM_UTILISATION = 0.95, 0.99
#: Arguments of `simulate` under which a reference crosses too: other strengths, step, start and load.
PERTURBATIONS: tuple[dict[str, Any], ...] = (
    {"strength_scale": 0.98},
    {"strength_scale": 1.02},
    {"dt_s": STEP_S / 2},
    {"start_offset_m": 0.05},
    {"start_offset_m": -0.05},
    {"load_scale": 1.02},
)
#: Ways to cut a level into spans are searched if their static cost is within this factor of the cheapest.
WAY_COST = 1.15
#: Candidates simulated per span, and at most so many geometries of one topology among them.
SIMULATED, PER_TOPOLOGY = 12, 2
#: Sizing rounds with measured forces; from round `GROWING` on no member gets weaker again.
MEASURED_ROUNDS, GROWING = 6, 3
#: Factor on strengths at which nothing breaks, so that peak forces can be measured.
UNBREAKABLE = 1000.0
#: A candidate this much dearer than the best one so far isn't sized any further.
HOPEFUL = 1.10
#: Steps of depth and rise of the local search in metres, and passes with each of them.
CLIMBING_STEPS_M, PASSES = (0.1, 0.04, 0.016), 3


class NoDesignError(ValueError):
    """No truss of the vocabulary crosses this level, whatever it costs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passing design: the bridge, its cost in dollars, its peak utilisation in the executor."""

    bridge: Bridge
    cost: float
    peak_utilisation: float


def reference(level: Level, utilisation: float = REFERENCE_UTILISATION) -> Found:
    """A cheap robust design, whatever the level's budget: the proof that the level can be solved.

    Its peak utilisation is at most `utilisation`; it crosses under small perturbations too (`is_robust`).

    Raises:
        NoDesignError: nothing of the vocabulary passes.
    """
    for relief in (0.0, 0.03, 0.07):
        found = _found(level, _cheapest(level, utilisation - relief, climbers=1))
        if is_robust(level, found.bridge):
            return found
    raise NoDesignError(f"no robust design found for level {level.name}")


def optimum(level: Level) -> Found:
    """The cheapest design found to pass; searched harder and closer to breaking than the reference.

    Raises:
        NoDesignError: nothing of the vocabulary passes.
    """
    return _found(level, _cheapest(level, OPTIMUM_UTILISATION, climbers=3))


def is_robust(level: Level, bridge: Bridge) -> bool:
    """Does the design cross under every one of the `PERTURBATIONS` as well?"""
    return all(simulate(level, bridge, **perturbation).success for perturbation in PERTURBATIONS)


def _found(level: Level, designs: Sequence[Design]) -> Found:
    bridge = assemble(level, designs)
    run = simulate(level, bridge)
    return Found(bridge, bridge.cost(), max(run.peak_utilisation.values()))


def _cheapest(level: Level, utilisation: float, climbers: int) -> list[Design]:
    """The cheapest design found, one per span, with at most this peak utilisation.

    The local search starts from the `climbers` cheapest candidates of every span.
    """
    ways = [_ranked(spans) for spans in level_batches(level) if all(spans)]
    static = [sum(span[0].cost() for span in way) for way in ways]
    found = [
        _search(level, way, utilisation, climbers)
        for way, cost in zip(ways, static, strict=True)
        if cost <= WAY_COST * min(static)
    ]
    passing = [designs for designs in found if designs is not None]
    if not passing:
        raise NoDesignError(f"no design for level {level.name} stays below {utilisation:.0%} utilisation")
    return min(passing, key=_cost)


def _cost(designs: Iterable[Design]) -> float:
    return sum(design.cost() for design in designs)


def _ranked(spans: Sequence[Sequence[Batch]]) -> list[list[Design]]:
    """Per span the candidates to simulate, cheapest by statics first."""
    return [_rank([Sized.of_cheapest(b).again(1.0).again(1.0) for b in span]) for span in spans]


def _rank(span: Sequence[Sized]) -> list[Design]:
    costs = sorted(
        (round(float(cost), 2), i, g)
        for i, sized in enumerate(span)
        for g, cost in enumerate(sized.cost(1.0))
    )
    taken = [0] * len(span)
    ranked: list[Design] = []
    for _, i, g in costs:
        if taken[i] < PER_TOPOLOGY and len(ranked) < SIMULATED:
            taken[i] += 1
            only = span[i].take(np.array([g]))
            ranked.append(Design(only.batch, 0, only.batch.pricing.choose(only.forces)[0]))
    return ranked


def _search(
    level: Level, way: Sequence[Sequence[Design]], utilisation: float, climbers: int
) -> list[Design] | None:
    """Simulate the candidates of all spans side by side, then climb from the cheapest few of each.

    Spans share no free joint, so one run measures a candidate of every span and each keeps its own best.
    """
    passing: list[list[Design]] = [[] for _ in way]
    for number in range(max(len(span) for span in way)):
        trial = [span[min(number, len(span) - 1)] for span in way]
        limit = [HOPEFUL * min((d.cost() for d in found), default=math.inf) for found in passing]
        for found, design in zip(passing, _sized(level, trial, utilisation, limit), strict=True):
            if design is not None:
                found.append(design)
    if not all(passing):
        return None
    for found in passing:
        found.sort(key=Design.cost)
    starts = [[found[min(n, len(found) - 1)] for found in passing] for n in range(climbers)]
    tops = [_climb(level, start, utilisation) for start in starts]
    tops.append([min(designs, key=Design.cost) for designs in zip(*tops, strict=True)])
    together = (designs for designs in sorted(tops, key=_cost) if _passes(level, designs, utilisation))
    return next(together, None)


def _passes(level: Level, designs: Sequence[Design], utilisation: float) -> bool:
    """Do designs that were sized next to others stay below the utilisation together?"""
    crossed, peaks = _measure(level, designs)
    pairs = zip(designs, peaks, strict=True)
    return crossed and all((peak <= utilisation * design.strength_pn()).all() for design, peak in pairs)


def _climb(level: Level, designs: Sequence[Design], utilisation: float) -> list[Design]:
    """Follow changes of depth and rise downhill in cost, with ever smaller steps."""
    best = list(designs)
    for step in CLIMBING_STEPS_M:
        for _ in range(PASSES):
            before = _cost(best)
            for depth_m, rise_m in ((-step, 0.0), (step, 0.0), (0.0, -step), (0.0, step), (-step, step)):
                trial = [_moved(design, depth_m, rise_m) or design for design in best]
                limit = [design.cost() - 0.01 for design in best]
                better = _sized(level, trial, utilisation, limit)
                best = [new or old for new, old in zip(better, best, strict=True)]
            if _cost(best) >= before:
                break
    return best


def _moved(design: Design, depth_m: float, rise_m: float) -> Design | None:
    """The same truss, a little deeper or more arched, as strong as before; None where that isn't legal."""
    batch, g = design.batch, design.geometry
    moved = batch.with_geometry(batch.depth_m[[g]] + depth_m, batch.rise_m[[g]] + rise_m)
    return Design(moved, 0, design.option).resized(design.strength_pn()) if moved else None


def _sized(
    level: Level, trial: Sequence[Design], utilisation: float, limit: Sequence[float]
) -> list[Design | None]:
    """Per span the cheapest sizing of the trial by measured forces that passes and costs less than the limit.

    The trial is given up when it has become dearer than the limit on every span.
    """
    best: list[Design | None] = [None] * len(trial)
    designs = list(trial)
    required = [np.zeros(len(design.option)) for design in designs]
    for number in range(MEASURED_ROUNDS):
        crossed, peaks = _measure(level, designs)
        for i, (design, peak) in enumerate(zip(designs, peaks, strict=True)):
            known = best[i]
            most = limit[i] if known is None else known.cost()
            if crossed and (peak <= utilisation * design.strength_pn()).all() and design.cost() < most:
                best[i] = design
            floor = required[i] if number >= GROWING else 0.0
            required[i] = np.maximum(peak / utilisation, floor)
        resized = [design.resized(need) for design, need in zip(designs, required, strict=True)]
        hopeless = all(design.cost() >= most for design, most in zip(resized, limit, strict=True))
        settled = all((new.option == old.option).all() for new, old in zip(resized, designs, strict=True))
        if hopeless or settled:
            break
        designs = resized
    return best


def _measure(level: Level, designs: Sequence[Design]) -> tuple[bool, list[Floats]]:
    """Peak forces in PN in every member of every span in a run in which nothing can break.

    Below full utilisation that run is the real one. Both parts of a doubled member count for what the more
    utilised of them would need.
    """
    bridge = assemble(level, designs)
    run = simulate(level, bridge, strength_scale=UNBREAKABLE)
    edges = iter(bridge.edges)
    peaks = []
    for design in designs:
        used = [max(run.peak_utilisation[next(edges).id] for _ in stack) for stack in design.stacks()]
        peaks.append(np.array(used) * UNBREAKABLE * design.strength_pn())
    return run.success, peaks
