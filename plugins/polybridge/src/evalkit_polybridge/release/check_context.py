"""What the checks of a release's episodes share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from evalkit_polybridge.graph import Level
from evalkit_polybridge.release.findings import Report
from evalkit_polybridge.release.installed import Installed
from evalkit_polybridge.release.manifest import LEFT_OUT


class Key(NamedTuple):
    """Which episode."""

    agent: str
    condition: str
    epoch: int
    level: str


class Ran(NamedTuple):
    """A design that the embedded executor ran: where it stands, and what was recorded of the run."""

    where: str
    level: Level
    design: Mapping[str, Any]
    execution: Mapping[str, Any]


@dataclass(slots=True)
class Context:
    """A release being checked; what it has besides files, manifest and report fills as episodes are checked.

    `seen` maps episodes to the files of their trajectories, `rounds` the folders of episodes to their number
    of rounds, `frames` the folders of rounds to the pictures in their `frames` (None: any, of an executor
    that isn't known here), `layouts` hashes of the game's layouts to level and design, `levels` condition and
    level to the fingerprint of the first such level and its file. Counted are: in `early` the reasons for
    which episodes ended that nothing in their rounds explains, in `foreign` the runs of executors that can't
    be made again, in `redrawn` pictures that are of another run.
    """

    folder: Path
    manifest: Mapping[str, Any]
    report: Report
    installed: Installed
    seen: dict[Key, str] = field(default_factory=dict)
    rounds: dict[str, int] = field(default_factory=dict)
    frames: dict[str, set[str] | None] = field(default_factory=dict)
    layouts: dict[str, tuple[str, str]] = field(default_factory=dict)
    levels: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    early: Counter[str] = field(default_factory=Counter)
    foreign: Counter[str] = field(default_factory=Counter)
    redrawn: int = 0
    runs: list[Ran] = field(default_factory=list)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The protocol settings that the release declares."""
        settings: Mapping[str, Any] = self.manifest["inclusion"]["settings"]
        return settings

    @property
    def has_pictures(self) -> bool:
        """Whether pictures belong to the release, in place or packed."""
        return bool(self.manifest["images"]["where"] != LEFT_OUT)
