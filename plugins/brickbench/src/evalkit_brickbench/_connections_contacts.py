"""Studs that reach into parts without being connected to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from evalkit_brickbench._connections_match import CrowdedSceneError, Indices, Placed
from evalkit_brickbench._connections_place import RigidParts
from evalkit_brickbench.parts.catalogue import KINDS, Catalogue
from evalkit_brickbench.scene import Floats, Ints

STUD_MIDDLE_LDU = 2.0  # studs are 4 LDU high
NEAR_LIMIT = 2_000_000
"""More pairs of a stud and a part around it than this are a pile, not a model."""


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """k studs (`stud_parts`, `stud_connectors` [k]) that reach into `parts` [k] of other components."""

    stud_parts: Ints
    stud_connectors: Ints
    parts: Ints

    def __len__(self) -> int:
        return len(self.parts)


def find_contacts(placed: Placed, parts: RigidParts, labels: Ints, catalogue: Catalogue) -> Contacts:
    """Studs whose middle lies in the box around a part of another component (`labels` [n]).

    `CrowdedSceneError` above `NEAR_LIMIT` pairs near each other.
    """
    studs = np.flatnonzero(placed.kinds == KINDS.index("stud"))
    middles = placed.origins + STUD_MIDDLE_LDU * placed.axes
    owners, boxes = _boxes(parts, catalogue)
    largest = np.bincount(labels[labels >= 0]).argmax() if (labels >= 0).any() else -1
    # Either side of a contact is outside the largest component, so the bulk is never searched against itself.
    inside = labels[owners] == largest
    loose = studs[labels[placed.parts[studs]] != largest]
    found = [
        _studs_in_boxes(middles, studs, parts, owners[~inside], boxes[~inside]),
        _studs_in_boxes(middles, loose, parts, owners[inside], boxes[inside]),
    ]
    stud, part = (np.concatenate(side) for side in zip(*found, strict=True))
    apart = labels[placed.parts[stud]] != labels[part]
    stud, part = stud[apart], part[apart]
    order = np.lexsort((part, stud))
    stud, part = stud[order], part[order]
    return Contacts(placed.parts[stud], placed.numbers[stud], part.astype(np.int32))


def _boxes(parts: RigidParts, catalogue: Catalogue) -> tuple[Indices, Floats]:
    """Known parts with known bounds, and their corners [k, 2, 3] in the frame of the part."""
    bounds = {stem: catalogue.bounds(stem) for stem in dict.fromkeys(parts.stems) if stem is not None}
    rows = [(part, bounds[stem]) for part, stem in enumerate(parts.stems) if stem is not None]
    boxes = [(part, box) for part, box in rows if box is not None]
    owners = np.array([part for part, _ in boxes], np.int64)
    return owners, np.array([box for _, box in boxes], np.float64).reshape(-1, 2, 3)


def _studs_in_boxes(
    middles: Floats, studs: Indices, parts: RigidParts, owners: Indices, boxes: Floats
) -> tuple[Indices, Indices]:
    """(stud, part) of all studs inside the boxes of the parts in `owners`."""
    if not len(studs) or not len(owners):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rotations, positions = parts.rotations[owners], parts.positions[owners]
    centres = np.einsum("nij,nj->ni", rotations, boxes.mean(axis=1)) + positions
    radii = np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1) / 2.0
    tree = KDTree(middles[studs])
    total = int(tree.query_ball_point(centres, radii, return_length=True).sum())
    if total > NEAR_LIMIT:
        raise CrowdedSceneError(f"{len(owners)} parts are so crowded that {total:,} studs lie near them")
    near = tree.query_ball_point(centres, radii, return_sorted=True)
    row = np.repeat(np.arange(len(owners)), [len(hits) for hits in near])
    stud = studs[np.concatenate([np.asarray(hits, np.int64) for hits in near])]
    local = np.einsum("nji,nj->ni", rotations[row], middles[stud] - positions[row])
    inside = ((local >= boxes[row, 0]) & (local <= boxes[row, 1])).all(axis=1)
    return stud[inside], owners[row[inside]]
