"""`stacker`: a wall in running bond in the prompt's colours. It is valid, and nothing else."""

from __future__ import annotations

import re
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
#: LDraw codes of colour words; of greys and browns those of bricks made since 2004.
COLOURS = {
    "black": 0, "blue": 1, "green": 2, "red": 4, "pink": 13, "yellow": 14, "gold": 14, "golden": 14,
    "white": 15, "tan": 19, "sand": 19, "purple": 22, "orange": 25, "lime": 27, "brown": 70, "grey": 71,
    "gray": 71,
}  # fmt: skip
PLAIN = (4, 15)
HALF_STUD_LDU = 10
#: What a tower of a stock can be made of: length and width in studs by part, the largest first.
BRICKS = {
    "3007": (8, 2), "44237": (6, 2), "2456": (6, 2), "3001": (4, 2), "3002": (3, 2), "3003": (2, 2),
    "3008": (8, 1), "3009": (6, 1), "3010": (4, 1), "3622": (3, 1), "3004": (2, 1), "3005": (1, 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Placed:
    """A brick in an LDraw colour, upright, at x, y and z in LDU."""

    part: str
    colour: int
    x: int
    y: int
    z: int = 0

    def line(self) -> str:
        """It as a line of an LDraw file."""
        return f"1 {self.colour} {self.x} {self.y} {self.z} 1 0 0 0 1 0 0 0 1 {self.part}.dat"

    def item(self) -> dict[str, Any]:
        """It as an argument of the tool `place`."""
        return {"item": self.part, "move": [self.x, self.y, self.z], "color": self.colour}


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
        return _tower(stock, colours_of(task["prompt"]))
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


def _tower(stock: Mapping[str, Mapping[str, int]], colours: Sequence[int]) -> list[Placed]:
    """Bricks of a stock on top of one another, flush at one corner, the largest at the bottom.

    They have the prompt's colours if there are bricks in any of these. None reaches out over the lowest one,
    so that the tower stands. A stock without bricks gives one piece: whatever it has first.
    """
    bricks = [(part, code) for part in BRICKS for code in _pieces(stock.get(part, {}), colours)]
    wanted = [brick for brick in bricks if brick[1] in colours] or bricks
    if not wanted:
        return [Placed(part, code, 0, 0) for part in sorted(stock) for code in _pieces(stock[part], colours)][
            :1
        ]
    length, width = BRICKS[wanted[0][0]]
    fitting = [(p, code) for p, code in wanted if BRICKS[p][0] <= length and BRICKS[p][1] <= width]
    return [
        Placed(
            part,
            colour,
            BRICKS[part][0] * HALF_STUD_LDU,
            -level * BRICK_HEIGHT_LDU,
            BRICKS[part][1] * HALF_STUD_LDU,
        )
        for level, (part, colour) in enumerate(fitting[:FEW], 1)
    ]


def _pieces(counts: Mapping[str, int], colours: Sequence[int]) -> list[int]:
    """A colour code for each piece, those in `colours` first and in that order."""
    rank = {colour: place for place, colour in enumerate(colours)}
    codes = sorted(map(int, counts), key=lambda code: (rank.get(code, len(rank)), code))
    return [code for code in codes for _ in range(counts[str(code)])]
