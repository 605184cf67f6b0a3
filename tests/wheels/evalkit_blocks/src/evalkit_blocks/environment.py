"""One stack as an episode: place and remove boxes, check, submit, hear what became of it, revise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from evalkit import (
    Candidate,
    Execution,
    Observation,
    StepContext,
    StepResult,
    Task,
    Tool,
    ToolCall,
    Verdict,
)
from evalkit_blocks.stack import Box, boxes_to_json, margins, settle

MAX_BOXES = 60
MIN_SIDE_M = 0.001


class Placement(BaseModel):
    """Arguments of `place`, in metres."""

    model_config = ConfigDict(extra="forbid", strict=True)

    x: float = Field(ge=-100, le=100, description="Where the middle of the box goes.")
    width: float = Field(ge=MIN_SIDE_M, le=100, description="Width of the box.")
    height: float = Field(ge=MIN_SIDE_M, le=100, description="Height of the box.")


class Removal(BaseModel):
    """Arguments of `remove`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    index: int = Field(description="Number of the box, from 0.")


TOOLS = (
    Tool("place", "Lower one more box onto what is below its middle.", Placement),
    Tool("remove", "Take a box out; those placed after it are lowered anew.", Removal),
    Tool("check", "Measure height and tipping margins of the boxes so far.", meters=("checks",)),
    Tool("submit", "Hand in the stack and have it tested.", past_budget=True),
)


class BlocksEnvironment:
    """The boxes so far, and how often they were handed in."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._task: Task
        self._boxes: list[Box] = []
        self._rounds = 0

    def reset(self, task: Task, seed: int) -> Observation:
        """The task; the seed changes nothing."""
        self._task = task
        self._boxes, self._rounds = [], 0
        text = (
            f"Stack boxes to a height of at least {task.inputs['height_m']:g} m. A box is lowered onto what "
            "is below its middle: the highest box there, or the floor. Boxes must not overlap, and nothing "
            "may tip."
        )
        return Observation(text, {"task": dict(task.inputs), "rounds": self._settings["rounds"]})

    def tools(self) -> Sequence[Tool]:
        """Place, remove, check, submit."""
        return TOOLS

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        """Carry out one call."""
        if call.name == "place":
            return self._place(**call.arguments)
        if call.name == "remove":
            return self._remove(call.arguments["index"])
        if call.name == "check":
            left = ctx.budget_left.get("meter:checks")
            return StepResult(Observation(data=self._measures() | {"checks_left": left}))
        self._rounds += 1
        return StepResult(Observation(), Candidate(boxes_to_json(self._boxes)))

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """What is wrong with the stack, or what happened to it."""
        last = self._rounds >= self._settings["rounds"]
        if execution is None:
            listed = [{"code": v.code, "message": v.message, "ids": list(v.ids)} for v in verdict.violations]
            return Observation("The stack breaks rules.", {"violations": listed}, done=last)
        if execution.success:
            return Observation("It stands.", dict(execution.data), done=True)
        return Observation("It doesn't do.", dict(execution.data), done=last)

    def state(self) -> dict[str, Any]:
        """Boxes and rounds."""
        return boxes_to_json(self._boxes) | {"rounds": self._rounds}

    @classmethod
    def from_state(
        cls, task: Task, state: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> BlocksEnvironment:
        """An environment that goes on from a `state()`."""
        environment = cls(settings)
        environment.reset(task, 0)
        environment._boxes = [Box(*box) for box in state["boxes"]]
        environment._rounds = state["rounds"]
        return environment

    def _place(self, x: float, width: float, height: float) -> StepResult:
        if len(self._boxes) == MAX_BOXES:
            return _mistake("full", f"a stack has at most {MAX_BOXES} boxes; remove one first")
        self._boxes.append(Box(float(x), float(width), float(height)))
        return StepResult(Observation(data=self._placed()))

    def _remove(self, index: int) -> StepResult:
        if not 0 <= index < len(self._boxes):
            return _mistake("no_such_box", f"there is no box {index}; there are {len(self._boxes)}")
        del self._boxes[index]
        return StepResult(Observation(data=self._placed()))

    def _placed(self) -> dict[str, Any]:
        stack = settle(self._boxes)
        return {"ok": True, "boxes": len(self._boxes), "height_m": round(stack.height, 6)}

    def _measures(self) -> dict[str, Any]:
        return self._placed() | {"margins_m": [round(m, 6) for m in margins(settle(self._boxes))]}


def _mistake(code: str, message: str) -> StepResult:
    return StepResult(Observation(data={"ok": False, "code": code, "message": message}), ok=False)
