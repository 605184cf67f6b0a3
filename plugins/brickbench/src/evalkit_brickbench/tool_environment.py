"""One build call by call, for models that can't run code: tools place parts, check, draw and submit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import (
    Execution,
    Image,
    Observation,
    StepContext,
    StepResult,
    Task,
    Tool,
    ToolCall,
    UsageError,
    Verdict,
)
from evalkit_brickbench.brief import task_text
from evalkit_brickbench.designs import candidate_of
from evalkit_brickbench.guide import tools_text
from evalkit_brickbench.kit.runner import MODEL
from evalkit_brickbench.settings import settings_of
from evalkit_brickbench.toolbox.arguments import TOOLS
from evalkit_brickbench.toolbox.session import Answer, ToolSession

SUBMIT = "submit"
WARN_TURNS = 20
"""From so few replies left on, every answer says how many."""


class BrickTools:
    """The task, and what was built so far; the first model that is submitted ends the episode."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)
        if self._settings.kit != "library":
            raise UsageError("kit=ldraw is for suites that are played in a folder, such as brickbench.model")
        self._session = ToolSession({}, self._settings.profile)
        self._submitted = False
        self._replies: float | None = None

    def limits(self, limits: Mapping[str, float]) -> None:
        """Hear the episode's limits by counter, before `reset`, so that the first message can say them."""
        self._replies = limits.get("calls")

    def reset(self, task: Task, seed: int) -> Observation:
        """The guide, the prompt and the part rules; the seed changes nothing."""
        from evalkit_brickbench.collisions import PROFILES

        self._session = ToolSession(task.inputs, self._settings.profile)
        self._submitted = False
        depth = PROFILES[self._settings.profile].depth_ldu
        inputs = dict(task.inputs)
        text = task_text(inputs, depth)
        if self._replies is not None:
            text += f"\nYou have {self._replies:g} replies. What isn't submitted by then doesn't count.\n"
        return Observation(text, {"prompt": tools_text(), "task": inputs})

    def tools(self) -> Sequence[Tool]:
        """All tools; `submit` is served also when no other call is left."""
        return [
            Tool(name, spec.summary, spec.arguments, past_budget=name == SUBMIT)
            for name, spec in TOOLS.items()
        ]

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        """Carry out a call."""
        answer = self._session.call(call.name, call.arguments)
        if answer.model is not None:
            self._submitted = True
            return StepResult(Observation(), candidate_of(MODEL, answer.model))
        return StepResult(_observation(answer, ctx), ok=not answer.mistake)

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """Whether what was submitted keeps the rules; it is the end."""
        return Observation(data={"ok": True, "valid": verdict.valid}, done=True)

    def state(self) -> dict[str, Any]:
        """Everything that was placed, exactly."""
        return {**self._session.state(), "submitted": self._submitted}

    @classmethod
    def from_state(cls, task: Task, state: Mapping[str, Any], settings: Mapping[str, Any]) -> BrickTools:
        """An environment that goes on from a `state()`."""
        environment = cls(settings)
        environment.reset(task, 0)
        environment._session = ToolSession.of_state(task.inputs, state, environment._settings.profile)
        environment._submitted = state["submitted"]
        return environment


def _observation(answer: Answer, ctx: StepContext) -> Observation:
    data = dict(answer.data)
    left = ctx.budget_left.get("calls")
    if left is not None and left <= WARN_TURNS:
        data["replies_left"] = int(left)
    images = () if answer.picture is None else (Image("view.png", answer.picture),)
    return Observation(answer.text, data, images)
