"""The compiled engine: advances a state step by step. `reference` says the same in plain NumPy.

One thread, a fixed order of additions, no fused or reordered arithmetic: same inputs, same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from evalkit_polybridge.constants import (
    AXLE_DAMPING_RATIO,
    CONTACT_REACH_M,
    CONTACT_STIFFNESS_PN_PER_M,
    CRUISE_M_PER_S,
    DRIVER_RESPONSE_S,
    FOLLOW_SLOW_M,
    FOLLOW_STOP_M,
    FRICTION,
    GRADE,
    GRAVITY_RAMP_S,
    MAX_ACCELERATION_M_PER_S2,
    OVERTURNED_M,
    WHEEL_RADIUS_M,
    WHEELBASE_M,
)
from evalkit_polybridge.graph import BANK_FLOOR_Y_M
from evalkit_polybridge.physics.model import Floats, Indices, Ints, Model, State

RAMP_PER_S = 1.0 / GRAVITY_RAMP_S
PER_RESPONSE = 1.0 / DRIVER_RESPONSE_S
PER_FOLLOW_SLOW = 1.0 / FOLLOW_SLOW_M
RADIUS_SQUARED = WHEEL_RADIUS_M * WHEEL_RADIUS_M
WHEEL_FLOOR_Y_M = BANK_FLOOR_Y_M + WHEEL_RADIUS_M
#: Added to a squared length, so that the ends of a broken member may coincide; changes no other length.
TINY = 1e-300

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """`numba.njit` with the settings that keep results equal to NumPy's, typed as the function itself."""
    jit = numba.njit(cache=True, nogil=True, fastmath=False, error_model="numpy")
    return cast(F, jit(function))


@compiled
def advance(model: Model, state: State, start_step: int, stop_step: int, early_stop: bool) -> int:
    """Step `state` from `start_step` to `stop_step` in place; returns the number of the step reached.

    With `early_stop` it returns as soon as every vehicle has crossed or one is lost.
    """
    settings = model.settings
    wheels, segments = len(state.wheel_x), len(model.surface.a)
    near = np.empty((wheels, segments), dtype=np.uint32)
    near_count = np.zeros(wheels, dtype=np.int64)
    covered = np.empty(3 * segments, dtype=np.uint32)
    refresh_at = start_step
    for step in range(start_step, stop_step):
        if step >= refresh_at:
            _find_near(model, state, near, near_count)
            refresh_at = step + settings.refresh_steps
        ramp = min(1.0, step * settings.step_s * RAMP_PER_S)
        _weigh(model, state, ramp)
        for wheel in range(wheels):
            _touch(model, state, near[wheel], near_count[wheel], covered, wheel, ramp)
        _hold_axles(model, state)
        if _pull_members(model, state, step):
            refresh_at = step + 1
        _move_nodes(model, state)
        _move_wheels(model, state)
        if _referee(model, state, step + 1) and early_stop:
            return step + 1
    return stop_step


@compiled
def _find_near(model: Model, state: State, near: Indices, near_count: Ints) -> None:
    """List, in order, the unbroken surface segments whose bounding box is within reach of each wheel."""
    surface = model.surface
    for wheel in range(len(state.wheel_x)):
        x, y, count = state.wheel_x[wheel], state.wheel_y[wheel], 0
        for segment in range(len(surface.a)):
            a, b, member = surface.a[segment], surface.b[segment], surface.member[segment]
            if member >= 0 and state.break_step[member] >= 0:
                continue
            if (
                min(state.x[a], state.x[b]) - CONTACT_REACH_M < x
                and max(state.x[a], state.x[b]) + CONTACT_REACH_M > x
                and min(state.y[a], state.y[b]) - CONTACT_REACH_M < y
                and max(state.y[a], state.y[b]) + CONTACT_REACH_M > y
            ):
                near[wheel, count] = segment
                count += 1
        near_count[wheel] = count


