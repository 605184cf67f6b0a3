"""What the verdicts ask of an engine, and which engines there are."""

from __future__ import annotations

import importlib
from typing import Protocol

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.simulation.errors import EngineMissingError
from evalkit_lmbuild.simulation.model import Model
from evalkit_lmbuild.simulation.requests import Engine


class World(Protocol):
    """A model that steps in time, 1 ms each. Servos start at their targets of 0."""

    def branch(self) -> World:
        """A world in the same state that goes on like this one; only before anything was aimed or pushed."""

    def aim(self, body: int, freedom: int, target: Floats) -> None:
        """Set a servo's target: [1] rad or m, or a rotation vector [3] for a ball."""

    def push(self, force_n: Floats) -> None:
        """A force on the root's centre of mass, world axes, until it is set anew."""

    def step(self, count: int) -> None:
        """Advance by `count` steps."""

    def reading(self, body: int, freedom: int) -> Floats:
        """Where a freedom stands: [1], or [3] for a ball."""

    def root(self) -> tuple[Floats, Floats]:
        """Centre of mass of the root [3] and its rotation from rest [3, 3]."""

    def energy(self) -> float:
        """Kinetic energy of everything and potential energy in gravity, J; the zero is arbitrary."""

    def contacts(self) -> int:
        """Points of contact at the last step."""

    def depth(self) -> float:
        """Deepest penetration, m, among the bodies tied to the root and the floor."""

    def alarm(self) -> str:
        """Why the run can't be trusted; empty while it can."""

    def close(self) -> None:
        """Free what the engine holds."""


def open_world(model: Model, engine: Engine) -> World:
    """A fresh world.

    Raises `EngineMissingError` with what to install.
    """
    try:
        module = importlib.import_module(f"evalkit_lmbuild.simulation.world_{engine}")
    except ImportError as error:
        if error.name != "pybullet":
            raise
        raise EngineMissingError(
            "PyBullet isn't installed: pip install 'evalkit-lmbuild[pybullet]'"
        ) from error
    world: World = module.open_world(model)
    return world
