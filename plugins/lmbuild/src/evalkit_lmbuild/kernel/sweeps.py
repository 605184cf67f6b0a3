"""Whether things can move: a joint through its range (A.3), a part into its place (R.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit_lmbuild.design import Design, Floats, Joint, Part, Vector
from evalkit_lmbuild.kernel._moved import common_moved, common_shifted, merge
from evalkit_lmbuild.kernel.field import ALL, Field
from evalkit_lmbuild.kernel.joints import MovingSet
from evalkit_lmbuild.kernel.voxels import KernelError, Voxels

POSES = 8
TURN_POSES = 12
FREE_CELLS = 2
FREE_SHARE = 0.02
MOVING_CELLS = 4e6
"""Where more cells move, a sweep looks at every second (third …) layer and row of them."""

SWEEP_LIMIT = 2e9
"""Cells that all sweeps of one design may look at, some 10 s; counted, so that results don't depend on the
machine."""

ROW_COST, PAIR_COST = 4, 1000
"""What a row, and the comparison of two boxes, cost in cells."""

BALL_ANGLE = math.radians(30)
FULL_TURN = 2 * math.pi

CLEARANCE = 0.05
"""A part comes from its own diagonal and this much away, m."""

WINDOW_WORDS = 32_000_000
UPWARD = 0.3
DEFAULT_DIRECTIONS: tuple[Vector, ...] = (
    (0.0, 0.0, -1.0),
    (1.0, 0.0, 0.0),
    (-1.0, 0.0, 0.0),
    (0.0, 1.0, 0.0),
    (0.0, -1.0, 0.0),
    (0.0, 0.0, 1.0),
)
"""Directions in which a part is moved into place, in the order they are tried."""


@dataclass(frozen=True)
class Pose:
    """A joint moved by `value`, rad or m, along `motion` ("turn" or "slide"); `blocked_by` a resting part."""

    motion: str
    value: float
    extra_cells: int
    blocked_by: str | None

    @property
    def free(self) -> bool:
        """Whether nothing is in the way."""
        return self.blocked_by is None


@dataclass(frozen=True)
class SweepResult:
    """Share of poses with free room; cells of moving cores inside resting ones from the start, as a share of
    the moving parts' cells; `reason` says why a sweep wasn't finished, whose share is 0."""

    free_share: float
    buried_share: float
    poses: tuple[Pose, ...]
    reason: str = ""


class _TooMuchWorkError(Exception):
    """A sweep has spent what it may cost."""


class _Account:
    """Counts the cells that a sweep looks at."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.spent = 0.0

    def compare(self, pairs: int) -> None:
        """Pay for comparing the boxes of so many pairs."""
        self._pay(PAIR_COST * pairs)

    def count(self, moving: Voxels, resting: Voxels, stride: int) -> None:
        """Pay for counting common cells: those that can lie in the resting grid, and all moving rows."""
        rows = moving.filled.shape[0] * moving.filled.shape[1]
        cells = min(moving.cells, 64 * resting.filled.size)
        self._pay((cells + ROW_COST * rows) / stride**2)

    def _pay(self, cost: float) -> None:
        self.spent += cost
        if self.spent > self.limit:
            raise _TooMuchWorkError


