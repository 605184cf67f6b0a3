"""Fuzz for as long as you like: `python tests/fuzz/run.py --minutes 10 [--target replies]`.

Every round gives each target new examples. The first failure is printed, with a seed that brings it back,
and ends the command with exit code 1.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = sorted(path.stem.removeprefix("test_fuzz_") for path in HERE.glob("test_fuzz_*.py"))
EXAMPLES_PER_ROUND = 150


def main() -> int:
    """Fuzz the chosen targets in turn until the time is up."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--target", choices=TARGETS, help="only this one (default: all in turn)")
    parser.add_argument("--seed", type=int, help="one round with the seed of an earlier failure")
    arguments = parser.parse_args()
    targets = [arguments.target] if arguments.target else TARGETS
    end = time.monotonic() + 60.0 * arguments.minutes
    rounds = 0
    while rounds == 0 or (time.monotonic() < end and arguments.seed is None):
        for target in targets:
            seed = random.getrandbits(32) if arguments.seed is None else arguments.seed
            if not survives(target, seed):
                print(f"{target} failed: python {sys.argv[0]} --target {target} --seed {seed}")
                return 1
            print(f"{target}: {EXAMPLES_PER_ROUND} more examples of each property", flush=True)
            if time.monotonic() > end:
                break
        rounds += 1
    return 0


def survives(target: str, seed: int) -> bool:
    """One round of a target; prints what pytest has to say if it fails."""
    command = [sys.executable, "-m", "pytest", "-q", "--timeout", "3600", f"--hypothesis-seed={seed}"]
    environment = {**os.environ, "EVALKIT_FUZZ_EXAMPLES": str(EXAMPLES_PER_ROUND)}
    done = subprocess.run(
        [*command, str(HERE / f"test_fuzz_{target}.py")], env=environment, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        print(done.stdout)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
