"""`stacker`: a wall in running bond in the prompt's colours. It is valid, and nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit import Brief, Observation, Reply, StepContext, Stop, Tool, ToolCall

MODEL = "model.mpd"
BRICK = "3001"
BRICK_HEIGHT_LDU = 24
BRICK_LENGTH_LDU = 80
BRICKS_A_COURSE = 20
FEW = 24
BATCH = 100
"""So many items a call of `place` may have."""
#: LDraw codes of colour words.
COLOURS = {
    "black": 0, "blue": 1, "green": 2, "red": 4, "brown": 6, "grey": 7, "gray": 7, "pink": 13, "yellow": 14,
    "gold": 14, "golden": 14, "white": 15, "tan": 19, "sand": 19, "purple": 22, "orange": 25,
}  # fmt: skip
PLAIN = (4, 15)
#: What a wall of a stock can be made of: length and width in studs by part, longest first.
BRICKS = {
    "3007": (8, 2), "44237": (6, 2), "2456": (6, 2), "3001": (4, 2), "3002": (3, 2), "3003": (2, 2),
    "3009": (6, 1), "3010": (4, 1), "3622": (3, 1), "3004": (2, 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placed:
    """A brick in an LDraw colour, upright, at x and y in LDU."""

    part: str
    colour: int
    x: int
    y: int

    def line(self) -> str:
        """It as a line of an LDraw file."""
        return f"1 {self.colour} {self.x} {self.y} 0 1 0 0 0 1 0 0 0 1 {self.part}.dat"

    def item(self) -> dict[str, Any]:
        """It as an argument of the tool `place`."""
        return {"item": self.part, "move": [self.x, self.y, 0], "color": self.colour}


class StackerAgent:
    """Builds from the rules and the colour words of the prompt: writes `model.mpd`, or calls tools."""

    limits: Mapping[str, float] = {}

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._done = False

    def work(self, folder: Path, brief: Brief, ctx: StepContext, record: Any) -> None:
        """Write the file."""
        lines = [brick.line() for brick in bricks_for(brief.data["task"])]
        text = "\r\n".join([f"0 FILE {MODEL}", "0 Wall", f"0 Name: {MODEL}", *lines, "0 NOFILE", ""])
        (folder / MODEL).write_bytes(text.encode())

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """Nothing is built yet."""
        self._done = False

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """Place everything and submit it, all in one reply."""
        if self._done:
            return Stop("it was submitted")
        self._done = True
        items = [brick.item() for brick in bricks_for(observation.data["task"])]
        batches = [items[i : i + BATCH] for i in range(0, len(items), BATCH)]
        places = [ToolCall("place", {"items": batch}) for batch in batches]
        return Reply((*places, ToolCall("submit", {})))

    def spent(self) -> Mapping[str, float]:
        """Nothing."""
        return {}


def bricks_for(task: Mapping[str, Any]) -> list[Placed]:
    """What is built for a task: a tower from its stock if it has one, a wall otherwise."""
    rules = task.get("part_rules", {})
    stock = rules.get("stock")
    if stock is not None:
        return _tower(stock)
    return _wall(max(FEW, rules.get("min_parts", 0)), colours_of(task["prompt"]))


def colours_of(prompt: str) -> tuple[int, ...]:
    """LDraw codes of the colour words in a text, in their order; red and white if there is none."""
    words = re.findall(r"[a-z]+", prompt.lower())
    return tuple(dict.fromkeys(COLOURS[word] for word in words if word in COLOURS)) or PLAIN


def _wall(count: int, colours: tuple[int, ...]) -> list[Placed]:
    """At least `count` bricks of 2 × 4 in courses shifted by half a brick, a colour for each course."""
    length = min(BRICKS_A_COURSE, max(3, round(count**0.5)))
    bricks: list[Placed] = []
    course = 0
    while len(bricks) < count:
        shift = BRICK_LENGTH_LDU // 2 if course % 2 else 0
        colour = colours[course % len(colours)]
        for place in range(length):
            x, y = place * BRICK_LENGTH_LDU + shift, -(course + 1) * BRICK_HEIGHT_LDU
            bricks.append(Placed(BRICK, colour, x, y))
        course += 1
    return bricks


def _tower(stock: Mapping[str, Mapping[str, int]]) -> list[Placed]:
    """Every brick of one width, the widest and longest first, on top of one another by one end."""
    pieces: Counter[str] = Counter()
    colours: dict[str, list[int]] = {}
    for part in BRICKS:
        for code, count in sorted(stock.get(part, {}).items()):
            pieces[part] += count
            colours.setdefault(part, []).extend([int(code)] * count)
    chosen = [(part, colour) for part in BRICKS for colour in colours.get(part, [])][:FEW]
    return [
        Placed(part, colour, 0, -level * BRICK_HEIGHT_LDU) for level, (part, colour) in enumerate(chosen, 1)
    ]
