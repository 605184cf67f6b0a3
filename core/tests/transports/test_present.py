"""What clients are shown, and what their words mean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from evalkit import Image, Observation, StepContext, Tool, UsageError
from evalkit.transports._present import (
    Answer,
    Pictures,
    budget_text,
    observation_text,
    parsed_json,
    tools_text,
    typed,
)


class Placement(BaseModel):
    name: str
    x: float = Field(description="Metres.")
    tags: list[str] = []


PLACE = Tool("place", "Place a thing.", Placement)


def test_words_become_what_the_schema_says() -> None:
    words = {"name": "7", "x": "0.5", "tags": '["a"]', "other": "true", "more": "no JSON"}
    found = {"name": "7", "x": 0.5, "tags": ["a"], "other": True, "more": "no JSON"}
    assert typed([PLACE], "place", words) == found
    assert typed([PLACE], "unknown", {"x": "1"}) == {"x": 1}


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"x": 1e999}', "[" * 100_000, b"\xff\xfe"])
def test_what_is_no_json_is_one_line(text: str | bytes) -> None:
    with pytest.raises(UsageError, match="not JSON") as caught:
        parsed_json(text)
    assert "\n" not in str(caught.value)


def test_an_observation_in_words() -> None:
    seen = Observation("Look.", {"height_m": 1.5, "prompt": "Two\nlines", "boxes": [[1, 2]]})
    assert observation_text(seen) == "Look.\n\nheight_m: 1.5\n\nprompt:\nTwo\nlines\n\nboxes: [[1, 2]]"
    indented = observation_text(seen, indent=2).partition("boxes:\n")[2]
    assert json.loads(indented) == [[1, 2]]


def test_pictures_are_numbered_by_observation_and_stay_in_their_folder(tmp_path: Path) -> None:
    pictures = Pictures(tmp_path / "pictures")
    assert pictures.write(Observation("no picture")) == []
    assert not (tmp_path / "pictures").exists()
    seen = Observation(images=(Image("a.png", b"1"), Image("../../b.png", b"2")))
    paths = pictures.write(seen)
    assert [path.name for path in paths] == ["002-a.png", "002-.._.._b.png"]
    assert {path.parent for path in paths} == {tmp_path / "pictures"}
    assert [path.read_bytes() for path in paths] == [b"1", b"2"]


def test_the_footer_names_pictures_and_what_is_left_or_the_end() -> None:
    left = StepContext({"calls": 2, "meter:checks": 5}, {})
    assert budget_text(left) == "left: calls 2, checks 5"
    assert budget_text(StepContext({}, {})) == ""
    going_on = Answer(True, Observation("Look."), [Path("p.png")], left, "")
    assert going_on.text() == "Look.\n\npicture: p.png\n\nleft: calls 2, checks 5"
    over = Answer(True, Observation("Look."), [], left, "the episode has ended: done")
    assert over.text() == "Look.\n\nthe episode has ended: done"


def test_tools_with_their_arguments() -> None:
    text = tools_text([PLACE, Tool("look", "Look around.")])
    assert text.splitlines() == [
        "place: Place a thing.",
        "  name (string)",
        "  x (number)  Metres.",
        "  tags (array, optional)",
        "look: Look around.",
    ]
