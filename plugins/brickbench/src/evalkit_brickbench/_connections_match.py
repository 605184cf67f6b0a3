"""Which placed connectors mate: five families with their tolerances, matched by KD-trees.

Tolerances are those of the benchmark: two connectors mate if their positions and axes agree loosely enough
that hand-made models hold together; what is loose is reported as a residual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.parts.catalogue import KINDS, POLARITIES
from evalkit_brickbench.scene import Floats, Ints

FAMILIES = ("axle", "ball", "fixed", "hinge", "stud")

POSITION_TOLERANCE_LDU = 3.0
STUD_MIN_DOT = 0.95  # of the signed axes
HINGE_MIN_DOT = 0.95  # of the unsigned axes
AXLE_MIN_DOT = 0.9  # of the unsigned axes
FIXED_MIN_DOT = 0.9999
FIXED_MIN_TRACE = 2.99
FIXED_STIFF_SUBTYPES = ("0", "1", "2", "3")  # the others turn freely
AXLE_MIN_HALF_LENGTH_LDU = 4.0
AXLE_MIN_OVERLAP_LDU = 4.0
ROUNDING_LDU = 1e-6  # a distance of exactly 3.0 stays inside after a rotation
MAX_CROWDED_PAIRS = 2_000_000  # pairs in the same places; a real model of 5,000 parts has some 50,000

STUD_PAIRS = (("stud", "hole"), ("stud", "tube"), ("open", "hole"), ("open", "tube"), ("open", "post"))
AXLE_PAIRS = (("pin", "socket"), ("axle", "socket"), ("axle", "cross"), ("bar", "clip"), ("bar", "cross"))

Bools = NDArray[np.bool_]
Indices = NDArray[np.int64]


class CrowdedSceneError(ValueError):
    """So many parts lie in the same place that their connections would fill the memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """c connectors in the frame of the scene, grouped by part in scene order.

    `parts` [c] and `numbers` [c]: index of the part, and of the connector within it. `kinds` and
    `polarities` [c] as in `Connectors`; `subtypes` [c]: index into `subtype_names`. `origins` [c, 3] and
    `half_lengths` [c] (axles) in LDU; `frames` [c, 3, 3], reflected where the part is.
    """

    parts: Ints
    numbers: Ints
    kinds: NDArray[np.int8]
    subtypes: NDArray[np.int16]
    polarities: NDArray[np.int8]
    origins: Floats
    frames: Floats
    half_lengths: Floats
    subtype_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def axes(self) -> Floats:
        """Mating axes [c, 3]: −y of the frames."""
        return -self.frames[:, :, 1]


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """m mating pairs: rows `a` and `b` of the placed connectors, `families` [m] as index into `FAMILIES`,
    and how far each is from a perfect fit (`residual_ldu`, `residual_rad`) in what its family holds fast."""

    a: Indices
    b: Indices
    families: NDArray[np.int8]
    residual_ldu: Floats
    residual_rad: Floats


def match(placed: Placed) -> Matches:
    """All mating pairs between connectors of different parts."""
    found = [_match_studs(placed), _match_polar(placed), _match_axles(placed)]
    return Matches(
        a=np.concatenate([m.a for m in found]),
        b=np.concatenate([m.b for m in found]),
        families=np.concatenate([m.families for m in found]),
        residual_ldu=np.concatenate([m.residual_ldu for m in found]),
        residual_rad=np.concatenate([m.residual_rad for m in found]),
    )


def _match_studs(placed: Placed) -> Matches:
    """Studs in holes, tubes and posts: near, and pointing the same way."""
    studs = np.flatnonzero(placed.kinds == KINDS.index("stud"))
    holes = np.flatnonzero(placed.kinds == KINDS.index("hole"))
    a, b = _near(placed.origins, studs, holes)
    mates = _mate_table(placed, STUD_PAIRS)[placed.subtypes[a], placed.subtypes[b]]
    a, b = _of_different_parts(placed, a[mates], b[mates])
    axes = placed.axes
    distance, dot = _norm(placed.origins[a] - placed.origins[b]), _dot(axes[a], axes[b])
    held = dot >= STUD_MIN_DOT
    a, b = a[held], b[held]
    return Matches(a, b, _family("stud", a), distance[held], _angle(axes[a], axes[b]))


