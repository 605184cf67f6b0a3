"""Ways to break a design on purpose. Each takes a design with its facts and returns a broken copy, or None
where the design has nothing that could break so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Ints, Joint, Mesh, Part, Step, Vector
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.kernel import Field, moving_set, turned
from evalkit_lmbuild.materials import FAMILIES, MATERIALS
from evalkit_lmbuild.scoring.naming import Naming

Break = Callable[[Design, ObjectFacts], Design | None]

SKEW: Vector = (1 / math.sqrt(3), 1 / math.sqrt(3), 1 / math.sqrt(3))
"""A direction as far from all three axes as can be, 55°."""
STRETCH = 1.7
REACHED = (0.25, 0.4, 0.6)
"""Shares of a joint's range at which an obstacle may stand."""
MAX_BLOCKED = 4
"""Joints of one component that get an obstacle; with more it is left alone."""


def part_removed(design: Design, facts: ObjectFacts) -> Design | None:
    """Without the parts of one required component: the first of A.2's that isn't all there is."""
    naming = Naming(facts)
    for required in facts.required_parts:
        name = naming.named(required.part)
        if name not in naming.needed:
            continue
        gone = {part.id for part in design.parts if naming.component(part) == name}
        if gone and len(gone) < len(design.parts):
            return _without(design, gone)
    return None


def parts_afloat(design: Design, facts: ObjectFacts) -> Design | None:
    """One in six parts, those with most joints, are carried off, each to a place of its own."""
    if len(design.parts) < 2:
        return None
    degrees = {part.id: 0 for part in design.parts}
    for joint in design.joints:
        degrees[joint.parent] += 1
        degrees[joint.child] += 1
    hubs = sorted(degrees, key=lambda name: -degrees[name])[: max(1, round(len(degrees) / 6))]
    broken = design
    for number, hub in enumerate(hubs, 1):
        broken = _moved(broken, {hub}, (0.0, 0.0, number * design.diagonal))
    return broken


def axis_turned(design: Design, facts: ObjectFacts) -> Design | None:
    """The joints of the first claimed motion turn or slide along a skew axis."""
    chosen = {joint.id for joint in claimed_joints(design, facts) if joint.axis is not None}
    if not chosen:
        return None
    joints = tuple(_skewed(joint) if joint.id in chosen else joint for joint in design.joints)
    return replace(design, joints=joints)


def joints_frozen(design: Design, facts: ObjectFacts) -> Design | None:
    """Every joint is a fixed one."""
    if not any(joint.moves for joint in design.joints):
        return None
    frozen = (Joint(j.id, "fixed", j.parent, j.child, None, j.origin, None) for j in design.joints)
    return replace(design, joints=tuple(frozen))


def joints_missing(design: Design, facts: ObjectFacts) -> Design | None:
    """No joints at all."""
    return replace(design, joints=()) if design.joints else None


def motion_blocked(design: Design, facts: ObjectFacts) -> Design | None:
    """An obstacle, fixed to what rests, stands in the way of each joint of the first claimed motion.

    For a lid it is a lid that is blocked, for a drawer one that is jammed. A joint that moves both ways is
    blocked both ways.
    """
    joints = [joint for joint in claimed_joints(design, facts) if joint.type in ("revolute", "prismatic")]
    if not joints or len(joints) > MAX_BLOCKED:
        return None
    broken = design
    for joint in joints:
        for end in _ends(joint):
            obstacle = _obstacle(broken, joint, end)
            if obstacle is None:
                return None
            held = Joint(f"holds_{obstacle.id}", "fixed", joint.parent, obstacle.id)
            broken = Design(
                (*broken.parts, obstacle),
                (*broken.joints, held),
                (*broken.sequence, Step(obstacle.id)),
                broken.meta,
            )
    return broken


def sequence_reversed(design: Design, facts: ObjectFacts) -> Design | None:
    """Assembly from the last part to the first."""
    return replace(design, sequence=design.sequence[::-1]) if len(design.sequence) > 1 else None


