"""Rigid-body simulation of a design: does it stand, do its joints move, does it roll.

    result = simulate(design, Field(design.parts), [Actuate(("hinge",)), Roll(("wheel_1", "wheel_2"))])

`requests` says what is asked and answered, `building` makes the model both engines read, `world_mujoco` and
`world_pybullet` step it, `settling` and `motions` judge.
"""

from evalkit_lmbuild.simulation.contacts import Contacts, contacts_of
from evalkit_lmbuild.simulation.errors import EngineMissingError
from evalkit_lmbuild.simulation.requests import (
    Actuate,
    Attempt,
    MaskedPair,
    Motion,
    MotionResult,
    Roll,
    Settings,
    Settled,
    SimulationResult,
)
from evalkit_lmbuild.simulation.running import simulate

__all__ = [
    "Actuate",
    "Attempt",
    "Contacts",
    "EngineMissingError",
    "MaskedPair",
    "Motion",
    "MotionResult",
    "Roll",
    "Settings",
    "Settled",
    "SimulationResult",
    "contacts_of",
    "simulate",
]
