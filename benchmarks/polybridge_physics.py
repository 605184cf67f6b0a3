"""Time of the embedded physics executor: `python benchmarks/polybridge_physics.py [--runs N]`.

Two vehicles over a 14 m steel truss (24 nodes with the corners of the ground, 37 members). CPU per run of
`simulate`, the least of N runs, beside their ratio to the whole 12 s; the batch is timed by the clock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

from evalkit_polybridge.constants import ROAD, STEEL, WOOD
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.physics import simulate, simulate_batch, warm

PANELS = 10
SPAN_M = 14.0
LEVEL = Level(
    "benchmark",
    SPAN_M,
    0.0,
    (Node(1, 0.0, 0.0, True), Node(2, SPAN_M, 0.0, True)),
    (3.0, 3.0),
    (1, 2, 3),
    5e4,
)
REFERENCE_WINDOW_S = 1.0


def pratt(height_m: float, chord: int) -> Bridge:
    """A Pratt truss over the span with braces of steel, posts and chord of the given material."""
    deck = [1, *range(3, PANELS + 2), 2]
    top = list(range(20, 19 + PANELS))
    x = {i: SPAN_M * n / PANELS for n, i in enumerate(deck)}
    nodes = [Node(i, x[i], 0.0, i in (1, 2)) for i in deck]
    nodes += [Node(t, x[d], height_m) for t, d in zip(top, deck[1:-1], strict=True)]
    members = [(ROAD.type, *ends) for ends in pairwise(deck)]
    members += [(chord, *ends) for ends in (*pairwise(top), *zip(deck[1:-1], top, strict=True))]
    members += [(STEEL.type, deck[0], top[0]), (STEEL.type, deck[-1], top[-1])]
    for n in range(1, PANELS - 1):
        ends = (top[n - 1], deck[n + 1]) if n < PANELS // 2 else (deck[n], top[n])
        members.append((STEEL.type, *ends))
    return Bridge(tuple(nodes), tuple(Edge(100 + i, *member) for i, member in enumerate(members)))


def least(run: Callable[[], object], runs: int, clock: Callable[[], float] = time.process_time) -> float:
    """Milliseconds of the quickest of `runs` calls."""
    times = []
    for _ in range(runs):
        start = clock()
        run()
        times.append(clock() - start)
    return 1e3 * min(times)


def measure(runs: int) -> dict[str, float]:
    """Milliseconds per run of every case."""
    sound, weak = pratt(1.7, STEEL.type), pratt(1.4, WOOD.type)
    batch = [(LEVEL, sound)] * 16

    def clocked_batch(threads: int) -> float:
        run = least(
            lambda: simulate_batch(batch, threads, early_stop=False), max(1, runs // 5), time.perf_counter
        )
        return run / len(batch)

    def reference() -> object:
        return simulate(
            LEVEL, sound, engine="numpy", early_stop=False, window_s=REFERENCE_WINDOW_S, start_offset_m=4.0
        )

    return {
        "whole 12 s": least(lambda: simulate(LEVEL, sound, early_stop=False), runs),
        "early stop, crossing": least(lambda: simulate(LEVEL, sound), runs),
        "early stop, collapse": least(lambda: simulate(LEVEL, weak), runs),
        "with 49 frames": least(lambda: simulate(LEVEL, sound, frames=True), runs),
        "no vehicles": least(
            lambda: simulate(Level("", SPAN_M, 0.0, (), (), (), 0.0), sound, early_stop=False), runs
        ),
        "batch, 1 thread (clock)": clocked_batch(1),
        "batch, 2 threads (clock)": clocked_batch(2),
        "NumPy reference, 12 s": least(reference, 1) * 12.0 / REFERENCE_WINDOW_S,
    }


def main() -> None:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="runs per case; the quickest counts")
    runs = parser.parse_args().runs
    start = time.perf_counter()
    warm()
    print(f"{'kernel ready after':26s} {1e3 * (time.perf_counter() - start):9.1f} ms")
    times = measure(runs)
    whole = times["whole 12 s"]
    for name, milliseconds in times.items():
        print(f"{name:26s} {milliseconds:9.2f} ms   {milliseconds / whole:8.2f} × the whole run")


if __name__ == "__main__":
    main()
