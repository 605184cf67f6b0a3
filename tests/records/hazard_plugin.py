"""A benchmark whose episodes can be made to misbehave: adding numbers up to a goal.

A task's `hazard` says what happens at the second call of its episode; `HAZARD_JOURNAL` names a file to which
every episode appends its task's id when it starts.
"""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evalkit import (
    Candidate,
    Execution,
    Observation,
    Reply,
    Score,
    StepResult,
    Stop,
    Task,
    Tool,
    ToolCall,
    Violation,
)
from evalkit.hookspecs import (
    AgentSpec,
    BenchmarkSpec,
    EnvironmentSpec,
    ExecutorSpec,
    MetricSpec,
    ValidatorSpec,
    hookimpl,
)

ME = "hazard_plugin"


@hookimpl
def evalkit_benchmarks():
    return [BenchmarkSpec("hazard", "Sums that can go wrong", f"{ME}:load", settings=f"{ME}:Settings")]


@hookimpl
def evalkit_suites():
    return Path(os.environ["HAZARD_SUITES"])


@hookimpl
def evalkit_environment(benchmark, variant):
    return EnvironmentSpec(f"{ME}:Sums") if benchmark == "hazard" else None


@hookimpl
def evalkit_validators(benchmark):
    return [ValidatorSpec("hazard.small", f"{ME}:Small", "1")] if benchmark == "hazard" else []


@hookimpl
def evalkit_executors(benchmark):
    return [ExecutorSpec("hazard.total", f"{ME}:Total", "1")] if benchmark == "hazard" else []


@hookimpl
def evalkit_metrics(benchmark):
    if benchmark != "hazard":
        return []
    return [
        MetricSpec("hazard.hit", f"{ME}:Hit", "Hit", "the sum is the goal"),
        MetricSpec("hazard.picky", f"{ME}:Picky", "Picky", "a metric that fails on tasks named so"),
    ]


@hookimpl
def evalkit_agents():
    return [
        AgentSpec("adder", f"{ME}:Adder", "adds ones", ("hazard",)),
        AgentSpec("doubler", f"{ME}:Doubler", "adds twos", ("hazard",)),
    ]


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    step_s: float = 0.0


def load(block, settings):
    hazards = block.get("hazards", {})
    names = [f"t{n:05d}" for n in range(block.get("count", 6))]
    return [Task(n, {"goal": 2 + i % 3, "hazard": hazards.get(n, "")}) for i, n in enumerate(names)]


class Add(BaseModel):
    model_config = ConfigDict(extra="forbid")

    number: int


class Sums:
    def __init__(self, settings):
        self.settings = settings

    def reset(self, task, seed):
        self.task, self.total, self.calls = task, 0, 0
        self.shift = seed % 7
        if path := os.environ.get("HAZARD_JOURNAL"):
            with open(path, "a") as file:
                file.write(f"{task.id}\n")
        return Observation(f"reach {task.inputs['goal']}", {"shift": self.shift})

    def tools(self):
        return [Tool("add", "Add a number.", Add, meters=("adds",)), Tool("submit", "Done.")]

    def step(self, call, ctx):
        self.calls += 1
        time.sleep(self.settings["step_s"])
        if self.calls == 2:
            happen(self.task.inputs["hazard"])
        if call.name == "submit":
            return StepResult(Observation(), Candidate({"total": self.total, "pad": "x" * 3000}))
        self.total += call.arguments["number"]
        return StepResult(Observation(f"{self.total}"))

    def feedback(self, verdict, execution):
        if execution is None:
            return Observation("too big", done=True)
        return Observation("yes" if execution.success else "no", dict(execution.data), done=True)

    def state(self):
        return {"total": self.total + int(os.environ.get("HAZARD_DRIFT", "0")), "calls": self.calls}

    @classmethod
    def from_state(cls, task, state, settings):
        sums = cls(settings)
        sums.reset(task, 0)
        sums.total, sums.calls = state["total"], state["calls"]
        return sums


def happen(hazard):
    if hazard == "hang":
        time.sleep(600)
    elif hazard == "exit":
        os._exit(7)
    elif hazard == "quiet-exit":
        os._exit(0)
    elif hazard == "segfault":
        ctypes.string_at(0)
    elif hazard == "memory":
        blocks = []
        while True:
            blocks.append(b"\1" * 20_000_000)
            time.sleep(0.02)
    elif hazard == "raise":
        raise RuntimeError("the environment broke")


class Small:
    def __init__(self, settings):
        pass

    def validate(self, task, candidate):
        total = candidate.data["total"]
        return [Violation("big", "use a smaller sum", value=total, limit=3)] if total > 3 else []


class Total:
    def __init__(self, settings):
        pass

    def constants(self):
        return {"unit": int(os.environ.get("HAZARD_UNIT", "1"))}

    def execute(self, task, candidate, *, pictures):
        if task.inputs["hazard"] == "executor":
            raise RuntimeError("the executor broke")
        total = candidate.data["total"] * self.constants()["unit"]
        return Execution(total == task.inputs["goal"], {"total": total})


class Hit:
    def __init__(self, settings):
        pass

    def measure(self, episode, task):
        return Score(float(any(e["success"] for e in episode.of("execution"))))


class Picky:
    def __init__(self, settings):
        pass

    def measure(self, episode, task):
        if task.inputs["hazard"] == "scorer":
            raise ValueError("this episode can't be scored")
        return Score(1.0)


class Adder:
    step = 1

    def __init__(self, argument, settings):
        pass

    def start(self, tools, seed):
        self.calls = 0

    def act(self, observation, ctx):
        self.calls += 1
        if self.calls > 3:
            return Stop("done")
        return Reply((ToolCall("submit") if self.calls == 3 else ToolCall("add", {"number": self.step}),))


class Doubler(Adder):
    step = 2
