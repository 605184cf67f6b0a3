"""The process in which clusters are simulated: `python -m evalkit_brickbench.stability.worker`.

A pickled `Job` comes in on standard input; a line of JSON goes out for each cluster as it's finished, so
that the parent keeps what is done when it has to end this process.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from dataclasses import asdict, dataclass
from typing import TextIO

import numpy as np

from evalkit_brickbench.scene import Floats
from evalkit_brickbench.stability import constants as c
from evalkit_brickbench.stability.engines import ENGINES, World
from evalkit_brickbench.stability.pieces import EngineBody


@dataclass(frozen=True, slots=True)
class Job:
    """Clusters to simulate, each by itself."""

    engine: str
    ground_ldu: float
    clusters: list[list[EngineBody]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a simulation ended: `end` is rest, time (all steps done), moved, kick or overlap. `displacements`
    LDU and `corners` (index into the hull) of what moved furthest, for each body; `speed_ldu_per_s` of the
    body that moved furthest over the last steps; `steps` done."""

    end: str
    displacements: list[float]
    corners: list[int]
    speed_ldu_per_s: float
    steps: int


def simulate(world: World, bodies: list[EngineBody]) -> Outcome:
    """Let a world run until it rests, something moves beyond the limit, or the steps are used up."""
    start = _corners(world, bodies)
    window = c.REST_STEPS // c.SAMPLE_STEPS
    history: list[Floats] = [np.zeros(len(bodies))]
    corners = np.zeros(len(bodies), dtype=np.int64)
    end = "time"
    for step in range(1, c.STEPS + 1):
        world.step()
        if step == 1 and world.deepest_overlap() > c.OVERLAP_AT_START_LDU:
            end = "overlap"
            break
        if step % c.SAMPLE_STEPS:
            continue
        moved = [np.linalg.norm(a - b, axis=1) for a, b in zip(_corners(world, bodies), start, strict=True)]
        corners = np.array([int(m.argmax()) for m in moved])
        history.append(np.array([float(m.max()) for m in moved]))
        if _kicked(step, history[-1]):
            end = "kick"
        elif history[-1].max() > c.LIMIT_LDU:
            end = "moved"
        elif len(history) > window and np.abs(history[-1] - history[-1 - window]).max() < c.REST_GROWTH_LDU:
            end = "rest"
        if end != "time":
            break
    furthest = int(history[-1].argmax())
    back = min(5, len(history) - 1)
    grown = float(history[-1][furthest] - history[-1 - back][furthest])
    speed = grown / (back * c.SAMPLE_STEPS * c.STEP_S) if back else 0.0
    return Outcome(end, history[-1].tolist(), corners.tolist(), speed, step)


def _kicked(step: int, moved: Floats) -> bool:
    """Whether something moved faster than falling would explain."""
    fall = c.KICK_FACTOR * c.GRAVITY_LDU_PER_S2 * (step * c.STEP_S) ** 2
    return step <= c.KICK_STEPS and bool(moved.max() > fall + c.KICK_SLACK_LDU)


def _corners(world: World, bodies: list[EngineBody]) -> list[Floats]:
    centres, rotations = world.poses()
    return [b.hull @ r.T + p for b, r, p in zip(bodies, rotations, centres, strict=True)]


def main() -> None:
    """Read a job, write outcomes."""
    # Engines print greetings to the standard output; results have a channel of their own.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as results:
        os.dup2(2, 1)
        _work(pickle.load(sys.stdin.buffer), results)


def _work(job: Job, results: TextIO) -> None:
    for bodies in job.clusters:
        world = ENGINES[job.engine](bodies, job.ground_ldu)
        outcome = simulate(world, bodies)
        world.close()
        results.write(json.dumps(asdict(outcome)) + "\n")
        results.flush()


if __name__ == "__main__":
    main()
