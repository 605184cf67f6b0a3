"""The rigid-body model of a design that both engines read: bodies, freedoms, solids, exclusions, floor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from evalkit_lmbuild.design import Floats
from evalkit_lmbuild.simulation.contacts import Pair
from evalkit_lmbuild.simulation.masses import Mass
from evalkit_lmbuild.simulation.shapes import Shape

GRAVITY = 9.81
STEP_S = 0.001
FRICTION = (1.0, 0.02, 0.002)
"""Sliding, torsional, rolling."""
RELEASED_ARMATURE = 0.01
"""Armature of a released joint, in m·L² of the body that it carries."""

Kind = Literal["turn", "slide", "ball"]


@dataclass(frozen=True, eq=False)
class Freedom:
    """What a joint lets a body do against its parent. `axis` is a unit vector in the world at rest.

    `stiffness` in N·m/rad or N/m, `damping` and `armature` accordingly; stiffness 0: released.
    """

    joint: str
    kind: Kind
    axis: Floats
    origin: Floats
    stiffness: float
    damping: float
    armature: float


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body; `parent` indexes an earlier body, −1: none carries it; `arm_m` is half its diagonal."""

    parent: int
    parts: tuple[str, ...]
    mass: Mass
    arm_m: float
    freedoms: tuple[Freedom, ...]


@dataclass(frozen=True, eq=False)
class Solid:
    """What collides as one: a part, or a whole body that rolls as a wheel.

    `exact`: its shapes fill the part and no more.
    """

    body: int
    parts: tuple[str, ...]
    shapes: tuple[Shape, ...]
    exact: bool = False


@dataclass(frozen=True, eq=False)
class Closure:
    """A point that two bodies share: a joint which closes a loop."""

    joint: str
    bodies: tuple[int, int]
    point: Floats


@dataclass(frozen=True, eq=False)
class Model:
    """Bodies (the root first, parents before children), solids, pairs of them that don't collide, the floor.

    `mounted`: the root doesn't move. `flush`: pairs of parts whose shapes touch without penetrating.
    """

    bodies: tuple[Body, ...]
    solids: tuple[Solid, ...]
    excluded: frozenset[tuple[int, int]]
    closures: tuple[Closure, ...]
    floor_m: float
    mounted: bool
    diagonal_m: float
    flush: tuple[Pair, ...] = ()

    @property
    def mass_kg(self) -> float:
        """Mass of everything."""
        return sum(body.mass.kg for body in self.bodies)

    @property
    def degrees(self) -> int:
        """Degrees of freedom."""
        heads = sum(body.parent < 0 for body in self.bodies) - self.mounted
        own = [3 if f.kind == "ball" else 1 for body in self.bodies for f in body.freedoms]
        return 6 * heads + sum(own)

    @property
    def root_piece(self) -> frozenset[int]:
        """Bodies tied to the root by joints."""
        return self.downstream(0)

    def downstream(self, body: int) -> frozenset[int]:
        """A body and everything that hangs from it."""
        found = {body}
        for index, other in enumerate(self.bodies):
            if other.parent in found:
                found.add(index)
        return frozenset(found)

    def body_with(self, joint: str) -> int | None:
        """The body that a joint carries; None where the joint isn't in the tree."""
        for index, body in enumerate(self.bodies):
            if any(freedom.joint == joint for freedom in body.freedoms):
                return index
        return None

    def body_of(self, part: str) -> int:
        """The body that holds a part."""
        return next(index for index, body in enumerate(self.bodies) if part in body.parts)

    def chain(self, body: int) -> tuple[int, ...]:
        """A body and what carries it, up to where nothing does."""
        found = []
        while body >= 0:
            found.append(body)
            body = self.bodies[body].parent
        return tuple(found)

    def released(self, joints: Iterable[str]) -> Model:
        """The model with the servos of these joints switched off."""
        names = frozenset(joints)
        return replace(self, bodies=tuple(_released(body, names) for body in self.bodies))


def _released(body: Body, joints: frozenset[str]) -> Body:
    """The body with its freedoms under these joints passive."""
    freedoms = []
    for freedom in body.freedoms:
        if freedom.joint in joints:
            arm = 1.0 if freedom.kind == "slide" else body.arm_m**2
            armature = RELEASED_ARMATURE * body.mass.kg * arm
            freedom = replace(freedom, stiffness=0.0, damping=0.0, armature=armature)
        freedoms.append(freedom)
    return replace(body, freedoms=tuple(freedoms))
