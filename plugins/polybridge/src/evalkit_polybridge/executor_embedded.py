"""The embedded physics as an executor: deterministic, everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalkit import Artifact, Candidate, Execution, Task
from evalkit_polybridge.designs import bridge_from_json, level_from_inputs
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.specs import EMBEDDED

if TYPE_CHECKING:
    from evalkit_polybridge.physics import Frame, Run

ID, VERSION = EMBEDDED.id, EMBEDDED.version


class EmbeddedExecutor:
    """Drives the vehicles over the bridge in a simulation of our own."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def constants(self) -> Mapping[str, Any]:
        """The constants of the physics model."""
        from evalkit_polybridge.constants import physics_constants

        return physics_constants()

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """One run. With `pictures` a second, unhurried one is filmed: `replay` for feedback, PNGs to keep.

        The evidence is that of the first run in either case, so that it doesn't depend on who looks.
        """
        from evalkit_polybridge.physics import simulate

        level, bridge = level_from_inputs(task.inputs), bridge_from_json(candidate.data)
        run = simulate(level, bridge)
        film = simulate(level, bridge, frames=True).frames if pictures else None
        return _execution(level, bridge, run, film)

    def execute_many(
        self, attempts: Iterable[tuple[Task, Candidate]], *, threads: int | None = None
    ) -> list[Execution]:
        """`execute` without pictures for many legal candidates, on `threads` threads (default: one per CPU).

        In the order of the attempts, and every execution is what `execute` gives, to the bit. The runs don't
        hold Python's lock, so that threads are as good as processes.
        """
        from evalkit_polybridge.physics import simulate_batch

        pairs = [(level_from_inputs(task.inputs), bridge_from_json(made.data)) for task, made in attempts]
        runs = simulate_batch(pairs, threads)
        return [_execution(*pair, run, None) for pair, run in zip(pairs, runs, strict=True)]


def _execution(level: Level, bridge: Bridge, run: Run, film: Sequence[Frame] | None) -> Execution:
    """A run as evidence; members and the film's frames are files."""
    utilisation = {str(i): round(u, 6) for i, u in run.peak_utilisation.items()}
    details = json.dumps({"peak_utilisation": utilisation, "broken": run.broken}, separators=(",", ":"))
    artifacts = [Artifact("members.json", details.encode(), "application/json")]
    if film is not None:
        artifacts += _frames(level, bridge, film)
    return Execution(run.success, evidence_of(bridge, run), tuple(artifacts), ID, film)


def evidence_of(bridge: Bridge, run: Run) -> dict[str, Any]:
    """What is recorded of a run as JSON: times in seconds, places in metres, the cost in dollars."""
    return {
        "outcome": run.outcome,
        "cost": round(bridge.cost(), 4),
        "duration_s": run.duration_s,
        "lost_s": run.lost_s,
        "first_break_s": run.first_break_s,
        "first_break_member": run.first_break_member,
        "broken": len(run.broken),
        "finish_s": list(run.finish_s),
        "furthest_x_m": [round(x, 6) for x in run.furthest_x_m],
        "peak_utilisation": round(max(run.peak_utilisation.values(), default=0.0), 6),
        "digest": run.digest,
    }


def _frames(level: Level, bridge: Bridge, film: Sequence[Frame]) -> list[Artifact]:
    from evalkit_polybridge.frames import frame_png

    return [
        Artifact(f"frame-{i:02d}.png", frame_png(level, bridge, frame), "image/png")
        for i, frame in enumerate(film)
    ]
