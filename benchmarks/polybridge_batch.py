"""Attempts per second and core: `python benchmarks/polybridge_batch.py [--every N] [--threads N]`.

Runs the stored reference design of every Nth level, all of which are crossed, and the bare deck of the same
level, most of which fall, through the executor: one by one, and in a batched call. Times per core are CPU
time, so that other programs on the machine don't count; beside them the clock's.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial

from evalkit import Candidate, Task
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.designs import bridge_to_json, level_from_inputs
from evalkit_polybridge.executor_embedded import EmbeddedExecutor
from evalkit_polybridge.levels.references import load_references
from evalkit_polybridge.physics import warm
from evalkit_polybridge.tasks import load_tasks

Attempts = Sequence[tuple[Task, Candidate]]


def attempts_on(every: int) -> dict[str, Attempts]:
    """Task and candidate of every Nth level, by kind of design."""
    tasks = load_tasks({"budget": "loose"}, {})[::every]
    references = load_references()
    return {
        "references": [(t, Candidate(bridge_to_json(references[t.id]))) for t in tasks],
        "bare decks": [(t, Candidate(bridge_to_json(flat_deck(level_from_inputs(t.inputs))))) for t in tasks],
    }


def singly(executor: EmbeddedExecutor, attempts: Attempts) -> None:
    """One call per attempt."""
    for task, candidate in attempts:
        executor.execute(task, candidate, pictures=False)


def measured(name: str, attempts: Attempts, run: Callable[[], object]) -> None:
    """Print a line: CPU and clock milliseconds of an attempt, attempts per second of CPU."""
    clock, cpu = time.perf_counter(), time.process_time()
    run()
    clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
    n = len(attempts)
    print(f"{name:34s} {1e3 * cpu / n:8.2f} {1e3 * clock / n:10.2f} {n / cpu:12.0f} {n / clock:12.0f}")


def main() -> None:
    """Measure both kinds of designs, each way to run them."""
    parser = argparse.ArgumentParser(description="Attempts per second and core.")
    parser.add_argument("--every", type=int, default=1, help="every Nth of the 189 levels")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    warm()
    executor = EmbeddedExecutor({})
    print(f"{'':34s} {'CPU ms':>8s} {'clock ms':>10s} {'per core s':>12s} {'per second':>12s}")
    for kind, attempts in attempts_on(options.every).items():
        name = f"{len(attempts)} {kind}"
        measured(f"{name}, one by one", attempts, partial(singly, executor, attempts))
        for threads in sorted({1, options.threads}):
            batch = partial(executor.execute_many, attempts, threads=threads)
            measured(f"{name}, batch on {threads}", attempts, batch)


if __name__ == "__main__":
    main()
