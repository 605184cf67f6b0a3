"""What a model is told after its first call: the parts of the feedback that can be left out one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evalkit_polybridge.constants import FEEDBACK_FRAMES

FrameChoice = Literal["uniform", "last"]
"""Which frames of a run are shown: evenly spaced ones with both ends, or the last ones."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback of the protocol; the defaults are those of the reported results.

    `frames` of a failed run are on its contact sheet (0: there is none), chosen as `choice` says. Without
    `topology` the save holds the level's anchors instead of the design that was run. Without `history` every
    message is the first of a conversation: prompt and latest observation, nothing from before.
    """

    frames: int = FEEDBACK_FRAMES
    choice: FrameChoice = "uniform"
    topology: bool = True
    history: bool = True

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Feedback:
        """The feedback that protocol settings ask for; a record from before a setting has its default."""
        return cls(
            settings["feedback_frames"],
            settings.get("feedback_choice", "uniform"),
            settings.get("feedback_topology", True),
            settings.get("feedback_history", True),
        )
