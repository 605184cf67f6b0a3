"""The protocol of a part catalogue and the arrays in which it hands out connectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.scene import Floats, Ints, Scene

KINDS = ("axle", "ball", "fixed", "hinge", "hole", "stud")
POLARITIES = ("", "in", "on")


@dataclass(frozen=True, slots=True, eq=False)
class Connectors:
    """c connectors of a part in canonical order (kind, subtype as text, polarity, row), in part LDU.

    `kinds` [c]: index into `KINDS`. `subtypes` [c]: subtype names as text. `polarities` [c]: index into
    `POLARITIES`. `origins` [c, 3]. `frames` [c, 3, 3]: R_y(yaw)·R_x(pitch)·R_z(roll); the mating axis is −y
    of the frame. `extras` [c]: the row's sixth number (half-length of an axle, yaw of a fixed one), 0 where
    there is none.
    """

    kinds: NDArray[np.int8]
    subtypes: tuple[str, ...]
    polarities: NDArray[np.int8]
    origins: Floats
    frames: Floats
    extras: Floats

    def __len__(self) -> int:
        return len(self.subtypes)


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """A stem that the catalogue knows, and the pose [4, 4] of that part in the frame of the one asked for:
    T_new = T_part @ pose."""

    stem: str
    pose: Floats


class Catalogue(Protocol):
    """Knowledge about parts; `id` (with version and hash) is recorded."""

    @property
    def id(self) -> str: ...

    def resolve(self, stem: str) -> Resolved | None:
        """Follow aliases; None if the part stays unknown."""
        ...

    def title(self, stem: str) -> str | None:
        """The name of a part for people."""
        ...

    def connectors(self, stem: str) -> Connectors:
        """Connectors of a part by its resolved stem; KeyError if it is unknown."""
        ...

    def bounds(self, stem: str) -> Floats | None:
        """Corners [2, 3] of the box around a part, LDU, or None if they aren't known."""
        ...


def resolved_scene(scene: Scene, catalogue: Catalogue) -> Scene:
    """The scene with aliases replaced by what they stand for; parts of the file's own stay."""
    found: dict[str, Resolved | None] = {
        stem: None if stem in scene.embedded else catalogue.resolve(stem) for stem in set(scene.stems)
    }
    stems = list(scene.stems)
    matrices, positions = scene.matrices.copy(), scene.positions.copy()
    for index, stem in enumerate(scene.stems):
        resolved = found[stem]
        if resolved is not None and resolved.stem != stem:
            stems[index] = resolved.stem
            positions[index] += matrices[index] @ resolved.pose[:3, 3]
            matrices[index] = matrices[index] @ resolved.pose[:3, :3]
    return replace(scene, stems=tuple(stems), matrices=matrices, positions=positions)


__all__ = ["KINDS", "POLARITIES", "Catalogue", "Connectors", "Floats", "Ints", "Resolved", "resolved_scene"]
