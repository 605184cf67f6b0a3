"""Search a level with many attempts at once: an evolution of materials and depth, a generation per call.

python examples/many_attempts.py [LEVEL] [--generations N] [--children N] [--seed N] [--threads N]

Starts from a Warren truss of steel that is far too dear, changes materials and depth at random, drops what
the rules forbid, lets the executor run all the others in one call, and goes on from the cheapest that were
crossed.
The seed decides everything: the number of threads changes the time, never the result.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import replace

from evalkit import Candidate, Task, UsageError
from evalkit_polybridge.agents.warren import warren
from evalkit_polybridge.constants import LOOSE_BUDGET, ROAD
from evalkit_polybridge.designs import bridge_to_json, level_from_inputs
from evalkit_polybridge.executor_embedded import EmbeddedExecutor
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.physics import warm
from evalkit_polybridge.rules import check, is_legal
from evalkit_polybridge.tasks import load_tasks

#: How far a child goes from its parent: members that change material, metres that lower joints move.
MOST_CHANGED_MEMBERS = 4
MOST_MOVED_M = 0.2
#: The cheapest so many designs have children.
PARENTS = 4


def child(level: Level, parent: Bridge, source: random.Random) -> Bridge:
    """The parent with a few other materials, its lower joints raised or lowered together."""
    webs = [kind for kind in level.materials if kind != ROAD.type]
    members = [edge.id for edge in parent.edges if edge.material != ROAD.type]
    chosen = source.sample(members, min(source.randint(1, MOST_CHANGED_MEMBERS), len(members)))
    edges = [replace(e, material=source.choice(webs)) if e.id in chosen else e for e in parent.edges]
    on_road = {end for edge in parent.edges if edge.material == ROAD.type for end in (edge.a, edge.b)}
    move_m = source.uniform(-MOST_MOVED_M, MOST_MOVED_M)
    nodes = [n if n.fixed or n.id in on_road else replace(n, y=round(n.y + move_m, 4)) for n in parent.nodes]
    return Bridge(tuple(nodes), tuple(edges))


def at_least(least: int) -> Callable[[str], int]:
    """A whole number from `least` on, as an option's type."""

    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"it has to be at least {least}")
        return int(text)

    return number


def search(task: Task, generations: int, children: int, seed: int, threads: int | None) -> list[Bridge]:
    """The cheapest designs that were crossed, cheapest first; empty if none was. Prints a line a generation.

    All rules hold but the budget, which is what the search is after. Until a design is crossed, those that
    are legal have children; SystemExit if none of a generation is.
    """
    level = replace(level_from_inputs(task.inputs), budget=float(LOOSE_BUDGET))
    source, executor = random.Random(seed), EmbeddedExecutor({})
    parents, found, attempts = [warren(level)], list[Bridge](), 0
    began = time.perf_counter()
    for generation in range(1, generations + 1):
        drawn = [child(level, source.choice(found or parents), source) for _ in range(children)]
        legal = [bridge for bridge in drawn if is_legal(check(level, bridge))]
        if not legal:
            rules = ", ".join(sorted({p.code for b in drawn for p in check(level, b) if not p.advisory}))
            raise SystemExit(
                f"no design of generation {generation} is legal ({rules}): this start can't be made to fit "
                f"{task.id}, take another level"
            )
        parents = legal
        runs = executor.execute_many([(task, Candidate(bridge_to_json(b))) for b in legal], threads=threads)
        attempts += len(runs)
        crossed = [bridge for bridge, run in zip(legal, runs, strict=True) if run.success]
        found = sorted([*found, *crossed], key=Bridge.cost)[:PARENTS]
        best = f"${found[0].cost():,.2f}" if found else "none yet"
        print(f"generation {generation:2}: {len(crossed):2} of {len(runs):2} crossed, cheapest {best}")
    seconds = time.perf_counter() - began
    print(f"{attempts} attempts in {seconds:.2f} s, {1e3 * seconds / max(attempts, 1):.2f} ms each")
    return found


def main() -> None:
    """Search a level and compare the result with its strict budget."""
    parser = argparse.ArgumentParser(description="Search a level with many attempts at once.")
    parser.add_argument("level", nargs="?", default="T1B_Basic_14m", help="default: %(default)s")
    parser.add_argument("--generations", type=at_least(1), default=25)
    parser.add_argument("--children", type=at_least(1), default=32, help="designs of a generation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=at_least(1), help="default: one per CPU")
    options = parser.parse_args()
    try:
        (task,) = load_tasks({"budget": "strict", "names": [options.level]}, {})
    except UsageError as error:
        raise SystemExit(str(error)) from error
    warm()
    found = search(task, options.generations, options.children, options.seed, options.threads)
    if not found:
        raise SystemExit("no design was crossed: more generations or another seed may help")
    budget = task.hidden["strict_budget"]
    print(
        f"{task.id}: ${found[0].cost():,.2f}, {found[0].cost() / budget:.0%} of the strict budget ${budget:,}"
    )


if __name__ == "__main__":
    main()
