"""Time and outcome of the stability verdict: synthetic scenes by screen and engine, and LDraw models.

    python benchmarks/brickbench_stability.py [MODEL ...]

Prints a line for each scene that a method gets wrong or leaves open, totals by method, how the screen
grows with the number of loose components, one component of up to 4,000 parts, and each model's verdict.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from evalkit_brickbench.connections import connect
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.parts.providers import providers
from evalkit_brickbench.stability import Solids, Stability, judge_stability

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins/brickbench/tests"))
from stability_scenes import Builder, all_scenes, tower, wall


def judged(builder: Builder, engine: str = "pybullet", screen: bool = True) -> tuple[Stability, float]:
    """The verdict and its seconds."""
    start = time.perf_counter()
    found = judge_stability(builder.scene(), builder.labels, builder.shapes, engine=engine, screen=screen)
    return found, time.perf_counter() - start


def scenes() -> None:
    """All synthetic scenes, by screen then engine and by each engine alone."""
    for engine, screen in (("pybullet", True), ("mujoco", True), ("pybullet", False), ("mujoco", False)):
        way = f"{'screen, then ' if screen else ''}{engine}"
        counts: Counter[str] = Counter()
        total = 0.0
        for name, (builder, stands) in all_scenes().items():
            found, seconds = judged(builder, engine, screen)
            total += seconds
            result = "open" if found.stable is None else "right" if found.stable is stands else "wrong"
            counts[result] += 1
            counts[found.method] += 1
            if result != "right":
                print(f"{way}: {name}: {result} ({'; '.join(c.reason for c in found.clusters)})")
        print(f"{way}: {dict(sorted(counts.items()))}, {total:.1f} s")


def growth() -> None:
    """Loose towers, and one component of many parts."""
    for count in (10, 100, 400):
        found, seconds = judged(tower(count))
        print(f"tower of {count} loose bricks: stable {found.stable} by {found.method}, {seconds:.2f} s")
    for count in (400, 1000, 4000):
        found, seconds = judged(wall(count))
        print(f"one component of {count} parts: stable {found.stable} by {found.method}, {seconds:.2f} s")


def models(paths: list[str]) -> None:
    """LDraw models; the second time shapes are known already."""
    sources = providers()
    solids = Solids(sources.meshes)
    for path in paths:
        scene, _ = read_scene(path)
        labels = connect(scene, sources.catalogue).components().labels
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            found = judge_stability(scene, labels, sources.meshes, catalogue=sources.catalogue, solids=solids)
            seconds.append(time.perf_counter() - start)
        size = f"{len(scene)} parts, {len(found.components)} components"
        times = f"{seconds[0]:.2f} s, then {seconds[1]:.2f} s"
        print(f"{Path(path).name}: {size}: stable {found.stable} by {found.method}, {times}")


if __name__ == "__main__":
    scenes()
    growth()
    models(sys.argv[1:])
