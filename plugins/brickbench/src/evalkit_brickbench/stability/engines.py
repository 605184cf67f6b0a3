"""The two rigid-body engines behind one small face. Lengths are LDU, so gravity is 24,525 LDU/s² along +y."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability import constants as c
from evalkit_brickbench.stability.pieces import EngineBody

Vector = tuple[float, ...]


class World(Protocol):
    """A scene that is being simulated."""

    def step(self) -> None:
        """Advance by `STEP_S`."""
        ...

    def poses(self) -> tuple[Floats, Floats]:
        """Centres of mass [n, 3] and rotations [n, 3, 3] of the bodies."""
        ...

    def deepest_overlap(self) -> float:
        """Of the contacts of the last step, LDU; 0 without any."""
        ...

    def close(self) -> None: ...


class PyBulletWorld:
    """Bullet in DIRECT mode with the settings of the BrickBench paper."""

    def __init__(self, bodies: list[EngineBody], ground_ldu: float) -> None:
        import pybullet

        self._engine: Any = pybullet
        self._client: int = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, c.GRAVITY_LDU_PER_S2, 0, physicsClientId=self._client)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=c.STEP_S,
            numSubSteps=0,
            numSolverIterations=c.SOLVER_ITERATIONS,
            useSplitImpulse=0,
            contactSlop=c.CONTACT_SLOP_LDU,
            contactBreakingThreshold=c.CONTACT_BREAKING_LDU,
            erp=c.ERP,
            contactERP=c.ERP,
            frictionERP=c.ERP,
            deterministicOverlappingPairs=1,
            physicsClientId=self._client,
        )
        plane = pybullet.createCollisionShape(
            pybullet.GEOM_PLANE, planeNormal=[0, -1, 0], physicsClientId=self._client
        )
        ground = pybullet.createMultiBody(
            0, plane, basePosition=[0, ground_ldu, 0], physicsClientId=self._client
        )
        self._surface(ground)
        with tempfile.TemporaryDirectory() as folder:
            self._bodies = [self._add(body, Path(folder) / f"{i}.obj") for i, body in enumerate(bodies)]

    def _surface(self, body: int) -> None:
        self._engine.changeDynamics(
            body, -1, lateralFriction=c.FRICTION, restitution=c.RESTITUTION,
            linearDamping=0.0, angularDamping=0.0, physicsClientId=self._client,
        )  # fmt: skip

    def _add(self, body: EngineBody, path: Path) -> int:
        path.write_text(_wavefront(body.pieces), encoding="ascii")
        shape = self._engine.createCollisionShape(
            self._engine.GEOM_MESH, fileName=os.fspath(path), physicsClientId=self._client
        )
        added: int = self._engine.createMultiBody(
            0.0 if body.fixed else body.mass_kg, shape, basePosition=body.centre.tolist(),
            baseOrientation=_quaternion(body.rotation)[[1, 2, 3, 0]].tolist(), physicsClientId=self._client,
        )  # fmt: skip
        self._surface(added)
        if not body.fixed:
            self._engine.changeDynamics(
                added, -1, localInertiaDiagonal=body.inertia.tolist(), physicsClientId=self._client
            )
        return added

    def step(self) -> None:
        """See `World`."""
        self._engine.stepSimulation(physicsClientId=self._client)

    def poses(self) -> tuple[Floats, Floats]:
        """See `World`."""
        read = [
            self._engine.getBasePositionAndOrientation(b, physicsClientId=self._client) for b in self._bodies
        ]
        turns = [np.array(self._engine.getMatrixFromQuaternion(q)).reshape(3, 3) for _, q in read]
        return np.array([p for p, _ in read]), np.array(turns)

    def deepest_overlap(self) -> float:
        """See `World`."""
        contacts = self._engine.getContactPoints(physicsClientId=self._client)
        return max((-contact[8] for contact in contacts), default=0.0)

    def close(self) -> None:
        """See `World`."""
        self._engine.disconnect(physicsClientId=self._client)


class MuJoCoWorld:
    """MuJoCo with contacts as hard as a step of 1 ms allows."""

    def __init__(self, bodies: list[EngineBody], ground_ldu: float) -> None:
        import mujoco

        self._engine: Any = mujoco
        self._model = mujoco.MjModel.from_xml_string(_mjcf(bodies, ground_ldu))
        self._data = mujoco.MjData(self._model)

    def step(self) -> None:
        """See `World`."""
        self._engine.mj_step(self._model, self._data)

    def poses(self) -> tuple[Floats, Floats]:
        """See `World`."""
        self._engine.mj_kinematics(self._model, self._data)
        return np.array(self._data.xpos[1:]), np.array(self._data.xmat[1:]).reshape(-1, 3, 3)

    def deepest_overlap(self) -> float:
        """See `World`."""
        return max(0.0, -float(min(self._data.contact.dist, default=0.0)))

    def close(self) -> None:
        """See `World`."""


ENGINES: dict[str, Callable[[list[EngineBody], float], World]] = {
    "pybullet": PyBulletWorld,
    "mujoco": MuJoCoWorld,
}


def _wavefront(pieces: list[Floats]) -> str:
    """Pieces as objects of a Wavefront file; each is taken as the hull of its corners."""
    lines, start = [], 1
    for i, piece in enumerate(pieces):
        lines.append(f"o p{i}")
        lines += [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in piece.tolist()]
        lines += [f"f {start} {start + k} {start + k + 1}" for k in range(1, len(piece) - 1)]
        start += len(piece)
    return "\n".join(lines) + "\n"


def _mjcf(bodies: list[EngineBody], ground_ldu: float) -> str:
    meshes, worlds = [], []
    for i, body in enumerate(bodies):
        geoms = []
        for k, piece in enumerate(body.pieces):
            meshes.append(f'<mesh name="m{i}_{k}" inertia="shell" vertex="{_text(piece.ravel())}"/>')
            geoms.append(f'<geom type="mesh" mesh="m{i}_{k}" mass="0"/>')
        worlds.append(
            f'<body pos="{_text(body.centre)}" quat="{_text(_quaternion(body.rotation))}">'
            + ("" if body.fixed else "<freejoint/>")
            + f'<inertial pos="0 0 0" mass="{body.mass_kg:.9g}" diaginertia="{_text(body.inertia)}"/>'
            + "".join(geoms)
            + "</body>"
        )
    return (
        '<mujoco><compiler balanceinertia="true" boundmass="1e-12" boundinertia="1e-12"/>'
        f'<option timestep="{c.STEP_S}" gravity="0 {c.GRAVITY_LDU_PER_S2} 0" cone="elliptic" impratio="10"'
        ' iterations="100" tolerance="1e-10"><flag multiccd="enable"/></option>'
        f'<default><geom friction="{c.FRICTION} 0.005 0.0001" condim="3" solref="{2 * c.STEP_S} 1"'
        ' solimp="0.98 0.999 0.05"/></default>'
        f"<asset>{''.join(meshes)}</asset><worldbody>"
        f'<geom type="plane" size="0 0 1" pos="0 {ground_ldu:.9g} 0" zaxis="0 -1 0"/>'
        f"{''.join(worlds)}</worldbody></mujoco>"
    )


def _text(values: Floats) -> str:
    return " ".join(f"{value:.9g}" for value in values.tolist())


def _quaternion(rotation: Floats) -> Floats:
    """w, x, y, z of a rotation [3, 3], as the eigenvector of a symmetric matrix (Bar-Itzhack 2000)."""
    m = rotation
    k = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], m[1, 0] + m[0, 1], m[2, 0] + m[0, 2], m[2, 1] - m[1, 2]],
            [m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], m[2, 1] + m[1, 2], m[0, 2] - m[2, 0]],
            [m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m[0, 0] + m[1, 1] + m[2, 2]],
        ]
    )
    x, y, z, w = np.linalg.eigh(k)[1][:, 3]
    return np.array([w, x, y, z])
