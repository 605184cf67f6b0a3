"""Small mechanisms with known behaviour, and a stand-in for the geometry kernel, exact for their boxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.spatial import ConvexHull

from evalkit_lmbuild.design import Design, Floats, Joint, Mesh, Part, Vector
from evalkit_lmbuild.simulation import Contacts

TOUCH_M = 0.004
BOX_FACES = np.array(
    [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 5, 7],
        [1, 7, 3],
    ],
    dtype=np.int32,
)


def box(
    name: str, centre: Sequence[float], size: Sequence[float], rotation: Vector = (0.0, 0.0, 0.0)
) -> Part:
    """A box by its centre and extents, metres."""
    return Part(name, Mesh(_corners(size), BOX_FACES), _vector(centre), rotation)


def boxes(name: str, *pieces: tuple[Sequence[float], Sequence[float]]) -> Part:
    """One part of several boxes (centre, size) that touch: a case, a tray."""
    vertices = np.concatenate([_corners(size) + np.asarray(centre) for centre, size in pieces])
    faces = np.concatenate([BOX_FACES + 8 * i for i in range(len(pieces))]).astype(np.int32)
    middle = (vertices.min(axis=0) + vertices.max(axis=0)) / 2
    return Part(name, Mesh(vertices - middle, faces), _vector(middle))


def wheel(name: str, centre: Sequence[float], radius: float, width: float, sections: int = 24) -> Part:
    """A prism with many sides about the y axis."""
    turns = 2 * np.pi * np.arange(sections) / sections
    ring = np.stack([radius * np.cos(turns), np.zeros(sections), radius * np.sin(turns)], axis=1)
    half = np.array([0.0, width / 2, 0.0])
    return hulled(name, np.concatenate([ring - half, ring + half]), centre)


def hulled(name: str, points: Floats, centre: Sequence[float]) -> Part:
    """The convex hull of points as a part."""
    hull = ConvexHull(points)
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices).astype(np.int32)
    return Part(name, Mesh(points, faces), _vector(centre))


def exact_contacts(
    design: Design, loops: dict[str, frozenset[str]] | None = None, sweep: object = None
) -> Contacts:
    """Contacts by bounding boxes; moving sets by walking joints from the child, never through the parent."""
    touching = tuple((a.id, b.id) for a, b in combinations(design.parts, 2) if _gap(a, b) <= TOUCH_M)
    return Contacts(
        volume={part.id: _volume(part) for part in design.parts},
        touching=touching,
        deep=lambda a, b: _shared(design.by_id[a], design.by_id[b]),
        moving={j.id: _moving(design, j, touching) for j in design.joints if j.moves} | (loops or {}),
        sweep=sweep,  # type: ignore[arg-type]
    )


def _moving(design: Design, joint: Joint, touching: Sequence[tuple[str, str]]) -> frozenset[str]:
    found = [joint.child]
    for part in found:
        for other in design.joints:
            if other.id != joint.id and part in (other.parent, other.child):
                end = other.child if part == other.parent else other.parent
                if end != joint.parent and end not in found:
                    found.append(end)
    named = {end for other in design.joints for end in (other.parent, other.child)}
    for part in (resting := [joint.parent]):
        for a, b in touching:
            end = b if a == part else a if b == part else None
            if end is not None and end not in named and end not in resting:
                resting.append(end)
    named |= set(resting)
    for part in found:
        for a, b in touching:
            end = b if a == part else a if b == part else None
            if end is not None and end not in named and end not in found:
                found.append(end)
    return frozenset(found)


def _gap(a: Part, b: Part) -> float:
    (low_a, high_a), (low_b, high_b) = a.world.bounds, b.world.bounds
    return float(np.linalg.norm(np.maximum(0.0, np.maximum(low_a - high_b, low_b - high_a))))


def _shared(a: Part, b: Part) -> float:
    """Volume of two boxes' common box, less a millimetre; 0 for other parts: none here overlap."""
    if len(a.mesh.faces) != 12 or len(b.mesh.faces) != 12:
        return 0.0
    (low_a, high_a), (low_b, high_b) = a.world.bounds, b.world.bounds
    extents = np.minimum(high_a, high_b) - np.maximum(low_a, low_b) - 0.001
    return float(np.prod(np.maximum(0.0, extents)))


def _volume(part: Part) -> float:
    a, b, c = np.moveaxis(part.mesh.vertices[part.mesh.faces], 1, 0)
    return abs(float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())) / 6


def _corners(size: Sequence[float]) -> Floats:
    half = np.asarray(size, dtype=np.float64) / 2
    return np.array(
        [[x, y, z] for x in (-half[0], half[0]) for y in (-half[1], half[1]) for z in (-half[2], half[2])]
    )


def _vector(values: Sequence[float] | Floats) -> Vector:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def cart(joint_type: str = "continuous") -> Design:
    """A plate on four wheels."""
    spots = [(x, y) for y in (-0.17, 0.17) for x in (-0.18, 0.18)]
    wheels = [wheel(f"wheel{i}", (x, y, 0.05), 0.05, 0.03) for i, (x, y) in enumerate(spots)]
    joints = [
        Joint(f"axle{i}", joint_type, "body", f"wheel{i}", (0.0, 1.0, 0.0), (x, y, 0.05))
        for i, (x, y) in enumerate(spots)
    ]
    return Design((box("body", (0, 0, 0.12), (0.5, 0.3, 0.08)), *wheels), tuple(joints))


