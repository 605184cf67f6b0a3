"""`python -m evalkit_polybridge.calibrate`: find every reference and optimum; write designs and costs.

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
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit_polybridge import designer
from evalkit_polybridge.constants import BUDGET_LADDER
from evalkit_polybridge.executor_embedded import VERSION
from evalkit_polybridge.graph import Level
from evalkit_polybridge.levels import catalogue, generate, heldout
from evalkit_polybridge.levels.references import (
    HELDOUT_OPTIMA_FILE,
    HELDOUT_REFERENCES_FILE,
    OPTIMA_FILE,
    REFERENCES_FILE,
    designs_document,
)
from evalkit_polybridge.physics import physics_constants, warm

DATA = Path(catalogue.__file__).parent / "data"
#: `--check` accepts costs this close to the stored ones: another BLAS may rank equal candidates differently.
CHECK_TOLERANCE = 0.01
#: Peak utilisations of more cautious references, for rungs of the ladder that no level has come to.
CAUTIOUS = (0.93, 0.92, 0.91, 0.905, 0.90, 0.89, 0.88, 0.87, 0.86, 0.85)
#: Levels tried for such a rung, those with the dearest references below it first.
TRIED_PER_RUNG = 8


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What calibration finds for a level: its reference, and the cheapest design known to pass."""

    reference: designer.Found
    optimum: designer.Found

    @property
    def cheapest(self) -> designer.Found:
        """The cheapest design known: the optimum, unless its search missed that the reference is cheaper."""
        return min(self.optimum, self.reference, key=lambda found: found.cost)

    def costs(self) -> catalogue.Costs:
        """The costs to write down."""
        return catalogue.Costs(round(self.reference.cost, 2), round(self.cheapest.cost, 2))


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
        return check(dict(_calibrate_all(sample, options.jobs)), catalogue.read_calibration(file_name))
    found = dict(_calibrate_all(levels, options.jobs))
    if not options.heldout:
        found = use_whole_ladder(levels, found)
    references_file = HELDOUT_REFERENCES_FILE if options.heldout else REFERENCES_FILE
    optima_file = HELDOUT_OPTIMA_FILE if options.heldout else OPTIMA_FILE
    references = {name: calibrated.reference.bridge for name, calibrated in found.items()}
    _write(DATA / references_file, designs_document(references))
    optima = {name: calibrated.cheapest.bridge for name, calibrated in found.items()}
    _write(DATA / optima_file, designs_document(optima))
    costs = {name: calibrated.costs() for name, calibrated in found.items()}
    _write(
        DATA / file_name,
        catalogue.budgets_document(catalogue.Calibration(VERSION, constants_sha256(), costs)),
    )
    return 0


def constants_sha256() -> str:
    """SHA-256 of the executor's constants as canonical JSON (sorted keys, no spaces)."""
    text = json.dumps(physics_constants(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def use_whole_ladder(levels: Sequence[Level], found: dict[str, Calibrated]) -> dict[str, Calibrated]:
    """Give some levels a more cautious reference, so that every rung of the budget ladder is used.

    Goes down the ladder; for a rung nobody has, the levels just below it get references of ever lower peak
    utilisation until one is dear enough for the rung.

    Raises:
        NoDesignError: a rung can't be reached.
    """
    found = dict(found)
    by_name = {level.name: level for level in levels}
    for rung in reversed(BUDGET_LADDER):
        if rung not in {calibrated.costs().strict_budget for calibrated in found.values()}:
            name, reference = _reference_for(rung, by_name, found)
            _say(f"rung {rung}: {name} with a reference of ${reference.cost:,.0f}")
            found[name] = replace(found[name], reference=reference)
    return found


def _reference_for(
    rung: int, levels: dict[str, Level], found: dict[str, Calibrated]
) -> tuple[str, designer.Found]:
    below = [name for name in found if found[name].costs().strict_budget < rung]
    below.sort(key=lambda name: (-found[name].costs().reference_cost, name))
    for name in below[:TRIED_PER_RUNG]:
        for utilisation in CAUTIOUS:
            reference = designer.reference(levels[name], utilisation)
            budget = catalogue.strict_budget(round(reference.cost, 2))
            if budget == rung:
                return name, reference
            if budget > rung:
                break
    raise designer.NoDesignError(f"no level has a reference for the budget rung {rung}")


def _calibrate_all(levels: Sequence[Level], jobs: int) -> Iterator[tuple[str, Calibrated]]:
    """Calibrate levels in processes of their own, one line of progress each on stderr."""
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    warm()  # compiled once, so that the workers only load it
    start = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for done, (name, calibrated) in enumerate(pool.imap(_calibrate, levels), start=1):
            reference, optimum = calibrated.reference, calibrated.optimum
            _say(
                f"[{done}/{len(levels)} {time.monotonic() - start:.0f} s] {name}: "
                f"reference ${reference.cost:,.0f} at {reference.peak_utilisation:.3f}, "
                f"optimum ${optimum.cost:,.0f} at {optimum.peak_utilisation:.3f}"
            )
            yield name, calibrated


def _calibrate(level: Level) -> tuple[str, Calibrated]:
    return level.name, Calibrated(designer.reference(level), designer.optimum(level))


def check(found: dict[str, Calibrated], stored: catalogue.Calibration) -> int:
    """Compare fresh costs with the stored ones: the optimum, and that the reference is no dearer."""
    different = 0
    if stored.constants_sha256 != constants_sha256():
        _say("the data belong to an executor with other constants: calibrate again")
        different += 1
    for name, calibrated in found.items():
        fresh, known = calibrated.costs(), stored.costs[name]
        other_optimum = abs(fresh.optimum_cost / known.optimum_cost - 1) > CHECK_TOLERANCE
        if other_optimum or fresh.reference_cost > known.reference_cost * (1 + CHECK_TOLERANCE):
            _say(f"{name}: found {fresh}, stored {known}")
            different += 1
    _say(f"{len(found)} levels checked, {different} differences")
    return 1 if different else 0


def _write(path: Path, text: str) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)
    _say(f"wrote {path.name}")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
