"""A level and a bridge as the sorted arrays that both engines step.

Nodes are sorted by id and members by (lower end, higher end, material, id), so that a design gives the same
bits whatever order its file lists it in. Corners of the ground follow the bridge's nodes as further fixed
nodes: a wheel then meets a road member and a stretch of ground in the same way.
Only + − × ÷ √ are used, whose results IEEE-754 fixes on every CPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalkit_polybridge import constants as c
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Point

Floats = NDArray[np.float64]
Indices = NDArray[np.uint32]  # unsigned: numba then adds no test for negative indices
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


#: Columns of the arrays that hold motion: position (m) and velocity (m/s). Forces (PN) use X and Y.
X, Y, VX, VY = 0, 1, 2, 3
#: Columns of `Blocks`.
LOW_X, HIGH_X, TOP_Y = 0, 1, 2

#: Added to a squared length, so that the ends of a broken member may coincide; changes no other length.
TINY = 1e-300


class Nodes(NamedTuple):
    """The bridge's nodes by id, then corners of the ground (N of them); inverse mass is 0 where fixed."""

    place_m: Floats  # (N, 2)
    weight_pn: Floats
    inverse_mass: Floats
    stopped_by_ground: Bools


class Members(NamedTuple):
    """Axial springs with dampers (M of them): PN/m, PN·s/m, PN."""

    ends: Indices  # (M, 2)
    rest_m: Floats
    stiffness: Floats
    damping: Floats
    strength_pn: Floats


class Surface(NamedTuple):
    """Segments that wheels can stand on (S of them): roads in member order, then the ground's outline.

    `member` is the index of the road member, −1 for ground.
    """

    ends: Indices  # (S, 2)
    member: Ints


class Vehicles(NamedTuple):
    """2 V wheels, of which 2 v is vehicle v's front wheel and 2 v + 1 its rear wheel, and V axles."""

    place_m: Floats  # (2 V, 2)
    weight_pn: Floats  # (2 V,), as are mass and contact damping
    mass: Floats
    contact_damping: Floats
    axle_stiffness: Floats  # (V,)
    axle_damping: Floats


class Settings(NamedTuple):
    """Numbers of a run, most of them from `constants`.

    The compiled kernel takes them from here and not from `constants`, because numba's cache notices neither a
    change there nor one of a global. `filter_share` is the part of a difference that the force filter takes
    per step.
    """

    step_s: float
    ramp_per_s: float
    drag_per_s: float
    filter_share: float
    contact_stiffness: float
    contact_reach_m: float
    refresh_steps: int
    wheel_radius_m: float
    wheelbase_m: float
    friction: float
    grade: float
    cruise_m_per_s: float
    response_per_s: float
    max_acceleration_m_per_s2: float
    max_braking_m_per_s2: float
    follow_stop_m: float
    follow_per_m: float
    overturned_m: float
    finish_x_m: float
    finish_y_m: float
    lost_y_m: float
    floor_y_m: float


class Model(NamedTuple):
    """What does not change during a run. Units: m, s, PN and, for masses, PN·s²/m.

    `blocks` (B, 3) are banks and platforms as boxes without a bottom, reduced by the skin.
    """

    nodes: Nodes
    members: Members
    surface: Surface
    blocks: Floats
    vehicles: Vehicles
    settings: Settings


class State(NamedTuple):
    """What a run changes, in place. Sizes as in `Model`."""

    motion: Floats  # (N, 4)
    wheels: Floats  # (2 V, 4)
    # Members: a broken one has neither stiffness nor damping, and no limit.
    stiffness: Floats
    damping: Floats
    limit_pn: Floats
    filtered_pn: Floats
    peak_pn: Floats
    break_step: Ints  # −1 while intact
    # Vehicles.
    furthest_x: Floats
    finish_step: Ints  # −1 until the vehicle has crossed
    lost_step: Ints  # (1,): −1 until the first vehicle is lost


def member_order(bridge: Bridge) -> tuple[Edge, ...]:
    """The bridge's edges in the order of the model's members."""
    return tuple(sorted(bridge.edges, key=lambda e: (min(e.a, e.b), max(e.a, e.b), e.material, e.id)))


def node_order(bridge: Bridge) -> tuple[Node, ...]:
    """The bridge's nodes in the order of the model's first nodes."""
    return tuple(sorted(bridge.nodes, key=lambda node: node.id))


