"""Parts of the feedback left out one by one: each setting changes what it says and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalkit import Execution, Observation, StepContext, ToolCall, Verdict, Violation
from evalkit.cli.main import main
from evalkit_polybridge.agents.flat import flat_deck
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.environment import BridgeEnvironment, frame_times_s
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.frames import select
from evalkit_polybridge.levels import generate
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import level_task

LEVEL, META = next(
    (replace(level, budget=50_000.0), meta) for level, meta in generate() if meta.family == "T1B"
)
DECK = flat_deck(LEVEL)
RUN = simulate(LEVEL, DECK)

ABLATIONS: dict[str, dict[str, Any]] = {
    "no frames": {"feedback_frames": 0},
    "more frames": {"feedback_frames": 8},
    "last frames": {"feedback_choice": "last"},
    "no topology": {"feedback_topology": False},
    "no history": {"feedback_history": False},
}


def told(**settings: Any) -> list[Observation]:
    """What a model is told at the start, after a failed run, and after a refused draft."""
    environment = BridgeEnvironment(BridgeSettings(**settings).model_dump())
    observations = [environment.reset(level_task(LEVEL, META), 0)]
    environment.step(ToolCall("propose", {"text": format_reply(DECK, "deck")}), StepContext({}, {}))
    evidence = {"lost_s": RUN.lost_s}
    observations.append(environment.feedback(Verdict(), Execution(False, evidence, (), "embedded")))
    environment.step(ToolCall("propose", {"text": "no JSON"}), StepContext({}, {}))
    refused = Verdict((Violation("PARSE_ERROR", "no JSON"),))
    observations.append(environment.feedback(refused, None))
    return observations


def parts(observation: Observation) -> dict[str, Any]:
    """Every part of an observation by name: data, fields of the feedback, pictures by their bytes."""
    data = json.loads(json.dumps(dict(observation.data)))
    feedback = data.pop("feedback", {})
    found = {"text": observation.text, **data}
    found |= {f"feedback.{name}": value for name, value in feedback.items()}
    return found | {image.name: hashlib.sha256(image.data()).hexdigest() for image in observation.images}


def changed(**settings: Any) -> list[set[str]]:
    """The parts that differ from the reported protocol's, for each of the three observations."""
    pairs = zip(told(), told(**settings), strict=True)
    return [
        {name for name in {**one, **other} if one.get(name) != other.get(name)}
        for one, other in ((parts(a), parts(b)) for a, b in pairs)
    ]


SHEET = {"contact_sheet.png", "feedback.selected_timestamps_s", "text"}


@pytest.mark.parametrize(
    ("what", "start", "failed", "rejected"),
    [
        ("no frames", {"prompt"}, SHEET, set()),
        ("more frames", set(), SHEET, set()),
        ("last frames", {"prompt"}, SHEET, set()),
        ("no topology", {"prompt"}, {"save", "text"}, {"save", "text"}),
        ("no history", {"prompt"}, {"prompt"}, {"prompt"}),
    ],
)
def test_a_setting_changes_what_it_says_and_nothing_else(
    what: str, start: set[str], failed: set[str], rejected: set[str]
) -> None:
    assert changed(**ABLATIONS[what]) == [start, failed, rejected]


def test_the_defaults_are_the_reported_feedback() -> None:
    assert Feedback() == Feedback.of(BridgeSettings().model_dump())
    assert changed() == [set(), set(), set()]
    assert BridgeSettings().prompt_sha256 == (
        "a3bc7d27ac40a01dfca3d82b5fdb5aa2f3923f8415164f91e07479281c232eed"
    )


def test_a_record_from_before_a_setting_has_its_default() -> None:
    assert Feedback.of({"feedback_frames": 4}) == Feedback()


def test_the_last_frames_are_the_last_ones() -> None:
    times = frame_times_s(RUN.lost_s)
    assert parts(told(feedback_choice="last")[1])["feedback.selected_timestamps_s"] == times[-4:]
    assert select(11, 4, "last") == [7, 8, 9, 10]
    assert select(3, 4, "last") == [0, 1, 2]
    assert select(11, 1, "last") == select(11, 1) == [10]


