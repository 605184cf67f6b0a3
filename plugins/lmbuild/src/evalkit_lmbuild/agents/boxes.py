"""`boxes`: a pile of bounding boxes, the floor of the scale.

It reads the brief and the catalogue's names and sizes. Every word of the brief that the catalogue has a part
of that name for becomes a box of that part's size, the words that the catalogue uses most fill up to a few
parts, and the boxes are piled up, the broadest at the bottom, and joined by fixed joints. How the object
looks and moves isn't thought of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit import Observation, Reply, StepContext, Stop, Tool, ToolCall

MIN_BOXES = 4
MAX_BOXES = 12
MATERIAL = "plywood"
UNKNOWN_SIZE_M = (0.3, 0.2, 0.1)
"""Of a box for a word that no catalogue says a size of."""
_NO_PARTS = frozenset(
    re.findall(
        r"\w+",
        "a all along an and are as at back between build by each edge for four front from has high in into "
        "is it its least long lower of on one or others over round that the their them then they things "
        "three to turns two under up upper wide with",
    )
)
"""Words of briefs that name no part."""


@dataclass(frozen=True, slots=True)
class Box:
    """A box to build: what it stands for, its extents in m, the catalogue's part of that size."""

    role: str
    size: tuple[float, float, float]
    part: str | None = None


class BoxesAgent:
    """Asks for the catalogue, builds its pile, submits in every round."""

    def __init__(self, argument: str, settings: Mapping[str, Any]) -> None:
        self._tools: frozenset[str] = frozenset()
        self._brief = ""
        self._calls: Iterator[ToolCall] | None = None

    def start(self, tools: Sequence[Tool], seed: int) -> None:
        """A new object."""
        self._tools = frozenset(tool.name for tool in tools)
        self._brief, self._calls = "", None

    def act(self, observation: Observation, ctx: StepContext) -> Reply | Stop:
        """The next call; after the pile, submissions."""
        if not self._brief:
            self._brief = observation.text
            if "view_catalog_sheet" in self._tools:
                return Reply((ToolCall("list_parts"),))
        if self._calls is None:
            boxes = chosen_boxes(self._brief, observation.data.get("parts", ()))
            self._calls = pile(boxes, create="create_part" in self._tools)
        return Reply((next(self._calls, ToolCall("submit")),))


def chosen_boxes(brief: str, parts: Sequence[Mapping[str, Any]]) -> list[Box]:
    """A box for each part that the brief names; if few, also for words usual in the catalogue.

    `parts` are entries of `list_parts`. Without any, all words of the brief that could be parts are taken.
    """
    wanted = [word for word in _words(brief) if word not in _NO_PARTS]
    named: dict[str, Mapping[str, Any]] = {}
    for part in parts:
        for word in _words(part["name"]):
            named.setdefault(word, part)
    if not named:
        words = list(dict.fromkeys(wanted))[:MAX_BOXES]
        return [Box(word, UNKNOWN_SIZE_M) for word in words or ["body"]]
    found = [word for word in dict.fromkeys(map(_singular, wanted)) if word in named][:MAX_BOXES]
    usual = Counter(word for part in parts for word in _words(part["name"]))
    for word, _ in usual.most_common():
        if len(found) < MIN_BOXES and word not in found:
            found.append(word)
    return [_box_of(word, named[word]) for word in found]


def pile(boxes: Sequence[Box], *, create: bool) -> Iterator[ToolCall]:
    """Calls that build the boxes on each other; with `create` as boxes, else as the catalogue's parts."""
    height = 0.0
    below: str | None = None
    names = []
    for number, box in enumerate(sorted(boxes, key=_footprint, reverse=True), 1):
        name = f"box{number:02}"
        part = box.part
        if create or part is None:
            part = f"made{number:02}"
            node = {"id": "box", "op": "box", "size": list(box.size)}
            yield ToolCall("create_part", {"name": part, "program": {"nodes": [node], "output": "box"}})
        place = {"part_id": part, "instance_id": name, "role": box.role, "material": MATERIAL}
        yield ToolCall("place_part", place | {"position": [0.0, 0.0, round(height + box.size[2] / 2, 6)]})
        if below is not None:
            joint = {"joint_id": f"on{number:02}", "type": "fixed", "parent": below, "child": name}
            yield ToolCall("add_joint", joint | {"origin": [0.0, 0.0, round(height, 6)]})
        height += box.size[2]
        below = name
        names.append(name)
    yield ToolCall("set_assembly_sequence", {"steps": names})


def _box_of(role: str, part: Mapping[str, Any]) -> Box:
    x, y, z = (float(extent) for extent in part["size_m"])
    return Box(role, (x, y, z), part["part_id"])


def _footprint(box: Box) -> float:
    return box.size[0] * box.size[1]


def _words(text: str) -> list[str]:
    """Words of at least three letters in small letters."""
    return [word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2]


def _singular(word: str) -> str:
    return word.removesuffix("s") if not word.endswith("ss") else word
