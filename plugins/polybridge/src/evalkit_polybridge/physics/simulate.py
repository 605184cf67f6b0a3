"""Runs of the embedded executor: a level and a bridge in, what happened out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from evalkit_polybridge.constants import FRAMES_PER_SECOND, STEP_S, WINDOW_S
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.physics.model import (
    Bools,
    Floats,
    Model,
    State,
    build_model,
    initial_state,
    member_order,
    node_order,
)

Engine = Literal["numba", "numpy"]
Outcome = Literal["crossed", "lost", "timeout"]


@dataclass(frozen=True, slots=True)
class Frame:
    """What a picture at `t_s` shows.

    `nodes_m` (n, 2) in the order of `Run.node_ids`, `broken` (m,) in the order of `Run.edge_ids`, `wheels_m`
    (vehicles, 2, 2): front wheel's, then rear wheel's centre. `failure` is the terminal failure marker.
    """

    t_s: float
    nodes_m: Floats
    broken: Bools
    wheels_m: Floats
    failure: bool


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at crossing. Times are seconds of simulated time since the start.

    `duration_s` is how far the run was stepped, `lost_s` when the terminal failure marker appears, `broken`
    (time, edge id) in time order, `furthest_x_m` the furthest a front wheel came, per vehicle;
    `peak_utilisation` maps an edge id to its largest filtered force ÷ its strength. `node_ids` and `edge_ids`
    are sorted and give the order of the arrays in `frames`. `digest` is a SHA-256 of the final state's bits.
    """

    success: bool
    outcome: Outcome
    duration_s: float
    first_break_s: float | None
    first_break_member: int | None
    broken: tuple[tuple[float, int], ...]
    finish_s: tuple[float | None, ...]
    furthest_x_m: tuple[float, ...]
    peak_utilisation: dict[int, float]
    lost_s: float | None
    node_ids: tuple[int, ...]
    edge_ids: tuple[int, ...]
    frames: tuple[Frame, ...] | None
    digest: str


class Advance(Protocol):
    """An engine: steps a state in place from one step number to another, returns the step reached."""

    def __call__(
        self, model: Model, state: State, start_step: int, stop_step: int, early_stop: bool, /
    ) -> int: ...


def simulate(
    level: Level,
    bridge: Bridge,
    *,
    dt_s: float = STEP_S,
    strength_scale: float = 1.0,
    load_scale: float = 1.0,
    start_offset_m: float = 0.0,
    early_stop: bool = True,
    frames: bool = False,
    window_s: float = WINDOW_S,
    engine: Engine = "numba",
) -> Run:
    """Drive the level's vehicles over a bridge for `window_s` seconds, in steps of `dt_s`.

    With `early_stop` the run ends once every vehicle has crossed or one is lost; what it says up to there
    has the bits of the whole run. With `frames` it is sampled four times a second from t = 0: to the end of
    the window, or to the first frame that shows the failure marker.
    `strength_scale`, `load_scale` and `start_offset_m` are the perturbations of `build_model`.
    Raises `ValueError` for a graph that can't be built (repeated ids, unknown ends or materials).
    """
    model = build_model(
        level,
        bridge,
        dt_s=dt_s,
        strength_scale=strength_scale,
        load_scale=load_scale,
        start_offset_m=start_offset_m,
    )
    state = initial_state(model)
    advance = _engine(engine)
    last_step = round(window_s / dt_s)
    if not frames:
        return _report(model, state, bridge, advance(model, state, 0, last_step, early_stop), None)
    film: list[Frame] = []
    members = _edge_order(bridge)[1]
    step = 0
    for number in range(int(window_s * FRAMES_PER_SECOND) + 1):
        step = advance(model, state, step, min(last_step, _frame_step(number, dt_s)), False)
        film.append(_frame(state, len(bridge.nodes), members, number / FRAMES_PER_SECOND))
        if film[-1].failure:
            break
    return _report(model, state, bridge, step, tuple(film))