def _match_polar(placed: Placed) -> Matches:
    """Balls, hinges and fixed connectors: "in" with "on" of the same kind and subtype."""
    polar = np.isin(placed.kinds, [KINDS.index(kind) for kind in ("ball", "fixed", "hinge")])
    inner = np.flatnonzero(polar & (placed.polarities == POLARITIES.index("in")))
    outer = np.flatnonzero(polar & (placed.polarities == POLARITIES.index("on")))
    group = placed.kinds.astype(np.float64) * len(placed.subtype_names) + placed.subtypes
    # Groups lie apart along a fourth axis, so that one search serves them all.
    apart = np.column_stack([placed.origins, group * (4 * POSITION_TOLERANCE_LDU)])
    a, b = _of_different_parts(placed, *_near(apart, inner, outer))
    families, dots, angles = _polar_fit(placed, a, b)
    turns = _rotation_angle(placed.frames[a], placed.frames[b])
    ball, fixed, hinge = (families == FAMILIES.index(name) for name in ("ball", "fixed", "hinge"))
    stiff = fixed & _stiff(placed)[placed.subtypes[a]]
    aligned = (dots >= FIXED_MIN_DOT) & (_trace(placed.frames[a], placed.frames[b]) >= FIXED_MIN_TRACE)
    held = ball | (hinge & (np.abs(dots) >= HINGE_MIN_DOT)) | (fixed & ~stiff) | (stiff & aligned)
    distance = _norm(placed.origins[a] - placed.origins[b])
    residual = np.where(hinge, angles, np.where(stiff, turns, 0.0))
    return Matches(a[held], b[held], families[held], distance[held], residual[held])


def _polar_fit(placed: Placed, a: Indices, b: Indices) -> tuple[NDArray[np.int8], Floats, Floats]:
    """Families, signed dots and unsigned angles of the axes of pairs."""
    family_of_kind = np.array([FAMILIES.index(k) if k in FAMILIES else -1 for k in KINDS], np.int8)
    axes = placed.axes
    return (
        family_of_kind[placed.kinds[a]],
        _dot(axes[a], axes[b]),
        _unsigned(_angle(axes[a], axes[b])),
    )


def _match_axles(placed: Placed) -> Matches:
    """Pins, axles and bars in sockets, crosses and clips: coaxial, and overlapping along the axis."""
    half = np.maximum(placed.half_lengths, AXLE_MIN_HALF_LENGTH_LDU)
    mate = _mate_table(placed, AXLE_PAIRS)
    axle = placed.kinds == KINDS.index("axle")
    takes, enters = (np.flatnonzero(mate.sum(axis=side)) for side in (0, 1))
    female = np.flatnonzero(axle & np.isin(placed.subtypes, takes))
    male = np.flatnonzero(axle & np.isin(placed.subtypes, enters))
    a, b = _near_by_length(placed.origins, half, female, male)
    mates = mate[placed.subtypes[b], placed.subtypes[a]]
    a, b = _of_different_parts(placed, a[mates], b[mates])
    axes = placed.axes
    offset = placed.origins[b] - placed.origins[a]
    along = _dot(offset, axes[b])
    across = _norm(offset - along[:, None] * axes[b])
    slack = np.sqrt(np.maximum(POSITION_TOLERANCE_LDU**2 - across**2, 0.0))
    overlap = half[a] + half[b] - np.abs(along) + slack
    held = (
        (across <= POSITION_TOLERANCE_LDU + ROUNDING_LDU)
        & (np.abs(_dot(axes[a], axes[b])) >= AXLE_MIN_DOT)
        & (overlap >= AXLE_MIN_OVERLAP_LDU - ROUNDING_LDU)
    )
    a, b = a[held], b[held]
    return Matches(a, b, _family("axle", a), across[held], _unsigned(_angle(axes[a], axes[b])))


def _near_by_length(origins: Floats, half: Floats, female: Indices, male: Indices) -> tuple[Indices, Indices]:
    """Pairs that can overlap, searched bin by bin (half-lengths double from one to the next): a single long
    axle must not widen the search of all the others."""
    a, b = [], []
    for females in _bins(half, female):
        for males in _bins(half, male):
            reach = half[females].max() + half[males].max() - AXLE_MIN_OVERLAP_LDU + POSITION_TOLERANCE_LDU
            rows = _near(origins, females, males, float(np.hypot(reach, POSITION_TOLERANCE_LDU)))
            a.append(rows[0])
            b.append(rows[1])
    empty = np.zeros(0, np.int64)
    return np.concatenate([empty, *a]), np.concatenate([empty, *b])


