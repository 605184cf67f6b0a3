"""PyBullet: the second engine, with the settings without which it tells other stories than MuJoCo.

Motors hold positions by velocity constraints, the default ones are switched off, damping is 0, and a body may
collide with what carries it. Every world has a client of its own.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pybullet

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.simulation._pybullet_pieces import Pieces
from evalkit_lmbuild.simulation.errors import EngineLimitError
from evalkit_lmbuild.simulation.model import FRICTION, GRAVITY, STEP_S, Model

MOTOR_GAIN = 0.1
"""Share of a servo's error that is made good per step."""
SOLVER_ITERATIONS = 100
LOOP_FORCE_WEIGHTS = 1e3
"""Largest force that keeps a loop closed, in weights of everything."""
LOST_M = 1e4
"""A body this far away has been thrown out of the scene."""


class PybulletWorld:
    """A model in PyBullet."""

    def __init__(self, model: Model) -> None:
        """A fresh world at rest."""
        self._model = model
        self._steps = 0
        self._force = np.zeros(3)
        self._client = pybullet.connect(pybullet.DIRECT)
        self._at = {"physicsClientId": self._client}
        pybullet.setGravity(0.0, 0.0, -GRAVITY, **self._at)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=STEP_S,
            numSolverIterations=SOLVER_ITERATIONS,
            deterministicOverlappingPairs=1,
            **self._at,
        )
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, **self._at)
        self._floor = pybullet.createMultiBody(0.0, plane, basePosition=[0.0, 0.0, model.floor_m], **self._at)
        pybullet.changeDynamics(self._floor, -1, lateralFriction=FRICTION[0], **self._at)
        try:
            self._pieces = Pieces(model, self._client)
        except EngineLimitError:
            self.close()
            raise
        for body, number in self._pieces.freedoms:
            self._silence(body, number)
            self.aim(body, number, np.zeros(3 if model.bodies[body].freedoms[number].kind == "ball" else 1))
        self._filter()
        for closure in model.closures:
            self._tie(closure.bodies, closure.point)
        self._rest = self._rotation(0)
        self._tied = {self._pieces.bodies[index][0] for index in model.root_piece} | {self._floor}

    def branch(self) -> PybulletWorld:
        """A fresh world that repeats the steps so far: Bullet's snapshots don't replay exactly."""
        world = PybulletWorld(self._model)
        world.step(self._steps)
        return world

    def aim(self, body: int, freedom: int, target: Floats) -> None:
        """Set the target of one servo; a released one stays passive."""
        servo = self._model.bodies[body].freedoms[freedom]
        multi, link = self._pieces.freedoms[body, freedom]
        if servo.stiffness == 0:
            return
        if servo.kind != "ball":
            pybullet.setJointMotorControl2(
                multi,
                link,
                pybullet.POSITION_CONTROL,
                targetPosition=float(target[0]),
                positionGain=MOTOR_GAIN,
                velocityGain=1.0,
                force=servo.stiffness,
                **self._at,
            )
            return
        angle = float(np.linalg.norm(target))
        axis = (target / angle if angle > 0 else np.array([1.0, 0.0, 0.0])).tolist()
        pybullet.setJointMotorControlMultiDof(
            multi,
            link,
            pybullet.POSITION_CONTROL,
            targetPosition=pybullet.getQuaternionFromAxisAngle(axis, angle),
            positionGain=MOTOR_GAIN,
            velocityGain=1.0,
            force=[servo.stiffness] * 3,
            **self._at,
        )

    def push(self, force_n: Floats) -> None:
        """Set the force on the root's centre of mass."""
        self._force = np.asarray(force_n, dtype=np.float64)

    def step(self, count: int) -> None:
        """Advance by `count` steps."""
        multi, link = self._pieces.bodies[0]
        pushed = bool(self._force.any())
        for _ in range(count):
            if pushed:  # Bullet forgets forces after each step
                place = self._place(0).tolist()
                pybullet.applyExternalForce(
                    multi, link, self._force.tolist(), place, pybullet.WORLD_FRAME, **self._at
                )
            pybullet.stepSimulation(**self._at)
        self._steps += count

    def reading(self, body: int, freedom: int) -> Floats:
        """The joint's coordinate; a ball's as a rotation vector."""
        multi, link = self._pieces.freedoms[body, freedom]
        if self._model.bodies[body].freedoms[freedom].kind != "ball":
            return np.array([pybullet.getJointState(multi, link, **self._at)[0]])
        quaternion = np.asarray(pybullet.getJointStateMultiDof(multi, link, **self._at)[0])
        sine = float(np.linalg.norm(quaternion[:3]))
        if sine == 0:
            return np.zeros(3)
        angle = 2 * np.arctan2(sine, abs(quaternion[3]))
        return np.asarray(quaternion[:3] / sine * angle * (1.0 if quaternion[3] >= 0 else -1.0))

    def root(self) -> tuple[Floats, Floats]:
        """Centre of mass and rotation of the root."""
        return self._place(0), self._rotation(0) @ self._rest.T

    def energy(self) -> float:
        """Kinetic and potential energy of the rigid bodies."""
        total = 0.0
        for index, body in enumerate(self._model.bodies):
            linear, angular = self._velocity(index)
            inertia = self._turned_inertia(index)
            total += 0.5 * body.mass.kg * float(linear @ linear) + 0.5 * float(angular @ inertia @ angular)
            total += body.mass.kg * GRAVITY * float(self._place(index)[2])
        return total

    def contacts(self) -> int:
        """Points of contact."""
        return len(pybullet.getContactPoints(**self._at))

    def depth(self) -> float:
        """Deepest contact of the root's piece."""
        deepest = 0.0
        for multi in sorted(self._tied - {self._floor}):
            for contact in pybullet.getContactPoints(bodyA=multi, **self._at):
                if contact[2] in self._tied:
                    deepest = max(deepest, -float(contact[8]))
        return deepest

    def alarm(self) -> str:
        """Numbers that aren't finite, or a body that left the scene."""
        places = np.array([self._place(index) for index in range(len(self._model.bodies))])
        if not np.isfinite(places).all():
            return "Bullet: the state isn't finite"
        return "Bullet: a body was thrown out of the scene" if np.abs(places).max() > LOST_M else ""

    def close(self) -> None:
        """Disconnect from Bullet."""
        pybullet.disconnect(**self._at)

    def _silence(self, body: int, freedom: int) -> None:
        """Switch off the motor that Bullet gives every joint."""
        multi, link = self._pieces.freedoms[body, freedom]
        if self._model.bodies[body].freedoms[freedom].kind == "ball":
            pybullet.setJointMotorControlMultiDof(
                multi,
                link,
                pybullet.POSITION_CONTROL,
                targetPosition=[0.0, 0.0, 0.0, 1.0],
                positionGain=0.0,
                velocityGain=0.0,
                force=[0.0, 0.0, 0.0],
                **self._at,
            )
        else:
            pybullet.setJointMotorControl2(multi, link, pybullet.VELOCITY_CONTROL, force=0.0, **self._at)

    def _filter(self) -> None:
        """Switch off collisions within a rigid body and of excluded solids."""
        for (first, a), (second, b) in combinations(enumerate(self._model.solids), 2):
            if a.body == b.body or (first, second) in self._model.excluded:
                for multi, link in self._pieces.solids[first]:
                    for other, other_link in self._pieces.solids[second]:
                        pybullet.setCollisionFilterPair(multi, other, link, other_link, 0, **self._at)
        for links in self._pieces.solids:
            for (multi, link), (other, other_link) in combinations(links, 2):
                pybullet.setCollisionFilterPair(multi, other, link, other_link, 0, **self._at)

    def _tie(self, bodies: tuple[int, int], point: Floats) -> None:
        """Hold a point of two bodies together."""
        (multi, link), (other, other_link) = (self._pieces.bodies[body] for body in bodies)
        anchors = [(self._rotation(body).T @ (point - self._place(body))).tolist() for body in bodies]
        tie = pybullet.createConstraint(
            multi, link, other, other_link, pybullet.JOINT_POINT2POINT, [0.0, 0.0, 0.0], *anchors, **self._at
        )
        force = LOOP_FORCE_WEIGHTS * self._model.mass_kg * GRAVITY
        pybullet.changeConstraint(tie, maxForce=force, **self._at)

    def _place(self, index: int) -> Floats:
        """Centre of mass of a body."""
        multi, link = self._pieces.bodies[index]
        if link < 0:
            return np.asarray(pybullet.getBasePositionAndOrientation(multi, **self._at)[0])
        return np.asarray(pybullet.getLinkState(multi, link, computeForwardKinematics=1, **self._at)[0])

    def _rotation(self, index: int) -> Floats:
        """Rotation of a body's principal frame."""
        multi, link = self._pieces.bodies[index]
        if link < 0:
            quaternion = pybullet.getBasePositionAndOrientation(multi, **self._at)[1]
        else:
            quaternion = pybullet.getLinkState(multi, link, computeForwardKinematics=1, **self._at)[1]
        return np.asarray(pybullet.getMatrixFromQuaternion(quaternion)).reshape(3, 3)

    def _velocity(self, index: int) -> tuple[Floats, Floats]:
        """Linear and angular velocity of a body's centre of mass."""
        multi, link = self._pieces.bodies[index]
        if link < 0:
            linear, angular = pybullet.getBaseVelocity(multi, **self._at)
        else:
            linear, angular = pybullet.getLinkState(multi, link, computeLinkVelocity=1, **self._at)[6:8]
        return np.asarray(linear), np.asarray(angular)

    def _turned_inertia(self, index: int) -> Floats:
        """Inertia of a body, world axes."""
        frame = self._rotation(index)
        return np.asarray(frame @ np.diag(self._pieces.moments[index]) @ frame.T)


def open_world(model: Model) -> PybulletWorld:
    """A fresh world at rest."""
    return PybulletWorld(model)
