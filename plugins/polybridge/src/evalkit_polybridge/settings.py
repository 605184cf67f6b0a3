"""The protocol's settings: whatever changes what a model sees or what counts, recorded and hashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field

from evalkit import UsageError
from evalkit_polybridge.constants import CUTOFF_RULE, FEEDBACK_FRAMES, FRAMES_PER_SECOND, WINDOW_S
from evalkit_polybridge.feedback import Feedback, FrameChoice
from evalkit_polybridge.native.calibration import Calibration

BUDGETS = ("strict", "loose", "tight")
"""What `tasks.budget` may be for the levels of the catalogue, and the conditions named by it."""


def check_suite(condition: str, tasks: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """UsageError if the condition, a mere name, promises another budget than the tasks are played under."""
    budget = tasks.get("budget", "own" if "folder" in tasks else "strict")
    if condition in BUDGETS and budget in BUDGETS and condition != budget:
        raise UsageError(
            f"the condition {condition!r} names another budget than the tasks have ({budget!r}); take "
            "polybridge.strict, .loose or .tight, or change both alike (-T condition=… -T tasks.budget=…)"
        )


_FRAME_CHOICES: Mapping[FrameChoice, str] = {
    "uniform": "uniform, first and last included",
    "last": "the last ones, up to the cut-off",
}


class BridgeSettings(BaseModel):
    """Protocol settings of PolyBridgeBench; the defaults are those of the reported results."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    parser: Literal["strict", "fenced"] = "strict"
    """`strict`: a reply is one raw JSON object; `fenced`: one Markdown fence around it is taken off."""
    sequential_ids: Literal["advisory", "violation"] = "advisory"
    """Whether ids that don't continue from the highest native one are advice or a violation."""
    region_offset_m: float = Field(default=0.0, ge=-1.0, le=1.0)
    """Forbidden regions grown (or shrunk, if negative) by this much: boundary sensitivity."""
    opaque_names: bool = False
    """Replace level names, which tell the family, by opaque ones."""
    feedback_frames: int = Field(default=FEEDBACK_FRAMES, ge=0, le=48)
    """Frames on the contact sheet after a failed run; 0 leaves the sheet out."""
    feedback_choice: FrameChoice = "uniform"
    """Which frames these are: evenly spaced ones with both ends (`uniform`) or the `last` ones."""
    feedback_topology: bool = True
    """Whether the save holds the design that was run; otherwise it holds the anchors alone."""
    feedback_history: bool = True
    """Whether a model's conversation goes on from call to call; otherwise each call begins a new one."""
    skill: str = ""
    """Extra advice appended to the prompt; empty in the reported setting."""
    calibration: Calibration | None = None
    """How `polybridge.native` drives the real game: the content of its calibration file."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def prompt_version(self) -> str:
        """Version of the prompt."""
        from evalkit_polybridge.prompt import PROMPT_VERSION

        return PROMPT_VERSION

    @computed_field  # type: ignore[prop-decorator]
    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt's text under these settings."""
        from evalkit_polybridge.prompt import prompt_sha256

        return prompt_sha256(skill=self.skill, region_offset_m=self.region_offset_m, feedback=self._feedback)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def window_s(self) -> float:
        """Time that a crossing may take."""
        return WINDOW_S if self.calibration is None else self.calibration.window_s

    @computed_field  # type: ignore[prop-decorator]
    @property
    def frames_per_second(self) -> int:
        """How often a run is pictured."""
        return FRAMES_PER_SECOND

    @computed_field  # type: ignore[prop-decorator]
    @property
    def frame_choice(self) -> str:
        """Which frames of a run are on the contact sheet."""
        return _FRAME_CHOICES[self.feedback_choice] if self.feedback_frames else "none"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def cutoff_rule(self) -> str:
        """Where the frames of a failed run end."""
        return CUTOFF_RULE

    @computed_field  # type: ignore[prop-decorator]
    @property
    def feedback_mode(self) -> str:
        """What a model learns of a failed run beside its own design."""
        shown = "verdict and contact sheet" if self.feedback_frames else "verdict"
        shown += "" if self.feedback_topology else "; no topology"
        return shown + ("" if self.feedback_history else "; no history")

    @property
    def _feedback(self) -> Feedback:
        return Feedback(
            self.feedback_frames, self.feedback_choice, self.feedback_topology, self.feedback_history
        )
