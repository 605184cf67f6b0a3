"""How many members a bridge has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit import Episode, Score, Task


class Members:
    """Members of the last bridge that was proposed."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        pass

    def measure(self, episode: Episode, task: Task) -> Score:
        """A count; not applicable if no reply could be read as a bridge."""
        bridge = episode.final_candidate()
        if bridge is None:
            return Score.not_applicable("no bridge was proposed")
        return Score(len(bridge["edges"]))
