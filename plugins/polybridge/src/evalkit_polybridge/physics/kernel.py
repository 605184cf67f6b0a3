"""The compiled engine: advances a state step by step. `reference` says the same in plain NumPy.

One thread, a fixed order of additions, no fused or reordered arithmetic: same inputs, same bits.
`advance` takes the arrays out of the model once and hands them to one function per phase of a step; a tuple
of arrays passed that often costs more than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from evalkit_polybridge.physics.model import (
    HIGH_X,
    LOW_X,
    TINY,
    TOP_Y,
    VX,
    VY,
    Bools,
    Floats,
    Indices,
    Ints,
    Model,
    Settings,
    State,
    X,
    Y,
)

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """`numba.njit` with the settings that keep results equal to NumPy's, typed as the function itself."""
    jit = numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy")
    return cast(F, jit(function))


def inlined(function: F) -> F:
    """As `compiled`, for a part of `advance` that is compiled into it."""
    jit = numba.njit(inline="always", nogil=True, fastmath=False, error_model="numpy")
    return cast(F, jit(function))


@compiled
def advance(model: Model, state: State, start_step: int, stop_step: int, early_stop: bool) -> int:
    """Step `state` from `start_step` to `stop_step` in place; returns the number of the step reached.

    With `early_stop` it returns as soon as every vehicle has crossed or one is lost.
    """
    nodes, members, surface, blocks, vehicles, settings = model
    _, weight, inverse_mass, stopped = nodes
    ends, rest_m, _, _, _ = members
    surface_ends, surface_member = surface
    _, wheel_weight, wheel_mass, contact_damping, axle_stiffness, axle_damping = vehicles
    motion, wheels, stiffness, damping, limit, filtered, peak, break_step, furthest, finish, lost = state

    force = np.zeros((len(motion), 2))
    wheel_force = np.zeros((len(wheels), 2))
    dx, dy = np.empty(len(rest_m)), np.empty(len(rest_m))
    opening, pull = np.empty(len(rest_m)), np.empty(len(rest_m))
    near = np.empty((len(wheels), len(surface_ends)), dtype=np.uint32)
    near_count = np.zeros(len(wheels), dtype=np.int64)
    covered = np.empty(2 * len(surface_ends), dtype=np.uint32)
    highest_top = blocks[:, TOP_Y].max()
    refresh_at = start_step
    for step in range(start_step, stop_step):
        if step >= refresh_at:
            _find_near(settings, surface_ends, surface_member, break_step, motion, wheels, near, near_count)
            refresh_at = step + settings.refresh_steps
        ramp = min(1.0, step * settings.step_s * settings.ramp_per_s)
        _weigh(weight, force, ramp)
        _weigh(wheel_weight, wheel_force, ramp)
        for wheel in range(len(wheels)):
            _touch(
                settings, wheel, near, near_count[wheel], covered, surface_ends, motion, force, wheels,
                wheel_force, contact_damping[wheel], wheel_mass[wheel], wheel_weight[wheel] * ramp,
            )  # fmt: skip
        _hold_axles(settings, wheels, wheel_force, axle_stiffness, axle_damping)
        _measure_members(ends, motion, dx, dy, opening)
        _strain_members(settings, rest_m, stiffness, damping, filtered, dx, dy, opening, pull)
        _pull_nodes(ends, dx, dy, pull, force)
        if _count_overloaded(limit, filtered, peak) > 0:
            _break_members(step, limit, filtered, stiffness, damping, break_step)
            refresh_at = step + 1
        _move_nodes(settings, motion, force, inverse_mass, stopped, blocks, highest_top)
        _move_wheels(settings, wheels, wheel_force, wheel_mass)
        if _referee(settings, step + 1, wheels, furthest, finish, lost) and early_stop:
            return step + 1
    return stop_step


@compiled
def _find_near(
    settings: Settings,
    ends: Indices,
    member: Ints,
    break_step: Ints,
    motion: Floats,
    wheels: Floats,
    near: Indices,
    near_count: Ints,
) -> None:
    """List, in order, the unbroken surface segments whose bounding box is within reach of each wheel."""
    reach = settings.contact_reach_m
    for wheel in range(len(wheels)):
        x, y, count = wheels[wheel, X], wheels[wheel, Y], 0
        for segment in range(len(ends)):
            if member[segment] >= 0 and break_step[member[segment]] >= 0:
                continue
            a, b = ends[segment, 0], ends[segment, 1]
            if (
                min(motion[a, X], motion[b, X]) - reach < x
                and max(motion[a, X], motion[b, X]) + reach > x
                and min(motion[a, Y], motion[b, Y]) - reach < y
                and max(motion[a, Y], motion[b, Y]) + reach > y
            ):
                near[wheel, count] = segment
                count += 1
        near_count[wheel] = count


