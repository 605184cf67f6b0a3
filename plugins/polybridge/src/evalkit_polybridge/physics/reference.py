"""The same steps as `kernel`, in plain NumPy and Python: the check that the compiled engine is right.

Members and nodes are done in whole arrays. Sums keep the kernel's order, member by member, because the last
bits depend on it (`np.add.at` adds in the order of its indices). Several hundred times slower.
"""

from __future__ import annotations

import math

import numpy as np

from evalkit_polybridge.physics.model import HIGH_X, LOW_X, TINY, TOP_Y, VX, VY, Floats, Model, State, X, Y

Contact = tuple[float, int, int, float, float, float]  # normal force, ends a and b, share of b, normal (x, y)


def advance(model: Model, state: State, start_step: int, stop_step: int, early_stop: bool) -> int:
    """Step `state` from `start_step` to `stop_step` in place; returns the number of the step reached.

    With `early_stop` it returns as soon as every vehicle has crossed or one is lost.
    """
    for step in range(start_step, stop_step):
        ramp = min(1.0, step * model.settings.step_s * model.settings.ramp_per_s)
        force = _weights(model.nodes.weight_pn, ramp)
        wheel_force = _weights(model.vehicles.weight_pn, ramp)
        for wheel in range(len(state.wheels)):
            _touch(model, state, wheel, ramp, force, wheel_force)
        _hold_axles(model, state, wheel_force)
        _pull_members(model, state, step, force)
        _move_nodes(model, state, force)
        _move_wheels(model, state, wheel_force)
        if _referee(model, state, step + 1) and early_stop:
            return step + 1
    return stop_step


def _weights(weight: Floats, ramp: float) -> Floats:
    force = np.zeros((len(weight), 2))
    force[:, Y] = -weight * ramp
    return force


def _touch(model: Model, state: State, wheel: int, ramp: float, force: Floats, wheel_force: Floats) -> None:
    """Contact of a wheel with every unbroken surface segment, and its traction."""
    surface, motion = model.surface, state.motion
    radius = model.settings.wheel_radius_m
    a, b = surface.ends[:, 0], surface.ends[:, 1]
    edge, arm = motion[b, :2] - motion[a, :2], state.wheels[wheel, :2] - motion[a, :2]
    squared = edge[:, X] * edge[:, X] + edge[:, Y] * edge[:, Y]
    along = arm[:, X] * edge[:, X] + arm[:, Y] * edge[:, Y]
    across = edge[:, X] * arm[:, Y] - edge[:, Y] * arm[:, X]
    whole = surface.member < 0
    whole[~whole] = state.break_step[surface.member[~whole]] < 0
    inside = (along > 0.0) & (along < squared)
    contacts: list[Contact] = []
    covered: set[int] = set()
    for s in np.flatnonzero(whole & inside & (across * across < radius * radius * squared)):
        inverse = 1.0 / math.sqrt(squared[s])
        side = inverse if across[s] > 0.0 else -inverse
        nx, ny = float(-edge[s, Y] * side), float(edge[s, X] * side)
        place = (int(a[s]), int(b[s]), float(along[s] * inverse * inverse), nx, ny)
        contacts.append(_push(model, state, wheel, place, float(across[s] * side), force, wheel_force))
        covered.update(place[:2])
    for end in np.where(along <= 0.0, a, b)[whole & ~inside].tolist():
        rx, ry = (state.wheels[wheel, :2] - motion[end, :2]).tolist()
        distance_squared = rx * rx + ry * ry
        if not 0.0 < distance_squared < radius * radius or end in covered:
            continue
        inverse = 1.0 / math.sqrt(distance_squared)
        place = (end, end, 0.0, rx * inverse, ry * inverse)
        contacts.append(_push(model, state, wheel, place, distance_squared * inverse, force, wheel_force))
        covered.add(end)
    hardest = max(contacts, key=lambda contact: contact[0], default=None)
    if hardest is not None and hardest[0] > 0.0:
        _drive(model, state, wheel, ramp, hardest, force, wheel_force)


def _slip(state: State, wheel: int, a: int, b: int, share: float) -> tuple[float, float]:
    """Velocity of a wheel relative to the point it touches (m/s)."""
    rest = 1.0 - share
    vx, vy = state.wheels[wheel, 2:] - (rest * state.motion[a, 2:] + share * state.motion[b, 2:])
    return float(vx), float(vy)


def _push(
    model: Model,
    state: State,
    wheel: int,
    place: tuple[int, int, float, float, float],
    distance: float,
    force: Floats,
    wheel_force: Floats,
) -> Contact:
    """Penalty force along the normal, shared by the segment's ends."""
    a, b, share, nx, ny = place
    vx, vy = _slip(state, wheel, a, b, share)
    normal = model.settings.contact_stiffness * (model.settings.wheel_radius_m - distance)
    normal -= float(model.vehicles.contact_damping[wheel]) * (vx * nx + vy * ny)
    normal = max(0.0, normal)
    _react(wheel, a, b, share, (normal * nx, normal * ny), force, wheel_force)
    return normal, *place


def _react(
    wheel: int,
    a: int,
    b: int,
    share: float,
    pair: tuple[float, float],
    force: Floats,
    wheel_force: Floats,
) -> None:
    wheel_force[wheel] += pair
    force[a] -= np.multiply(1.0 - share, pair)
    force[b] -= np.multiply(share, pair)