def build_model(
    level: Level,
    bridge: Bridge,
    *,
    dt_s: float = c.STEP_S,
    strength_scale: float = 1.0,
    load_scale: float = 1.0,
    start_offset_m: float = 0.0,
) -> Model:
    """Arrays of a bridge in its level.

    `strength_scale` multiplies the force at which members break (not their stiffness), `load_scale` the
    weight of the vehicles, `start_offset_m` moves their start to the right.
    Raises `ValueError` for repeated ids, unknown ends and unknown materials.
    """
    nodes, edges = node_order(bridge), member_order(bridge)
    _check(nodes, edges)
    points = [(node.x, node.y) for node in nodes]
    fixed = [node.fixed for node in nodes]
    ground = _place_ground(level, points, fixed)
    index = {node.id: i for i, node in enumerate(nodes)}
    ends = [(index[min(e.a, e.b)], index[max(e.a, e.b)]) for e in edges]
    rest = [_distance(points[a], points[b]) for a, b in ends]
    stiffness = [_stiffness(e, length) for e, length in zip(edges, rest, strict=True)]
    blocks = _blocks(level)
    node_arrays = _nodes(points, fixed, edges, ends, rest, stiffness, len(nodes), blocks)
    roads = [(*ends[m], m) for m, edge in enumerate(edges) if edge.material == c.ROAD.type]
    return Model(
        nodes=node_arrays,
        members=_members(edges, ends, rest, stiffness, node_arrays.inverse_mass, strength_scale),
        surface=_surface([*roads, *((a, b, -1) for a, b in ground)]),
        blocks=blocks,
        vehicles=_vehicles(level, load_scale, start_offset_m),
        settings=_settings(level, dt_s),
    )


def initial_state(model: Model) -> State:
    """The state at t = 0: everything at rest, in place and intact."""
    members, vehicles = model.members, model.vehicles
    return State(
        motion=np.hstack([model.nodes.place_m, np.zeros_like(model.nodes.place_m)]),
        wheels=np.hstack([vehicles.place_m, np.zeros_like(vehicles.place_m)]),
        stiffness=members.stiffness.copy(),
        damping=members.damping.copy(),
        limit_pn=members.strength_pn.copy(),
        filtered_pn=np.zeros_like(members.rest_m),
        peak_pn=np.zeros_like(members.rest_m),
        break_step=np.full(members.rest_m.shape, -1, dtype=np.int64),
        furthest_x=vehicles.place_m[::2, X].copy(),
        finish_step=np.full(len(vehicles.axle_damping), -1, dtype=np.int64),
        lost_step=np.full(1, -1, dtype=np.int64),
    )