def materials_swapped(design: Design, facts: ObjectFacts) -> Design | None:
    """Every part is of a material that no claim and no part of the reference knows, nor its family."""
    known = {each for claim in facts.materials for each in claim.classes}
    reference = facts.reference.parts if facts.reference is not None else ()
    known |= {MATERIALS[part.material].material_class for part in reference if part.material}
    families = {FAMILIES[each] for each in known}
    foreign = [m.id for m in MATERIALS.values() if FAMILIES[m.material_class] not in families]
    if not foreign:
        return None
    return _with_parts(design, (replace(part, material=foreign[0]) for part in design.parts))


def roles_missing(design: Design, facts: ObjectFacts) -> Design | None:
    """No part says what it is."""
    return _with_parts(design, (replace(part, role=None) for part in design.parts))


def parts_doubled(design: Design, facts: ObjectFacts) -> Design | None:
    """Every part stands where it is a second time."""
    twins = (replace(part, id=f"{part.id}_again") for part in design.parts)
    return _with_parts(design, (*design.parts, *twins))


def stretched(design: Design, facts: ObjectFacts) -> Design | None:
    """Everything 1.7 times as high, joints along with it."""
    by = np.array([1.0, 1.0, STRETCH])
    parts = tuple(_placed(part, Mesh(part.world.vertices * by, part.world.faces)) for part in design.parts)
    joints = tuple(
        replace(j, origin=None if j.origin is None else _vector(np.array(j.origin) * by))
        for j in design.joints
    )
    return Design(parts, joints, design.sequence, design.meta)


def parts_sawn(design: Design, facts: ObjectFacts) -> Design | None:
    """Every part sawn through the middle of its longest side; joints stay with the half that they are on."""
    parts: list[Part] = []
    heirs: dict[str, list[Part]] = {}
    for part in design.parts:
        halves = _halves(part)
        heirs[part.id] = halves
        parts += halves
    joints = []
    for joint in design.joints:
        at = np.array(joint.origin) if joint.origin is not None else _between(design, joint)
        parent, child = (_nearest(heirs[name], at).id for name in (joint.parent, joint.child))
        joints.append(replace(joint, parent=parent, child=child))
    steps = tuple(replace(step, part=half.id) for step in design.sequence for half in heirs[step.part])
    return Design(tuple(parts), tuple(joints), steps, design.meta)


def overhanging(design: Design, facts: ObjectFacts) -> Design | None:
    """A block twice as large as everything hangs on the highest part, far out over the side."""
    if not facts.free_standing:
        return None
    top = max(design.parts, key=lambda part: float(part.world.bounds[1][2]))
    field = Field(design.parts)
    edge = float(np.cbrt(2 * sum(field.volume(part.id) for part in design.parts)))
    low, high = design.bounds
    centre = (float(high[0]) + 0.75 * edge, 0.0, float(high[2]) - edge / 2)
    if centre[2] - edge / 2 < float(low[2]) + 0.02:
        centre = (centre[0], centre[1], float(low[2]) + 0.02 + edge / 2)
    block = _block("weight", edge, centre)
    held = Joint("holds_weight", "fixed", top.id, block.id)
    return Design(
        (*design.parts, block), (*design.joints, held), (*design.sequence, Step(block.id)), design.meta
    )


def claimed_joints(design: Design, facts: ObjectFacts) -> list[Joint]:
    """The moving joints whose child is the moving part of the first claimed motion that has any."""
    naming = Naming(facts)
    for motion in facts.motions:
        name = naming.named(motion.moving_part)
        found = [j for j in design.joints if j.moves and naming.component(design.by_id[j.child]) == name]
        if name is not None and found:
            return found
    return []


def _ends(joint: Joint) -> list[float]:
    """The ends of a joint's range that aren't its rest, in rad or m."""
    low, high = joint.limits if joint.limits is not None else (0.0, math.pi / 2)
    return [end for end in (low, high) if abs(end) > 1e-3]