def _drive(
    model: Model,
    state: State,
    wheel: int,
    ramp: float,
    contact: Contact,
    force: Floats,
    wheel_force: Floats,
) -> None:
    """Traction: hold the cruising speed and the distance to the vehicle ahead, carry the slope's share."""
    settings, vehicles = model.settings, model.vehicles
    normal, a, b, share, nx, ny = contact
    tx, ty = ny, -nx
    vx, vy = _slip(state, wheel, a, b, share)
    target = settings.cruise_m_per_s
    front = wheel - wheel % 2
    if front > 0:
        gap = float(state.wheels[front - 1, X] - state.wheels[front, X])
        target *= min(1.0, max(-1.0, (gap - settings.follow_stop_m) * settings.follow_per_m))
    wanted = (target - (vx * tx + vy * ty)) * settings.response_per_s
    wanted = min(settings.max_acceleration_m_per_s2, max(-settings.max_braking_m_per_s2, wanted))
    load = float(vehicles.weight_pn[wheel]) * ramp
    limit = min(settings.friction * normal, settings.grade * load)
    traction = min(limit, max(-limit, float(vehicles.mass[wheel]) * wanted + load * ty))
    _react(wheel, a, b, share, (traction * tx, traction * ty), force, wheel_force)


def _hold_axles(model: Model, state: State, wheel_force: Floats) -> None:
    front, rear = state.wheels[::2], state.wheels[1::2]
    dx, dy = front[:, X] - rear[:, X], front[:, Y] - rear[:, Y]
    length = np.sqrt(dx * dx + dy * dy + TINY)
    inverse = 1.0 / length
    opening = (front[:, VX] - rear[:, VX]) * dx + (front[:, VY] - rear[:, VY]) * dy
    pull = model.vehicles.axle_stiffness * (length - model.settings.wheelbase_m)
    pull = (pull + model.vehicles.axle_damping * (opening * inverse)) * inverse
    pair = np.stack([pull * dx, pull * dy], axis=1)
    wheel_force[::2] -= pair
    wheel_force[1::2] += pair


def _pull_members(model: Model, state: State, step: int, force: Floats) -> None:
    ends, motion = model.members.ends, state.motion
    apart = motion[ends[:, 1]] - motion[ends[:, 0]]
    dx, dy = apart[:, X], apart[:, Y]
    length = np.sqrt(dx * dx + dy * dy + TINY)
    inverse = 1.0 / length
    opening = apart[:, VX] * dx + apart[:, VY] * dy
    spring = state.stiffness * (length - model.members.rest_m)
    state.filtered_pn[:] += model.settings.filter_share * (np.abs(spring) - state.filtered_pn)
    np.maximum(state.peak_pn, state.filtered_pn, out=state.peak_pn)
    pull = (spring + state.damping * (opening * inverse)) * inverse
    pair = np.stack([pull * dx, pull * dy], axis=1)
    np.add.at(force, ends.reshape(-1), np.stack([pair, -pair], axis=1).reshape(-1, 2))
    broken = state.filtered_pn > state.limit_pn
    state.break_step[broken] = step
    state.stiffness[broken] = 0.0
    state.damping[broken] = 0.0
    state.limit_pn[broken] = np.inf


def _move_nodes(model: Model, state: State, force: Floats) -> None:
    dt, motion = model.settings.step_s, state.motion
    acceleration = force * model.nodes.inverse_mass[:, None] - model.settings.drag_per_s * motion[:, 2:]
    motion[:, 2:] += dt * acceleration
    motion[:, :2] += dt * motion[:, 2:]
    low = motion[:, Y] < model.blocks[:, TOP_Y].max()
    for i in np.flatnonzero(low & model.nodes.stopped_by_ground).tolist():
        _stop_by_ground(model, motion[i])


def _stop_by_ground(model: Model, node: Floats) -> None:
    """Put a node (4,) that has entered a block on the nearest face, without its speed into it."""
    for block in model.blocks:
        left, right, up = node[X] - block[LOW_X], block[HIGH_X] - node[X], block[TOP_Y] - node[Y]
        if min(left, right, up) <= 0.0:
            continue
        if up <= left and up <= right:
            node[Y], node[VY] = block[TOP_Y], max(0.0, node[VY])
        elif left <= right:
            node[X], node[VX] = block[LOW_X], min(0.0, node[VX])
        else:
            node[X], node[VX] = block[HIGH_X], max(0.0, node[VX])
    if node[Y] < model.settings.floor_y_m:
        node[:] = node[X], model.settings.floor_y_m, 0.0, 0.0


def _move_wheels(model: Model, state: State, wheel_force: Floats) -> None:
    dt, wheels = model.settings.step_s, state.wheels
    wheels[:, 2:] += dt * (wheel_force * (1.0 / model.vehicles.mass)[:, None])
    wheels[:, :2] += dt * wheels[:, 2:]
    floor_y = model.settings.floor_y_m + model.settings.wheel_radius_m
    drowned = wheels[:, Y] < floor_y
    wheels[drowned, Y] = floor_y
    wheels[drowned, 2:] = 0.0


def _referee(model: Model, state: State, step: int) -> bool:
    settings = model.settings
    front, rear = state.wheels[::2], state.wheels[1::2]
    waiting = state.finish_step < 0
    np.maximum(state.furthest_x, front[:, X], out=state.furthest_x)
    crossed = waiting & (rear[:, X] > settings.finish_x_m) & (rear[:, Y] > settings.finish_y_m)
    state.finish_step[crossed] = step
    waiting &= ~crossed
    sunk = (front[:, Y] < settings.lost_y_m) & (rear[:, Y] < settings.lost_y_m)
    overturned = rear[:, X] - front[:, X] > settings.overturned_m
    if state.lost_step[0] < 0 and (waiting & (sunk | overturned)).any():
        state.lost_step[0] = step
    return bool(state.lost_step[0] >= 0 or not waiting.any())
