"""What stands between the walk and a plugin's environment, of either kind, and looks at what passes."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from evalkit.testing._contracts import checked_observation, checked_result
from evalkit.types import (
    Brief,
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


class Watched:
    """An environment, for calls or for a workspace, that passes everything on to another one."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def reset(self, task: Task, seed: int) -> Observation:
        """Passed on."""
        observation: Observation = self.inner.reset(task, seed)
        return observation

    def tools(self) -> Sequence[Tool]:
        """Passed on."""
        tools: Sequence[Tool] = self.inner.tools()
        return tools

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        """Passed on."""
        result: StepResult = self.inner.step(call, ctx)
        return result

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """Passed on."""
        observation: Observation = self.inner.feedback(verdict, execution)
        return observation

    def state(self) -> dict[str, Any]:
        """Passed on."""
        state: dict[str, Any] = self.inner.state()
        return state

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        """Passed on."""
        brief: Brief = self.inner.prepare(folder, task, seed)
        return brief

    def collect(self, folder: Path) -> StepResult:
        """Passed on."""
        result: StepResult = self.inner.collect(folder)
        return result


class Spy(Watched):
    """Keeps the objects that a record holds only as JSON, and what `prepare` wrote."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.candidates: list[Candidate] = []
        self.contexts: list[StepContext] = []
        self.states: list[Any] = []
        self.brief: dict[str, Any] = {}
        self.files: dict[str, Any] = {}

    def reset(self, task: Task, seed: int) -> Observation:
        return checked_observation("reset", super().reset(task, seed))

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        self.contexts.append(ctx)
        return self._keep("step", super().step(call, ctx))

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        return checked_observation("feedback", super().feedback(verdict, execution))

    def state(self) -> dict[str, Any]:
        self.states.append(super().state())
        found: dict[str, Any] = self.states[-1]
        return found

    def prepare(self, folder: Path, task: Task, seed: int) -> Brief:
        brief = super().prepare(folder, task, seed)
        if isinstance(brief, Brief):
            self.brief = {field.name: getattr(brief, field.name) for field in fields(brief)}
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            self.files[path.relative_to(folder).as_posix()] = _content(path.read_bytes())
        return brief

    def collect(self, folder: Path) -> StepResult:
        return self._keep("collect", super().collect(folder))

    def _keep(self, method: str, found: Any) -> StepResult:
        result = checked_result(method, found)
        if result.candidate is not None:
            self.candidates.append(copy.deepcopy(result.candidate))  # as it was before anybody got it
        return result


def _content(data: bytes) -> Any:
    """A file as JSON if it is that, otherwise as text, so that values in it can be found."""
    text = data.decode("utf-8", errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