def _bins(half: Floats, rows: Indices) -> list[Indices]:
    """Rows by the power of two of their half-length."""
    powers = np.frexp(half[rows])[1]
    return [rows[powers == power] for power in np.unique(powers)]


def _near(
    points: Floats, a: Indices, b: Indices, radius: float = POSITION_TOLERANCE_LDU
) -> tuple[Indices, Indices]:
    """Rows of `a` and `b` whose points lie at most `radius` apart."""
    if not len(a) or not len(b):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    from scipy.spatial import KDTree

    _refuse_crowds(points[a], points[b], radius)
    trees = [KDTree(points[rows], balanced_tree=False) for rows in (a, b)]
    pairs = trees[0].sparse_distance_matrix(trees[1], radius + ROUNDING_LDU, output_type="ndarray")
    return a[pairs["i"]], b[pairs["j"]]


def _refuse_crowds(a: Floats, b: Floats, radius: float) -> None:
    """Raise `CrowdedSceneError` if cells within which all points are in reach hold too many pairs."""
    if len(a) * len(b) <= MAX_CROWDED_PAIRS:
        return
    side = radius / np.sqrt(a.shape[1])
    cells = np.floor(np.concatenate([a, b]) / side)
    mixed = cells @ np.array([1.0, 1e5 + 3, 1e10 + 19, 1e15 + 37])[: a.shape[1]]
    names, cell = np.unique(mixed, return_inverse=True)
    pairs = np.bincount(cell[: len(a)], minlength=len(names)) @ np.bincount(
        cell[len(a) :], minlength=len(names)
    )
    if pairs > MAX_CROWDED_PAIRS:
        raise CrowdedSceneError(
            f"{pairs:,} pairs of connectors lie in the same places (at most {MAX_CROWDED_PAIRS:,} may): "
            "are there many copies of a part on top of each other?"
        )


def _mate_table(placed: Placed, pairs: tuple[tuple[str, str], ...]) -> Bools:
    """[s, s]: whether a connector of the first subtype goes into one of the second."""
    names = placed.subtype_names
    table = [(first, second) in pairs for first in names for second in names]
    return np.array(table, np.bool_).reshape(len(names), len(names))


def _stiff(placed: Placed) -> Bools:
    return np.array([name in FIXED_STIFF_SUBTYPES for name in placed.subtype_names], np.bool_)


def _of_different_parts(placed: Placed, a: Indices, b: Indices) -> tuple[Indices, Indices]:
    different = placed.parts[a] != placed.parts[b]
    return a[different], b[different]


def _family(name: str, rows: Indices) -> NDArray[np.int8]:
    return np.full(len(rows), FAMILIES.index(name), np.int8)


def _dot(u: Floats, v: Floats) -> Floats:
    product: Floats = np.einsum("ij,ij->i", u, v)
    return product


def _norm(u: Floats) -> Floats:
    return np.sqrt(_dot(u, u))


def _angle(u: Floats, v: Floats) -> Floats:
    """Angles between unit vectors, exact to rounding near 0 (an arc cosine is off by 1e-8 there)."""
    return 2.0 * np.arctan2(_norm(u - v), _norm(u + v))


def _unsigned(angle: Floats) -> Floats:
    """Angles between lines instead of directions."""
    return np.minimum(angle, np.pi - angle)


def _trace(a: Floats, b: Floats) -> Floats:
    """Traces of aᵀ·b."""
    product: Floats = np.einsum("nij,nij->n", a, b)
    return product


def _rotation_angle(a: Floats, b: Floats) -> Floats:
    """Angles of the rotations aᵀ·b, from ‖a − b‖ = 2√2·sin(θ/2)."""
    chord = np.sqrt(np.einsum("nij,nij->n", a - b, a - b)) / (2.0 * np.sqrt(2.0))
    angle: Floats = 2.0 * np.arcsin(np.minimum(chord, 1.0))
    return angle