@inlined
def _weigh(weight: Floats, force: Floats, ramp: float) -> None:
    """Start a step's forces with the weights."""
    for i in range(len(weight)):
        force[i, X] = 0.0
        force[i, Y] = -weight[i] * ramp


@inlined
def _touch(
    settings: Settings,
    wheel: int,
    near: Indices,
    near_count: int,
    covered: Indices,
    ends: Indices,
    motion: Floats,
    force: Floats,
    wheels: Floats,
    wheel_force: Floats,
    damping: float,
    mass: float,
    load: float,
) -> None:
    """Contact of a wheel with the segments near it: first their insides, then ends that no inside covers.

    Insides leave their two ends in `covered`, so that an end which segments share counts once. The wheel's
    traction acts where it presses hardest. Contacts act as they are found: a list of them would take longer
    to write and read than to work out.
    """
    x, y = wheels[wheel, X], wheels[wheel, Y]
    reach_squared = settings.wheel_radius_m * settings.wheel_radius_m
    most, most_slide, most_a, most_b, most_share, most_nx, most_ny = 0.0, 0.0, 0, 0, 0.0, 0.0, 0.0
    count = 0
    ends_in_reach = False
    for entry in range(near_count):
        a, b = ends[near[wheel, entry], 0], ends[near[wheel, entry], 1]
        ex, ey = motion[b, X] - motion[a, X], motion[b, Y] - motion[a, Y]
        rx, ry = x - motion[a, X], y - motion[a, Y]
        along, squared = rx * ex + ry * ey, ex * ex + ey * ey
        if along <= 0.0:
            ends_in_reach |= rx * rx + ry * ry < reach_squared
            continue
        if along >= squared:
            rx, ry = x - motion[b, X], y - motion[b, Y]
            ends_in_reach |= rx * rx + ry * ry < reach_squared
            continue
        across = ex * ry - ey * rx
        if across * across >= reach_squared * squared:
            continue
        inverse = 1.0 / math.sqrt(squared)
        side = inverse if across > 0.0 else -inverse
        nx, ny, share = -ey * side, ex * side, along * inverse * inverse
        normal, slide = _push(
            settings, wheel, a, b, share, nx, ny, across * side, motion, force, wheels, wheel_force, damping
        )
        covered[count], covered[count + 1] = a, b
        count += 2
        if normal > most:
            most, most_slide, most_a, most_b, most_share, most_nx, most_ny = (
                normal, slide, a, b, share, nx, ny,
            )  # fmt: skip
    if ends_in_reach:
        for entry in range(near_count):
            a, b = ends[near[wheel, entry], 0], ends[near[wheel, entry], 1]
            ex, ey = motion[b, X] - motion[a, X], motion[b, Y] - motion[a, Y]
            along = (x - motion[a, X]) * ex + (y - motion[a, Y]) * ey
            if along > 0.0 and along < ex * ex + ey * ey:
                continue
            end = a if along <= 0.0 else b
            rx, ry = x - motion[end, X], y - motion[end, Y]
            squared = rx * rx + ry * ry
            if squared >= reach_squared or squared == 0.0 or _contains(covered, count, end):
                continue
            inverse = 1.0 / math.sqrt(squared)
            nx, ny = rx * inverse, ry * inverse
            normal, slide = _push(
                settings, wheel, end, end, 0.0, nx, ny, squared * inverse, motion, force, wheels, wheel_force,
                damping,
            )  # fmt: skip
            covered[count] = end
            count += 1
            if normal > most:
                most, most_slide, most_a, most_b, most_share, most_nx, most_ny = (
                    normal, slide, end, end, 0.0, nx, ny,
                )  # fmt: skip
    if most > 0.0:
        _drive(
            settings, wheel, most_a, most_b, most_share, most_nx, most_ny, most, most_slide, force, wheels,
            wheel_force, mass, load,
        )  # fmt: skip


@inlined
def _contains(covered: Indices, count: int, end: int) -> bool:
    for i in range(count):  # noqa: SIM110 - a loop is what numba compiles
        if covered[i] == end:
            return True
    return False


@inlined
def _push(
    settings: Settings,
    wheel: int,
    a: int,
    b: int,
    share: float,
    nx: float,
    ny: float,
    distance: float,
    motion: Floats,
    force: Floats,
    wheels: Floats,
    wheel_force: Floats,
    damping: float,
) -> tuple[float, float]:
    """Penalty force along the normal (nx, ny), shared by the segment's ends.

    Returns its size (PN) and the wheel's speed along the surface (m/s).
    """
    rest = 1.0 - share
    vx = wheels[wheel, VX] - (rest * motion[a, VX] + share * motion[b, VX])
    vy = wheels[wheel, VY] - (rest * motion[a, VY] + share * motion[b, VY])
    normal: float = settings.contact_stiffness * (settings.wheel_radius_m - distance)
    normal -= damping * (vx * nx + vy * ny)
    normal = max(0.0, normal)
    _react(wheel, a, b, share, normal * nx, normal * ny, force, wheel_force)
    return normal, vx * ny - vy * nx


