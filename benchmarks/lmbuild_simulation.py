"""Time of the rigid-body simulation: `python benchmarks/lmbuild_simulation.py [--runs N] [--json]`.

A cabinet of 40 parts with eight drawers, each of them driven once; seconds by the clock, the least of N runs,
what the geometry kernel contributes apart.
"""

from __future__ import annotations

import argparse
import json
import time

from evalkit_lmbuild.csg import compile_program
from evalkit_lmbuild.design import Design, Joint, Part, Vector
from evalkit_lmbuild.kernel import Field, warm
from evalkit_lmbuild.simulation import Actuate, Contacts, Settings, contacts_of, simulate

ROWS, COLUMNS = 4, 2
WIDTH_M, DEPTH_M, HEIGHT_M, BOARD_M, CLEARANCE_M = 0.4, 0.4, 0.2, 0.02, 0.001


def board(name: str, centre: Vector, size: Vector) -> Part:
    """A box with a compiled mesh."""
    program = {"nodes": [{"id": "b", "op": "box", "size": list(size)}], "output": "b"}
    return Part(name, compile_program(program).mesh, centre)


def cell(row: int, column: int) -> tuple[list[Part], Joint]:
    """A compartment of four boards with a drawer that slides out of it."""
    x = (column - (COLUMNS - 1) / 2) * (WIDTH_M + BOARD_M)
    z = row * (HEIGHT_M + BOARD_M)
    name = f"{row}{column}"
    middle = z + BOARD_M + HEIGHT_M / 2
    side: Vector = (BOARD_M / 2, DEPTH_M, HEIGHT_M)
    inner = WIDTH_M - 2 * CLEARANCE_M
    parts = [
        board(f"floor{name}", (x, 0.0, z + BOARD_M / 2), (WIDTH_M + BOARD_M, DEPTH_M, BOARD_M)),
        board(f"left{name}", (x - WIDTH_M / 2 - BOARD_M / 4, 0.0, middle), side),
        board(f"right{name}", (x + WIDTH_M / 2 + BOARD_M / 4, 0.0, middle), side),
        board(f"back{name}", (x, DEPTH_M / 2 + BOARD_M / 2, middle), (WIDTH_M + BOARD_M, BOARD_M, HEIGHT_M)),
        board(
            f"drawer{name}",
            (x, -2 * CLEARANCE_M, middle),
            (inner, DEPTH_M - 4 * CLEARANCE_M, HEIGHT_M - 2 * CLEARANCE_M),
        ),
    ]
    slide = Joint(
        f"slide{name}",
        "prismatic",
        f"floor{name}",
        f"drawer{name}",
        (0.0, -1.0, 0.0),
        (x, 0.0, z + BOARD_M),
        (0.0, 0.15),
    )
    return parts, slide


def cabinet() -> Design:
    """Forty parts and eight joints."""
    cells = [cell(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    return Design(tuple(part for parts, _ in cells for part in parts), tuple(joint for _, joint in cells))


def measure(runs: int) -> dict[str, float]:
    """Seconds of every case."""
    warm()
    design = cabinet()
    requests = [Actuate((joint.id,)) for joint in design.joints]
    times: dict[str, float] = {}

    def clock(name: str, seconds: float) -> None:
        times[name] = min(times.get(name, seconds), seconds)

    for _ in range(runs):
        start = time.perf_counter()
        contacts: Contacts = contacts_of(design, Field(design.parts))
        clock("contacts from the kernel", time.perf_counter() - start)
        for settings in (
            Settings(protocol="inset"),
            Settings(protocol="strict"),
            Settings(protocol="inset", collision="boxes"),
            Settings(engine="pybullet", protocol="inset"),
        ):
            start = time.perf_counter()
            result = simulate(design, contacts, requests, settings)
            clock(
                f"{settings.engine}, {settings.protocol}, {settings.collision}", time.perf_counter() - start
            )
            if settings.protocol == "inset" and min(motion.score for motion in result.motions) < 0.9:
                raise SystemExit(f"a drawer sticks: {[motion.reason for motion in result.motions]}")
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="seconds as one JSON object")
    options = parser.parse_args()
    times = measure(options.runs)
    if options.json:
        print(json.dumps(times))
        return
    for name, seconds in times.items():
        print(f"{name:32}{seconds:8.3f} s")


if __name__ == "__main__":
    main()
