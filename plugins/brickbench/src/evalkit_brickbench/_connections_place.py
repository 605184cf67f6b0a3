"""From parts with their poses to connectors in the frame of the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_brickbench._connections_match import Bools, Indices, Placed
from evalkit_brickbench.parts.catalogue import KINDS, Catalogue, Resolved
from evalkit_brickbench.scene import Floats, Scene

EXACT_ROTATION = 1e-12  # largest error of M·Mᵀ that needs no projection
UNIT_TOLERANCE = 1e-3  # what files round away; anything larger is scale or shear


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Rigid poses of n parts: `rotations` [n, 3, 3] (reflections kept), `positions` [n, 3] in LDU.

    `reflected` [n]: the matrix has a negative determinant. `deformed` [n]: it scales or shears.
    """

    rotations: Floats
    positions: Floats
    reflected: Bools
    deformed: Bools


def rigid_poses(scene: Scene) -> Poses:
    """The nearest orthogonal matrix of each part's 3×3 (polar decomposition, in the Frobenius norm).

    Raises ValueError if a number of the scene isn't finite.
    """
    matrices = np.asarray(scene.matrices, np.float64).reshape(-1, 3, 3)
    positions = np.asarray(scene.positions, np.float64).reshape(-1, 3)
    finite = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(positions).all(axis=1)
    if not finite.all():
        raise ValueError(f"part {int(np.argmin(finite))} has a pose that isn't finite")
    error = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    rotations = matrices.copy()
    inexact = error > EXACT_ROTATION
    u, _, vh = np.linalg.svd(matrices[inexact])
    rotations[inexact] = u @ vh
    return Poses(rotations, positions, np.linalg.det(matrices) < 0.0, error > UNIT_TOLERANCE)


def resolve_parts(stems: Sequence[str], catalogue: Catalogue) -> list[Resolved | None]:
    """What the catalogue knows about each part."""
    resolved = {stem: catalogue.resolve(stem) for stem in dict.fromkeys(stems)}
    return [resolved[stem] for stem in stems]


def place(poses: Poses, resolved: Sequence[Resolved | None], catalogue: Catalogue) -> Placed:
    """The connectors of all known parts, in scene order."""
    known = [(part, target) for part, target in enumerate(resolved) if target is not None]
    library = _Library(list(dict.fromkeys(target.stem for _, target in known)), catalogue)
    parts = np.array([part for part, _ in known], np.int64)
    types = np.array([library.index[target.stem] for _, target in known], np.int64)
    pose = np.array([target.pose for _, target in known], np.float64).reshape(-1, 4, 4)
    rotations = poses.rotations[parts] @ pose[:, :3, :3]
    shift = np.einsum("nij,nj->ni", poses.rotations[parts], pose[:, :3, 3])
    positions = poses.positions[parts] + shift
    owner, numbers, rows = library.gather(types)
    turned = rotations[owner]
    return Placed(
        parts=parts[owner].astype(np.int32),
        numbers=numbers.astype(np.int32),
        kinds=library.kinds[rows],
        subtypes=library.subtypes[rows],
        polarities=library.polarities[rows],
        origins=np.einsum("nij,nj->ni", turned, library.origins[rows]) + positions[owner],
        frames=turned @ library.frames[rows],
        half_lengths=library.half_lengths[rows],
        subtype_names=library.subtype_names,
    )


class _Library:
    """Connectors of the part types of one scene, one after the other."""

    def __init__(self, stems: list[str], catalogue: Catalogue) -> None:
        types = [catalogue.connectors(stem) for stem in stems]
        self.index = {stem: row for row, stem in enumerate(stems)}
        self.counts = np.array([len(connectors) for connectors in types], np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.counts)])
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
