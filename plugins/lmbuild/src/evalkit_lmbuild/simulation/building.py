"""From a design and its contacts to the rigid-body model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalkit_lmbuild.design import Design, Part
from evalkit_lmbuild.simulation.boxes import boxes_of
from evalkit_lmbuild.simulation.contacts import Contacts, Pair
from evalkit_lmbuild.simulation.groups import FLOOR_BAND_M, Link, Tree, joint_tree
from evalkit_lmbuild.simulation.masses import joined, mass_of
from evalkit_lmbuild.simulation.model import GRAVITY, Body, Closure, Freedom, Kind, Model, Solid
from evalkit_lmbuild.simulation.requests import Settings
from evalkit_lmbuild.simulation.shapes import Cylinder, hull_of, wheel_of
from evalkit_lmbuild.simulation.world_mujoco import Gap, gaps_at_rest

SERVO_STIFFNESS = 100.0
"""A servo gives way by 1/100 rad under the weight of all it carries at an arm of half its diagonal."""
SERVO_RATE = 60.0
"""Natural frequency of a servo on its own armature, rad/s; it is critically damped."""
BALL_DAMPING = 5.0
OVERLAP_MASKED = 0.01
"""Parts that share more than this part of the smaller one don't collide."""
DEPTH_MASKED = 0.002
"""Shapes that penetrate by more than this part of the diagonal at rest don't collide."""
INSET_M = 0.0005
MIN_ARM_M = 1e-4
"""Least length that servos are sized for."""
LEVEL_AXIS = 0.5
"""A hinge whose axis has a smaller vertical component can be an axle."""

KINDS: dict[str, tuple[Kind, ...]] = {
    "revolute": ("turn",),
    "continuous": ("turn",),
    "prismatic": ("slide",),
    "cylindrical": ("slide", "turn"),
    "ball": ("ball",),
}
POINT_LOOPS = ("revolute", "continuous", "ball")
"""Types that hold a point of two parts together: what a closed loop can be kept with."""


def build(design: Design, contacts: Contacts, settings: Settings) -> tuple[Model, Tree]:
    """The model of a sound design (see `fitness.unfit`) and the tree it follows."""
    lowest = float(design.bounds[0][2])
    floor = lowest if settings.free_standing else min(0.0, lowest)
    tree = joint_tree(design, contacts, floor)
    order = _order(tree)
    place = {body: index for index, body in enumerate(order)}
    bodies = _bodies(design, contacts, tree, order)
    solids = _solids(design, bodies, floor, boxes=settings.collision == "boxes")
    loops = [link for link in tree.loops if settings.loops == "kept" and link.joint.type in POINT_LOOPS]
    model = Model(
        bodies=bodies,
        solids=solids,
        excluded=_carriers(bodies, solids) | _overlapping(solids, contacts),
        closures=tuple(
            Closure(
                link.joint.id, (place[link.parent], place[link.child]), np.asarray(link.joint.origin, float)
            )
            for link in loops
        ),
        floor_m=floor,
        mounted=not settings.free_standing,
        diagonal_m=design.diagonal,
    )
    model = _without_penetrations(model)
    return (_inset(model) if settings.protocol == "inset" else model), tree


def _order(tree: Tree) -> list[int]:
    """Bodies of the tree, the root first and parents before children."""
    return [
        tree.root,
        *(head for head in tree.heads if head != tree.root),
        *(link.child for link in tree.links),
    ]


def _bodies(design: Design, contacts: Contacts, tree: Tree, order: Sequence[int]) -> tuple[Body, ...]:
    """Bodies with their masses and, for those that a joint carries, servos."""
    place = {body: index for index, body in enumerate(order)}
    above = {link.child: link for link in tree.links}
    masses = {part.id: mass_of(part.world, contacts.volume[part.id]) for part in design.parts}
    bodies = []
    for body in order:
        parts = tree.bodies[body]
        link = above.get(body)
        carried = [part for index in sorted(tree.downstream(body)) for part in tree.bodies[index]]
        carried_kg = sum(masses[part].kg for part in carried)
        bodies.append(
            Body(
                parent=place[link.parent] if link else -1,
                parts=parts,
                mass=joined([masses[part] for part in parts]),
                arm_m=_arm(design, parts),
                freedoms=_freedoms(link, carried_kg, _arm(design, carried)) if link else (),
            )
        )
    return tuple(bodies)


def _arm(design: Design, parts: Sequence[str]) -> float:
    """L of the servos: half the diagonal of the bounding box of some parts, m."""
    corners = np.concatenate([np.stack(design.by_id[part].world.bounds) for part in parts])
    return max(float(np.linalg.norm(np.ptp(corners, axis=0))) / 2, MIN_ARM_M)


