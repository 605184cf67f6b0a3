"""The protocol's settings: whatever decides what an agent may do and sees, recorded and hashed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator

from evalkit import UsageError
from evalkit_lmbuild.scoring.levels import CALIBRATION, Calibration
from evalkit_lmbuild.scoring.maps import read_maps

TOOL_CALLS = 160
"""Calls a round; what is left of them is carried over."""
MAX_ROUNDS = 3


class BuildSettings(BaseModel):
    """Protocol settings of LMBuild; the defaults are those of the reported results."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    tier: Literal["A", "B", "C"] = "B"
    """A: parts come from the catalogue; C: the agent creates them; B: both."""
    brief: Literal[
        "name_only",
        "attributes",
        "functional",
        "name_only+image",
        "attributes+image",
        "functional+image",
    ] = "name_only+image"
    """What the agent is told of the object; the suite's condition has to be the same."""
    rounds: Literal[1, 2, 3] = 1
    """Submissions: after each but the last comes a review, and the agent may revise."""
    budgets: Literal["episode", "round"] = "episode"
    """Whether checks, renders and creates are for the episode (release) or grow with each round (paper).

    The suite's limits hold for the whole episode in any case; raise them for `round`."""
    programs: Literal["strict", "lenient"] = "strict"
    """`lenient`: clockwise polygons are turned round and `shell` is known; `strict` is the release."""
    simulation: Literal["inset", "strict"] = "inset"
    """Whose R.3 is the score: `strict` simulates convex hulls as they are, as the release does; `inset`
    shrinks them by 0.5 mm, so that parts lying flush slide. Both are recorded."""
    complete_joints: str | None = None
    """`module:function` that finds joints for generators' designs when they are handed in (it gets a `Design`
    and gives a list of `Joint`s)."""
    calibration: dict[str, Any] | None = None
    """Maps of level D in place of the published ones, as `evalkit lmbuild calibrate -o` writes them."""
    inspect_joint: bool = True
    """Whether there is a tool `inspect_joint`, which the paper counts and the release lacks."""

    @field_validator("calibration")
    @classmethod
    def _readable_maps(cls, given: dict[str, Any] | None) -> dict[str, Any] | None:
        read_maps(given or {})
        return given


def settings_of(settings: Mapping[str, Any]) -> BuildSettings:
    """The settings as recorded."""
    return BuildSettings.model_validate(dict(settings))


def maps_of(settings: Mapping[str, Any]) -> Mapping[str, Calibration]:
    """The maps of level D under these settings: the published ones, replaced where there are others."""
    return {**CALIBRATION, **read_maps(settings.get("calibration") or {})}


def check_suite(
    condition: str,
    tasks: Mapping[str, Any],
    settings: Mapping[str, Any],
    limits: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """UsageError if settings don't fit together, so that nothing is played under them.

    The condition, which names episodes, has to be the brief, rounds need their calls, and a completion of
    joints has to be there.
    """
    if condition != settings["brief"]:
        raise UsageError(
            f"the condition is {condition!r} and the brief {settings['brief']!r}; change both alike "
            f"(-T condition={condition} -T brief={condition})"
        )
    if settings["complete_joints"] is not None:
        from evalkit_lmbuild.formats import CompletionError
        from evalkit_lmbuild.handing_in import named_completion

        try:
            named_completion(settings["complete_joints"])
        except CompletionError as error:
            raise UsageError(str(error)) from error
    calls = TOOL_CALLS * settings["rounds"]
    if settings["rounds"] > 1 and limits.get("tool_calls", calls) < calls:
        raise UsageError(
            f"{settings['rounds']} rounds have {calls} tool calls and the limit is {limits['tool_calls']:g}; "
            f"add -T limits.tool_calls={calls}"
        )
