"""`python -m evalkit_polybridge.calibrate`: find every level's reference and write the budgets.

The data are checked in, because the designer's dense solver may differ between BLAS builds in the last bits.
They have to be written again whenever the executor changes; the files say which executor they belong to.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from evalkit_polybridge import designer
from evalkit_polybridge.executor_embedded import VERSION
from evalkit_polybridge.graph import Level
from evalkit_polybridge.levels import catalogue, generate, heldout
from evalkit_polybridge.levels.references import REFERENCES_FILE, references_document
from evalkit_polybridge.physics import physics_constants, warm

DATA = Path(catalogue.__file__).parent / "data"
#: `--check` accepts costs this close to the stored ones: another BLAS may rank two equal candidates differently.
CHECK_TOLERANCE = 0.01


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrate, or check a sample; returns the exit code (1: the sample differs from the data)."""
    parser = argparse.ArgumentParser(prog="python -m evalkit_polybridge.calibrate", description=__doc__)
    parser.add_argument("--heldout", action="store_true", help="the held-out levels instead of the 189")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--check", type=int, default=0, metavar="N", help="regenerate N levels and compare")
    options = parser.parse_args(arguments)
    levels = [level for level, _ in (heldout() if options.heldout else generate())]
    file_name = catalogue.HELDOUT_BUDGETS_FILE if options.heldout else catalogue.BUDGETS_FILE
    if options.check:
        sample = levels[:: max(1, len(levels) // options.check)][: options.check]
        return _check(dict(_calibrate_all(sample, options.jobs)), catalogue.read_calibration(file_name))
    found = dict(_calibrate_all(levels, options.jobs))
    _write(DATA / file_name, catalogue.budgets_document(_calibration(found)))
    if not options.heldout:
        references = {name: calibrated.reference.bridge for name, calibrated in found.items()}
        _write(DATA / REFERENCES_FILE, references_document(references))
    return 0


def constants_sha256() -> str:
    """SHA-256 of the executor's constants as canonical JSON (sorted keys, no spaces)."""
    text = json.dumps(physics_constants(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _calibration(found: dict[str, designer.Calibrated]) -> catalogue.Calibration:
    return catalogue.Calibration(VERSION, constants_sha256(), {n: _costs(c) for n, c in found.items()})


def _costs(calibrated: designer.Calibrated) -> catalogue.Costs:
    return catalogue.Costs(round(calibrated.reference.cost, 2), round(calibrated.optimum.cost, 2))


def _calibrate_all(levels: Sequence[Level], jobs: int) -> Iterator[tuple[str, designer.Calibrated]]:
    """Calibrate levels in processes of their own, one line of progress each on stderr."""
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    warm()  # compiled once, so that the workers only load it
    start = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for done, (name, calibrated) in enumerate(pool.imap(_calibrate, levels), start=1):
            reference, optimum = calibrated.reference, calibrated.optimum
            print(
                f"[{done}/{len(levels)} {time.monotonic() - start:.0f} s] {name}: "
                f"reference ${reference.cost:,.0f} at {reference.peak_utilisation:.3f}, "
                f"optimum ${optimum.cost:,.0f} at {optimum.peak_utilisation:.3f}",
                file=sys.stderr,
            )
            yield name, calibrated


def _calibrate(level: Level) -> tuple[str, designer.Calibrated]:
    return level.name, designer.calibrate(level)


def _check(found: dict[str, designer.Calibrated], stored: catalogue.Calibration) -> int:
    """Compare fresh costs with the stored ones; differences go to stdout."""
    different = 0
    if stored.constants_sha256 != constants_sha256():
        print("the data belong to an executor with other constants: calibrate again")
        different += 1
    for name, calibrated in found.items():
        fresh, known = _costs(calibrated), stored.costs[name]
        pairs = ((fresh.reference_cost, known.reference_cost), (fresh.optimum_cost, known.optimum_cost))
        if any(abs(new - old) > CHECK_TOLERANCE * old for new, old in pairs):
            print(f"{name}: found {fresh}, stored {known}")
            different += 1
    print(f"{len(found)} levels checked, {different} differences")
    return 1 if different else 0


def _write(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
    print(f"wrote {path.name}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