def _freedoms(link: Link, carried_kg: float, arm_m: float) -> tuple[Freedom, ...]:
    """The servos of a joint; where the tree runs against the declaration, the axis is turned round."""
    joint = link.joint
    axis = np.asarray(joint.axis if joint.axis is not None else (0.0, 0.0, 1.0), dtype=np.float64)
    axis = axis / np.linalg.norm(axis) * (-1.0 if link.turned else 1.0)
    origin = np.asarray(joint.origin, dtype=np.float64)
    freedoms = []
    for kind in KINDS[joint.type]:
        weight = SERVO_STIFFNESS * carried_kg * GRAVITY
        stiffness = weight / arm_m if kind == "slide" else weight * arm_m
        damping = 2 * stiffness / SERVO_RATE * (BALL_DAMPING if kind == "ball" else 1.0)
        freedoms.append(Freedom(joint.id, kind, axis, origin, stiffness, damping, stiffness / SERVO_RATE**2))
    return tuple(freedoms)


def _solids(design: Design, bodies: Sequence[Body], floor_m: float, *, boxes: bool) -> tuple[Solid, ...]:
    """One solid per part, but one cylinder for a whole body that stands on the floor as a wheel."""
    solids = []
    for index, body in enumerate(bodies):
        wheel = _wheel(design, bodies, index, floor_m)
        if wheel is not None:
            solids.append(Solid(index, body.parts, (wheel,)))
        else:
            solids += [_solid(index, design.by_id[part], boxes=boxes) for part in body.parts]
    return tuple(solids)


def _wheel(design: Design, bodies: Sequence[Body], index: int, floor_m: float) -> Cylinder | None:
    """The cylinder of a body on a level hinge that touches the floor and is round and centred.

    A body that nothing carries, such as the heavy drum of a roller, may have its hinge in what it carries.
    """
    carried = [body for body in bodies if body.parent == index]
    hanging = [bodies[index]] if bodies[index].parent >= 0 else carried
    if len(hanging) != 1 or [freedom.kind for freedom in hanging[0].freedoms] != ["turn"]:
        return None
    hinge = hanging[0].freedoms[0]
    points = np.concatenate([design.by_id[part].world.vertices for part in bodies[index].parts])
    if abs(hinge.axis[2]) >= LEVEL_AXIS or points[:, 2].min() > floor_m + FLOOR_BAND_M:
        return None
    return wheel_of(points, hinge.axis, hinge.origin)


def _solid(body: int, part: Part, *, boxes: bool) -> Solid:
    """A part as the boxes that fill it, or as its hull."""
    cut = boxes_of(part) if boxes else None
    if cut is not None:
        return Solid(body, (part.id,), cut, exact=True)
    return Solid(body, (part.id,), (hull_of(part.world.vertices),))


def _carriers(bodies: Sequence[Body], solids: Sequence[Solid]) -> frozenset[tuple[int, int]]:
    """Wheels against everything of the body at the other end of their hinge."""
    found = set()
    for index, wheel in enumerate(solids):
        if isinstance(wheel.shapes[0], Cylinder):
            carrier = bodies[wheel.body].parent
            beside = (
                {carrier} if carrier >= 0 else {i for i, b in enumerate(bodies) if b.parent == wheel.body}
            )
            found |= {_pair(index, other) for other, solid in enumerate(solids) if solid.body in beside}
    return frozenset(found)


def _overlapping(solids: Sequence[Solid], contacts: Contacts) -> frozenset[tuple[int, int]]:
    """Solids of different bodies whose parts share more than one per cent of the smaller part.

    Where both shapes are exact their own penetration decides: the kernel takes sealed hollows for solid.
    """
    solid_of = {part: index for index, solid in enumerate(solids) for part in solid.parts}
    found = set()
    for a, b in contacts.touching:
        first, second = solid_of[a], solid_of[b]
        if solids[first].body == solids[second].body or (solids[first].exact and solids[second].exact):
            continue
        smaller = min(contacts.volume[a], contacts.volume[b])
        if contacts.deep(a, b) > OVERLAP_MASKED * smaller:
            found.add(_pair(first, second))
    return frozenset(found)


def _without_penetrations(model: Model) -> Model:
    """Shapes that penetrate at rest excluded; those that only touch noted as flush."""
    limit = DEPTH_MASKED * model.diagonal_m
    gaps: list[Gap] = gaps_at_rest(model)
    deep = frozenset(_pair(gap.first, gap.second) for gap in gaps if gap.metres < -limit)
    flush: list[Pair] = []
    for gap in gaps:
        if _pair(gap.first, gap.second) not in deep:
            a, b = model.solids[gap.first].parts, model.solids[gap.second].parts
            flush.append((a[0], b[0]))
    return replace(model, excluded=model.excluded | deep, flush=tuple(sorted(set(flush))))


def _inset(model: Model) -> Model:
    """The model with every shape shrunk and the floor raised by as much, so that it stands as it did."""
    solids = tuple(
        replace(solid, shapes=tuple(shape.inset(INSET_M) for shape in solid.shapes)) for solid in model.solids
    )
    return replace(model, solids=solids, floor_m=model.floor_m + INSET_M)


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)
