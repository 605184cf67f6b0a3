"""Pictures and files of played episodes."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from evalkit import Artifact
from evalkit_polybridge import savefile
from evalkit_polybridge.constants import ROAD
from evalkit_polybridge.contract import format_reply, parse_reply
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.levels.families import generate
from evalkit_polybridge.tasks import level_task
from evalkit_polybridge.views import pictures

LEVEL, META = next((level, meta) for level, meta in generate() if level.name == "T1B_Basic_06m")
TASK = level_task(LEVEL, META, "loose")


def by_name(artifacts: list[Artifact]) -> dict[str, bytes]:
    assert len({a.name for a in artifacts}) == len(artifacts)
    return {artifact.name: artifact.data for artifact in artifacts}


@pytest.fixture(scope="module")
def episode(played: Any, reply_of: Any) -> Any:
    """Unreadable, illegal, failed."""
    return played(TASK, [reply_of(letter, LEVEL) for letter in "PVF"])


@pytest.fixture(scope="module")
def files(episode: Any) -> dict[str, bytes]:
    return by_name(pictures(episode, TASK))


def test_every_call_has_the_files_that_it_came_to(files: dict[str, bytes]) -> None:
    assert sorted(files) == [
        "call-1-reply.txt",
        "call-2-design.json",
        "call-2-editor.png",
        "call-3-design.json",
        "call-3-editor.png",
        "call-3-frames.json",
        "call-3-save.txt",
        "call-3-sheet.png",
    ]
    assert files["call-1-reply.txt"] == b"Here is my bridge: none."


def test_the_design_can_be_sent_again(files: dict[str, bytes], reply_of: Any) -> None:
    for call, letter in ((2, "V"), (3, "F")):
        sent = parse_reply(reply_of(letter, LEVEL)).bridge
        assert parse_reply(files[f"call-{call}-design.json"].decode()).bridge == sent


def test_the_save_holds_the_design(files: dict[str, bytes], reply_of: Any) -> None:
    bridge, name = savefile.decode(files["call-3-save.txt"])
    assert bridge == parse_reply(reply_of("F", LEVEL)).bridge
    assert name == "T1B_Basic_06m"


def test_the_sheet_is_of_the_recorded_run(files: dict[str, bytes]) -> None:
    metadata = json.loads(files["call-3-frames.json"])
    assert metadata["outcome"] == "lost"
    assert metadata["matches_record"] is True
    assert metadata["cut_at_failure_marker"] is True
    last = metadata["frames"] - 1
    assert [s["index"] for s in metadata["selected"]][0::3] == [0, last]
    assert metadata["selected"][-1]["t_s"] == last / 4


@pytest.mark.parametrize("letter", ["F", "S"])
def test_a_run_recorded_with_pictures_is_matched_too(letter: str, played: Any, reply_of: Any) -> None:
    episode = played(TASK, [reply_of(letter, LEVEL)], pictures=True)
    metadata = json.loads(by_name(pictures(episode, TASK))["call-1-frames.json"])
    assert metadata["matches_record"] is True


def test_pictures_are_pictures(files: dict[str, bytes]) -> None:
    editor = Image.open(io.BytesIO(files["call-3-editor.png"]))
    assert editor.width == 1024
    sheet = Image.open(io.BytesIO(files["call-3-sheet.png"]))
    assert sheet.width == 2 * 640 + 4
    assert files["call-2-editor.png"] != files["call-3-editor.png"]


def test_the_same_record_gives_the_same_bytes(episode: Any, files: dict[str, bytes]) -> None:
    assert by_name(pictures(episode, TASK)) == files


def test_a_run_that_differs_from_the_record_says_so(played: Any, reply_of: Any) -> None:
    episode = played(TASK, [reply_of("S", LEVEL)])
    execution = next(episode.of("execution"))
    execution["data"] = episode.load(execution["data"]) | {"digest": "0" * 64}
    metadata = json.loads(by_name(pictures(episode, TASK))["call-1-frames.json"])
    assert (metadata["outcome"], metadata["matches_record"]) == ("crossed", False)


def test_a_run_of_another_executor_is_not_imitated(played: Any, reply_of: Any) -> None:
    episode = played(TASK, [reply_of("S", LEVEL)])
    next(episode.of("execution"))["executor"] = "polybridge.native"
    files = pictures(episode, TASK)
    assert [f.name for f in files] == ["call-1-design.json", "call-1-editor.png", "call-1-save.txt"]


A, B = LEVEL.anchors
FAR = Node(5, 1000.0, -1000.0)
ILLEGAL = {
    "unknown end": Bridge((A, B), (Edge(9, ROAD.type, 1, 77),)),
    "unknown material": Bridge((A, B), (Edge(9, 7, 1, 2),)),
    "type of a node": Bridge((A, B), (Edge(9, 0, 1, 2),)),
    "self-edge": Bridge((A, B), (Edge(9, ROAD.type, 1, 1),)),
    "no length": Bridge((A, B, replace(A, id=5)), (Edge(9, ROAD.type, 1, 5),)),
    "repeated ids": Bridge((A, B, replace(A, x=1.0)), (Edge(9, ROAD.type, 1, 2), Edge(9, ROAD.type, 2, 1))),
    "far away": Bridge((A, B, FAR), (Edge(9, ROAD.type, 1, 5),)),
    "no anchor": Bridge((Node(5, 1.0, 1.0),), ()),
    "nothing": Bridge((), ()),
}


@pytest.mark.parametrize("bridge", ILLEGAL.values(), ids=ILLEGAL.keys())
def test_any_refused_design_can_be_shown(bridge: Bridge, played: Any) -> None:
    episode = played(TASK, [format_reply(bridge, "")])
    files = pictures(episode, TASK)
    assert [f.name for f in files] == ["call-1-design.json", "call-1-editor.png"]
    assert parse_reply(files[0].data.decode()).bridge == bridge