def _obstacle(design: Design, joint: Joint, end: float) -> Part | None:
    """A cube that the moving parts run into on their way to an end and that touches nothing at rest."""
    touching = Field(design.parts).touching()
    moving = moving_set(design, joint, touching).ids
    points = np.concatenate([design.by_id[name].world.vertices for name in moving])
    size = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    name = f"obstacle_{len(design.parts)}"
    for share in REACHED:
        there = _moved_points(points, joint, share * end)
        travelled = np.linalg.norm(there - points, axis=1)
        far = int(np.argmax(travelled))
        ahead = (there[far] - points[far]) / max(float(travelled[far]), 1e-9)
        for edge in (0.12 * size, 0.06 * size):
            block = _block(name, edge, _vector(there[far] + ahead * edge / 2))
            field = Field((*design.parts, block))
            if all(block.id not in pair for pair in field.touching()):
                return block
    return None


def _moved_points(points: Floats, joint: Joint, value: float) -> Floats:
    """Points [n, 3] where a joint's value, in rad or m, takes them."""
    axis, origin = np.array(joint.axis), np.array(joint.origin)
    if joint.type == "prismatic":
        return np.asarray(points + value * axis)
    return np.asarray((points - origin) @ turned(axis, value).T + origin)


def _skewed(joint: Joint) -> Joint:
    """The joint along a direction that is far from its own axis and from all axes of the world."""
    signs = [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (1, 1, -1)]
    own = np.array(joint.axis)
    best = min(signs, key=lambda sign: abs(float(own @ (np.array(sign) * SKEW))))
    return replace(joint, axis=_vector(np.array(best) * SKEW))


def _halves(part: Part) -> list[Part]:
    """A part sawn in two, or the part if it can't be."""
    from manifold3d import Manifold
    from manifold3d import Mesh64 as ManifoldMesh

    world = part.world
    solid = Manifold(ManifoldMesh(world.vertices.copy(), world.faces.astype(np.uint64)))
    low, high = world.bounds
    side = int(np.argmax(high - low))
    normal = np.eye(3)[side]
    found = []
    for number, piece in enumerate(solid.split_by_plane(normal, float(low[side] + high[side]) / 2)):
        mesh = piece.to_mesh64()
        if len(mesh.tri_verts):
            vertices, faces = np.array(mesh.vert_properties[:, :3]), np.array(mesh.tri_verts, dtype=np.int32)
            found.append(replace(_placed(part, Mesh(vertices, faces)), id=f"{part.id[:44]}_{number}"))
    return found if len(found) == 2 else [part]


def _between(design: Design, joint: Joint) -> Floats:
    """The middle of what the bounding boxes of a joint's parts share, or of the gap between them."""
    (low, high), (other_low, other_high) = (design.by_id[n].world.bounds for n in (joint.parent, joint.child))
    return np.asarray((np.maximum(low, other_low) + np.minimum(high, other_high)) / 2)


def _nearest(parts: Sequence[Part], point: Floats) -> Part:
    def distance(part: Part) -> float:
        low, high = part.world.bounds
        return float(np.linalg.norm(point - np.clip(point, low, high)))

    return min(parts, key=distance)


def _placed(part: Part, world: Mesh) -> Part:
    """The part with another mesh, given in world coordinates."""
    low, high = world.bounds
    centre = (low + high) / 2
    mesh = Mesh(world.vertices - centre, world.faces)
    return replace(part, mesh=mesh, position=_vector(centre), rotation=(0.0, 0.0, 0.0))


def _block(name: str, edge_m: float, centre: Vector) -> Part:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    return Part(name, Mesh(corners * edge_m / 2, _CUBE), centre, role="block", material="plywood")


_CUBE: Ints = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ],
    dtype=np.int32,
)  # fmt: skip


def _without(design: Design, gone: Iterable[str]) -> Design:
    left = set(gone)
    return Design(
        tuple(part for part in design.parts if part.id not in left),
        tuple(j for j in design.joints if j.parent not in left and j.child not in left),
        tuple(step for step in design.sequence if step.part not in left),
        design.meta,
    )


def _moved(design: Design, chosen: Iterable[str], by: Vector) -> Design:
    moving = set(chosen)
    return _with_parts(
        design,
        (
            replace(part, position=_vector(np.add(part.position, by))) if part.id in moving else part
            for part in design.parts
        ),
    )


def _with_parts(design: Design, parts: Iterable[Part]) -> Design:
    return Design(tuple(parts), design.joints, design.sequence, design.meta)


def _vector(values: Floats) -> Vector:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
