"""The reference designer: the cheapest truss of the vocabulary that crosses in the embedded executor.

Statics rank the candidates; runs in which nothing can break measure the peak forces in the best of them;
members are then chosen for the measured forces until a design stays below a target utilisation. No agent
may import this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_polybridge.candidates import Batch, Design, assemble, level_batches
from evalkit_polybridge.constants import STEP_S
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.heuristic import Sized
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.sizing import of_option
from evalkit_polybridge.statics import Floats

#: Peak utilisations allowed in references, the first tried first: outcomes near 1 flip on tiny changes.
REFERENCE_UTILISATIONS = (0.95, 0.92, 0.88)
#: Peak utilisation allowed in the cheapest passing design.
OPTIMUM_UTILISATION = 0.99
#: Ways to cut a level into spans are searched if their static cost is within this factor of the cheapest.
WAY_COST = 1.15
#: Candidates simulated per span, and at most so many geometries of one topology among them.
SIMULATED, PER_TOPOLOGY = 12, 2
#: Sizing rounds with measured forces; from round `GROWING` on no member gets weaker again.
MEASURED_ROUNDS, GROWING = 6, 3
#: Factor on strengths at which nothing breaks, so that peak forces can be measured.
UNBREAKABLE = 1000.0
#: Local search around the best design: changes of depth in metres and of rise as a share of the span.
DEPTH_STEPS_M, RISE_STEPS = (-0.12, -0.06, 0.0, 0.06, 0.12), (-0.015, 0.0, 0.015)
#: Neighbours simulated in the local search.
NEIGHBOURS = 6


class NoDesignError(ValueError):
    """No truss of the vocabulary crosses this level, whatever it costs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passing design: the bridge, its cost in dollars, its peak utilisation in the executor."""

    bridge: Bridge
    cost: float
    peak_utilisation: float


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What the designer knows about a level: a robust reference, and the cheapest design found to pass."""

    reference: Found
    optimum: Found


def calibrate(level: Level) -> Calibrated:
    """Search a level for its reference and its optimum, whatever the level's budget.

    Raises:
        NoDesignError: nothing of the vocabulary passes.
    """
    for utilisation in REFERENCE_UTILISATIONS:
        designs = _cheapest(level, utilisation)
        reference = _found(level, designs)
        if is_robust(level, reference.bridge):
            optimum = _found(level, _measured(level, designs, OPTIMUM_UTILISATION) or designs)
            return Calibrated(reference, min(optimum, reference, key=lambda found: found.cost))
    raise NoDesignError(f"no robust design for level {level.name}")


def is_robust(level: Level, bridge: Bridge) -> bool:
    """Does the design cross at ±2 % strength, half the time step, ±5 cm start and +2 % load as well?"""
    return all(
        simulate(level, bridge, **change).success
        for change in (
            {"strength_scale": 0.98},
            {"strength_scale": 1.02},
            {"dt_s": STEP_S / 2},
            {"start_offset_m": 0.05},
            {"start_offset_m": -0.05},
            {"load_scale": 1.02},
        )
    )


def _found(level: Level, designs: Sequence[Design]) -> Found:
    bridge = assemble(level, designs)
    run = simulate(level, bridge)
    return Found(bridge, bridge.cost(), max(run.peak_utilisation.values()))


def _cheapest(level: Level, utilisation: float) -> list[Design]:
    """The cheapest design found, one per span, with at most this peak utilisation."""
    ways = [_ranked(spans) for spans in level_batches(level) if all(spans)]
    static = [sum(span[0].cost() for span in way) for way in ways]
    found = [
        _search(level, way, utilisation)
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
        (round(float(cost), 2), i, g) for i, sized in enumerate(span) for g, cost in enumerate(sized.cost(1.0))
    )
    taken = [0] * len(span)
    ranked = []
    for _, i, g in costs:
        if taken[i] < PER_TOPOLOGY and len(ranked) < SIMULATED:
            taken[i] += 1
            only = span[i].take(np.array([g]))
            ranked.append(Design(only.batch, 0, only.batch.pricing.choose(only.forces)[0]))
    return ranked


def _search(level: Level, way: Sequence[Sequence[Design]], utilisation: float) -> list[Design] | None:
    """Simulate the candidates of all spans side by side, then the neighbourhood of the best of each.

    Spans share no free joint, so one run measures a candidate of every span and each keeps its own best.
    """
    best: list[Design | None] = [None] * len(way)
    for number in range(max(len(span) for span in way)):
        _improve(level, best, [span[min(number, len(span) - 1)] for span in way], utilisation)
    around = [_neighbours(design) if design else [] for design in best]
    for number in range(max(len(span) for span in around)):
        trial = [span[number] if number < len(span) else b for span, b in zip(around, best, strict=True)]
        if all(trial):
            _improve(level, best, [t for t in trial if t], utilisation)
    found = [design for design in best if design]
    return _measured(level, found, utilisation) if len(found) == len(way) else None


def _neighbours(design: Design) -> list[Design]:
    """Designs with a little more or less depth and rise, cheapest by statics first."""
    batch = design.batch
    depth, rise = np.meshgrid(
        batch.depth_m[design.geometry] + np.array(DEPTH_STEPS_M),
        batch.rise_m[design.geometry] + np.array(RISE_STEPS) * batch.span.length_m,
    )
    near = batch.with_geometry(depth.ravel(), rise.ravel())
    if near is None:
        return []
    sized = Sized.of_cheapest(near).again(1.0).again(1.0)
    order = np.argsort(np.round(sized.cost(1.0), 2), kind="stable")[:NEIGHBOURS]
    options = near.pricing.choose(sized.forces)
    return [Design(near, int(g), options[g]) for g in order]


def _improve(level: Level, best: list[Design | None], trial: list[Design], utilisation: float) -> None:
    """Size a design per span by measured forces; replace in `best` where that is cheaper."""
    for i, design in enumerate(_passing(level, trial, utilisation)):
        known = best[i]
        if design is not None and (known is None or design.cost() < known.cost()):
            best[i] = design


def _measured(level: Level, designs: Sequence[Design], utilisation: float) -> list[Design] | None:
    """The cheapest materials for these geometries together, or None if some span never passes."""
    passing = [design for design in _passing(level, designs, utilisation) if design is not None]
    return passing if len(passing) == len(designs) else None


def _passing(level: Level, designs: Sequence[Design], utilisation: float) -> list[Design | None]:
    """For every span the cheapest sizing met that stays below the utilisation while the vehicles cross."""
    best: list[Design | None] = [None] * len(designs)
    required = [np.zeros(len(design.option)) for design in designs]
    for number in range(MEASURED_ROUNDS):
        crossed, peaks = _measure(level, designs)
        for i, (design, peak) in enumerate(zip(designs, peaks, strict=True)):
            strength = of_option(design.batch.pricing.strength_pn, design.option[None])[0]
            known = best[i]
            if crossed and (peak <= utilisation * strength).all():
                best[i] = design if known is None or design.cost() < known.cost() else known
            floor = required[i] if number >= GROWING else 0.0
            required[i] = np.maximum(peak / utilisation, floor)
        resized = [design.resized(need) for design, need in zip(designs, required, strict=True)]
        if all((new.option == old.option).all() for new, old in zip(resized, designs, strict=True)):
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
        strength = of_option(design.batch.pricing.strength_pn, design.option[None])[0]
        used = [max(run.peak_utilisation[next(edges).id] for _ in stack) for stack in design.stacks()]
        peaks.append(np.array(used) * UNBREAKABLE * strength)
    return run.success, peaks