@compiled
def _weigh(model: Model, state: State, ramp: float) -> None:
    """Start the step's forces with the weights."""
    for i in range(len(state.fx)):
        state.fx[i] = 0.0
        state.fy[i] = -model.nodes.weight_pn[i] * ramp
    for wheel in range(len(state.wheel_fx)):
        state.wheel_fx[wheel] = 0.0
        state.wheel_fy[wheel] = -model.vehicles.weight_pn[wheel] * ramp


@compiled
def _touch(
    model: Model, state: State, near: Indices, near_count: int, covered: Indices, wheel: int, ramp: float
) -> None:
    """Contact of a wheel with the segments near it: first their insides, then ends no inside has covered."""
    x, y = state.wheel_x[wheel], state.wheel_y[wheel]
    best, best_a, best_b, best_share, best_nx, best_ny = 0.0, np.uint32(0), np.uint32(0), 0.0, 0.0, 0.0
    count = 0
    ends_in_reach = False
    for entry in range(near_count):
        a, b = model.surface.a[near[entry]], model.surface.b[near[entry]]
        ex, ey = state.x[b] - state.x[a], state.y[b] - state.y[a]
        rx, ry = x - state.x[a], y - state.y[a]
        squared, along, across = ex * ex + ey * ey, rx * ex + ry * ey, ex * ry - ey * rx
        if along > 0.0 and along < squared:
            if across * across < RADIUS_SQUARED * squared:
                inverse = 1.0 / math.sqrt(squared)
                side = inverse if across > 0.0 else -inverse
                nx, ny, share = -ey * side, ex * side, along * inverse * inverse
                normal = _push(model, state, wheel, a, b, share, nx, ny, across * side)
                covered[count], covered[count + 1] = a, b
                count += 2
                if normal > best:
                    best, best_a, best_b, best_share, best_nx, best_ny = normal, a, b, share, nx, ny
        else:
            if along > 0.0:
                rx, ry = x - state.x[b], y - state.y[b]
            ends_in_reach = ends_in_reach or rx * rx + ry * ry < RADIUS_SQUARED
    if ends_in_reach:
        for entry in range(near_count):
            a, b = model.surface.a[near[entry]], model.surface.b[near[entry]]
            ex, ey = state.x[b] - state.x[a], state.y[b] - state.y[a]
            along = (x - state.x[a]) * ex + (y - state.y[a]) * ey
            end = a
            if along > 0.0:
                if along < ex * ex + ey * ey:
                    continue
                end = b
            rx, ry = x - state.x[end], y - state.y[end]
            squared = rx * rx + ry * ry
            if squared >= RADIUS_SQUARED or squared == 0.0 or _contains(covered, count, end):
                continue
            distance = math.sqrt(squared)
            nx, ny = rx / distance, ry / distance
            normal = _push(model, state, wheel, end, end, 0.0, nx, ny, distance)
            covered[count] = end
            count += 1
            if normal > best:
                best, best_a, best_b, best_share, best_nx, best_ny = normal, end, end, 0.0, nx, ny
    if best > 0.0:
        _drive(model, state, wheel, best_a, best_b, best_share, best_nx, best_ny, best, ramp)


@compiled
def _contains(covered: Indices, count: int, end: int) -> bool:
    for i in range(count):  # noqa: SIM110 - a loop is what numba compiles
        if covered[i] == end:
            return True
    return False


@compiled
def _push(
    model: Model,
    state: State,
    wheel: int,
    a: int,
    b: int,
    share: float,
    nx: float,
    ny: float,
    distance: float,
) -> float:
    """Penalty force along the normal (nx, ny), shared by the segment's ends; returns its size (PN)."""
    rest = 1.0 - share
    vx = state.wheel_vx[wheel] - (rest * state.vx[a] + share * state.vx[b])
    vy = state.wheel_vy[wheel] - (rest * state.vy[a] + share * state.vy[b])
    closing = -(vx * nx + vy * ny)
    normal = (
        CONTACT_STIFFNESS_PN_PER_M * (WHEEL_RADIUS_M - distance)
        + model.vehicles.contact_damping[wheel] * closing
    )
    if normal <= 0.0:
        return 0.0
    _react(state, wheel, a, b, share, normal * nx, normal * ny)
    return normal


