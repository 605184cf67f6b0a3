"""One object as an episode: build with tools, submit, hear a review, revise."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

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
from evalkit_lmbuild.catalogue import Catalogue
from evalkit_lmbuild.prompt import system_prompt
from evalkit_lmbuild.scene import Scene
from evalkit_lmbuild.settings import TOOL_CALLS, settings_of
from evalkit_lmbuild.tasks.pulled import verified_path
from evalkit_lmbuild.tools import (
    Outcome,
    Picture,
    Rules,
    Session,
    ToolSpec,
    arguments_fault,
    call,
    check_report,
    offered,
)
from evalkit_lmbuild.tools import scene_pictures as pictures_of

SYSTEM = "evalkit"
ROUND_BUDGETS = {"checks": 6, "renders": 4, "creates": 30}
CREATES_ALONE = 60
"""Parts to create in a round of tier C."""


class BuildEnvironment:
    """The workshop: a scene, the tools on it, and rounds that submissions end."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings_of(settings)
        self._rules = Rules(
            self._settings.tier,
            self._settings.rounds,
            strict=self._settings.programs == "strict",
            extras=self._settings.inspect_joint,
        )
        self._limits: Mapping[str, float] = {}
        self._scene: Scene
        self._tools = {spec.name: spec for spec in offered(self._rules)}

    def limits(self, limits: Mapping[str, float]) -> None:
        """Hear the episode's limits by counter, before `reset`, so that the prompt can state them."""
        self._limits = limits

    def reset(self, task: Task, seed: int) -> Observation:
        """The prompt, the brief and its picture; the seed changes nothing."""
        self._scene = _new_scene(task, self._rules)
        images: tuple[Image, ...] = ()
        if task.inputs["image"] is not None:
            encoded = task.inputs["image"]
            images = (Image("object.png", lambda: base64.b64decode(encoded)),)
        prompt = system_prompt(self._settings, self._limits, TOOL_CALLS)
        return Observation(task.inputs["brief"]["text"], {"prompt": prompt}, images)

    def tools(self) -> Sequence[Tool]:
        """The tools of the tier."""
        return [_as_tool(spec) for spec in self._tools.values()]

    def step(self, call_: ToolCall, ctx: StepContext) -> StepResult:
        """Carry out a call, unless the round's budget is used up."""
        spec = self._tools[call_.name]
        if not self._scene.over and (refusal := self._past_budget(spec, ctx)) is not None:
            return refusal
        session = Session(self._scene, self._rules, self._budget_left(ctx))
        outcome = call(session, call_.name, call_.arguments)
        if call_.name == "submit" and outcome.data["ok"]:
            return self._submit()
        return StepResult(_observation(outcome), ok=outcome.data["ok"])

    def refusal(self, call: ToolCall, code: str, message: str) -> Mapping[str, Any]:
        """The words for a call that evalkit itself refuses, where the tools' own are."""
        spec = self._tools.get(call.name)
        if code == "arguments" and not call.error and spec is not None:
            fault = arguments_fault(spec.arguments, call.arguments)
            return {"error": message if fault is None else f"{call.name}: {fault}"}
        return {"error": message}

    def feedback(self, verdict: Verdict, execution: Execution | None) -> Observation:
        """After the last submission the end, otherwise a review: check and pictures, free of charge."""
        data: dict[str, Any] = {"ok": True}
        if verdict.violations:
            data["problems"] = [violation.message for violation in verdict.violations]
        if self._scene.over:
            return Observation(data=data | {"episode_done": True}, done=True)
        review = {"check": check_report(self._scene)}
        pictures = pictures_of(self._scene.to_design())
        return _observation(Outcome(data | {"review": review, "next_round": self._scene.round}, pictures))

    def state(self) -> dict[str, Any]:
        """All that the agent has set, and the round."""
        return self._scene.state()

    @classmethod
    def from_state(
        cls, task: Task, state: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> BuildEnvironment:
        """An environment that goes on from a `state()`."""
        environment = cls(settings)
        environment.reset(task, 0)
        environment._scene.restore(state)
        return environment

    @property
    def scene(self) -> Scene:
        """What is built so far."""
        return self._scene

    def _submit(self) -> StepResult:
        """The design as it is; the next round begins, or the episode is over."""
        scene = self._scene
        candidate = Candidate(scene.document(SYSTEM, self._settings.tier))
        if scene.round >= self._settings.rounds:
            scene.over = True
        else:
            scene.round += 1
        return StepResult(Observation(), candidate, done=scene.over)

    def _past_budget(self, spec: ToolSpec, ctx: StepContext) -> StepResult | None:
        """A refusal where the round's calls, or under the paper's budgets its meters, are used up."""
        calls = TOOL_CALLS * self._scene.round
        over = ctx.counters.get("tool_calls", 0) - calls
        if over > 0 and not spec.past_budget:
            why = f"the {calls} tool calls up to round {self._scene.round} are used up; only submit is served"
            return _refusal(why)
        if spec.meter is not None and self._settings.budgets == "round":
            most = self._round_budget(spec.meter) * self._scene.round
            if ctx.counters.get(f"meter:{spec.meter}", 0) > most:
                return _refusal(f"the {most} {spec.meter} up to round {self._scene.round} are used up")
        return None

    def _round_budget(self, meter: str) -> int:
        if meter == "creates" and self._settings.tier == "C":
            return CREATES_ALONE
        return ROUND_BUDGETS[meter]

    def _budget_left(self, ctx: StepContext) -> dict[str, float]:
        """What is left by counter, the calls of this round among them."""
        calls = TOOL_CALLS * self._scene.round - ctx.counters.get("tool_calls", 0)
        return dict(ctx.budget_left) | {"tool_calls": max(0.0, calls)}


def _new_scene(task: Task, rules: Rules) -> Scene:
    """An empty scene with the task's catalogue, where the tier has one."""
    parts = [] if rules.tier == "C" else task.inputs["subpart_pool"]["parts"]
    return Scene(Catalogue.of_entries(parts, verified_path))


def _as_tool(spec: ToolSpec) -> Tool:
    meters = () if spec.meter is None else (spec.meter,)
    return Tool(spec.name, spec.description, spec.arguments, meters, spec.past_budget)


def _refusal(why: str) -> StepResult:
    return StepResult(Observation(data={"ok": False, "error": why}), ok=False)


def _observation(outcome: Outcome) -> Observation:
    return Observation(data=outcome.data, images=tuple(_image(picture) for picture in outcome.pictures))


def _image(picture: Picture) -> Image:
    return Image(picture.name, picture.draw)