def test_without_topology_the_save_holds_the_anchors_alone() -> None:
    start, failed, rejected = (parts(observation) for observation in told(feedback_topology=False))
    assert failed["save"] == rejected["save"] == start["save"]
    assert all(item["isKinematic"] for item in failed["save"]["Objects"])
    assert len(parts(told()[1])["save"]["Objects"]) > len(failed["save"]["Objects"])


def test_every_setting_is_hashed_with_the_prompt_and_named_by_the_mode() -> None:
    settings = [BridgeSettings(), *(BridgeSettings(**change) for change in ABLATIONS.values())]
    assert len({s.prompt_sha256 for s in settings}) == len(settings)
    assert BridgeSettings(feedback_topology=False).feedback_mode == "verdict and contact sheet; no topology"
    assert BridgeSettings(feedback_frames=0, feedback_history=False).feedback_mode == "verdict; no history"
    assert BridgeSettings(feedback_frames=0).frame_choice == "none"
    assert BridgeSettings(feedback_choice="last").frame_choice == "the last ones, up to the cut-off"


@pytest.mark.parametrize(
    ("what", "says", "says_not"),
    [
        ("last frames", "a contact sheet of the last 4 frames of the run", "a few frames"),
        ("no topology", "the current save, which holds the level's anchors alone", "which is that design"),
        ("no history", "Every message stands for itself", "earlier turns contradicts"),
        ("no frames", "a fresh picture of the editor.", "frames"),
    ],
)
def test_the_words_fit_what_is_shown(what: str, says: str, says_not: str) -> None:
    start, failed, _ = told(**ABLATIONS[what])
    text = " ".join(f"{start.data['prompt']} {failed.text}".split())
    assert says in text
    assert says_not not in text


def scripted_model(path: Path) -> str:
    """A model that sends the deck, then the same again."""
    path.write_text(json.dumps([format_reply(DECK, "deck"), format_reply(DECK, "again")] * 2))
    return f"scripted:{path}"


def requests(run: Path) -> list[list[str]]:
    """The roles of the messages of every request to the model."""
    (log,) = run.glob("episodes/*.jsonl")
    events = [json.loads(line) for line in log.read_text().splitlines()]
    bodies = [e["request"] for e in events if e["kind"] == "model_request"]
    blobs = [json.loads((run / "blobs" / sha[:2] / sha).read_bytes()) for sha in bodies]
    return [[message["role"] for message in blob["messages"]] for blob in blobs]


def play(folder: Path, *settings: str) -> Path:
    words = [
        "run",
        "polybridge.smoke",
        "-T",
        'tasks.names=["T1B_Basic_08m"]',
        "-o",
        str(folder),
        "--format",
        "json",
    ]
    before = set(folder.iterdir()) if folder.exists() else set()
    assert main([*words, *settings, "-m", scripted_model(folder.parent / "script.json"), "-j", "1"]) == 0
    (run,) = set(folder.iterdir()) - before
    return run


def test_a_model_without_history_gets_a_new_conversation_for_every_call(tmp_path: Path) -> None:
    kept = requests(play(tmp_path / "runs"))
    forgotten = requests(play(tmp_path / "runs", "-T", "feedback_history=false"))
    assert [len(roles) for roles in kept] == [2, 4, 6]
    assert forgotten == [["system", "user"]] * 3


def test_ablations_are_compared_when_that_is_wanted(tmp_path: Path, capsys: Any) -> None:
    runs = [str(play(tmp_path / "runs")), str(play(tmp_path / "runs", "-T", "feedback_frames=0"))]
    capsys.readouterr()
    assert main(["compare", *runs]) == 2
    assert "can't be compared" in capsys.readouterr().err
    assert main(["compare", *runs, "--force", "--json"]) == 0
    (comparison,) = json.loads(capsys.readouterr().out)["comparisons"]
    (differences,) = comparison["differ_in"]
    assert differences.startswith("settings (feedback_frames 4 → 0, prompt_sha256 ")
    assert comparison["tasks"] == {"both": 1, "only_a": [], "only_b": []}