@compiled
def _react(state: State, wheel: int, a: int, b: int, share: float, fx: float, fy: float) -> None:
    """A force on a wheel, and its opposite on the ends of the segment the wheel stands on."""
    state.wheel_fx[wheel] += fx
    state.wheel_fy[wheel] += fy
    rest = 1.0 - share
    state.fx[a] -= rest * fx
    state.fy[a] -= rest * fy
    state.fx[b] -= share * fx
    state.fy[b] -= share * fy


@compiled
def _drive(
    model: Model,
    state: State,
    wheel: int,
    a: int,
    b: int,
    share: float,
    nx: float,
    ny: float,
    normal: float,
    ramp: float,
) -> None:
    """Traction at a wheel's most loaded contact: hold the cruising speed, keep distance, carry the slope."""
    rest = 1.0 - share
    tx, ty = ny, -nx
    vx = state.wheel_vx[wheel] - (rest * state.vx[a] + share * state.vx[b])
    vy = state.wheel_vy[wheel] - (rest * state.vy[a] + share * state.vy[b])
    target = CRUISE_M_PER_S
    front = wheel - wheel % 2
    if front > 0:
        gap = state.wheel_x[front - 1] - state.wheel_x[front]
        target *= min(1.0, max(0.0, (gap - FOLLOW_STOP_M) * PER_FOLLOW_SLOW))
    wanted = (target - (vx * tx + vy * ty)) * PER_RESPONSE
    wanted = min(MAX_ACCELERATION_M_PER_S2, max(-MAX_ACCELERATION_M_PER_S2, wanted))
    weight = model.vehicles.weight_pn[wheel] * ramp
    most = min(FRICTION * normal, GRADE * weight)
    force = min(most, max(-most, model.vehicles.mass[wheel] * wanted + weight * ty))
    _react(state, wheel, a, b, share, force * tx, force * ty)


@compiled
def _hold_axles(model: Model, state: State) -> None:
    """Spring and damper between a vehicle's two wheels."""
    for vehicle in range(len(model.vehicles.axle_stiffness)):
        front, rear = 2 * vehicle, 2 * vehicle + 1
        dx = state.wheel_x[front] - state.wheel_x[rear]
        dy = state.wheel_y[front] - state.wheel_y[rear]
        length = math.sqrt(dx * dx + dy * dy + TINY)
        inverse = 1.0 / length
        closing = (state.wheel_vx[rear] - state.wheel_vx[front]) * dx
        closing += (state.wheel_vy[rear] - state.wheel_vy[front]) * dy
        force = model.vehicles.axle_stiffness[vehicle] * (WHEELBASE_M - length)
        force = (force + model.vehicles.axle_damping[vehicle] * (closing * inverse)) * inverse
        state.wheel_fx[front] += force * dx
        state.wheel_fy[front] += force * dy
        state.wheel_fx[rear] -= force * dx
        state.wheel_fy[rear] -= force * dy


@compiled
def _pull_members(model: Model, state: State, step: int) -> bool:
    """Forces of the members; breaks those whose filtered force exceeds their limit. → did one break?"""
    members, share = model.members, model.settings.filter_share
    broke = False
    for m in range(len(members.a)):
        a, b = members.a[m], members.b[m]
        dx, dy = state.x[b] - state.x[a], state.y[b] - state.y[a]
        length = math.sqrt(dx * dx + dy * dy + TINY)
        inverse = 1.0 / length
        opening = (state.vx[b] - state.vx[a]) * dx + (state.vy[b] - state.vy[a]) * dy
        spring = state.stiffness[m] * (length - members.rest_m[m])
        filtered = state.filtered_pn[m]
        filtered += share * (abs(spring) - filtered)
        state.filtered_pn[m] = filtered
        state.peak_pn[m] = max(state.peak_pn[m], filtered)
        force = (spring + state.damping[m] * (opening * inverse)) * inverse
        state.fx[a] += force * dx
        state.fy[a] += force * dy
        state.fx[b] -= force * dx
        state.fy[b] -= force * dy
        if filtered > state.limit_pn[m]:
            broke = True
            state.break_step[m] = step
            state.stiffness[m] = 0.0
            state.damping[m] = 0.0
            state.limit_pn[m] = np.inf
    return broke