def turned(axis: Sequence[float] | Floats, angle_rad: float) -> Floats:
    """Rotation about a unit axis [3, 3] (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle_rad) * cross + (1 - math.cos(angle_rad)) * cross @ cross)


def sweep_free(
    field: Field, design: Design, joint: Joint, moving: MovingSet, limit: float = SWEEP_LIMIT
) -> SweepResult:
    """How freely a joint moves its parts through its range.

    A pose is free if the cores of moving and resting parts share at most max(2 cells, 2 % of the
    moving cells) more than at rest. Full turns are tried every 30°, other ranges in 8 poses,
    rest left out; a slide without limits by half the child's length both ways; cylindrical joints
    slide and turn, ball joints turn about four axes. A sweep that would look at more than `limit` cells
    has no free pose, and says so.
    """
    resting = [part.id for part in design.parts if part.id not in moving.ids]
    cells = sum(field.voxels(part_id).cells for part_id in moving.ids)
    stride = max(1, math.ceil(math.sqrt(cells / MOVING_CELLS)))
    allowed = max(FREE_CELLS, int(FREE_SHARE * cells))
    account = _Account(limit)
    poses = []
    try:
        account.compare(len(moving.ids) * len(resting))
        at_rest = {(a, b): _shared_cores(field, a, b, stride, account) for a in moving.ids for b in resting}
        for motion, value, turn, move in _motions(joint, design.by_id[joint.child]):
            extra, worst = _extra(field, at_rest, turn, move, allowed, stride, account)
            poses.append(Pose(motion, value, extra, worst if extra > allowed else None))
    except _TooMuchWorkError:
        reason = f"sweeping {joint.id} would look at more than {limit:.2g} cells"
        return SweepResult(0.0, 0.0, tuple(poses), reason)
    buried = sum(at_rest.values()) / cells if cells else 0.0
    free = sum(pose.free for pose in poses) / len(poses) if poses else 1.0
    return SweepResult(free, min(1.0, buried), tuple(poses))


def _shared_cores(field: Field, a: str, b: str, stride: int, account: _Account) -> int:
    one, two = field.voxels(a), field.voxels(b)
    if not _box_meets(one.low, one.high, two):
        return 0
    account.count(one, two, stride)
    still = np.zeros(3)
    return int(common_moved(one.core, one.corner, two.core, two.corner, np.eye(3), still, ALL, stride))


def _motions(joint: Joint, child: Part) -> list[tuple[str, float, Floats, Floats]]:
    """Poses of a joint: motion, value, rotation [3, 3] and translation [3], m."""
    origin = np.asarray(joint.origin if joint.origin is not None else child.position, dtype=np.float64)
    still = np.eye(3)
    if joint.type == "ball":
        angle = BALL_ANGLE if joint.limits is None else min(joint.limits[1], math.pi)
        diagonal = 1 / math.sqrt(3)
        turns = [
            (sign * angle, turned(axis, sign * angle))
            for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (diagonal, diagonal, diagonal))
            for sign in (1, -1)
        ]
        return [("turn", value, turn, origin - turn @ origin) for value, turn in turns]
    if not joint.moves or joint.axis is None:
        return []
    axis = np.asarray(joint.axis) / np.linalg.norm(joint.axis)
    poses: list[tuple[str, float, Floats, Floats]] = []
    if joint.type in ("prismatic", "cylindrical"):
        along = child.world.vertices @ axis
        half = float(np.ptp(along)) / 2
        poses += [("slide", value, still, value * axis) for value in _values(joint.limits or (-half, half))]
    if joint.type in ("revolute", "continuous", "cylindrical"):
        limits = joint.limits if joint.type == "revolute" else None
        if limits is None or limits[1] - limits[0] > FULL_TURN - 1e-6:
            values = [FULL_TURN * k / TURN_POSES for k in range(1, TURN_POSES)]
        else:
            values = _values(limits)
        for value in values:
            turn = turned(axis, value)
            poses.append(("turn", value, turn, origin - turn @ origin))
    return poses


def _values(limits: tuple[float, float]) -> list[float]:
    """Eight values spread evenly over the limits; rest, where it is one of the limits, isn't among them."""
    low, high = limits
    if low == 0:
        return [float(value) for value in np.linspace(low, high, POSES + 1)[1:]]
    if high == 0:
        return [float(value) for value in np.linspace(low, high, POSES + 1)[:-1]]
    return [float(value) for value in np.linspace(low, high, POSES)]


def _extra(
    field: Field,
    at_rest: dict[tuple[str, str], int],
    turn: Floats,
    move: Floats,
    allowed: int,
    stride: int,
    account: _Account,
) -> tuple[int, str | None]:
    """Core cells shared beyond rest, counted until more than allowed, and the resting part with
    most of them.
    """
    rest, total = sum(at_rest.values()), 0
    by_part: dict[str, int] = {}
    cells = move / field.pitch
    account.compare(len(at_rest))
    boxes = {a: _moved_box(field.voxels(a), turn, cells) for a in dict.fromkeys(a for a, _ in at_rest)}
    for a, b in at_rest:
        one, two = field.voxels(a), field.voxels(b)
        if not _box_meets(*boxes[a], two):
            continue
        account.count(one, two, stride)
        stop = rest + allowed + 1 - total
        found = common_moved(one.core, one.corner, two.core, two.corner, turn, cells, stop, stride)
        by_part[b] = by_part.get(b, 0) + found - at_rest[a, b]
        total += found
        if total > rest + allowed:
            break
    worst = max(by_part, key=lambda part_id: by_part[part_id]) if by_part else None
    return max(0, total - rest), worst


