"""Every constant that operability depends on, for records."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version

from evalkit_lmbuild.kernel import PITCH
from evalkit_lmbuild.simulation.requests import Engine

MODULES = (
    "human_checks",
    "operability.subsystems",
    "operability.linkage",
    "operability.reach",
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
    found: dict[str, object] = {}
    seen: set[tuple[str, str]] = set()
    for name in (*MODULES, *ENGINE_MODULES[engine]):
        values = vars(import_module(f"evalkit_lmbuild.{name}"))
        own = {
            key: plain
            for key in sorted(values)
            if key.isupper() and not key.startswith("_")
            if (plain := _plain(values[key])) is not None
        }
        found[name] = {key: value for key, value in own.items() if (key, repr(value)) not in seen}
        seen |= {(key, repr(value)) for key, value in own.items()}
    packages = ("numba", "numpy", "scipy", engine)
    return {"pitch_m": PITCH, **found, "versions": {name: version(name) for name in packages}}


def _plain(value: object) -> object | None:
    """A constant as JSON; None for what is none."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(value[key]) for key in sorted(value)}
    return None