@compiled
def _move_nodes(model: Model, state: State) -> None:
    """Semi-implicit Euler; then keep nodes out of the ground and above the floor of the water."""
    nodes, settings = model.nodes, model.settings
    dt, drag = settings.step_s, settings.drag_per_s
    for i in range(len(state.x)):
        inverse = nodes.inverse_mass[i]
        state.vx[i] += dt * (state.fx[i] * inverse - drag * state.vx[i])
        state.vy[i] += dt * (state.fy[i] * inverse - drag * state.vy[i])
        state.x[i] += dt * state.vx[i]
        state.y[i] += dt * state.vy[i]
        if state.y[i] < settings.highest_top_m and nodes.stopped_by_ground[i]:
            _stop_by_ground(model, state, i)


@compiled
def _stop_by_ground(model: Model, state: State, i: int) -> None:
    """Put a node that has entered a block on the nearest face, without its speed into it."""
    blocks = model.blocks
    x, y = state.x[i], state.y[i]
    for block in range(len(blocks.top_y)):
        left, right = x - blocks.low_x[block], blocks.high_x[block] - x
        up = blocks.top_y[block] - y
        if left > 0.0 and right > 0.0 and up > 0.0:
            if up <= left and up <= right:
                state.y[i] = blocks.top_y[block]
                state.vy[i] = max(0.0, state.vy[i])
            elif left <= right:
                state.x[i] = blocks.low_x[block]
                state.vx[i] = min(0.0, state.vx[i])
            else:
                state.x[i] = blocks.high_x[block]
                state.vx[i] = max(0.0, state.vx[i])
    if state.y[i] < BANK_FLOOR_Y_M:
        state.y[i] = BANK_FLOOR_Y_M
        state.vx[i] = 0.0
        state.vy[i] = 0.0


@compiled
def _move_wheels(model: Model, state: State) -> None:
    """Semi-implicit Euler; a wheel that reaches the floor of the water stays there."""
    dt = model.settings.step_s
    for wheel in range(len(state.wheel_x)):
        inverse = 1.0 / model.vehicles.mass[wheel]
        state.wheel_vx[wheel] += dt * (state.wheel_fx[wheel] * inverse)
        state.wheel_vy[wheel] += dt * (state.wheel_fy[wheel] * inverse)
        state.wheel_x[wheel] += dt * state.wheel_vx[wheel]
        state.wheel_y[wheel] += dt * state.wheel_vy[wheel]
        if state.wheel_y[wheel] < WHEEL_FLOOR_Y_M:
            state.wheel_y[wheel] = WHEEL_FLOOR_Y_M
            state.wheel_vx[wheel] = 0.0
            state.wheel_vy[wheel] = 0.0


@compiled
def _referee(model: Model, state: State, step: int) -> bool:
    """Note who has crossed and whether one is lost. → is the run decided?"""
    settings = model.settings
    waiting = False
    for vehicle in range(len(state.finish_step)):
        front, rear = 2 * vehicle, 2 * vehicle + 1
        front_x, rear_x = state.wheel_x[front], state.wheel_x[rear]
        state.furthest_x[vehicle] = max(state.furthest_x[vehicle], front_x)
        if state.finish_step[vehicle] >= 0:
            continue
        if rear_x > settings.finish_x_m and state.wheel_y[rear] > settings.finish_y_m:
            state.finish_step[vehicle] = step
            continue
        waiting = True
        sunk = max(state.wheel_y[front], state.wheel_y[rear]) < settings.lost_y_m
        if state.lost_step[0] < 0 and (sunk or rear_x - front_x > OVERTURNED_M):
            state.lost_step[0] = step
    return not waiting or state.lost_step[0] >= 0
