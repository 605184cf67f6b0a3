"""The parts of a model, placed: what reading a file yields and what every check takes.

Lengths are LDraw units (1 LDU = 0.4 mm), −y is up. A point p of a part stands at `matrix @ p + position`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """n placed parts in depth-first file order; arrays aren't to be written to.

    `stems`: part names as the file has them, in lower case, with forward slashes, without `.dat`, aliases
    unresolved. `colours` [n]: LDraw codes with inherited colours resolved (16 stays where nothing is above),
    direct colours as 0x2RRGGBB. `matrices` [n, 3, 3] and `positions` [n, 3] in LDU, as the file has them
    (scale, shear and reflection included). `paths`: for people, the chain of sub-models of each part, such as
    `main.ldr/arm.ldr[2]`, empty for parts of the main model. `steps` [n]: number of the building step of the
    main model, from 0. `embedded`: source text of the parts that the file brings itself, by stem.
    """

    stems: tuple[str, ...]
    colours: Ints
    matrices: Floats
    positions: Floats
    paths: tuple[str, ...]
    steps: Ints
    embedded: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stems)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A triangle mesh in the frame of its part: `vertices` [n, 3] in LDU, `triangles` [m, 3], outward
    by the right-hand rule in LDraw's (right-handed, −y up) axes.

    `inset_ldu` is how far each surface lies inside the true one.
    """

    vertices: Floats
    triangles: Ints
    inset_ldu: float


class MeshSource(Protocol):
    """Where the geometry of parts comes from; `id` (with version and hash) is recorded."""

    @property
    def id(self) -> str: ...

    def mesh(self, stem: str) -> Mesh | None:
        """The mesh of a part by its resolved stem, or None if this source doesn't have it."""
        ...
