"""Agents that need no model."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import Brief, Observation, Reply, StepContext, Stop, Tool, ToolCall


class _Builder:
    """Makes the calls of `build`, one after the other."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._calls: Iterator[ToolCall] | None = None
        self._random = random.Random(0)

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new stack."""
        self._calls, self._random = None, random.Random(seed)

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next call."""
        if self._calls is None:
            self._calls = self.build(observation.data["task"], observation.data["rounds"])
        call = next(self._calls, None)
        return Stop("nothing left to try") if call is None else Reply((call,))

    def build(self, task: Mapping[str, float], rounds: int) -> Iterator[ToolCall]:
        """The calls for a task."""
        raise NotImplementedError


class TowerAgent(_Builder):
    """Stacks equal boxes straight up, as wide as the material allows."""

    def build(self, task: Mapping[str, float], rounds: int) -> Iterator[ToolCall]:
        """Place, check, submit."""
        count = math.ceil(task["height_m"] / task["max_height_m"] - 1e-9)
        width = min(task["max_width_m"], task["area_m2"] / task["height_m"])
        for _ in range(count):
            yield place(0.0, width, task["height_m"] / count)
        yield ToolCall("check")
        yield ToolCall("submit")


class RandomAgent(_Builder):
    """Boxes of random sizes, placed in a random walk; begins anew in every round."""

    def build(self, task: Mapping[str, float], rounds: int) -> Iterator[ToolCall]:
        """As many boxes as it takes, then submit; tear down, and again."""
        for _ in range(rounds):
            x, height, count = 0.0, 0.0, 0
            widest = min(task["max_width_m"], task["area_m2"] / task["height_m"])
            while height < task["height_m"]:
                box_height = task["max_height_m"] * self._random.uniform(0.5, 1.0)
                width = widest * self._random.uniform(0.7, 1.0)
                x = x + width * self._random.uniform(-0.45, 0.45)
                yield place(x, width, box_height)
                height, count = height + box_height, count + 1
            yield ToolCall("submit")
            for _ in range(count):
                yield ToolCall("remove", {"index": 0})


class WriterAgent:
    """The tower's boxes, written into a workspace."""

    limits: Mapping[str, float] = {}

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Any) -> None:
        """Write `stack.json`."""
        calls = TowerAgent("", self._settings).build(brief.data["task"], 1)
        places = [call.arguments for call in calls if call.name == "place"]
        boxes = [[p["x"], p["width"], p["height"]] for p in places]
        (folder / "stack.json").write_text(json.dumps({"boxes": boxes}))

    def spent(self) -> Mapping[str, float]:
        """Nothing."""
        return {}


def place(x: float, width: float, height: float) -> ToolCall:
    """A call of `place`, all in metres, to a tenth of a millimetre."""
    width, height = math.floor(width * 1e4) / 1e4, math.ceil(height * 1e4) / 1e4
    return ToolCall("place", {"x": round(x, 4), "width": width, "height": height})