def _moved_box(voxels: Voxels, turn: Floats, move: Floats) -> tuple[list[int], list[int]]:
    """First and last cells (x, y, z) of a box around the moved voxels."""
    low, high = np.array(voxels.low), np.array(voxels.high) + 1
    centre, half = turn @ ((low + high) / 2) + move, np.abs(turn) @ ((high - low) / 2)
    return np.floor(centre - half).astype(int).tolist(), np.floor(centre + half).astype(int).tolist()


def _box_meets(low: Sequence[int], high: Sequence[int], voxels: Voxels) -> bool:
    """Whether the box of cells low … high, both inclusive, meets that of the voxels."""
    return (
        low[0] <= voxels.high[0]
        and low[1] <= voxels.high[1]
        and low[2] <= voxels.high[2]
        and high[0] >= voxels.low[0]
        and high[1] >= voxels.low[1]
        and high[2] >= voxels.low[2]
    )


def approach(
    field: Field, part_id: str, placed: Iterable[str], direction: Vector | None, on_floor: bool
) -> Vector | None:
    """A direction in which the part can be moved straight into its place among the `placed`, or None.

    The declared direction is tried first, then down, sideways and up. On the way, its own diagonal and
    5 cm long and looked at every second cell, it may share 2 cells more with what is placed than in
    its place. Upward directions (z > 0.3) are only for parts on the floor. `KernelError` if the way
    crosses too many cells.
    """
    others = [field.voxels(other) for other in placed]
    own = field.voxels(part_id)
    travel = float(np.linalg.norm(field.parts[part_id].world.size)) + CLEARANCE
    tried: list[Vector] = [direction] if direction is not None and any(direction) else []
    for candidate in (*tried, *DEFAULT_DIRECTIONS):
        heading = np.asarray(candidate) / np.linalg.norm(candidate)
        if heading[2] > UPWARD and not on_floor:
            continue
        if _clear(own, others, heading, travel / field.pitch, part_id):
            x, y, z = heading.tolist()
            return (x, y, z)
    return None


def _clear(own: Voxels, others: Sequence[Voxels], heading: Floats, travel_cells: float, name: str) -> bool:
    """Whether `own` comes along `heading` without meeting more than it meets in its place."""
    steps = np.arange(2, int(travel_cells) + 1, 2)
    shifts = np.rint(-heading[None] * steps[:, None]).astype(np.int64)
    low = (np.array(own.low) + np.minimum(shifts.min(axis=0), 0)).tolist()
    high = (np.array(own.high) + np.maximum(shifts.max(axis=0), 0)).tolist()
    meeting = [voxels for voxels in others if _box_meets(low, high, voxels)]
    if not meeting:
        return True
    low = [max(low[i], min(voxels.low[i] for voxels in meeting)) for i in range(3)]
    high = [min(high[i], max(voxels.high[i] for voxels in meeting)) for i in range(3)]
    corner = (low[2], low[1], low[0] >> 6)
    shape = (high[2] - low[2] + 1, high[1] - low[1] + 1, (high[0] >> 6) - corner[2] + 1)
    if math.prod(shape) > WINDOW_WORDS:
        raise KernelError(f"the way of part {name!r} into its place crosses more cells than can be held")
    union = np.zeros(shape, np.uint64)
    for voxels in meeting:
        merge(union, corner, voxels.filled, voxels.corner)
    rest = common_shifted(own.filled, own.corner, union, corner, (0, 0, 0), ALL)
    limit = rest + FREE_CELLS
    for x, y, z in shifts.tolist():
        if common_shifted(own.filled, own.corner, union, corner, (x, y, z), limit + 1) > limit:
            return False
    return True
