"""Time of LMBuild's geometry: `python benchmarks/lmbuild_kernel.py [--runs N] [--sampled] [--json]`.

Milliseconds of CPU, the least of N runs, beside what is asked for or expected and the ratio of the
two. Compiling and building the scenes are left out. The design is a tower of trays: 40 parts, some
27,000 triangles, each resting on the one below, turned a little. `--sampled` measures, for comparison,
a shell of random surface points filled by scipy.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import trimesh
from scipy import ndimage

from evalkit_lmbuild.design import Design, Joint, Mesh, Part, Step
from evalkit_lmbuild.facts import ObjectFacts
from evalkit_lmbuild.kernel import Field, gap, moving_set, sweep_free, voxelise, warm
from evalkit_lmbuild.kernel import voxels as voxels_module
from evalkit_lmbuild.scoring.assembly import assembly
from evalkit_lmbuild.scoring.structure import collisions, connectivity, stability, structure_field

SIZE_M = (0.5, 0.4, 0.3)
FACTS = ObjectFacts("tower", "tower", ())


def mesh_of(shape: trimesh.Trimesh) -> Mesh:
    """A mesh of trimesh's."""
    return Mesh(np.asarray(shape.vertices, dtype=np.float64), np.asarray(shape.faces, dtype=np.int32))


def tower() -> Design:
    """Ten trays on pillars: rings, balls and cylinders between plates, joined by hinges."""
    plate = mesh_of(trimesh.creation.box(extents=(0.4, 0.3, 0.02)))
    pillar = mesh_of(trimesh.creation.cylinder(radius=0.02, height=0.1, sections=48))
    ring = mesh_of(trimesh.creation.torus(0.08, 0.02, major_sections=40, minor_sections=24))
    ball = mesh_of(trimesh.creation.icosphere(3, 0.05))
    parts, joints = [], []
    for floor in range(10):
        z = 0.12 * floor
        parts += [
            Part(f"ring{floor}", ring, (-0.1, 0.0, z + 0.02)),
            Part(f"ball{floor}", ball, (0.12, 0.05, z + 0.05), (0.0, 0.0, 7.0 * floor)),
            Part(f"pillar{floor}", pillar, (0.0, -0.1, z + 0.05), (0.0, 0.0, 3.0 * floor)),
            Part(f"plate{floor}", plate, (0.0, 0.0, z + 0.11), (0.0, 0.0, 2.0 * floor)),
        ]
        origin = (0.12, 0.05, z + 0.1)
        joints.append(
            Joint(f"turn{floor}", "continuous", f"plate{floor}", f"ball{floor}", (0.0, 0.0, 1.0), origin)
        )
    return Design(tuple(parts), tuple(joints), tuple(Step(part.id, (0.0, 0.0, -1.0)) for part in parts))


def cpu_ms(work: Callable[[], object], runs: int, before: Callable[[], object] = lambda: None) -> float:
    """Least CPU time of `work`, ms; `before` isn't counted."""
    best = np.inf
    for _ in range(runs):
        before()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return 1000 * best


def sampled(mesh: Mesh, pitch: float) -> int:
    """Filled cells by surface samples, as the definition reads: for comparison."""
    triangles = mesh.vertices[mesh.faces]
    areas = np.linalg.norm(
        np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1
    )
    n = int(np.clip(areas.sum() / 2 / (pitch / 4) ** 2, 2000, 4e6))
    random = np.random.default_rng(0)
    chosen = triangles[random.choice(len(areas), n, p=areas / areas.sum())]
    u, v = np.sqrt(random.random((n, 1))), random.random((n, 1))
    points = (1 - u) * chosen[:, 0] + u * (1 - v) * chosen[:, 1] + u * v * chosen[:, 2]
    cells = np.floor(np.concatenate([points, mesh.vertices]) / pitch).astype(int)
    cells -= cells.min(axis=0) - 1
    shell = np.zeros(cells.max(axis=0) + 2, bool)
    shell[tuple(cells.T)] = True
    return int(ndimage.binary_fill_holes(shell).sum())


