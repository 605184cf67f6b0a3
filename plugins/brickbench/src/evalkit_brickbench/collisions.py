"""Which parts of a scene run into each other.

The true surfaces of two parts may overlap by the depth that a profile allows: each mesh is moved inwards by
half of it, and two parts collide if the triangles of those meshes meet (FCL), if one lies inside the other,
or if they are the same thing in the same place. Connected parts aren't exempt. A verdict depends on two
shapes and the pose of one in the frame of the other only, so it is found once and kept (see `VerdictStore`):
checking again after an edit costs what is new.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evalkit_brickbench import _collisions_poses as poses
from evalkit_brickbench._collisions_poses import Indices, TooManyPairsError
from evalkit_brickbench._collisions_shapes import Shape, Surface, make_shape, shape_digest
from evalkit_brickbench._collisions_store import VerdictStore, default_store
from evalkit_brickbench.parts.catalogue import Catalogue
from evalkit_brickbench.scene import Floats, Mesh, MeshSource, Scene

Kind = Literal["surface", "containment", "duplicate"]

KINDS: tuple[Kind, ...] = ("surface", "containment", "duplicate")
PAIR_LIMIT = 4_000_000
"""More pairs of overlapping boxes than this are refused: a pile of parts, not a model."""
TRIAL_LIMIT = 60_000
"""More unknown relative poses than this are refused: each costs about 0.4 ms, and a set of 4,000 parts has
some 2,000."""
TRIANGLE_LIMIT = 1_200_000
"""Parts of different kinds, or stretched differently, with more triangles than this between them are refused:
each costs about 20 µs and 1 kB. Sets have up to 300,000."""

_CLEAR = 0
_SHAPES_KEPT = 4096
_shapes: OrderedDict[bytes, Shape] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Profile:
    """A rule by name: parts collide if their true surfaces overlap by more than `depth_ldu`; each of the two
    meshes is inset by `inset_ldu` for that."""

    name: str
    depth_ldu: float
    inset_ldu: float


BRICKBENCH = Profile("brickbench", depth_ldu=1.0, inset_ldu=0.505)
"""Half of the depth and 0.005 LDU, the step to which meshes are rounded: an overlap of 1.0 is still clear."""
BRICKNET_0_1_0 = Profile("bricknet-0.1.0", depth_ldu=0.5, inset_ldu=0.25)
PROFILES = {profile.name: profile for profile in (BRICKBENCH, BRICKNET_0_1_0)}


@dataclass(frozen=True, slots=True, eq=False)
class Collisions:
    """k colliding pairs of a scene.

    `pairs` [k, 2]: indices into the scene, i < j, sorted. `kinds` [k]: "surface" (surfaces cross),
    "containment" (one lies inside the other), "duplicate" (the same shape in the same place, also turned onto
    itself). `boxes` [k, 2, 3]: low and high corners in LDU of what the boxes around both parts share.
    `without_mesh`, `without_volume`: indices of parts that weren't checked, for want of a mesh or because
    their matrix squeezes them flat. `meshes`: id of the source.
    """

    profile: Profile
    pairs: Indices
    kinds: tuple[Kind, ...]
    boxes: Floats
    without_mesh: tuple[int, ...]
    without_volume: tuple[int, ...]
    meshes: str

    def __len__(self) -> int:
        return len(self.pairs)


def collide(
    scene: Scene,
    meshes: MeshSource,
    catalogue: Catalogue | None = None,
    profile: Profile = BRICKBENCH,
    store: VerdictStore | None = None,
) -> Collisions:
    """Colliding pairs of a scene; the catalogue resolves aliases, the store keeps verdicts (default: the
    user's cache). Raises `TooManyPairsError` for piles of parts, and for too many shapes.

    The same parts give the same pairs whatever their order, the process or the state of the store.
    """
    placed = _place(scene, meshes, catalogue, profile)
    low, high = poses.world_boxes(placed.low, placed.high, placed.rotations, placed.positions)
    near = poses.meeting_boxes(low, high, PAIR_LIMIT)
    verdicts = _verdicts(placed, near, default_store() if store is None else store)
    hits = np.flatnonzero(verdicts != _CLEAR)
    pairs = placed.indices[near[hits]]
    return Collisions(
        profile=profile,
        pairs=pairs,
        kinds=tuple(KINDS[verdict - 1] for verdict in verdicts[hits]),
        boxes=_overlaps(placed, near[hits]),
        without_mesh=placed.without_mesh,
        without_volume=placed.without_volume,
        meshes=meshes.id,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """The m parts that can be checked: `indices` [m] into the scene, `kinds` [m] into `shapes`, their boxes
    [m, 3] in their own frames, rotations [m, 3, 3] and positions [m, 3]."""

    shapes: list[Shape]
    indices: Indices
    kinds: Indices
    low: Floats
    high: Floats
    rotations: Floats
    positions: Floats
    without_mesh: tuple[int, ...]
    without_volume: tuple[int, ...]


def _place(scene: Scene, meshes: MeshSource, catalogue: Catalogue | None, profile: Profile) -> _Placed:
    matrices, positions = scene.matrices.copy(), scene.positions.copy()
    found: dict[str, tuple[Mesh | None, Floats | None]] = {}
    triangles = 0
    for stem in scene.stems:
        if stem not in found:
            found[stem] = _find(stem, scene, meshes, catalogue)
            triangles = _counted(triangles, found[stem][0])
    for index, stem in enumerate(scene.stems):
        pose = found[stem][1]
        if pose is not None:
            positions[index] += matrices[index] @ pose[:3, 3]
            matrices[index] = matrices[index] @ pose[:3, :3]
    rotations, stretches, flat = poses.rotations_and_stretches(matrices)
    identity = np.eye(3)
    stretched = (stretches != identity).any(axis=(1, 2))
    shapes: list[Shape] = []
    numbers: dict[tuple[str, bytes], int] = {}
    kept: list[int] = []
    kinds: list[int] = []
    without_mesh: list[int] = []
    triangles = 0
    for index, stem in enumerate(scene.stems):
        mesh = found[stem][0]
        if mesh is None:
            without_mesh.append(index)
        elif not flat[index]:
            key = (stem, stretches[index].tobytes() if stretched[index] else b"")
            if key not in numbers:
                triangles = _counted(triangles, mesh)
                numbers[key] = len(shapes)
                shapes.append(_shape(mesh, stretches[index], profile.inset_ldu))
            kept.append(index)
            kinds.append(numbers[key])
    indices, numbered = np.array(kept, dtype=np.int64), np.array(kinds, dtype=np.int64)
    boxes = np.array([(shape.low, shape.high) for shape in shapes]).reshape(-1, 2, 3)
    return _Placed(
        shapes=shapes,
        indices=indices,
        kinds=numbered,
        low=boxes[numbered, 0],
        high=boxes[numbered, 1],
        rotations=rotations[indices],
        positions=positions[indices],
        without_mesh=tuple(without_mesh),
        without_volume=tuple(int(index) for index in np.flatnonzero(flat)),
    )


def _counted(triangles: int, mesh: Mesh | None) -> int:
    """The number of triangles with those of one more mesh; `TooManyPairsError` beyond `TRIANGLE_LIMIT`."""
    total = triangles + (0 if mesh is None else len(mesh.triangles))
    if total > TRIANGLE_LIMIT:
        raise TooManyPairsError(
            f"the different shapes of parts have more than {TRIANGLE_LIMIT:,} triangles: too many kinds "
            "of parts, or too many that are stretched in ways of their own"
        )
    return total


def _find(
    stem: str, scene: Scene, meshes: MeshSource, catalogue: Catalogue | None
) -> tuple[Mesh | None, Floats | None]:
    """The mesh of a stem, and its pose in the frame of that stem unless it is the identity."""
    resolved = None if catalogue is None or stem in scene.embedded else catalogue.resolve(stem)
    if resolved is not None:
        mesh = meshes.mesh(resolved.stem)
        if mesh is not None and len(mesh.triangles):
            moved = not np.array_equal(resolved.pose, np.eye(4))
            return mesh, resolved.pose if moved else None
    mesh = meshes.mesh(stem)
    return (mesh, None) if mesh is not None and len(mesh.triangles) else (None, None)


def _shape(mesh: Mesh, stretch: Floats, inset_ldu: float) -> Shape:
    """The shape, of those that this process has made already if it is among them."""
    digest = shape_digest(mesh, stretch, inset_ldu)
    shape = _shapes.pop(digest, None) or make_shape(mesh, stretch, inset_ldu)
    _shapes[digest] = shape
    if len(_shapes) > _SHAPES_KEPT:
        _shapes.popitem(last=False)
    return shape


def _verdicts(placed: _Placed, near: Indices, store: VerdictStore) -> Indices:
    """The verdict [k] on each pair [k, 2] of placed parts: 0 clear, else a kind's number plus one."""
    if not len(near):
        return np.empty(0, dtype=np.int64)
    first, second, relative = _in_order(placed, near)
    names = np.array([np.frombuffer(shape.digest, dtype="<u8") for shape in placed.shapes], dtype=np.uint64)
    keys = poses.pose_keys(names, placed.kinds[first], placed.kinds[second], relative)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    examples = order[new]
    known = store.get(keys[examples])
    missing = [place for place, verdict in enumerate(known) if verdict is None]
    if len(missing) > TRIAL_LIMIT:
        raise TooManyPairsError(
            f"{len(missing):,} pairs of parts are near each other in ways that no other pair is "
            f"(limit {TRIAL_LIMIT:,}): parts are piled up in one place"
        )
    narrow = _Narrow()
    for place in missing:
        pair = examples[place]
        known[place] = narrow.verdict(
            placed.shapes[placed.kinds[first[pair]]],
            placed.shapes[placed.kinds[second[pair]]],
            *poses.as_pose(relative[pair]),
        )
    store.put(keys[examples[missing]], [known[place] or _CLEAR for place in missing])
    return np.array(known, dtype=np.int64)[group]


def _in_order(placed: _Placed, near: Indices) -> tuple[Indices, Indices, Indices]:
    """First and second part [k] of each pair and their relative pose [k, 12], the same way round for pairs
    that are the same but for where they stand."""
    first, second = near[:, 0].copy(), near[:, 1].copy()
    places = {digest: place for place, digest in enumerate(sorted({shape.digest for shape in placed.shapes}))}
    ranks = np.array([places[shape.digest] for shape in placed.shapes])
    left, right = ranks[placed.kinds[first]], ranks[placed.kinds[second]]
    swap = left > right
    first[swap], second[swap] = second[swap], first[swap].copy()
    relative = poses.relative_poses(placed.rotations, placed.positions, first, second)
    same = np.flatnonzero(left == right)
    back = poses.relative_poses(placed.rotations, placed.positions, second[same], first[same])
    later = ~poses.first_in_order(relative[same], back)
    turned = same[later]
    relative[turned] = back[later]
    first[turned], second[turned] = second[turned], first[turned].copy()
    return first, second, relative


class _Narrow:
    """Verdicts on single pairs of shapes."""

    def __init__(self) -> None:
        import fcl

        self._fcl = fcl
        self._request = fcl.CollisionRequest(num_max_contacts=1, enable_contact=False)
        self._objects: dict[int, tuple[Any, Any]] = {}

    def verdict(self, one: Shape, other: Shape, rotation: Floats, translation: Floats) -> int:
        """The verdict on two shapes, the other at p ↦ rotation·p + translation."""
        if one.coincides(other, rotation, translation):
            return 1 + KINDS.index("duplicate")
        crossing = self._cross(one.surface, other.surface, rotation, translation)
        # Moved vertices may stick out where a mesh is badly formed: what wasn't there before doesn't count.
        if crossing and self._cross(one.given, other.given, rotation, translation):
            return 1 + KINDS.index("surface")
        if one.contains(other.probes() @ rotation.T + translation) or other.contains(
            (one.probes() - translation) @ rotation
        ):
            return 1 + KINDS.index("containment")
        return _CLEAR

    def _cross(self, one: Surface, other: Surface, rotation: Floats, translation: Floats) -> bool:
        still, moving = self._object(one)[0], self._object(other)[1]
        moving.setTransform(self._fcl.Transform(rotation, translation))
        return bool(self._fcl.collide(still, moving, self._request, self._fcl.CollisionResult()))

    def _object(self, surface: Surface) -> tuple[Any, Any]:
        key = id(surface)
        if key not in self._objects:
            bvh = surface.bvh()
            self._objects[key] = (self._fcl.CollisionObject(bvh), self._fcl.CollisionObject(bvh))
        return self._objects[key]


def _overlaps(placed: _Placed, pairs: Indices) -> Floats:
    """Intersections [k, 2, 3] of the boxes around the true surfaces of both parts."""
    boxes: dict[int, tuple[Floats, Floats]] = {}
    for part in np.unique(pairs):
        shape = placed.shapes[placed.kinds[part]]
        corners = shape.given.vertices @ placed.rotations[part].T + placed.positions[part]
        out = shape.given_inset_ldu
        boxes[int(part)] = corners.min(axis=0) - out, corners.max(axis=0) + out
    found = [
        (np.maximum(boxes[i][0], boxes[j][0]), np.minimum(boxes[i][1], boxes[j][1]))
        for i, j in pairs.tolist()
    ]
    return np.array(found, dtype=np.float64).reshape(-1, 2, 3)


__all__ = [
    "BRICKBENCH",
    "BRICKNET_0_1_0",
    "KINDS",
    "PAIR_LIMIT",
    "PROFILES",
    "TRIAL_LIMIT",
    "TRIANGLE_LIMIT",
    "Collisions",
    "Kind",
    "Profile",
    "TooManyPairsError",
    "VerdictStore",
    "collide",
]