def simulate_batch(
    pairs: Iterable[tuple[Level, Bridge]], threads: int | None = None, **settings: Any
) -> list[Run]:
    """`simulate` for many (level, bridge) pairs on `threads` threads (default: one per CPU), in order.

    `settings` are keyword arguments of `simulate`. Every run has the bits of a single call.
    """
    with ThreadPoolExecutor(max_workers=threads or os.cpu_count() or 1) as pool:
        return list(pool.map(lambda pair: simulate(*pair, **settings), pairs))


def warm() -> None:
    """Compile the kernel, or load it from numba's cache (folder: NUMBA_CACHE_DIR)."""
    level = Level("warm", 2.0, 0.0, (), (1.0,), (), 0.0)
    simulate(level, Bridge((), ()), window_s=STEP_S)


def _engine(name: Engine) -> Advance:
    if name == "numba":
        from evalkit_polybridge.physics import kernel

        return kernel.advance
    if name == "numpy":
        from evalkit_polybridge.physics import reference

        return reference.advance
    raise ValueError(f"unknown engine {name!r}: use 'numba' or 'numpy'")


def _frame_step(number: int, dt_s: float) -> int:
    return round(number / (FRAMES_PER_SECOND * dt_s))


def _edge_order(bridge: Bridge) -> tuple[tuple[int, ...], list[int]]:
    """Edge ids in ascending order, and the index of each one's member in the model."""
    member = {edge.id: m for m, edge in enumerate(member_order(bridge))}
    ids = tuple(sorted(member))
    return ids, [member[i] for i in ids]


def _frame(state: State, nodes: int, members: list[int], t_s: float) -> Frame:
    return Frame(
        t_s=t_s,
        nodes_m=state.motion[:nodes, :2].copy(),
        broken=(state.break_step >= 0)[members],
        wheels_m=state.wheels[:, :2].copy().reshape(-1, 2, 2),
        failure=bool(state.lost_step[0] >= 0),
    )


def _report(model: Model, state: State, bridge: Bridge, steps: int, frames: tuple[Frame, ...] | None) -> Run:
    dt = model.settings.step_s
    edges = member_order(bridge)
    lost = int(state.lost_step[0])
    success = lost < 0 and bool((state.finish_step >= 0).all())
    outcome: Outcome = "crossed" if success else "lost" if lost >= 0 else "timeout"
    breaks = sorted((int(s), edge.id) for s, edge in zip(state.break_step, edges, strict=True) if s >= 0)
    broken = tuple((step * dt, edge_id) for step, edge_id in breaks)
    utilisation = state.peak_pn / model.members.strength_pn
    edge_ids, member = _edge_order(bridge)
    return Run(
        success=success,
        outcome=outcome,
        duration_s=steps * dt,
        first_break_s=broken[0][0] if broken else None,
        first_break_member=broken[0][1] if broken else None,
        broken=broken,
        finish_s=tuple(int(s) * dt if s >= 0 else None for s in state.finish_step),
        furthest_x_m=tuple(float(x) for x in state.furthest_x),
        peak_utilisation={i: float(utilisation[m]) for i, m in zip(edge_ids, member, strict=True)},
        lost_s=lost * dt if lost >= 0 else None,
        node_ids=tuple(node.id for node in node_order(bridge)),
        edge_ids=edge_ids,
        frames=frames,
        digest=_digest(state, outcome, steps),
    )


def _digest(state: State, outcome: Outcome, steps: int) -> str:
    """SHA-256 of positions, velocities, peak forces, breaks and verdict, as little-endian bytes."""
    bits = hashlib.sha256(f"{outcome} {steps}".encode())
    for values in (state.motion, state.wheels, state.peak_pn):
        bits.update(values.astype("<f8").tobytes())
    for numbers in (state.break_step, state.finish_step, state.lost_step):
        bits.update(numbers.astype("<i8").tobytes())
    return bits.hexdigest()
