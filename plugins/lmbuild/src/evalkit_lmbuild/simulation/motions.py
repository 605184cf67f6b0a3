"""Motions of a settled object: driving a joint to its limits, rolling it on its wheels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import pi

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Joint
from evalkit_lmbuild.simulation.model import GRAVITY, STEP_S, Freedom, Model
from evalkit_lmbuild.simulation.requests import Actuate, Attempt, Settled
from evalkit_lmbuild.simulation.settling import settle, tilt_deg
from evalkit_lmbuild.simulation.world import World

RAMP_STEPS = 1500
HOLD_STEPS = 400
PUSH_STEPS = 1500
UPRIGHT_DEG = 15.0
REACHED = 0.99
"""A target reached to this share ends the search for a better one."""
NO_TARGET = 1e-9
FULL_TURN = 2 * pi
"""A limit beyond this is driven this far."""
PUSH_WEIGHTS = 0.1
ROLL_SHARE = 0.25
"""Share of the frictionless travel that scores 1."""
LOST_DIAGONALS = 1.0
"""An object that a motion throws further than this has been ejected."""

Start = Callable[[Model], World]


@dataclass(frozen=True, eq=False)
class Drive:
    """One freedom of one body and a target for it."""

    body: int
    freedom: int
    joint: str
    kind: str
    target: Floats


def drives(design: Design, model: Model, joint: Joint, request: Actuate) -> Iterator[Drive]:
    """Everything that a candidate joint is driven to, in order; empty if the joint isn't in the tree."""
    body = model.body_with(joint.id)
    if body is None:
        return
    for number, freedom in enumerate(model.bodies[body].freedoms):
        if (
            request.freedom is not None
            and len(model.bodies[body].freedoms) > 1
            and freedom.kind != request.freedom
        ):
            continue
        for target in _targets(design, model, body, joint, freedom, request):
            yield Drive(body, number, joint.id, freedom.kind, target)


def _targets(
    design: Design, model: Model, body: int, joint: Joint, freedom: Freedom, request: Actuate
) -> list[Floats]:
    """Targets of a freedom: what was asked for, else its non-zero limits, else its type's own range."""
    ends: tuple[float, ...]
    limits = joint.limits if joint.type != "cylindrical" or freedom.kind == "slide" else None
    if request.targets is not None:
        ends = request.targets
    elif limits is not None:
        ends = limits
    elif freedom.kind == "slide":
        points = [design.by_id[part].world.vertices @ freedom.axis for part in model.bodies[body].parts]
        half = float(np.ptp(np.concatenate(points))) / 2
        ends = (half, -half)
    elif joint.type in ("continuous", "cylindrical"):
        ends = (FULL_TURN, -FULL_TURN)
    else:
        ends = (pi / 2, -pi / 2)
    if freedom.kind != "slide":
        ends = tuple(float(np.clip(end, -FULL_TURN, FULL_TURN)) for end in ends)
    chosen = sorted({end for end in ends if abs(end) > NO_TARGET}, key=lambda end: (-abs(end), -end))
    axes = np.eye(3) if freedom.kind == "ball" else np.ones((1, 1))
    return [axis * end for axis in axes for end in chosen]


def actuate(settled: World, model: Model, drive: Drive) -> Attempt:
    """Ramp a servo to its target in 1.5 s, hold it for 0.4 s, and see how far it came."""
    world = settled.branch()
    try:
        before = world.reading(drive.body, drive.freedom)
        place, _ = world.root()
        for step in range(1, RAMP_STEPS + 1):
            world.aim(drive.body, drive.freedom, drive.target * step / RAMP_STEPS)
            world.step(1)
        world.step(HOLD_STEPS)
        length = float(np.linalg.norm(drive.target))
        sign = float(np.sign(drive.target.sum()))
        moved = float((world.reading(drive.body, drive.freedom) - before) @ drive.target) / length
        end, rotation = world.root()
        problem = _problem(world, model, place, end, rotation)
    finally:
        world.close()
    share = 0.0 if problem else float(np.clip(moved / length, 0.0, 1.0))
    return Attempt(drive.joint, drive.kind, sign * length, sign * moved, tilt_deg(rotation), share, problem)


