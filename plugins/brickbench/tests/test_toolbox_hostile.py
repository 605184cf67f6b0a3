"""Calls that nobody means: each is an answer or a mistake, and what isn't carried out changes nothing."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pydantic import ValidationError

from evalkit_brickbench.toolbox.arguments import TOOLS
from evalkit_brickbench.toolbox.session import ToolSession

CALLS = 150
THINGS = (
    *(
        "3001",
        "brick 2x4",
        "3815b",
        "60616a",
        "technic axle 6",
        "3062b",
        "41769",
        "3068bpb0001",
        "brick",
        "1",
    ),
    *("model", "w1", "w2", "p1", "p2", "p3", "a4", "a5/p1", "p1/p1/p1", "p99999999", "p0", "3001.dat"),
    *("p1.stud[0]", "p2.hole[0]", "p3.stud[-1]", "model.stud[3]", "w1.hole[0]", "a4/p2.tube[0]"),
    *(
        "p1.stud[99999]",
        "model.model[0]",
        "..stud[0]",
        "]",
        "a" * 50 + "[0]",
        "",
        "x" * 99,
        "\ud800\x00",
        "../x",
    ),
)
NUMBERS = (0, -0.0, 1, -1, 0.5, 1e-300, 49_999.0, -50_000.0, 3, 20, 8, 1e-12)
COLOURS = ("red", 4, "#00ff00", 16, 24, -1, 2**63, 2**31, 0x2FFFFFF, "purple-ish", "", 10**30, True)
NAMES = ("model", "w1", "w2", "W1", "m1", "m1 2", "p1", "nope")


class _Mischief:
    """Draws arguments that mostly pass the schemas."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def call(self) -> tuple[str, dict[str, Any]]:
        tool = self._random.choice([*TOOLS, *("place", "join", "new_assembly") * 2])
        names = TOOLS[tool].arguments.model_fields
        fields = {name: self._value(tool, name) for name in names if self._random.random() < 0.8}
        return tool, fields

    def _value(self, tool: str, name: str) -> Any:
        pick = self._random.choice
        if name == "items":
            return [self._item() for _ in range(pick([1, 1, 1, 3, 30]))]
        if name in ("at", "move", "near") and tool != "mirror":
            return [pick(NUMBERS) for _ in range(3)]
        if name == "ids":
            return [pick([pick(THINGS), f"p{self._random.randint(1, 30)}"]) for _ in range(pick([1, 1, 3]))]
        choices: dict[str, Any] = {
            "color": COLOURS,
            "axis": "xyz",
            "about": "xyz",
            "kind": ("", "stud", "hole", "nope"),
            "side": (None, 0, 7, 8),
            "by": ("", "hole[0]", "stud[0]", "p1.hole[0]", "tube[0]"),
            "query": THINGS,
            "limit": (1, 40, 41),
            "start": (0, 5, 100_000),
            **dict.fromkeys(("name", "assembly", "into"), NAMES),
            **dict.fromkeys(("flip", "seat", "decorated"), (True, False)),
            **dict.fromkeys(("thing", "other", "to", "item"), THINGS),
        }
        return pick(choices.get(name, NUMBERS))

    def _item(self) -> dict[str, Any]:
        names = [name for name in ("at", "move", "spin", "about", "color") if self._random.random() < 0.5]
        return {"item": self._random.choice(THINGS), **{name: self._value("place", name) for name in names}}


@pytest.mark.parametrize("seed", range(3))
def test_nothing_raises_and_refused_calls_change_nothing(seed: int) -> None:
    session, mischief = ToolSession({"part_rules": {"min_parts": 1, "max_parts": 10}}), _Mischief(seed)
    carried_out = 0
    for _ in range(CALLS):
        tool, arguments = mischief.call()
        before = json.dumps(session.state())
        try:
            answer = session.call(tool, arguments)
        except ValidationError:
            continue
        json.dumps([answer.text, answer.data], allow_nan=False)
        after = json.dumps(session.state())
        assert after == before or not answer.mistake, (tool, arguments)
        assert json.dumps(ToolSession.of_state({}, json.loads(after)).state()) == after
        carried_out += not answer.mistake
    assert carried_out > CALLS / 10
