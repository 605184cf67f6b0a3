"""Time of LMBuild's scores: `python benchmarks/lmbuild_score.py [--runs N] [--json]`.

Seconds of CPU, the least of N runs: a cabinet of 40 parts with eight drawers, scored by the nine computed
metrics as an object that all is claimed of, each metric in turn on a fresh lattice; what the geometry kernel
takes of that; a `check` after one part was moved. What is known of the object alone (its reference's joints,
stability and symmetry) is worked out once for all designs and shown apart.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from lmbuild_simulation import cabinet

from evalkit_lmbuild.design import Design, Step
from evalkit_lmbuild.facts import Connection, HumanCheck, MaterialClaim, Motion, ObjectFacts, Subsystem
from evalkit_lmbuild.kernel import moving_set, sweep_free, voxels, warm
from evalkit_lmbuild.operability import operability
from evalkit_lmbuild.scoring.computed import Scorer, standard
from evalkit_lmbuild.simulation import Settings
from evalkit_lmbuild.tools import design_report

METRICS = ("S.1", "S.2", "S.3", "A.1", "A.2", "A.3", "R.1", "R.2")
ROLES = {"floor": "shelf", "left": "side panel", "right": "side panel", "back": "back panel"}
CONTENTS = ("letter", "cutlery", "spice", "tool", "linen", "paper", "key", "cash")
LIMITS_S = {"nine metrics, inset": 2.5, "kernel": 0.3, "check after an edit": 0.02}


def furnished() -> Design:
    """The cabinet with roles, materials and an order of assembly; each drawer is of its own kind."""
    bare = cabinet()
    drawers = iter(CONTENTS)
    parts = []
    for part in bare.parts:
        what = part.id.rstrip("0123456789")
        role = f"{next(drawers)} drawer" if what == "drawer" else ROLES[what]
        parts.append(replace(part, role=role, material="plywood"))
    return Design(tuple(parts), bare.joints, tuple(Step(part.id) for part in parts))


def cabinet_facts() -> ObjectFacts:
    """Claims about the cabinet, the motion of each drawer among them."""
    drawers = tuple(f"{content} drawer" for content in CONTENTS)
    names = ("shelf", "side panel", "back panel", *drawers)
    slides = tuple(Connection("shelf", drawer, "motion") for drawer in drawers)
    return ObjectFacts(
        "cabinet",
        "cabinet",
        (),
        subsystems=(Subsystem("F1", "storage", "holds things", names, slides),),
        motions=tuple(Motion(f"K{i}", name, "shelf", "prismatic", "opens") for i, name in enumerate(drawers)),
        materials=tuple(MaterialClaim(name, ("wood",)) for name in names),
        human_checks=(
            HumanCheck("H1", ({"pred": "surface", "role": "shelf", "min_area_m2": 0.2},)),
            HumanCheck("H2", ({"pred": "reachable", "target": "key drawer", "from": "standing"},)),
        ),
        reference=furnished(),
    )


def forget() -> None:
    """Drop the voxels of parts that were seen."""
    voxels._cache.clear()


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def kernel_work(design: Design, scorer: Scorer) -> None:
    """What the metrics ask of the kernel: both lattices, contacts, overlaps, tilt, sweeps, assembly."""
    for field in (scorer.field, scorer.structure):
        touching = field.touching()
        for a, b in touching:
            field.deep(a, b)
            field.contact_area(a, b)
        field.tilt()
        for joint in design.joints:
            moving = moving_set(design, joint, touching)
            if field is scorer.field:
                sweep_free(field, design, joint, moving)
    scorer.score("R.1")


def measure(runs: int) -> dict[str, float]:
    """Seconds of every case."""
    warm()
    design, facts = furnished(), cabinet_facts()
    edited = replace(design.parts[-1], position=(0.0, -0.3, design.parts[-1].position[2]))
    moved = Design((*design.parts[:-1], edited), design.joints, design.sequence)
    Scorer(design, facts).score("A.3")
    times: dict[str, float] = {}

    def clock(name: str, work: Callable[[], object]) -> float:
        seconds = cpu(work)
        times[name] = min(times.get(name, seconds), seconds)
        return seconds

    def score_all(settings: Settings) -> float:
        forget()
        scorer = Scorer(design, facts)
        total = sum(clock(metric, partial(scorer.score, metric)) for metric in METRICS)
        return total + clock(f"R.3, {settings.protocol}", partial(operability, scorer, settings))

    for _ in range(runs):
        for settings in (Settings(protocol="strict"), Settings(protocol="inset")):
            total = score_all(settings)
            name = f"nine metrics, {settings.protocol}"
            times[name] = min(times.get(name, total), total)
        forget()
        clock("kernel", lambda: kernel_work(design, Scorer(design, facts)))
        design_report(design)
        clock("check after an edit", lambda: design_report(moved))
        standard.cache_clear()
        forget()
        clock("the object, once", lambda: _known(facts))
    return times


def _known(facts: ObjectFacts) -> object:
    """Everything about an object that all of its designs share."""
    known = standard(facts)
    return known.targets, known.motions, known.symmetry, known.materials


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
        limit = f"  (at most {LIMITS_S[name]:g})" if name in LIMITS_S else ""
        print(f"{name:24}{seconds:8.3f} s{limit}")


if __name__ == "__main__":
    main()
