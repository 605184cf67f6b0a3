"""The protocol's settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class BlocksSettings(BaseModel):
    """Whatever changes what an agent sees or what counts."""

    model_config = ConfigDict(extra="forbid", strict=True)

    rounds: int = Field(default=3, ge=1, le=10)
    """How often a stack may be submitted."""
    margin_m: float = Field(default=0.01, ge=0.0, le=1.0)
    """How far every box has to stay from tipping over."""
