"""CPU time of reading and connecting LDraw models, against `bricknet.parse_ldr`, and its growth with size.

python benchmarks/brickbench_connections.py [MODEL ...]

Models are flattened first, without the parts that the catalogue doesn't know, because `parse_ldr` takes
nothing else; both sides then read the same flat files, each in its own process: best of three, imports
excluded. Without models, those in ../shared/data/brickbench/models are taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.ldraw.writer import write_ldr
from evalkit_brickbench.parts.wheels import WheelCatalogue
from evalkit_brickbench.scene import Scene

ROOT = Path(__file__).parents[1]
MODELS = ROOT.parent / "shared" / "data" / "brickbench" / "models"
WALL_PARTS = (500, 1000, 2000, 3000, 4000, 5000)
WALL_WIDTH = 50  # bricks in a course

BEST_OF_THREE = """
import json, sys, time
def best(path):
    seconds = []
    for _ in range(3):
        start = time.process_time()
        edges = count(path)
        seconds.append(time.process_time() - start)
    return min(seconds), edges
print(json.dumps([best(path) for path in sys.argv[1:]]))
"""

OURS = """
from pathlib import Path
from evalkit_brickbench.connections import connect
from evalkit_brickbench.ldraw.flatten import read_scene
from evalkit_brickbench.parts.wheels import WheelCatalogue
catalogue = WheelCatalogue()
def count(path):
    return len(connect(read_scene(Path(path))[0], catalogue))
"""

THEIRS = """
from pathlib import Path
from bricknet import parse_ldr
def count(path):
    return len(parse_ldr(Path(path).read_text("utf-8")).edges)
"""


def main() -> None:
    """Print both tables."""
    models = [Path(argument) for argument in sys.argv[1:]] or sorted(MODELS.iterdir())
    catalogue = WheelCatalogue()
    with tempfile.TemporaryDirectory() as folder:
        flat = [_flattened(model, catalogue, Path(folder)) for model in models]
        compare([path for path in flat if path is not None])
        grow(Path(folder))


def compare(paths: list[Path]) -> None:
    """CPU milliseconds of both sides for each model, and the ratio of the totals."""
    ours, theirs = _measure(OURS, paths), _measure(THEIRS, paths)
    print(f"{'model':<40} {'edges':>6} {'ours ms':>9} {'parse_ldr ms':>13} {'ratio':>7}")
    for path, (mine, edges), (other, other_edges) in zip(paths, ours, theirs, strict=True):
        times = f"{1e3 * mine:>9.2f} {1e3 * other:>13.2f} {other / mine:>7.1f}"
        different = "" if edges == other_edges else f"  parse_ldr: {other_edges} edges"
        print(f"{path.stem:<40} {edges:>6} {times}{different}")
    mine, other = sum(row[0] for row in ours), sum(row[0] for row in theirs)
    print(f"{'total':<40} {'':>6} {1e3 * mine:>9.2f} {1e3 * other:>13.2f} {other / mine:>7.1f}\n")


def grow(folder: Path) -> None:
    """CPU time per part of walls of 2×4 bricks."""
    paths = []
    for parts in WALL_PARTS:
        paths.append(folder / f"wall-{parts}.ldr")
        paths[-1].write_bytes(write_ldr(wall(parts)))
    print(f"{'parts':>6} {'edges':>6} {'ms':>8} {'µs a part':>10}")
    for parts, (seconds, edges) in zip(WALL_PARTS, _measure(OURS, paths), strict=True):
        print(f"{parts:>6} {edges:>6} {1e3 * seconds:>8.2f} {1e6 * seconds / parts:>10.2f}")


def wall(parts: int) -> Scene:
    """Courses of 2×4 bricks, every second one shifted by half a brick."""
    course, place = np.divmod(np.arange(parts), WALL_WIDTH)
    positions = np.column_stack([80.0 * place + 40.0 * (course % 2), -24.0 * course, np.zeros(parts)])
    return Scene(
        stems=("3001",) * parts,
        colours=np.full(parts, 4, np.int32),
        matrices=np.repeat(np.eye(3)[None], parts, axis=0),
        positions=positions,
        paths=("",) * parts,
        steps=np.zeros(parts, np.int32),
    )


def _flattened(model: Path, catalogue: WheelCatalogue, folder: Path) -> Path | None:
    """The known parts of a model as a flat file, or None if there are none."""
    scene, _ = read_scene(model)
    known = np.array([catalogue.resolve(stem) is not None for stem in scene.stems], np.bool_)
    if not known.any():
        return None
    path = folder / f"{model.stem}.ldr"
    flat = Scene(
        stems=tuple(stem for stem, keep in zip(scene.stems, known, strict=True) if keep),
        colours=scene.colours[known],
        matrices=scene.matrices[known],
        positions=scene.positions[known],
        paths=("",) * int(known.sum()),
        steps=np.zeros(int(known.sum()), np.int32),
    )
    path.write_bytes(write_ldr(flat))
    return path


def _measure(side: str, paths: list[Path]) -> list[tuple[float, int]]:
    """(CPU seconds, edges) of each file by one side in a process of its own."""
    command = [sys.executable, "-c", side + BEST_OF_THREE, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"a side failed:\n{run.stderr}")
    return [(seconds, edges) for seconds, edges in json.loads(run.stdout)]


if __name__ == "__main__":
    main()
