"""The embedded executor: deterministic physics of a truss that vehicles drive over."""

from evalkit_polybridge.constants import physics_constants
from evalkit_polybridge.physics.simulate import Frame, Run, simulate, simulate_batch, warm

__all__ = ["Frame", "Run", "physics_constants", "simulate", "simulate_batch", "warm"]