@inlined
def _react(
    wheel: int, a: int, b: int, share: float, fx: float, fy: float, force: Floats, wheel_force: Floats
) -> None:
    """A force on a wheel, and its opposite on the ends of the segment the wheel stands on."""
    wheel_force[wheel, X] += fx
    wheel_force[wheel, Y] += fy
    rest = 1.0 - share
    force[a, X] -= rest * fx
    force[a, Y] -= rest * fy
    force[b, X] -= share * fx
    force[b, Y] -= share * fy


@inlined
def _drive(
    settings: Settings,
    wheel: int,
    a: int,
    b: int,
    share: float,
    nx: float,
    ny: float,
    normal: float,
    slide: float,
    force: Floats,
    wheels: Floats,
    wheel_force: Floats,
    mass: float,
    load: float,
) -> None:
    """Traction: hold the cruising speed and the distance to the vehicle ahead, carry the slope's share."""
    target = settings.cruise_m_per_s
    front = wheel - wheel % 2
    if front > 0:
        gap = wheels[front - 1, X] - wheels[front, X]
        target *= min(1.0, max(-1.0, (gap - settings.follow_stop_m) * settings.follow_per_m))
    wanted = (target - slide) * settings.response_per_s
    wanted = min(settings.max_acceleration_m_per_s2, max(-settings.max_braking_m_per_s2, wanted))
    limit = min(settings.friction * normal, settings.grade * load)
    traction = min(limit, max(-limit, mass * wanted - load * nx))
    _react(wheel, a, b, share, traction * ny, -traction * nx, force, wheel_force)


@inlined
def _hold_axles(
    settings: Settings, wheels: Floats, wheel_force: Floats, stiffness: Floats, damping: Floats
) -> None:
    """Spring and damper between a vehicle's two wheels."""
    for vehicle in range(len(stiffness)):
        front, rear = 2 * vehicle, 2 * vehicle + 1
        dx, dy = wheels[front, X] - wheels[rear, X], wheels[front, Y] - wheels[rear, Y]
        length = math.sqrt(dx * dx + dy * dy + TINY)
        inverse = 1.0 / length
        opening = (wheels[front, VX] - wheels[rear, VX]) * dx + (wheels[front, VY] - wheels[rear, VY]) * dy
        pull = stiffness[vehicle] * (length - settings.wheelbase_m) + damping[vehicle] * (opening * inverse)
        fx, fy = pull * inverse * dx, pull * inverse * dy
        wheel_force[front, X] -= fx
        wheel_force[front, Y] -= fy
        wheel_force[rear, X] += fx
        wheel_force[rear, Y] += fy


@inlined
def _measure_members(ends: Indices, motion: Floats, dx: Floats, dy: Floats, opening: Floats) -> None:
    """Vector between a member's ends, and its scalar product with their relative velocity."""
    for m in range(len(ends)):
        a, b = ends[m, 0], ends[m, 1]
        x, y = motion[b, X] - motion[a, X], motion[b, Y] - motion[a, Y]
        dx[m] = x
        dy[m] = y
        opening[m] = (motion[b, VX] - motion[a, VX]) * x + (motion[b, VY] - motion[a, VY]) * y


@inlined
def _strain_members(
    settings: Settings,
    rest_m: Floats,
    stiffness: Floats,
    damping: Floats,
    filtered: Floats,
    dx: Floats,
    dy: Floats,
    opening: Floats,
    pull: Floats,
) -> None:
    """Spring and damper force ÷ length of every member, and the filtered size of the spring's force.

    A loop without indices or branches, which the compiler does several members at a time.
    """
    for m in range(len(rest_m)):
        length = math.sqrt(dx[m] * dx[m] + dy[m] * dy[m] + TINY)
        inverse = 1.0 / length
        spring = stiffness[m] * (length - rest_m[m])
        filtered[m] += settings.filter_share * (abs(spring) - filtered[m])
        pull[m] = (spring + damping[m] * (opening[m] * inverse)) * inverse


@inlined
def _pull_nodes(ends: Indices, dx: Floats, dy: Floats, pull: Floats, force: Floats) -> None:
    """Add the members' forces to their ends, in the order of the members."""
    for m in range(len(ends)):
        a, b = ends[m, 0], ends[m, 1]
        fx, fy = pull[m] * dx[m], pull[m] * dy[m]
        force[a, X] += fx
        force[a, Y] += fy
        force[b, X] -= fx
        force[b, Y] -= fy


