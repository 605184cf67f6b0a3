"""evalkit evaluates agents that build physical things, and judges the thing by whether it works.

The names below are the public API for plugins; each is imported when it is first used. The subpackages
`evalkit.data`, `evalkit.hookspecs`, `evalkit.models`, `evalkit.render3d`, `evalkit.report`,
`evalkit.sandbox`, `evalkit.stats` and `evalkit.testing` are public as well.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalkit.agents.models import Dialogue, TextToolsAgent, ToolsAgent
    from evalkit.canonical import canonical_json, sha256_of
    from evalkit.errors import EvalkitError, ExitCode, UnknownNameError, UsageError
    from evalkit.types import (
        Agent,
        Artifact,
        Brief,
        Candidate,
        Delivery,
        Environment,
        Episode,
        EpisodeKey,
        Execution,
        Executor,
        Image,
        Metric,
        Observation,
        Reply,
        RunMetric,
        Score,
        StepContext,
        StepResult,
        Stop,
        Task,
        Tool,
        ToolCall,
        Turn,
        Validator,
        Verdict,
        Violation,
        WorkspaceAgent,
        WorkspaceEnvironment,
    )

__all__ = [
    "Agent",
    "Artifact",
    "Brief",
    "Candidate",
    "Delivery",
    "Dialogue",
    "Environment",
    "Episode",
    "EpisodeKey",
    "EvalkitError",
    "Execution",
    "Executor",
    "ExitCode",
    "Image",
    "Metric",
    "Observation",
    "Reply",
    "RunMetric",
    "Score",
    "StepContext",
    "StepResult",
    "Stop",
    "Task",
    "TextToolsAgent",
    "Tool",
    "ToolCall",
    "ToolsAgent",
    "Turn",
    "UnknownNameError",
    "UsageError",
    "Validator",
    "Verdict",
    "Violation",
    "WorkspaceAgent",
    "WorkspaceEnvironment",
    "canonical_json",
    "sha256_of",
]

_ELSEWHERE = {
    "Dialogue": "evalkit.agents.models",
    "TextToolsAgent": "evalkit.agents.models",
    "ToolsAgent": "evalkit.agents.models",
    "EvalkitError": "evalkit.errors",
    "ExitCode": "evalkit.errors",
    "UnknownNameError": "evalkit.errors",
    "UsageError": "evalkit.errors",
    "canonical_json": "evalkit.canonical",
    "sha256_of": "evalkit.canonical",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'evalkit' has no attribute {name!r}")
    value = getattr(importlib.import_module(_ELSEWHERE.get(name, "evalkit.types")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
