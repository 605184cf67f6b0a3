"""A model's bodies as Bullet's multi-bodies.

A rigid body is the base or a link with its mass and inertia; every collision shape is a fixed link with next
to no mass, so that exclusions act on solids and not on bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pybullet
from scipy.spatial.transform import Rotation

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.simulation.errors import EngineLimitError
from evalkit_lmbuild.simulation.masses import principal
from evalkit_lmbuild.simulation.model import FRICTION, Body, Model
from evalkit_lmbuild.simulation.shapes import Cylinder, Shape

MARGIN_M = 0.001
"""Bullet pads hulls by about this much; they are inset by it first."""
TRACE_SHARE = 1e-4
"""Mass of links that only carry a shape or an intermediate freedom, in masses of their body."""
MAX_MASS_RATIO = 1e4
"""Bodies lighter than the heaviest by more are given this fraction of its mass."""
MAX_LINKS = 127
"""Bullet numbers no more links of one multi-body."""
TYPES = {
    "turn": pybullet.JOINT_REVOLUTE,
    "slide": pybullet.JOINT_PRISMATIC,
    "ball": pybullet.JOINT_SPHERICAL,
}
Place = tuple[int, int]
"""A multi-body and a link of it; link −1 is its base."""


@dataclass(frozen=True, eq=False)
class _Link:
    """A link-to-be; its frame is upright at rest. `parent` counts from 1, 0 is the base."""

    kg: float
    moments: Floats
    axes: Floats
    shape: int
    position: Floats
    centre: Floats
    parent: int
    type: int
    axis: Floats


class Pieces:
    """The multi-bodies of a model in a client; where its bodies, freedoms and solids are found."""

    def __init__(self, model: Model, client: int) -> None:
        """Create one multi-body for every body that nothing carries, and all that hangs from it."""
        self._model = model
        self._at = {"physicsClientId": client}
        self.bodies: dict[int, Place] = {}
        self.freedoms: dict[tuple[int, int], Place] = {}
        self.solids: list[list[Place]] = [[] for _ in model.solids]
        frames = [principal(body.mass.inertia) for body in model.bodies]
        least = max(body.mass.kg for body in model.bodies) / MAX_MASS_RATIO
        self._kg = [max(body.mass.kg, least) for body in model.bodies]
        self.moments = [
            moments * kg / body.mass.kg
            for (moments, _), kg, body in zip(frames, self._kg, model.bodies, strict=True)
        ]
        self._axes = [axes for _, axes in frames]
        for index, body in enumerate(model.bodies):
            if body.parent < 0:
                self._add_piece(index)

    def _add_piece(self, head: int) -> None:
        """One multi-body: first the links of all freedoms, parents first, then those of the shapes."""
        links: list[_Link] = []
        spots = {head: (0, self._model.bodies[head].mass.centre)}
        ends: list[tuple[int, int, int]] = []
        members = sorted(self._model.downstream(head))
        for index in members:
            body = self._model.bodies[index]
            if index != head:
                spot = spots[body.parent]
                for number in range(len(body.freedoms)):
                    spot = self._add_freedom(links, index, body, number, spot)
                    ends.append((index, number, len(links) - 1))
                spots[index] = spot
        held = [
            (number, self._add_shape(links, solid.body, shape, spots[solid.body]))
            for number, solid in enumerate(self._model.solids)
            if solid.body in spots
            for shape in solid.shapes
        ]
        if len(links) > MAX_LINKS:
            raise EngineLimitError(f"{len(links)} joints and shapes in one piece, PyBullet takes {MAX_LINKS}")
        multi = self._create(head, links)
        final = _numbering(links)
        for index in members:
            self.bodies[index] = (multi, final[spots[index][0] - 1] if index != head else -1)
        for index, number, link in ends:
            self.freedoms[index, number] = (multi, final[link])
        for number, link in held:
            self.solids[number].append((multi, final[link]))
        self._set_dynamics(multi, head, links)

    def _add_freedom(
        self, links: list[_Link], index: int, body: Body, number: int, spot: tuple[int, Floats]
    ) -> tuple[int, Floats]:
        """The link of one freedom, the last of which carries the body; its number from 1 and its origin."""
        parent, origin = spot
        freedom = body.freedoms[number]
        share = 1.0 if number == len(body.freedoms) - 1 else TRACE_SHARE
        links.append(
            _Link(
                kg=self._kg[index] * share,
                moments=self.moments[index] * share,
                axes=self._axes[index],
                shape=-1,
                position=freedom.origin - origin,
                centre=body.mass.centre - freedom.origin,
                parent=parent,
                type=TYPES[freedom.kind],
                axis=freedom.axis,
            )
        )
        return len(links), freedom.origin

    def _add_shape(self, links: list[_Link], index: int, shape: Shape, spot: tuple[int, Floats]) -> int:
        """The link of one shape; its index."""
        parent, origin = spot
        centre = self._model.bodies[index].mass.centre
        links.append(
            _Link(
                kg=self._kg[index] * TRACE_SHARE,
                moments=self.moments[index] * TRACE_SHARE,
                axes=self._axes[index],
                shape=self._collision_shape(shape, centre),
                position=centre - origin,
                centre=np.zeros(3),
                parent=parent,
                type=pybullet.JOINT_FIXED,
                axis=np.array([0.0, 0.0, 1.0]),
            )
        )
        return len(links) - 1

    def _collision_shape(self, shape: Shape, centre: Floats) -> int:
        """Bullet's shape, relative to a body's centre of mass."""
        if isinstance(shape, Cylinder):
            return int(
                pybullet.createCollisionShape(
                    pybullet.GEOM_CYLINDER,
                    radius=shape.radius,
                    height=2 * shape.half_width,
                    collisionFramePosition=(shape.centre - centre).tolist(),
                    collisionFrameOrientation=_quaternion(_frame_along(shape.axis)),
                    **self._at,
                )
            )
        points = shape.inset(MARGIN_M).points - centre
        return int(pybullet.createCollisionShape(pybullet.GEOM_MESH, vertices=points.tolist(), **self._at))

    def _create(self, head: int, links: list[_Link]) -> int:
        """The multi-body."""
        body = self._model.bodies[head]
        mounted = head == 0 and self._model.mounted
        return int(
            pybullet.createMultiBody(
                baseMass=0.0 if mounted else self._kg[head],
                basePosition=body.mass.centre.tolist(),
                baseInertialFrameOrientation=_quaternion(self._axes[head]),
                linkMasses=[link.kg for link in links],
                linkCollisionShapeIndices=[link.shape for link in links],
                linkVisualShapeIndices=[-1] * len(links),
                linkPositions=[link.position.tolist() for link in links],
                linkOrientations=[[0.0, 0.0, 0.0, 1.0]] * len(links),
                linkInertialFramePositions=[link.centre.tolist() for link in links],
                linkInertialFrameOrientations=[_quaternion(link.axes) for link in links],
                linkParentIndices=[link.parent for link in links],
                linkJointTypes=[link.type for link in links],
                linkJointAxis=[link.axis.tolist() for link in links],
                flags=pybullet.URDF_USE_SELF_COLLISION | pybullet.URDF_USE_SELF_COLLISION_INCLUDE_PARENT,
                **self._at,
            )
        )

    def _set_dynamics(self, multi: int, head: int, links: list[_Link]) -> None:
        """Inertia, friction, and no damping of any kind."""
        plain: dict[str, Any] = {
            "lateralFriction": FRICTION[0],
            "linearDamping": 0.0,
            "angularDamping": 0.0,
            "jointDamping": 0.0,
        }
        if not (head == 0 and self._model.mounted):
            plain_base = {**plain, "localInertiaDiagonal": self.moments[head].tolist()}
            pybullet.changeDynamics(multi, -1, **plain_base, **self._at)
        for link, index in zip(links, _numbering(links), strict=True):
            pybullet.changeDynamics(
                multi, index, **plain, localInertiaDiagonal=link.moments.tolist(), **self._at
            )


def _numbering(links: list[_Link]) -> list[int]:
    """The index that Bullet gives each link: it numbers them depth first."""
    children: dict[int, list[int]] = {}
    for index, link in enumerate(links):
        children.setdefault(link.parent, []).append(index + 1)
    numbers = [0] * len(links)
    waiting = list(reversed(children.get(0, [])))
    for count in range(len(links)):
        number = waiting.pop()
        numbers[number - 1] = count
        waiting += reversed(children.get(number, []))
    return numbers


def _frame_along(axis: Floats) -> Floats:
    """A right-handed rotation whose third column is `axis`."""
    side = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(axis, side), axis], axis=1)


def _quaternion(rotation: Floats) -> list[float]:
    """x, y, z, w of a rotation [3, 3]."""
    return [float(value) for value in Rotation.from_matrix(rotation).as_quat()]
