"""From parts with their matrices to rigid poses, and to connectors in the frame of the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_brickbench._connections_match import Bools, Indices, Placed
from evalkit_brickbench.parts.catalogue import KINDS, Catalogue
from evalkit_brickbench.scene import Floats, Scene

EXACT_ROTATION = 1e-12  # largest error of M·Mᵀ that needs no projection
VOLUME_TOLERANCE = 0.02  # of |det|; files round, and models are stretched a little to fit
SHEAR_TOLERANCE = 0.1  # of M·Mᵀ


@dataclass(frozen=True, slots=True, eq=False)
class RigidParts:
    """n parts of a scene as the catalogue knows them, without scale and shear.

    `stems` [n]: names after aliases, None where the part is unknown. `rotations` [n, 3, 3] (orthogonal,
    reflections kept) and `positions` [n, 3] in LDU: poses of the parts with those names. `reflected` [n]: the
    matrix has a negative determinant. `deformed` [n]: it scales or shears.
    """

    stems: tuple[str | None, ...]
    rotations: Floats
    positions: Floats
    reflected: Bools
    deformed: Bools

    @property
    def known(self) -> Bools:
        """[n]: whether the catalogue has the part."""
        return np.array([stem is not None for stem in self.stems], np.bool_)


def rigid_parts(scene: Scene, catalogue: Catalogue) -> RigidParts:
    """Resolve the parts of a scene; ValueError if a number of their poses isn't finite."""
    matrices = np.asarray(scene.matrices, np.float64).reshape(-1, 3, 3)
    positions = np.array(scene.positions, np.float64).reshape(-1, 3)
    finite = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(positions).all(axis=1)
    if not finite.all():
        raise ValueError(f"part {int(np.argmin(finite))} has a pose that isn't finite")
    error = _error(matrices)
    volume = np.linalg.det(matrices)
    unique = {stem: catalogue.resolve(stem) for stem in dict.fromkeys(scene.stems)}
    resolved = [unique[stem] for stem in scene.stems]
    aliased = matrices.copy()
    for part, target in enumerate(resolved):
        if target is not None and target.stem != scene.stems[part]:
            positions[part] += matrices[part] @ target.pose[:3, 3]
            aliased[part] = matrices[part] @ target.pose[:3, :3]
    return RigidParts(
        stems=tuple(None if target is None else target.stem for target in resolved),
        rotations=_nearest_rotations(aliased),
        positions=positions,
        reflected=volume < 0.0,
        deformed=(np.abs(np.abs(volume) - 1.0) > VOLUME_TOLERANCE) | (error > SHEAR_TOLERANCE),
    )


def _nearest_rotations(matrices: Floats) -> Floats:
    """The orthogonal matrices nearest in the Frobenius norm (polar decomposition), reflections kept."""
    inexact = _error(matrices) > EXACT_ROTATION
    rotations = matrices.copy()
    u, _, vh = np.linalg.svd(matrices[inexact])
    rotations[inexact] = u @ vh
    return rotations


def _error(matrices: Floats) -> Floats:
    """Largest entry of M·Mᵀ − I of each matrix: 0 for rotations and reflections."""
    error: Floats = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    return error


def place(parts: RigidParts, catalogue: Catalogue) -> Placed:
    """The connectors of all known parts, in scene order."""
    known = np.flatnonzero(parts.known)
    stems = [stem for stem in parts.stems if stem is not None]
    library = _Library(list(dict.fromkeys(stems)), catalogue)
    types = np.array([library.index[stem] for stem in stems], np.int64)
    owner, numbers, rows = library.gather(types)
    owner = known[owner]
    rotations = parts.rotations[owner]
    return Placed(
        parts=owner.astype(np.int32),
        numbers=numbers.astype(np.int32),
        kinds=library.kinds[rows],
        subtypes=library.subtypes[rows],
        polarities=library.polarities[rows],
        origins=np.einsum("nij,nj->ni", rotations, library.origins[rows]) + parts.positions[owner],
        frames=rotations @ library.frames[rows],
        half_lengths=library.half_lengths[rows],
        subtype_names=library.subtype_names,
    )


class _Library:
    """Connectors of the part types of one scene, one after the other."""

    def __init__(self, stems: Sequence[str], catalogue: Catalogue) -> None:
        types = [catalogue.connectors(stem) for stem in stems]
        self.index = {stem: row for row, stem in enumerate(stems)}
        self.counts = np.array([len(connectors) for connectors in types], np.int64)
        self.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        self.subtype_names = tuple(sorted({name for connectors in types for name in connectors.subtypes}))
        number = {name: row for row, name in enumerate(self.subtype_names)}
        self.subtypes = np.array([number[name] for c in types for name in c.subtypes], np.int16)
        self.kinds = np.concatenate([np.zeros(0, np.int8), *(c.kinds for c in types)])
        self.polarities = np.concatenate([np.zeros(0, np.int8), *(c.polarities for c in types)])
        self.origins = np.concatenate([np.zeros((0, 3)), *(c.origins for c in types)])
        self.frames = np.concatenate([np.zeros((0, 3, 3)), *(c.frames for c in types)])
        extras = np.concatenate([np.zeros(0), *(c.extras for c in types)])
        self.half_lengths = np.where(self.kinds == KINDS.index("axle"), extras, 0.0)

    def gather(self, types: Indices) -> tuple[Indices, Indices, Indices]:
        """For parts of these types: (index into `types`, number within the part, row here) per connector."""
        counts = self.counts[types]
        owner = np.repeat(np.arange(len(types)), counts)
        numbers = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, numbers, self.starts[types][owner] + numbers
