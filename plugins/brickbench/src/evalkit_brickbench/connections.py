"""The connections of a model: which parts hold each other, by what, how exactly, and what hangs together.

connections = connect(scene, WheelCatalogue())
connections.by_family()            # {"axle": 46, "stud": 594}
connections.components().sizes     # [237, 36]
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evalkit_brickbench._connections_contacts import Contacts, find_contacts
from evalkit_brickbench._connections_match import FAMILIES, CrowdedSceneError, Matches, Placed, match
from evalkit_brickbench._connections_place import RigidParts, place, rigid_parts
from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.scene import Floats, Ints, Scene

__all__ = [
    "FAMILIES",
    "Components",
    "Connections",
    "Contacts",
    "CrowdedSceneError",
    "Placed",
    "RigidParts",
    "connect",
    "unlabelled_contacts",
]


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """`labels` [n]: component of each part, numbered by their first parts, −1 for unknown parts.
    `sizes` [k]: parts of each component."""

    labels: Ints
    sizes: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Connections:
    """e edges between the n parts of a scene, sorted by parts and connectors.

    Side a is the stud, the "in", or the socket, cross or clip. `part_a`, `part_b` [e]: parts; `connector_a`,
    `connector_b` [e]: connectors within them (canonical order of the resolved part). `families` [e]: index
    into `FAMILIES`. `subtypes_a`, `subtypes_b` [e]: index into `placed.subtype_names`. `residual_ldu`,
    `residual_rad` [e]: distance from a perfect fit in what the family holds fast (an axle slides and turns, a
    ball only stays in place).

    `parts`: the parts as the catalogue knows them; only those it knows are connected. `placed`: their
    connectors. `unknown`: stems and counts of the others, most frequent first.
    """

    part_a: Ints
    part_b: Ints
    connector_a: Ints
    connector_b: Ints
    families: NDArray[np.int8]
    subtypes_a: NDArray[np.int16]
    subtypes_b: NDArray[np.int16]
    residual_ldu: Floats
    residual_rad: Floats
    unknown: tuple[tuple[str, int], ...]
    parts: RigidParts
    placed: Placed

    def __len__(self) -> int:
        return len(self.part_a)

    def by_family(self) -> dict[str, int]:
        """Edges by family, families without edges left out."""
        counts = np.bincount(self.families, minlength=len(FAMILIES))
        return {name: int(count) for name, count in zip(FAMILIES, counts, strict=True) if count}

    def components(self) -> Components:
        """Sets of known parts that hang together."""
        known, n = self.parts.known, len(self.parts.stems)
        graph = coo_array((np.ones(len(self), np.int8), (self.part_a, self.part_b)), shape=(n, n))
        _, labels = connected_components(graph, directed=False)
        _, first, inverse = np.unique(labels[known], return_index=True, return_inverse=True)
        rank = np.empty(len(first), np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        numbered = np.full(n, -1, np.int32)
        numbered[known] = rank[inverse]
        return Components(numbered, np.bincount(numbered[known]).astype(np.int32))


def connect(scene: Scene, catalogue: Catalogue) -> Connections:
    """All connections of a scene.

    ValueError if a pose isn't finite, `CrowdedSceneError` if so many parts coincide that their connections
    would fill the memory.
    """
    parts = rigid_parts(scene, catalogue)
    placed = place(parts, catalogue)
    missing = Counter(stem for stem, known in zip(scene.stems, parts.known, strict=True) if not known)
    found = _sorted(match(placed), placed)
    return Connections(
        part_a=placed.parts[found.a],
        part_b=placed.parts[found.b],
        connector_a=placed.numbers[found.a],
        connector_b=placed.numbers[found.b],
        families=found.families,
        subtypes_a=placed.subtypes[found.a],
        subtypes_b=placed.subtypes[found.b],
        residual_ldu=found.residual_ldu,
        residual_rad=found.residual_rad,
        unknown=tuple(sorted(missing.items(), key=lambda item: (-item[1], item[0]))),
        parts=parts,
        placed=placed,
    )


def unlabelled_contacts(connections: Connections, catalogue: Catalogue) -> Contacts:
    """Studs inside the box around a part of another component: what touches without a labelled connection.

    Part 3479, for example, has no holes in its labels, so that what stands on studs under it counts as loose.
    """
    return find_contacts(connections.placed, connections.parts, connections.components().labels, catalogue)


def _sorted(found: Matches, placed: Placed) -> Matches:
    """By part a, part b, connector a, connector b."""
    a, b = found.a, found.b
    order = np.lexsort((placed.numbers[b], placed.numbers[a], placed.parts[b], placed.parts[a]))
    return Matches(
        a[order], b[order], found.families[order], found.residual_ldu[order], found.residual_rad[order]
    )