def lid() -> Design:
    """A lid on a box, hinged along its front edge."""
    parts = (box("box", (0, 0, 0.1), (0.3, 0.3, 0.2)), box("lid", (0, 0, 0.21), (0.3, 0.3, 0.02)))
    return Design(
        parts, (Joint("hinge", "revolute", "box", "lid", (1.0, 0.0, 0.0), (0.0, -0.15, 0.2), (0.0, 1.6)),)
    )


def flap() -> Design:
    """A table with a flap between its front legs that the top doesn't let turn."""
    legs = [
        box(f"leg{i}", (x, y, 0.2), (0.04, 0.04, 0.4))
        for i, (x, y) in enumerate([(-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25)])
    ]
    parts = (
        box("top", (0, 0, 0.42), (0.6, 0.6, 0.04)),
        *legs,
        box("flap", (0, -0.28, 0.3), (0.4, 0.04, 0.2)),
    )
    return Design(
        parts, (Joint("hinge", "revolute", "top", "flap", (1.0, 0.0, 0.0), (0.0, -0.28, 0.4), (0.0, np.pi)),)
    )


def drawer(below_m: float, beside_m: float, *, top: bool = True) -> Design:
    """A drawer that slides out of a cabinet of boards, with these clearances below and beside it."""
    size = (0.3, 0.3, 0.12)
    inner, height = size[0] + 2 * beside_m, 0.16
    side = inner / 2 + 0.01
    parts = [
        box("floor", (0, 0, 0.11), (inner + 0.04, 0.34, 0.02)),
        box("left", (-side, 0, 0.12 + height / 2), (0.02, 0.34, height)),
        box("right", (side, 0, 0.12 + height / 2), (0.02, 0.34, height)),
        box("back", (0, 0.18, 0.16), (inner + 0.04, 0.02, 0.32)),
        box("base", (0, 0, 0.05), (inner + 0.04, 0.34, 0.1)),
        box("drawer", (0, 0, 0.12 + below_m + size[2] / 2), size),
    ]
    if top:
        parts.append(box("top", (0, 0, 0.13 + height), (inner + 0.04, 0.34, 0.02)))
    slide = Joint("slide", "prismatic", "floor", "drawer", (0.0, -1.0, 0.0), (0.0, 0.0, 0.12), (0.0, 0.2))
    return Design(tuple(parts), (slide,))


def cased(front: bool, start_out_m: float = 0.0) -> Design:
    """A drawer in a case of one part, closed at the front or open; `start_out_m` in front of the case."""
    walls = [((0, 0, 0.01), (0.4, 0.4, 0.02)), ((0, 0, 0.29), (0.4, 0.4, 0.02))]
    walls += [((x, 0, 0.15), (0.02, 0.4, 0.26)) for x in (-0.19, 0.19)]
    walls += [((0, y, 0.15), (0.36, 0.02, 0.26)) for y in ((0.19, -0.19) if front else (0.19,))]
    y = -0.02 - start_out_m
    inside = box("drawer", (0, y, 0.15), (0.3, 0.3, 0.1))
    axis = (0.0, 1.0, 0.0) if start_out_m else (0.0, -1.0, 0.0)
    slide = Joint("slide", "prismatic", "case", "drawer", axis, (0.0, y, 0.05), (0.0, 0.25))
    return Design((boxes("case", *walls), inside), (slide,))


def four_bar() -> Design:
    """A parallelogram of bars on a plate; its last joint closes the loop."""
    parts = (
        box("plate", (0, 0, 0.02), (0.5, 0.2, 0.04)),
        box("crank", (-0.15, -0.02, 0.14), (0.02, 0.02, 0.16)),
        box("rocker", (0.15, -0.02, 0.14), (0.02, 0.02, 0.16)),
        box("coupler", (0, 0.01, 0.22), (0.32, 0.02, 0.02)),
    )
    y = (0.0, 1.0, 0.0)
    joints = (
        Joint("crank", "revolute", "plate", "crank", y, (-0.15, 0.0, 0.05), (-0.6, 0.6)),
        Joint("left", "revolute", "crank", "coupler", y, (-0.15, 0.0, 0.22), (-0.6, 0.6)),
        Joint("rocker", "revolute", "plate", "rocker", y, (0.15, 0.0, 0.05), (-0.6, 0.6)),
        Joint("right", "revolute", "rocker", "coupler", y, (0.15, 0.0, 0.22), (-0.6, 0.6)),
    )
    return Design(parts, joints)


def on_a_stand(joint_type: str, limits: tuple[float, float] | None = None) -> Design:
    """A short bar above a heavy block, tied by one joint along z; nothing is in its way."""
    parts = (box("block", (0, 0, 0.1), (0.4, 0.4, 0.2)), box("bar", (0, 0, 0.35), (0.05, 0.05, 0.1)))
    return Design(
        parts, (Joint("joint", joint_type, "block", "bar", (0.0, 0.0, 1.0), (0.0, 0.0, 0.25), limits),)
    )