@inlined
def _count_overloaded(limit: Floats, filtered: Floats, peak: Floats) -> int:
    """Keep the peaks; how many members bear more than they can?"""
    overloaded = 0
    for m in range(len(limit)):
        peak[m] = filtered[m] if filtered[m] > peak[m] else peak[m]
        overloaded += filtered[m] > limit[m]
    return overloaded


@compiled
def _break_members(
    step: int, limit: Floats, filtered: Floats, stiffness: Floats, damping: Floats, break_step: Ints
) -> None:
    """Take the stiffness from members whose filtered force exceeds their limit."""
    for m in range(len(limit)):
        if filtered[m] > limit[m]:
            break_step[m] = step
            stiffness[m] = 0.0
            damping[m] = 0.0
            limit[m] = np.inf


@inlined
def _move_nodes(
    settings: Settings,
    motion: Floats,
    force: Floats,
    inverse_mass: Floats,
    stopped: Bools,
    blocks: Floats,
    highest_top: float,
) -> None:
    """Semi-implicit Euler; then keep nodes out of the ground and above the floor of the water."""
    dt, drag = settings.step_s, settings.drag_per_s
    for i in range(len(motion)):
        vx, vy = motion[i, VX], motion[i, VY]
        vx += dt * (force[i, X] * inverse_mass[i] - drag * vx)
        vy += dt * (force[i, Y] * inverse_mass[i] - drag * vy)
        motion[i, VX] = vx
        motion[i, VY] = vy
        motion[i, X] += dt * vx
        motion[i, Y] += dt * vy
        if motion[i, Y] < highest_top and stopped[i]:
            _stop_by_ground(settings, motion, blocks, i)


@compiled
def _stop_by_ground(settings: Settings, motion: Floats, blocks: Floats, i: int) -> None:
    """Put a node that has entered a block on the nearest face, without its speed into it."""
    for block in range(len(blocks)):
        left, right = motion[i, X] - blocks[block, LOW_X], blocks[block, HIGH_X] - motion[i, X]
        up = blocks[block, TOP_Y] - motion[i, Y]
        if left <= 0.0 or right <= 0.0 or up <= 0.0:
            continue
        if up <= left and up <= right:
            motion[i, Y] = blocks[block, TOP_Y]
            motion[i, VY] = max(0.0, motion[i, VY])
        elif left <= right:
            motion[i, X] = blocks[block, LOW_X]
            motion[i, VX] = min(0.0, motion[i, VX])
        else:
            motion[i, X] = blocks[block, HIGH_X]
            motion[i, VX] = max(0.0, motion[i, VX])
    if motion[i, Y] < settings.floor_y_m:
        motion[i, Y] = settings.floor_y_m
        motion[i, VX] = 0.0
        motion[i, VY] = 0.0


@inlined
def _move_wheels(settings: Settings, wheels: Floats, wheel_force: Floats, mass: Floats) -> None:
    """Semi-implicit Euler; a wheel that reaches the floor of the water stays there."""
    dt, floor_y = settings.step_s, settings.floor_y_m + settings.wheel_radius_m
    for wheel in range(len(wheels)):
        inverse = 1.0 / mass[wheel]
        wheels[wheel, VX] += dt * (wheel_force[wheel, X] * inverse)
        wheels[wheel, VY] += dt * (wheel_force[wheel, Y] * inverse)
        wheels[wheel, X] += dt * wheels[wheel, VX]
        wheels[wheel, Y] += dt * wheels[wheel, VY]
        if wheels[wheel, Y] < floor_y:
            wheels[wheel, Y] = floor_y
            wheels[wheel, VX] = 0.0
            wheels[wheel, VY] = 0.0


@inlined
def _referee(
    settings: Settings,
    step: int,
    wheels: Floats,
    furthest: Floats,
    finish: Ints,
    lost: Ints,
) -> bool:
    """Note who has crossed and whether one is lost. → is the run decided?"""
    waiting = False
    for vehicle in range(len(finish)):
        front, rear = 2 * vehicle, 2 * vehicle + 1
        furthest[vehicle] = max(furthest[vehicle], wheels[front, X])
        if finish[vehicle] >= 0:
            continue
        if wheels[rear, X] > settings.finish_x_m and wheels[rear, Y] > settings.finish_y_m:
            finish[vehicle] = step
            continue
        waiting = True
        sunk = wheels[front, Y] < settings.lost_y_m and wheels[rear, Y] < settings.lost_y_m
        if lost[0] < 0 and (sunk or wheels[rear, X] - wheels[front, X] > settings.overturned_m):
            lost[0] = step
    return not waiting or lost[0] >= 0
