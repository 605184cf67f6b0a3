"""What is asked of the simulation and what it answers: settings, motions, results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Engine = Literal["mujoco", "pybullet"]
Protocol = Literal["strict", "inset"]
Collision = Literal["hull", "boxes"]
Loops = Literal["dropped", "kept"]

WORKS_FROM = 0.9
"""Score from which a motion counts as working."""

MAX_CANDIDATES = 4
"""Joints that are tried for one claimed motion."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a design is simulated.

    `protocol` strict: convex hulls as they are; inset: hulls shrunk by 0.5 mm on every side, so that parts
    that lie flush slide as a real fit with clearance would. `collision` boxes: concave boxy parts are cut
    into boxes instead of covered by their hull. `loops` kept: joints that close a loop hold their two parts
    together at the origin; otherwise they are dropped. `free_standing` False: the root is fixed to the world.
    """

    engine: Engine = "mujoco"
    protocol: Protocol = "strict"
    collision: Collision = "hull"
    loops: Loops = "dropped"
    free_standing: bool = True


@dataclass(frozen=True, slots=True)
class Actuate:
    """Drive the best of at most four candidate joints to its limits.

    `targets` in rad or m replace the limits; `freedom` picks the turn or the slide of a cylindrical joint
    (None: whichever does better).
    """

    joints: tuple[str, ...]
    targets: tuple[float, ...] | None = None
    freedom: Literal["turn", "slide"] | None = None


@dataclass(frozen=True, slots=True)
class Roll:
    """Push the object across the axles of these parts, forth and back, with their joints released."""

    parts: tuple[str, ...]


Motion = Actuate | Roll


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of one motion.

    `joint` is empty for a push. `target` and `reached` are rad or m along the target, or m of travel;
    `tilt_deg` is the root's tilt at the end; `score` is in [0, 1]; `problem` is empty, or says why it is 0.
    """

    joint: str
    freedom: str
    target: float
    reached: float
    tilt_deg: float
    score: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class MaskedPair:
    """A moving and a resting part whose collision is switched off because their shapes overlap at rest.

    `free_share` is the share of the joint's poses that the voxel sweep finds free for this pair; None where
    no sweep was at hand or it would have been too long.
    """

    moving: str
    resting: str
    free_share: float | None = None


@dataclass(frozen=True, slots=True)
class MotionResult:
    """What a motion came to.

    `status`: works; blocked (below 0.9 of the target); masked (reached, but only because the collision of
    a pair that the sweep finds in the way is switched off); tipped (the object tilted by 15° or more);
    unjointed (no candidate moves two rigid bodies); unstable, fell, unfit (see `Settled`). `reason` is one
    line. `attempts` holds every run, `best` the best of them. `flush` names sliding pairs that lie flush
    (their friction is spurious in the strict protocol). `notes` says what was simulated differently from what
    was declared.
    """

    request: Motion
    score: float
    status: str
    reason: str
    attempts: tuple[Attempt, ...] = ()
    best: Attempt | None = None
    masked: tuple[MaskedPair, ...] = ()
    flush: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """How the object came to rest.

    `status`: rests; fell (tilt of 20° or more, or a slide of 0.3 diagonals); unstable (the run can't be
    trusted: energy out of nothing, deep contacts, a rising root, a warning of the engine); unfit (the design
    can't be simulated). Every motion of an object that doesn't rest scores 0. `slide_m` is horizontal,
    `energy_j` the largest rise of mechanical energy, `depth_m` the deepest contact after 50 ms, `rise_m` the
    root's largest rise.
    """

    status: str
    reason: str = ""
    tilt_deg: float = 0.0
    slide_m: float = 0.0
    energy_j: float = 0.0
    depth_m: float = 0.0
    rise_m: float = 0.0

    @property
    def rests(self) -> bool:
        """Whether motions can be judged."""
        return self.status == "rests"


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Settling and, in the order of the requests, every motion. `root` lists the parts of the root body."""

    settled: Settled
    motions: tuple[MotionResult, ...]
    settings: Settings
    root: tuple[str, ...] = ()
    bodies: tuple[tuple[str, ...], ...] = ()
    dropped_loops: tuple[str, ...] = ()
    excluded: tuple[tuple[str, str], ...] = ()
