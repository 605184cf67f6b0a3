"""How an object comes to rest, and whether its simulation can be trusted."""

from __future__ import annotations

import numpy as np

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.simulation.model import GRAVITY, STEP_S, Model
from evalkit_lmbuild.simulation.requests import Settled
from evalkit_lmbuild.simulation.world import World

SETTLE_STEPS = 600
WATCH_STEPS = 10
TILT_LIMIT_DEG = 20.0
SLIDE_LIMIT = 0.3
"""In diagonals of the design."""
ENERGY_LIMIT_M = 0.01
"""Mechanical energy may not rise by more than lifting the whole mass this far."""
RISE_LIMIT_M = 0.01
DEPTH_LIMIT = 0.002
"""In diagonals of the design."""
DEPTH_FROM_STEP = 50


def tilt_deg(rotation: Floats) -> float:
    """Angle between the vertical and what was vertical at rest, degrees."""
    return float(np.degrees(np.arccos(np.clip(rotation[2, 2], -1.0, 1.0))))


def settle(world: World, model: Model) -> Settled:
    """Let a fresh world run for 0.6 s with its servos at rest, and judge it.

    Energy counts kinetic and potential energy together: an object that topples or a loose part that drops
    gains none, an overlap that pushes bodies apart does.
    """
    start, _ = world.root()
    energy = world.energy()
    gained = deepest = rise = 0.0
    for done in range(WATCH_STEPS, SETTLE_STEPS + 1, WATCH_STEPS):
        world.step(WATCH_STEPS)
        if world.alarm():
            return Settled("unstable", world.alarm())
        gained = max(gained, world.energy() - energy)
        rise = max(rise, float(world.root()[0][2] - start[2]))
        if done > DEPTH_FROM_STEP:
            deepest = max(deepest, world.depth())
    end, rotation = world.root()
    tilt, slide = tilt_deg(rotation), float(np.linalg.norm((end - start)[:2]))
    status, reason = _judged(model, tilt, slide, gained, deepest, rise)
    return Settled(status, reason, tilt, slide, gained, deepest, rise)


def _judged(
    model: Model, tilt: float, slide: float, gained: float, deepest: float, rise: float
) -> tuple[str, str]:
    """Status and reason of a finished run."""
    allowed = model.mass_kg * GRAVITY * ENERGY_LIMIT_M
    if gained > allowed:
        return "unstable", f"bodies gained {gained:.3g} J from overlaps (at most {allowed:.3g} J)"
    if tilt >= TILT_LIMIT_DEG:
        return "fell", f"tilted by {tilt:.0f}° within {SETTLE_STEPS * STEP_S:g} s"
    if rise > RISE_LIMIT_M:
        return "unstable", f"the root rose by {1e3 * rise:.1f} mm"
    if deepest > DEPTH_LIMIT * model.diagonal_m:
        return "unstable", f"a contact stays {1e3 * deepest:.1f} mm deep"
    if slide >= SLIDE_LIMIT * model.diagonal_m:
        return "fell", f"slid by {slide:.3g} m within {SETTLE_STEPS * STEP_S:g} s"
    return "rests", ""
