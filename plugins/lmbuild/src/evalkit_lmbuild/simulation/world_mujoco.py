"""MuJoCo: the default engine, and the shapes' gaps at rest that both engines use."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.simulation.model import FRICTION, GRAVITY, STEP_S, Body, Freedom, Model, Solid
from evalkit_lmbuild.simulation.shapes import Cylinder, Shape

SOLREF = (0.004, 1.0)
CONTACT_DIMENSIONS = 3
FLUSH_M = 1e-4
"""Shapes closer than this at rest lie flush."""

JOINT_TYPES = {
    "turn": mujoco.mjtJoint.mjJNT_HINGE,
    "slide": mujoco.mjtJoint.mjJNT_SLIDE,
    "ball": mujoco.mjtJoint.mjJNT_BALL,
}


@dataclass(frozen=True, slots=True)
class Gap:
    """Distance of two solids by index, m; negative: they penetrate."""

    first: int
    second: int
    metres: float


class MujocoWorld:
    """A model in MuJoCo. Warnings of the library are kept here instead of going to a file."""

    def __init__(self, model: Model, compiled: Any, data: Any, steps: int = 0) -> None:
        """Start at `data`, which `steps` steps led to."""
        self._model = model
        self._compiled = compiled
        self._data = data
        self._steps = steps
        self._heard = ""
        tied = {0, *(_body_id(compiled, index) for index in model.root_piece)}
        names = [compiled.body(i).name for i in range(compiled.nbody)]
        owner = {f"s{i}": _body_id(compiled, solid.body) for i, solid in enumerate(model.solids)}
        self._tied = np.array([owner.get(name, i) in tied for i, name in enumerate(names)])

    def branch(self) -> MujocoWorld:
        """A copy in the same state."""
        return MujocoWorld(self._model, self._compiled, copy.copy(self._data), self._steps)

    def aim(self, body: int, freedom: int, target: Floats) -> None:
        """Set the targets of one servo."""
        for i, value in enumerate(target):
            self._data.actuator(f"{_joint_name(body, freedom)}.{i}").ctrl = value

    def push(self, force_n: Floats) -> None:
        """Set the force on the root's centre of mass."""
        self._data.xfrc_applied[_body_id(self._compiled, 0), :3] = force_n

    def step(self, count: int) -> None:
        """Advance by `count` steps."""
        with _warnings_to(self._hear):
            mujoco.mj_step(self._compiled, self._data, nstep=count)
        self._steps += count

    def reading(self, body: int, freedom: int) -> Floats:
        """The joint's coordinate; a ball's as a rotation vector."""
        values = np.array(self._data.joint(_joint_name(body, freedom)).qpos, dtype=np.float64)
        if len(values) == 1:
            return values
        vector = np.zeros(3)
        mujoco.mju_quat2Vel(vector, values, 1.0)
        return vector

    def root(self) -> tuple[Floats, Floats]:
        """Centre of mass and rotation of the root."""
        body = _body_id(self._compiled, 0)
        return self._data.xpos[body].copy(), self._data.xmat[body].reshape(3, 3).copy()

    def energy(self) -> float:
        """Potential and kinetic energy at the last step."""
        return float(self._data.energy.sum())

    def contacts(self) -> int:
        """Points of contact."""
        return int(self._data.ncon)

    def depth(self) -> float:
        """Deepest contact of the root's piece."""
        contact = self._data.contact
        bodies = self._compiled.geom_bodyid[contact.geom]
        tied = self._tied[bodies].all(axis=1) if len(bodies) else np.zeros(0, dtype=bool)
        return max(0.0, float(-contact.dist[tied].min())) if tied.any() else 0.0

    def alarm(self) -> str:
        """A warning of the library, a clock that jumped back, or numbers that aren't finite."""
        for kind, warning in enumerate(self._data.warning):
            if warning.number:
                return f"MuJoCo: {mujoco.mjtWarning(kind).name.removeprefix('mjWARN_').lower()} warning"
        if self._heard:
            return f"MuJoCo: {self._heard.splitlines()[0]}"
        if abs(self._data.time - self._steps * STEP_S) > STEP_S / 2:
            return "MuJoCo reset the state"
        return "" if np.isfinite(self._data.qpos).all() else "the state isn't finite"

    def close(self) -> None:
        """Nothing: Python frees it."""

    def _hear(self, message: str) -> None:
        self._heard = self._heard or message


def open_world(model: Model) -> MujocoWorld:
    """A fresh world at rest."""
    compiled = _compiled(model, margin_m=0.0)
    data = mujoco.MjData(compiled)
    world = MujocoWorld(model, compiled, data)
    with _warnings_to(world._hear):
        mujoco.mj_forward(compiled, data)
    return world


def gaps_at_rest(model: Model) -> list[Gap]:
    """Pairs of solids of different bodies that touch or penetrate at rest, in the order of their indices."""
    compiled = _compiled(model, margin_m=FLUSH_M)
    data = mujoco.MjData(compiled)
    with _warnings_to(lambda message: None):
        mujoco.mj_forward(compiled, data)
    solid_of = {_body_id_of(compiled, f"s{index}"): index for index in range(len(model.solids))}
    closest: dict[tuple[int, int], float] = {}
    for geoms, distance in zip(data.contact.geom, data.contact.dist, strict=True):
        ends = sorted(solid_of.get(int(compiled.geom_bodyid[geom]), -1) for geom in geoms)
        if ends[0] >= 0:
            pair = (ends[0], ends[1])
            closest[pair] = min(closest.get(pair, np.inf), float(distance))
    return [Gap(*pair, closest[pair]) for pair in sorted(closest)]


