"""What is to be built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to build.

    `inputs` is all that an agent may learn, and only through the environment's observations; `hidden`
    (reference, family, tags) is for metrics, executors and reports. Both are JSON values.
    """

    id: str
    inputs: Mapping[str, Any]
    hidden: Mapping[str, Any] = field(default_factory=dict)
