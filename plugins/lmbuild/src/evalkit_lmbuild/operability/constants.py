"""Every constant that operability depends on, for records."""

from __future__ import annotations

from importlib.metadata import version

from evalkit_lmbuild.recorded import constants_of
from evalkit_lmbuild.scoring.constants import KERNEL_MODULES
from evalkit_lmbuild.simulation.requests import Engine

MODULES = (
    "design",
    "materials",
    "legality",
    "lexicon_words",
    "lexicon",
    "human_checks",
    "operability.subsystems",
    "operability.linkage",
    "operability.reach",
    "operability._columns",
    "operability.spaces",
    "operability.predicates",
    "operability.moving",
    "scoring.functional",
    "simulation.model",
    "simulation.requests",
    "simulation.masses",
    "simulation.contacts",
    "simulation.fitness",
    "simulation.groups",
    "simulation.shapes",
    "simulation.boxes",
    "simulation.building",
    "simulation.settling",
    "simulation.motions",
    "simulation.running",
)
"""What is named after what it imports from, so that a constant stands with the module it belongs to."""
ENGINE_MODULES: dict[Engine, tuple[str, ...]] = {
    "mujoco": ("simulation.world_mujoco",),
    "pybullet": ("simulation._pybullet_pieces", "simulation.world_pybullet"),
}


def as_dict(engine: Engine) -> dict[str, object]:
    """Constants by module, and the versions of what computes with them. ImportError without the engine."""
    found = constants_of((*KERNEL_MODULES, *MODULES, *ENGINE_MODULES[engine]))
    packages = ("numba", "numpy", "scipy", engine)
    return {**found, "versions": {name: version(name) for name in packages}}