def _compiled(model: Model, margin_m: float) -> Any:
    """The MjModel: a body per rigid body, and a jointless child body per solid for exclusions to act on."""
    spec = mujoco.MjSpec()
    spec.option.timestep = STEP_S
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    floor = spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, model.floor_m]
    )
    _surface(floor, 0.0)
    bodies: list[Any] = []
    for index, body in enumerate(model.bodies):
        bodies.append(_add_body(spec, model, bodies, index, body))
    for index, solid in enumerate(model.solids):
        _add_solid(spec, bodies[solid.body], model.bodies[solid.body], index, solid, margin_m)
    for first, second in sorted(model.excluded):
        spec.add_exclude(bodyname1=f"s{first}", bodyname2=f"s{second}")
    for closure in model.closures:
        a, b = closure.bodies
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_CONNECT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            name1=f"b{a}",
            name2=f"b{b}",
            data=_padded(closure.point - model.bodies[a].mass.centre, int(mujoco.mjNEQDATA)),
        )
    return spec.compile()


def _add_body(spec: Any, model: Model, bodies: list[Any], index: int, body: Body) -> Any:
    """A rigid body with its frame in its centre of mass, its joints and servos."""
    carrier = spec.worldbody if body.parent < 0 else bodies[body.parent]
    origin = np.zeros(3) if body.parent < 0 else model.bodies[body.parent].mass.centre
    inertia = body.mass.inertia
    added = carrier.add_body(
        name=f"b{index}",
        pos=body.mass.centre - origin,
        mass=body.mass.kg,
        ipos=[0.0, 0.0, 0.0],
        fullinertia=[*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]],
        explicitinertial=True,
    )
    if body.parent < 0 and not (index == 0 and model.mounted):
        added.add_freejoint()
    for number, freedom in enumerate(body.freedoms):
        added.add_joint(
            name=_joint_name(index, number),
            type=JOINT_TYPES[freedom.kind],
            axis=freedom.axis,
            pos=freedom.origin - body.mass.centre,
            damping=_per_dof(freedom.damping),
            armature=freedom.armature,
        )
        if freedom.stiffness > 0:
            _add_servo(spec, _joint_name(index, number), freedom)
    return added


def _per_dof(damping: float) -> Any:
    """Damping as this version of MuJoCo wants it: a number, or the coefficients of a polynomial."""
    shape = np.shape(mujoco.MjSpec().worldbody.add_body().add_joint().damping)
    return _padded([damping], shape[0]) if shape else damping


def _padded(values: Sequence[float] | Floats, length: int) -> list[float]:
    """The values, filled up with zeros."""
    return [float(value) for value in values] + [0.0] * (length - len(values))


def _add_servo(spec: Any, joint: str, freedom: Freedom) -> None:
    """Position servos of a joint; its damping sits in the joint, where it is integrated implicitly."""
    for i in range(3 if freedom.kind == "ball" else 1):
        gear = [0.0] * 6
        gear[i] = 1.0
        spec.add_actuator(
            name=f"{joint}.{i}",
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            target=joint,
            gear=gear,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            gainprm=_padded([freedom.stiffness], int(mujoco.mjNGAIN)),
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            biasprm=_padded([0.0, -freedom.stiffness], int(mujoco.mjNBIAS)),
        )


def _add_solid(spec: Any, carrier: Any, body: Body, index: int, solid: Solid, margin_m: float) -> None:
    """A solid as a child body of its rigid body."""
    holder = carrier.add_body(name=f"s{index}")
    for number, shape in enumerate(solid.shapes):
        geom = holder.add_geom(**_geometry(spec, shape, f"m{index}.{number}", body.mass.centre), mass=0.0)
        _surface(geom, margin_m)


def _geometry(spec: Any, shape: Shape, name: str, centre: Floats) -> dict[str, Any]:
    """Arguments of a geom."""
    if isinstance(shape, Cylinder):
        quaternion = np.zeros(4)
        mujoco.mju_quatZ2Vec(quaternion, shape.axis)
        return {
            "type": mujoco.mjtGeom.mjGEOM_CYLINDER,
            "size": [shape.radius, shape.half_width, 0.0],
            "pos": shape.centre - centre,
            "quat": quaternion,
        }
    mesh = spec.add_mesh(name=name, uservert=(shape.points - centre).ravel())
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    return {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": name}


def _surface(geom: Any, margin_m: float) -> None:
    """Contact parameters of a geom."""
    geom.friction = FRICTION
    geom.solref = SOLREF
    geom.condim = CONTACT_DIMENSIONS
    geom.margin = margin_m


def _joint_name(body: int, freedom: int) -> str:
    return f"j{body}.{freedom}"


def _body_id(compiled: Any, index: int) -> int:
    return _body_id_of(compiled, f"b{index}")


def _body_id_of(compiled: Any, name: str) -> int:
    return int(mujoco.mj_name2id(compiled, mujoco.mjtObj.mjOBJ_BODY, name))


@contextmanager
def _warnings_to(hear: Callable[[str], None]) -> Iterator[None]:
    """The library's warnings go to `hear`, not to a file in the working directory."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(hear)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
