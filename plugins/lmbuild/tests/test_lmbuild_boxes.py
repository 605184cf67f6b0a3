"""The agent `boxes`: what it reads, what it piles up, in each tier; that the default suites end with it."""

from __future__ import annotations

import pytest

from evalkit.testing import conformance_tests
from evalkit_lmbuild.agents.boxes import MIN_BOXES, Box, chosen_boxes, pile

PARTS = [
    {"part_id": "P1", "name": "flat lid 400 x 300 x 12", "size_m": [0.4, 0.3, 0.012]},
    {"part_id": "P2", "name": "knob 30 x 30 x 40", "size_m": [0.03, 0.03, 0.04]},
    {"part_id": "P3", "name": "board 500 x 20 x 100", "size_m": [0.5, 0.02, 0.1]},
    {"part_id": "P4", "name": "board 2 200 x 20 x 100", "size_m": [0.2, 0.02, 0.1]},
    {"part_id": "P5", "name": "wheel 60 x 20 x 60", "size_m": [0.06, 0.02, 0.06]},
]

TestBoxes = conformance_tests("lmbuild.smoke", agents=["boxes"])
TestBoxesCreating = conformance_tests("lmbuild.create", tasks=["milking_stool"], agents=["boxes"])
TestBoxesRetrieving = conformance_tests("lmbuild.retrieve", tasks=["milking_stool"], agents=["boxes"])


def test_named_parts_come_first_with_their_sizes() -> None:
    found = chosen_boxes("Build a chest with a lid and two knobs.", PARTS)
    assert found[:2] == [Box("lid", (0.4, 0.3, 0.012), "P1"), Box("knob", (0.03, 0.03, 0.04), "P2")]
    assert found[2].role == "board"  # the word most used
    assert len(found) == MIN_BOXES


def test_without_a_catalogue_the_words_of_the_brief_are_boxes() -> None:
    assert [box.role for box in chosen_boxes("Build a stool with three legs.", ())] == ["stool", "legs"]
    assert [box.role for box in chosen_boxes("", ())] == ["body"]


@pytest.mark.parametrize("create", [True, False])
def test_the_pile_stands_face_on_face_with_the_broadest_below(create: bool) -> None:
    boxes = [Box("knob", (0.1, 0.1, 0.2), "P2"), Box("lid", (0.4, 0.3, 0.1), "P1")]
    calls = list(pile(boxes, create=create))
    placed = [call.arguments for call in calls if call.name == "place_part"]
    assert [part["role"] for part in placed] == ["lid", "knob"]
    assert [part["position"][2] for part in placed] == [0.05, 0.2]
    assert [part["part_id"] for part in placed] == (["made01", "made02"] if create else ["P1", "P2"])
    joints = [call.arguments for call in calls if call.name == "add_joint"]
    assert [joint["origin"] for joint in joints] == [[0.0, 0.0, 0.1]]
    assert calls[-1].arguments["steps"] == ["box01", "box02"]