def pairs_of(field: Field) -> None:
    """What the collision checks ask of all pairs."""
    for pair in field.touching():
        field.deep(*pair)
        field.contact_area(*pair)


def voxelised(parts: tuple[Part, ...]) -> Field:
    """A field whose parts are on the lattice, with core and halo."""
    field = Field(parts)
    for part in parts:
        voxels = field.voxels(part.id)
        _ = voxels.core, voxels.halo
    return field


def figures(runs: int, with_samples: bool) -> list[tuple[str, float, float | None]]:
    """Name, ms, and the ms that are asked for or expected, if any."""
    big = mesh_of(trimesh.creation.box(extents=SIZE_M))
    design = tower()
    for part in design.parts:
        _ = part.world, part.mesh.key
    forget = voxels_module._cache.clear
    rows: list[tuple[str, float, float | None]] = [
        ("500 × 400 × 300 mm at 4 mm", cpu_ms(lambda: voxelise(big, 0.004), runs), 5.0),
        ("500 × 400 × 300 mm at 1 mm", cpu_ms(lambda: voxelise(big, 0.001), runs), 44.0),
    ]
    if with_samples:
        rows += [
            ("  by samples and scipy, 4 mm", cpu_ms(lambda: sampled(big, 0.004), 2), None),
            ("  by samples and scipy, 1 mm", cpu_ms(lambda: sampled(big, 0.001), 1), None),
        ]
    moved = replace(design.parts[13], position=(0.13, 0.05, 0.41))
    edited = (*design.parts[:13], moved, *design.parts[14:])
    _ = moved.world
    fields: list[Field] = []

    def ready() -> None:
        fields[:] = [voxelised(design.parts)]

    def ready_but_for_one() -> None:
        forget()
        ready()

    def swept() -> None:
        field = fields[0]
        for joint in design.joints:
            sweep_free(field, design, joint, moving_set(design, joint, field.touching()))

    def structure() -> None:
        forget()
        field = structure_field(design)
        for metric in (connectivity, collisions, stability):
            metric(design, FACTS, field)

    rows += [
        ("40 parts at 4 mm", cpu_ms(lambda: voxelised(design.parts), runs, forget), 17.0),
        ("all pairs", cpu_ms(lambda: pairs_of(fields[0]), runs, ready), 3.0),
        ("one part moved: voxels", cpu_ms(lambda: voxelised(edited), runs, ready_but_for_one), 0.4),
        (
            "one part moved: all pairs, tilt",
            cpu_ms(lambda: after_edit(edited), runs, ready_but_for_one),
            20.0,
        ),
        ("tilt", cpu_ms(lambda: fields[0].tilt(), runs, ready), 0.16),
        ("ten sweeps of 11 poses", cpu_ms(swept, runs, ready), None),
        ("gap of ring and ball", cpu_ms(lambda: gap(design.parts[0], design.parts[1]), runs), None),
        ("R.1", cpu_ms(lambda: assembly(design, FACTS, fields[0]), runs, ready), 24.0),
        ("S.1–S.3 from nothing", cpu_ms(structure, runs), None),
    ]
    return rows


def after_edit(parts: tuple[Part, ...]) -> None:
    """What a `check` asks after an edit."""
    field = Field(parts)
    pairs_of(field)
    field.tilt()


def main() -> None:
    """Print a line a figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sampled", action="store_true", help="also measure a shell of random samples")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    warm()
    rows = figures(options.runs, options.sampled)
    if options.json:
        print(json.dumps({name.strip(): {"ms": ms, "expected_ms": expected} for name, ms, expected in rows}))
        return
    print(f"{'':34s}{'ms':>10s}{'expected':>10s}{'ratio':>8s}")
    for name, ms, expected in rows:
        beside = f"{expected:10.2f}{ms / expected:8.2f}" if expected else ""
        print(f"{name:34s}{ms:10.2f}{beside}")


if __name__ == "__main__":
    main()
