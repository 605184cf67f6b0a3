"""The things on the walk: what environments, agents, validators, executors and metrics exchange."""

from evalkit.types.action import Reply, Stop, Tool, ToolCall
from evalkit.types.candidate import Artifact, Candidate, Execution, Verdict, Violation
from evalkit.types.contracts import (
    Agent,
    Environment,
    Executor,
    Metric,
    RunMetric,
    Validator,
    WorkspaceAgent,
    WorkspaceEnvironment,
)
from evalkit.types.observation import Image, Observation, StepContext, StepResult
from evalkit.types.record import Episode, EpisodeKey, Event, Score, Turn
from evalkit.types.task import Task
from evalkit.types.workspace import Brief, Delivery

__all__ = [
    "Agent",
    "Artifact",
    "Brief",
    "Candidate",
    "Delivery",
    "Environment",
    "Episode",
    "EpisodeKey",
    "Event",
    "Execution",
    "Executor",
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
    "Tool",
    "ToolCall",
    "Turn",
    "Validator",
    "Verdict",
    "Violation",
    "WorkspaceAgent",
    "WorkspaceEnvironment",
]