def _check(nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    ids = {node.id for node in nodes}
    if len(ids) != len(nodes):
        raise ValueError("two nodes of the bridge have the same id; give every node its own")
    if len({edge.id for edge in edges}) != len(edges):
        raise ValueError("two edges of the bridge have the same id; give every edge its own")
    for edge in edges:
        if edge.a not in ids or edge.b not in ids or edge.a == edge.b:
            raise ValueError(
                f"edge {edge.id} joins {edge.a} and {edge.b}: it needs two different, known nodes"
            )
        if edge.material not in c.MATERIALS:
            known = ", ".join(f"{m.type} {m.name}" for m in c.MATERIALS.values())
            raise ValueError(f"edge {edge.id} is of material {edge.material}; the executor knows {known}")


def _place_ground(level: Level, points: list[Point], fixed: list[bool]) -> list[tuple[int, int]]:
    """Append the ground's corners to the nodes (on an anchor: that anchor). → ends of its segments."""
    known = {point: i for i, point in reversed(list(enumerate(points))) if fixed[i]}
    segments: list[tuple[int, int]] = []
    for outline in level.outlines():
        corners = []
        for point in outline:
            if point not in known:
                known[point] = len(points)
                points.append(point)
                fixed.append(True)
            corners.append(known[point])
        segments += pairwise(corners)
    return segments


def _distance(p: Point, q: Point) -> float:
    dx, dy = q[0] - p[0], q[1] - p[1]
    return math.sqrt(dx * dx + dy * dy)


def _stiffness(edge: Edge, length_m: float) -> float:
    strength = c.MATERIALS[edge.material].strength_pn
    return strength / (c.BREAK_STRAIN * max(length_m, c.STIFFNESS_MIN_LENGTH_M))


def _nodes(
    points: Sequence[Point],
    fixed: Sequence[bool],
    edges: Sequence[Edge],
    ends: Sequence[tuple[int, int]],
    rest_m: Sequence[float],
    stiffness: Sequence[float],
    bridge_nodes: int,
    blocks: Floats,
) -> Nodes:
    """Weight: a joint and half of every member that meets there. Mass: weight ÷ g, or the inertia floor.

    Nodes that are built inside a block stay free to move there.
    """
    weight = [c.JOINT_WEIGHT_PN] * bridge_nodes + [0.0] * (len(points) - bridge_nodes)
    stiffness_sum = [0.0] * len(points)
    for edge, pair, length, k in zip(edges, ends, rest_m, stiffness, strict=True):
        half = 0.5 * c.MATERIALS[edge.material].weight_pn_per_m * length
        for end in pair:
            weight[end] += half
            stiffness_sum[end] += k
    floor = 2.0 / (c.MAX_NODE_RATE_PER_S * c.MAX_NODE_RATE_PER_S)
    inverse_mass = [
        0.0 if fixed[i] else 1.0 / max(weight[i] / c.GRAVITY_M_PER_S2, floor * stiffness_sum[i])
        for i in range(len(points))
    ]
    place = np.array(points, dtype=np.float64)
    x, y = place[:, X, None], place[:, Y, None]
    buried = ((x > blocks[:, LOW_X]) & (x < blocks[:, HIGH_X]) & (y < blocks[:, TOP_Y])).any(axis=1)
    stopped = ~np.array(fixed, dtype=np.bool_) & ~buried
    return Nodes(place, np.array(weight), np.array(inverse_mass), stopped)


def _members(
    edges: Sequence[Edge],
    ends: Sequence[tuple[int, int]],
    rest_m: Sequence[float],
    stiffness: Sequence[float],
    inverse_mass: Floats,
    strength_scale: float,
) -> Members:
    """Damper: ratio × critical damping 2 √(k m) of the reduced mass m of the two ends."""
    damping = []
    for (a, b), k in zip(ends, stiffness, strict=True):
        inverse = float(inverse_mass[a]) + float(inverse_mass[b])
        damping.append(2.0 * c.MEMBER_DAMPING_RATIO * math.sqrt(k / inverse) if inverse > 0.0 else 0.0)
    return Members(
        ends=np.array(ends, dtype=np.uint32).reshape(-1, 2),
        rest_m=np.array(rest_m, dtype=np.float64),
        stiffness=np.array(stiffness, dtype=np.float64),
        damping=np.array(damping, dtype=np.float64),
        strength_pn=np.array(
            [c.MATERIALS[e.material].strength_pn * strength_scale for e in edges], dtype=np.float64
        ),
    )


def _surface(segments: Sequence[tuple[int, int, int]]) -> Surface:
    table = np.array(segments, dtype=np.int64)
    return Surface(table[:, :2].astype(np.uint32), table[:, 2].copy())


def _blocks(level: Level) -> Floats:
    boxes = [
        (-c.BANK_LENGTH_M, 0.0, 0.0),
        *((p.x_start, p.x_end, p.surface_y) for p in level.platforms),
        (level.span_m, level.span_m + c.BANK_LENGTH_M, level.dy_m),
    ]
    skin = c.GROUND_SKIN_M
    return np.array([(low + skin, high - skin, top - skin) for low, high, top in boxes], dtype=np.float64)


def _vehicles(level: Level, load_scale: float, start_offset_m: float) -> Vehicles:
    """Each wheel carries half of its vehicle; the wheels start on the flat ground of the left bank."""
    wheels = np.repeat(np.array(level.vehicles_pg, dtype=np.float64), 2)
    weight = wheels * c.PG_PN * load_scale * 0.5
    mass = weight / c.GRAVITY_M_PER_S2
    front_x = [
        c.FIRST_START_X_M - c.START_SPACING_M * v + start_offset_m for v in range(len(level.vehicles_pg))
    ]
    place = [(x - back, c.WHEEL_RADIUS_M) for x in front_x for back in (0.0, c.WHEELBASE_M)]
    half_mass = 0.5 * mass[::2]
    return Vehicles(
        place_m=np.array(place, dtype=np.float64).reshape(-1, 2),
        weight_pn=weight,
        mass=mass,
        contact_damping=2.0 * c.CONTACT_DAMPING_RATIO * np.sqrt(c.CONTACT_STIFFNESS_PN_PER_M * mass),
        axle_stiffness=half_mass * (c.AXLE_RATE_PER_S * c.AXLE_RATE_PER_S),
        axle_damping=half_mass * (2.0 * c.AXLE_DAMPING_RATIO * c.AXLE_RATE_PER_S),
    )


def _settings(level: Level, dt_s: float) -> Settings:
    return Settings(
        step_s=dt_s,
        ramp_per_s=1.0 / c.GRAVITY_RAMP_S,
        drag_per_s=c.DRAG_PER_S,
        filter_share=dt_s / (c.FORCE_FILTER_S + dt_s),
        contact_stiffness=c.CONTACT_STIFFNESS_PN_PER_M,
        contact_reach_m=c.CONTACT_REACH_M,
        refresh_steps=max(1, round(c.REFRESH_S / dt_s)),
        wheel_radius_m=c.WHEEL_RADIUS_M,
        wheelbase_m=c.WHEELBASE_M,
        friction=c.FRICTION,
        grade=c.GRADE,
        cruise_m_per_s=c.CRUISE_M_PER_S,
        response_per_s=1.0 / c.DRIVER_RESPONSE_S,
        max_acceleration_m_per_s2=c.MAX_ACCELERATION_M_PER_S2,
        max_braking_m_per_s2=c.MAX_BRAKING_M_PER_S2,
        follow_stop_m=c.FOLLOW_STOP_M,
        follow_per_m=1.0 / c.FOLLOW_SLOW_M,
        overturned_m=c.OVERTURNED_M,
        finish_x_m=level.span_m + c.FINISH_BEYOND_EDGE_M,
        finish_y_m=level.dy_m,
        lost_y_m=level.lowest_surface_y() - c.LOST_DEPTH_M,
        floor_y_m=c.BANK_FLOOR_Y_M,
    )
