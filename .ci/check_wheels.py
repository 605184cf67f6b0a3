"""Every file that git tracks in a package is in its wheel, and nothing else is.

python .ci/check_wheels.py DIST
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = {
    "evalkit_core": "core",
    "evalkit_polybridge": "plugins/polybridge",
    "evalkit_brickbench": "plugins/brickbench",
    "evalkit_lmbuild": "plugins/lmbuild",
}


def tracked(folder: str) -> set[str]:
    """Files of a distribution's packages, relative to its `src`."""
    source = f"{folder}/src/"
    listed = subprocess.run(["git", "ls-files", source], check=True, capture_output=True, text=True)
    return {line.removeprefix(source) for line in listed.stdout.splitlines()}


def shipped(wheel: Path) -> set[str]:
    """Files of a wheel without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def main(dist: Path) -> int:
    """Compare all wheels; the number of those that differ."""
    wrong = 0
    for stem, folder in PACKAGES.items():
        (wheel,) = dist.glob(f"{stem}-*.whl")
        missing, extra = tracked(folder) - shipped(wheel), shipped(wheel) - tracked(folder)
        for label, names in (("not in the wheel", missing), ("not in git", extra)):
            for name in sorted(names):
                print(f"{wheel.name}: {name} is {label}")
        wrong += bool(missing or extra)
        print(f"{wheel.name}: {len(shipped(wheel))} files, as in git" if not (missing or extra) else "")
    return wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
