"""What the simulation needs of the geometry kernel: masses, contacts, overlaps, moving sets, sweeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalkit_lmbuild.design import Joint

Pair = tuple[str, str]
Sweep = Callable[[Joint, str, str], float]
"""Share of free poses of a joint for one moving and one resting part."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """Facts of a design's geometry.

    `volume` m³ by part id (what it weighs, at uniform density); `touching` pairs of part ids; `deep` m³ of
    two parts' interpenetration; `moving` part ids by id of a moving joint; `sweep` free share by joint and pair.
    """

    volume: Mapping[str, float]
    touching: tuple[Pair, ...]
    deep: Callable[[str, str], float]
    moving: Mapping[str, frozenset[str]]
    sweep: Sweep | None = None
