"""One level as an episode: propose a complete bridge, hear what became of it, propose again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict

from evalkit import (
    Candidate,
    Execution,
    Image,
    Observation,
    StepContext,
    StepResult,
    Task,
    Tool,
    ToolCall,
    Verdict,
)
from evalkit_polybridge.constants import (
    CUTOFF_RULE,
    FRAMES_PER_SECOND,
    MAX_CALLS,
    MAX_PHYSICS_ATTEMPTS,
    WINDOW_S,
)
from evalkit_polybridge.contract import Parser, parse_reply
from evalkit_polybridge.designs import bridge_from_json, bridge_to_json, level_from_inputs
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.graph import Bridge, Level
from evalkit_polybridge.prompt import Situation, system_prompt, turn_message
from evalkit_polybridge.savefile import to_document
from evalkit_polybridge.specs import NATIVE
from evalkit_polybridge.violations import to_violation


class Proposal(BaseModel):
    """Arguments of `propose`."""

    model_config = ConfigDict(extra="forbid")

    text: str
    """The reply: one JSON object with the complete design."""


PROPOSE = Tool("propose", "Answer with a complete bridge as one raw JSON object.", Proposal)


class BridgeEnvironment:
    """The editor: holds the last design that was loaded, and the draft that was refused, if one was."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._parser: Parser = settings["parser"]
        self.told = Feedback.of(settings)
        self._level: Level
        self._save: Bridge
        self._draft = ""
        self._calls, self._attempts = 0, 0
        self._max_calls: int | None = MAX_CALLS
        self._max_attempts: int | None = MAX_PHYSICS_ATTEMPTS

    def limits(self, limits: Mapping[str, float]) -> None:
        """Hear the episode's limits by counter, before `reset`, so that the first message can state them.

        An environment that is told none states those of the reported protocol until a step tells it.
        """
        self._max_calls = _least(limits, "calls", "tool_calls")
        self._max_attempts = _least(limits, "executions")

    def reset(self, task: Task, seed: int) -> Observation:
        """The prompt, the context, the native save and the editor image; the seed changes nothing."""
        self._level = level_from_inputs(task.inputs)
        self._context = task.inputs["context"]
        self._save = self._level.empty_bridge()
        self._draft = ""
        self._calls, self._attempts = 0, 0
        return self._observe("start")

    def tools(self) -> Sequence[Tool]:
        """The one tool: `propose(text)`."""
        return (PROPOSE,)

    def step(self, call: ToolCall, ctx: StepContext) -> StepResult:
        """Read a reply; whether its design is legal is the validator's business."""
        self._count(ctx)
        self._draft = call.arguments["text"]
        reply = parse_reply(self._draft, parser=self._parser)
        violations = tuple(to_violation(problem) for problem in reply.problems)
        candidate = None if reply.bridge is None else Candidate(bridge_to_json(reply.bridge))
        if candidate is not None:
            self._proposed = candidate
        return StepResult(Observation(), candidate, violations)

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """After a refusal the draft and the validator's words; after a failed run what a player would see."""
        if execution is None:
            return self._observe("rejected", feedback=self._refusal(verdict))
        self._attempts += 1
        self._save = bridge_from_json(self._proposed.data)
        self._draft = ""
        if execution.success:
            return Observation(data={"feedback": {"kind": "success"}}, done=True)
        return self._observe("failed", feedback=self._failure(execution), film=_Film(self, execution))

    def state(self) -> dict[str, Any]:
        """The design that is loaded, the draft that was refused, what was used and how much there is."""
        return {
            "save": bridge_to_json(self._save),
            "draft": self._draft,
            "calls": self._calls,
            "max_calls": self._max_calls,
            "attempts": self._attempts,
            "max_attempts": self._max_attempts,
        }

    @classmethod
    def from_state(
        cls, task: Task, state: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> BridgeEnvironment:
        """An environment that goes on from a `state()`."""
        environment = cls(settings)
        environment.reset(task, 0)
        environment._save = bridge_from_json(state["save"])
        environment._draft = state["draft"]
        environment._calls, environment._max_calls = state["calls"], state["max_calls"]
        environment._attempts, environment._max_attempts = state["attempts"], state["max_attempts"]
        return environment

    @property
    def level(self) -> Level:
        """The level being played."""
        return self._level

    @property
    def loaded(self) -> Bridge:
        """The design in the editor."""
        return self._save

    def _count(self, ctx: StepContext) -> None:
        """Take over what the episode has used and may use; calls that never reach a step count too.

        A context without counters, as in a notebook, counts steps.
        """
        self._calls = int(ctx.counters.get("tool_calls", self._calls + 1))
        self._attempts = int(ctx.counters.get("executions", self._attempts))
        if ctx.counters:
            left = _least(ctx.budget_left, "calls", "tool_calls")
            self._max_calls = None if left is None else self._calls + left
            left = _least(ctx.budget_left, "executions")
            self._max_attempts = None if left is None else self._attempts + left

    def _observe(
        self,
        situation: Situation,
        *,
        feedback: Mapping[str, Any] | None = None,
        film: _Film | None = None,
    ) -> Observation:
        level, save = self._level, self._save
        text = turn_message(
            level,
            self._calls + 1 if self._max_calls is None else min(self._calls + 1, self._max_calls),
            physics_attempts=self._attempts,
            situation=situation,
            max_calls=self._max_calls,
            max_physics_attempts=self._max_attempts,
            feedback=self.told if film is None or feedback is None else self._sheet(feedback),
        )
        # a prompt begins a conversation, so with one in every message there is no history
        begins = situation == "start" or not self.told.history
        data: dict[str, Any] = {"prompt": self._prompt()} if begins else {}
        shown = save if self.told.topology else level.empty_bridge()
        data |= {"context": self._context, "save": to_document(shown, level.name)}
        if feedback is not None:
            data["feedback"] = feedback
        images = [Image("editor.png", lambda: _editor(level, save))]
        if film is not None and self.told.frames:
            images.append(Image("contact_sheet.png", film.contact_sheet))
        return Observation(text, data, tuple(images))

    def _prompt(self) -> str:
        skill, offset_m = self._settings["skill"], self._settings["region_offset_m"]
        return system_prompt(self._level, skill=skill, region_offset_m=offset_m, feedback=self.told)

    def _sheet(self, feedback: Mapping[str, Any]) -> Feedback:
        """The feedback with as many frames as a short film has."""
        return replace(self.told, frames=len(feedback["selected_timestamps_s"]))

    def _refusal(self, verdict: Verdict) -> dict[str, Any]:
        listed = [
            {"code": v.code, "message": v.message, "ids": list(v.ids), "advisory": v.advisory}
            for v in verdict.violations
        ]
        return {"kind": "rejected", "violations": listed, "draft": self._draft}

    def _failure(self, execution: Execution) -> dict[str, Any]:
        """What the protocol tells of a failed run, and nothing else from the simulator."""
        lost_s = execution.data["lost_s"]
        times = execution.data.get("frame_times_s") or frame_times_s(lost_s)
        from evalkit_polybridge.frames import select

        told = self.told
        chosen = select(len(times), told.frames, told.choice) if told.frames else []
        return {
            "kind": "failure_or_timeout",
            "duration_s": times[-1],
            "detector": execution.executor,
            "selected_timestamps_s": [times[i] for i in chosen],
            "cutoff": {"rule": CUTOFF_RULE, "applied": lost_s is not None},
        }


def frame_times_s(lost_s: float | None) -> list[float]:
    """When the frames of a run were taken: to the end of the window, or to the first with the marker."""
    times = [i / FRAMES_PER_SECOND for i in range(int(WINDOW_S * FRAMES_PER_SECOND) + 1)]
    if lost_s is None:
        return times
    return [t for t in times if t < lost_s] + [t for t in times if t >= lost_s][:1]


def _least(limits: Mapping[str, float], *names: str) -> int | None:
    """The least of these limits, or None if there is none."""
    return min((math.ceil(limits[name]) for name in names if name in limits), default=None)


class _Film:
    """The frames of a run, taken from the execution or, if nobody had asked for them, from a second run.

    Of a run of the game there is no second one: its frames are those that its execution kept.
    """

    def __init__(self, environment: BridgeEnvironment, execution: Execution) -> None:
        self._level, self._bridge = environment.level, environment.loaded
        self._execution = execution
        self._told = environment.told

    def contact_sheet(self) -> bytes:
        """PNG of the selected frames."""
        if self._execution.executor == NATIVE.id:
            from evalkit_polybridge.native import film as game_film

            return game_film.contact_sheet(self._execution, self._told.frames, self._told.choice)
        from evalkit_polybridge.frames import contact_sheet
        from evalkit_polybridge.physics import Frame, simulate

        frames = self._execution.replay
        if not isinstance(frames, tuple):
            frames = simulate(self._level, self._bridge, frames=True).frames
        film: tuple[Frame, ...] = frames or ()
        count, choice = self._told.frames, self._told.choice
        return contact_sheet(self._level, self._bridge, film, count=count, choice=choice)


def _editor(level: Level, bridge: Bridge) -> bytes:
    from evalkit_polybridge.editor import editor_image

    return editor_image(level, bridge)