def _problem(world: World, model: Model, start: Floats, end: Floats, rotation: Floats) -> str:
    """Why a finished run scores 0."""
    if world.alarm():
        return f"unstable: {world.alarm()}"
    if np.linalg.norm(end - start) > LOST_DIAGONALS * model.diagonal_m and abs(end[2] - start[2]) > 0.01:
        return "unstable: the object was thrown away"
    if tilt_deg(rotation) >= UPRIGHT_DEG:
        return f"tipped by {tilt_deg(rotation):.0f}°"
    return ""


def wheels(model: Model, parts: tuple[str, ...]) -> tuple[tuple[str, ...], Floats]:
    """Joints to release so that these parts roll, and the level direction across their axles [3].

    Every hinge and ball between one of the parts and the body that nothing carries is released, the swivel of
    a caster too; the direction is across the mean of the wheels' level axes, or +y without one.
    """
    joints: list[str] = []
    axle = np.zeros(3)
    for body in dict.fromkeys(model.body_of(part) for part in parts):
        chain = model.chain(body)
        if len(chain) == 1:  # the wheel is the heaviest body: its hinges are in what it carries
            chain = tuple(index for index, other in enumerate(model.bodies) if other.parent == body)
        for depth, carried in enumerate(chain):
            for freedom in model.bodies[carried].freedoms:
                if freedom.kind == "slide":
                    continue
                level = freedom.axis * np.array([1.0, 1.0, 0.0])
                if depth == 0 and freedom.kind == "turn" and np.linalg.norm(level) > abs(freedom.axis[2]):
                    axle += level if level @ axle >= 0 else -level
                joints.append(freedom.joint)
    across = np.array([-axle[1], axle[0], 0.0])
    length = np.linalg.norm(across)
    return tuple(dict.fromkeys(joints)), across / length if length > NO_TARGET else np.array([0.0, 1.0, 0.0])


def roll(model: Model, parts: tuple[str, ...], start: Start) -> tuple[Settled, list[Attempt]]:
    """Push the released object with a tenth of its weight for 1.5 s, both ways across its axles."""
    joints, across = wheels(model, parts)
    free = model.released(joints)
    world = start(free)
    try:
        settled = settle(world, free)
        rolling_root = any(free.body_of(part) == 0 for part in parts) and bool(joints)
        ways = (1.0, -1.0) if settled.rests else ()
        attempts = [_pushed(world, free, across * way, rolling_root=rolling_root) for way in ways]
    finally:
        world.close()
    return settled, attempts


def _pushed(settled: World, model: Model, direction: Floats, *, rolling_root: bool) -> Attempt:
    """One push; the travel that a body without friction would make is ½·0.1·g·t².

    A root that rolls itself is upright while its axle is level.
    """
    ideal = 0.5 * PUSH_WEIGHTS * GRAVITY * (PUSH_STEPS * STEP_S) ** 2
    world = settled.branch()
    try:
        before, _ = world.root()
        world.push(direction * PUSH_WEIGHTS * model.mass_kg * GRAVITY)
        world.step(PUSH_STEPS)
        after, rotation = world.root()
        problem = f"unstable: {world.alarm()}" if world.alarm() else ""
    finally:
        world.close()
    travel = float((after - before) @ direction)
    tilt = tilt_deg(rotation)
    if rolling_root:
        axle = rotation @ np.array([-direction[1], direction[0], 0.0])
        tilt = float(np.degrees(np.arcsin(min(1.0, abs(axle[2])))))
    if not problem and tilt >= UPRIGHT_DEG:
        problem = f"tipped by {tilt:.0f}°"
    score = 0.0 if problem else float(np.clip(travel / (ROLL_SHARE * ideal), 0.0, 1.0))
    return Attempt("", "push", ideal, travel, tilt, score, problem)
