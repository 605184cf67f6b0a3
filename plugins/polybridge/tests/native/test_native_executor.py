"""The native executor against the stand-in game, on a real X server: verdicts, and what goes wrong."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import stat
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from PIL import Image

from evalkit import Candidate, Execution, StepContext, Task, ToolCall, UsageError, Verdict
from evalkit_polybridge.contract import format_reply
from evalkit_polybridge.designs import bridge_to_json, level_from_inputs
from evalkit_polybridge.environment import BridgeEnvironment
from evalkit_polybridge.graph import Bridge, Edge, Node
from evalkit_polybridge.native.calibration import Calibration
from evalkit_polybridge.native.desktop import GameError
from evalkit_polybridge.native.executor import NativeExecutor
from evalkit_polybridge.savefile import read_layout
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.tasks import load_tasks

Start = Callable[..., psutil.Process]
Calibrated = Callable[..., Calibration]
SETTINGS = BridgeSettings().model_dump(mode="json")
ORIGINAL = b"what was there before"


@pytest.fixture(scope="module")
def task() -> Task:
    """An 8 m gap."""
    block = {"levels": "main", "budget": "strict", "names": ["T1B_Basic_08m"]}
    (found,) = load_tasks(block, SETTINGS)
    return found


@pytest.fixture(scope="module")
def standing() -> Bridge:
    """A Warren truss below an 8 m deck."""
    deck = [
        Node(1, 0.0, 0.0, True),
        *(Node(2 + i, 1.6 * i, 0.0) for i in range(1, 5)),
        Node(2, 8.0, 0.0, True),
    ]
    chord = [Node(7 + i, 1.6 * i + 0.8, -1.0) for i in range(5)]
    ids = iter(range(12, 99))
    pairs = [(1, a, b) for a, b in itertools.pairwise(deck)]
    pairs += [(2, a, b) for a, b in itertools.pairwise(chord)]
    pairs += [(2, a, c) for a, c in zip(deck, chord, strict=False)]
    pairs += [(2, c, b) for c, b in zip(chord, deck[1:], strict=True)]
    edges = tuple(Edge(next(ids), material, a.id, b.id) for material, a, b in pairs)
    return Bridge((deck[0], deck[-1], *deck[1:-1], *chord), edges)


@pytest.fixture(scope="module")
def falling(standing: Bridge) -> Bridge:
    """The deck alone, which doesn't hold its own weight."""
    return Bridge(standing.nodes[:6], tuple(e for e in standing.edges if e.material == 1))


def play(
    calibration: Calibration, task: Task, bridge: Bridge, *, pictures: bool = True, **settings: Any
) -> Execution:
    calibrated = {"calibration": calibration.model_dump(mode="json")}
    executor = NativeExecutor(SETTINGS | calibrated | settings)
    return executor.execute(task, Candidate(bridge_to_json(bridge)), pictures=pictures)


def frames_of(execution: Execution) -> list[int]:
    """The places in the film of the frames that were kept."""
    names = [artifact.name for artifact in execution.artifacts if artifact.name.startswith("frame-")]
    return [int(name.removeprefix("frame-").removesuffix(".png")) for name in names]


def test_a_bridge_that_stands(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    table.slot.write_bytes(ORIGINAL)
    start()
    execution = play(calibrated(), task, standing)
    assert execution.success is True
    data = execution.data
    assert (data["outcome"], data["lost_s"], data["frames_missed"]) == (
        "crossed",
        None,
        5 - len(data["frame_times_s"]),
    )
    times = data["frame_times_s"]
    assert times == sorted(times)
    assert times[-1] == data["duration_s"] >= 1.0
    # Absolute deadlines: no frame is taken before its time, and late ones don't push back the next.
    assert all(t >= i * 0.25 for i, t in enumerate(times))
    frames = [f"frame-{i:02d}.png" for i in range(len(times))]
    assert [a.name for a in execution.artifacts] == ["editor-before.png", *frames]
    editor = Image.open(io.BytesIO(execution.artifacts[0].data))
    assert editor.getpixel((600, 20)) == (30, 60, 250)
    assert Image.open(io.BytesIO(execution.artifacts[-1].data)).size == (640, 400)
    assert data["pixel_values"]["success"] > 150
    assert data["deviation"] == "watched for 1 s, the protocol says 12 s"
    assert table.log() == ["load T1B_Basic_08m", "run", "leave"]
    assert table.slot.read_bytes() == ORIGINAL


def test_a_bridge_that_falls_ends_the_film_at_the_marker(
    start: Start, table: Any, calibrated: Calibrated, task: Task, falling: Bridge
) -> None:
    start("--speed", "8")  # lost after the first picture, which may be a quarter of a second late
    execution = play(calibrated(window_s=12.0), task, falling, pictures=False)
    assert execution.success is False
    data = execution.data
    assert data["outcome"] == "lost"
    assert data["lost_s"] == data["duration_s"] < 11.0
    assert data["pixel_values"]["failure"] > 150
    assert "deviation" not in data
    assert 1 <= len(frames_of(execution)) <= 4
    assert not table.slot.exists()
    assert not list(table.layouts.glob(".*"))


def test_neither_mark_is_a_timeout(
    start: Start, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    start("--speed", "0.01")
    execution = play(calibrated(window_s=1.0), task, standing)
    assert (execution.success, execution.data["outcome"]) == (False, "timeout")


def test_what_a_player_sees_of_a_failure_is_the_game_s_own_film(
    start: Start, calibrated: Calibrated, task: Task, falling: Bridge
) -> None:
    start("--speed", "8")
    execution = play(calibrated(window_s=2.0), task, falling)
    environment = BridgeEnvironment(SETTINGS)
    environment.reset(task, 0)
    environment.step(ToolCall("propose", {"text": format_reply(falling, "")}), StepContext({}, {}))
    seen = environment.feedback(Verdict(()), execution)
    told = seen.data["feedback"]
    times = execution.data["frame_times_s"]
    assert told["detector"] == "polybridge.native"
    assert told["duration_s"] == times[-1]
    assert set(told["selected_timestamps_s"]) <= set(times)
    (sheet,) = [image for image in seen.images if image.name == "contact_sheet.png"]
    picture = Image.open(io.BytesIO(sheet.data())).convert("RGB")
    # Above the stand-in's picture of a run is a dark strip, where the embedded executor's frames show sky.
    assert picture.getpixel((212, 33)) == (20, 20, 20)


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        (("--size", "700", "400"), {}, "is 700 × 400 pixels, the calibration is for 640 × 400: resize"),
        (("--misbehave", "lose-focus"), {"window_s": 2.0}, "lost the focus: leave the machine alone"),
        (("--misbehave", "no-focus"), {}, "doesn't get the focus"),
        (("--misbehave", "close"), {"window_s": 2.0}, "is gone: it was closed or minimised, or the game"),
        (("--misbehave", "crash"), {"window_s": 2.0}, "is gone: it was closed or minimised, or the game"),
        (("--misbehave", "never-start"), {"window_s": 0.25}, "does space start it?"),
        (("--misbehave", "stuck"), {"editor_timeout_s": 1.5}, "doesn't show its editor after the run"),
        (("--misbehave", "always-red"), {}, "the failure pixel is lit when a run starts"),
        (("--misbehave", "drop-all"), {"editor_timeout_s": 0.5}, "stayed lit, and the picture didn't change"),
        (("--misbehave", "restless"), {"editor_timeout_s": 0.5}, "and the picture never stands still"),
        ((), {"window": {"title": "Poly Bridge", "width": 640, "height": 400}}, "no window is titled"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_a_run_that_can_t_be_trusted_has_no_verdict(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge,
    options: tuple[str, ...], changes: dict[str, Any], message: str,
) -> None:  # fmt: skip
    table.slot.write_bytes(ORIGINAL)
    start(*options)
    with pytest.raises(GameError) as raised:
        play(calibrated(**changes), task, standing)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert table.slot.read_bytes() == ORIGINAL
    assert not list(table.layouts.glob(".*"))


def test_a_slot_that_is_the_level_s_own_layout(table: Any, task: Task, standing: Bridge) -> None:
    calibration = json.loads(table.calibration.read_text())
    executor = NativeExecutor(SETTINGS | {"calibration": calibration | {"slot": "My Level.layout.json"}})
    context = task.inputs["context"]
    named = {"task_context": context["task_context"] | {"levelName": "my level"}}
    own = Task("mine", task.inputs | {"context": context | named})
    with pytest.raises(UsageError, match=r"'My Level\.layout\.json' is the own layout of the level to play"):
        executor.execute(own, Candidate(bridge_to_json(standing)), pictures=False)


def test_two_windows_of_one_title(start: Start, calibrated: Calibrated, task: Task, standing: Bridge) -> None:
    start()
    start()
    with pytest.raises(GameError, match="2 windows are titled 'Stand-in'"):
        play(calibrated(), task, standing)


def test_a_window_in_front_of_the_game_is_noticed(
    start: Start, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    start()
    start("--title", "Another")  # where the first one is, and on top of it until that is brought up
    assert play(calibrated(), task, standing).success is True
    start("--title", "A third", "--misbehave", "in-front")
    with pytest.raises(GameError, match=r"another window covers the game's|doesn't get the focus"):
        play(calibrated(), task, standing)


def test_a_layout_that_is_read_only(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    table.slot.write_bytes(ORIGINAL)
    table.slot.chmod(stat.S_IRUSR)
    start()
    with pytest.raises(GameError, match=r"evalkit\.layout\.json is read-only"):
        play(calibrated(), task, standing)
    assert table.slot.read_bytes() == ORIGINAL
    assert table.log() == []


def test_a_game_that_saves_the_layout_itself(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    table.slot.write_bytes(ORIGINAL)
    start("--misbehave", "resave")
    assert play(calibrated(), task, standing).success is True
    assert table.slot.read_bytes() == ORIGINAL


def test_a_game_left_in_a_run_is_brought_back_to_its_editor(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    start("--misbehave", "stuck")
    with pytest.raises(GameError, match="its editor after the run"):
        play(calibrated(editor_timeout_s=1.5, window_s=0.5), task, standing)
    with pytest.raises(GameError, match="its editor, neither at first"):
        play(calibrated(editor_timeout_s=0.25), task, standing)
    # Nothing that is seen tells that it got the last key.
    deadline = time.monotonic() + 60.0
    while len(table.log()) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert table.log() == ["load T1B_Basic_08m", "run", "leave", "leave"]


def test_the_design_is_in_the_level_s_own_layout(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    own = table.layouts / "T1B_Basic_08m.layout.json"
    own.write_text(own.read_text().replace('"saveFiles"', '"terrain": [1.50, 2],\n "saveFiles"'))
    from evalkit_polybridge.native.layouts import layout_with

    text = layout_with(table.layouts, level_from_inputs(task.inputs).name, standing).decode()
    assert '"terrain": [1.50, 2],\n' in text
    assert read_layout(text).bridge == standing
    own.unlink()
    start()
    with pytest.raises(GameError, match=r"has no T1B_Basic_08m\.layout\.json: make the level in the game"):
        play(calibrated(), task, standing)


@pytest.mark.parametrize(
    ("misbehaviour", "window_s", "log"),
    [
        ("lose-focus", 2.0, ["load T1B_Basic_08m", "run", "leave"]),  # fetched back, and out of the run
        ("never-start", 0.25, ["load T1B_Basic_08m", "ignored"]),  # a key would start it
        ("slow-start", 0.25, ["load T1B_Basic_08m", "run", "leave"]),  # its editor is lit at first
    ],
)
def test_a_game_is_left_in_its_editor_after_a_run_without_a_verdict(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge,
    misbehaviour: str, window_s: float, log: list[str],
) -> None:  # fmt: skip
    start("--misbehave", misbehaviour)
    with pytest.raises(GameError):
        play(calibrated(window_s=window_s), task, standing)
    assert table.log() == log


def test_a_click_that_gets_lost_is_no_verdict_for_the_former_design(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge, falling: Bridge
) -> None:
    table.slot.write_bytes(ORIGINAL)
    start("--misbehave", "drop-later")
    assert play(calibrated(), task, standing).success is True
    with pytest.raises(GameError, match="nothing shows that the game opened the layout"):
        play(calibrated(editor_timeout_s=0.5), task, falling)
    assert table.log() == ["load T1B_Basic_08m", "run", "leave", "miss"]
    assert table.slot.read_bytes() == ORIGINAL
    # What the game has open isn't known after that, so that the first design needs evidence again.
    with pytest.raises(GameError, match="nothing shows that the game opened the layout"):
        play(calibrated(editor_timeout_s=0.5), task, standing)


def test_the_very_same_design_needs_no_evidence(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    start("--misbehave", "drop-later")
    assert [play(calibrated(), task, standing).success for _ in range(2)] == [True, True]
    assert table.log() == ["load T1B_Basic_08m", "run", "leave", "miss", "run", "leave"]


@pytest.mark.parametrize("misbehaviour", ["late", "restless-menu"])
def test_a_layout_that_opens_late_or_by_way_of_a_menu_is_seen(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge, misbehaviour: str
) -> None:
    start("--misbehave", misbehaviour)
    assert play(calibrated(), task, standing).success is True
    assert table.log() == ["load T1B_Basic_08m", "run", "leave"]


def slowed(monkeypatch: pytest.MonkeyPatch, call: str, nth: int) -> None:
    """The machine takes 0.9 s longer for the call of that number of a method of the desktop."""
    from evalkit_polybridge.native.x11 import X11Desktop

    done, calls = getattr(X11Desktop, call), itertools.count(1)

    def slow(self: X11Desktop, *arguments: Any) -> Any:
        result = done(self, *arguments)
        if next(calls) == nth:
            time.sleep(0.9)
        return result

    monkeypatch.setattr(X11Desktop, call, slow)


def test_a_mark_that_is_lit_at_the_start_is_noticed_though_the_first_picture_comes_late(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    start("--misbehave", "always-red")
    slowed(monkeypatch, "press", 1)
    with pytest.raises(GameError, match="the failure pixel is lit when a run starts"):
        play(calibrated(), task, standing)
    assert table.log() == ["load T1B_Basic_08m"]


def test_a_success_that_is_seen_too_late_is_none(
    start: Start, calibrated: Calibrated, task: Task, standing: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("--speed", "20")
    slowed(monkeypatch, "press", 1)
    with pytest.raises(GameError, match=r"success it shows may have come too late"):
        play(calibrated(window_s=0.25), task, standing)


def test_the_frames_that_the_protocol_shows_are_kept(
    start: Start, calibrated: Calibrated, task: Task, standing: Bridge
) -> None:
    start("--speed", "0.01")

    def kept(**settings: Any) -> tuple[list[int], int]:
        execution = play(calibrated(window_s=1.0), task, standing, pictures=False, **settings)
        assert execution.artifacts[0].name == "editor-before.png"
        return frames_of(execution), len(execution.data["frame_times_s"]) - 1

    assert kept(feedback_frames=0)[0] == []
    frames, last = kept(feedback_frames=2)
    assert frames == [0, last]
    frames, last = kept(feedback_frames=3, feedback_choice="last")
    assert frames == [last - 2, last - 1, last]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_a_person_ends_leaves_the_machine_as_it_was(
    start: Start, table: Any, calibrated: Calibrated, task: Task, standing: Bridge, end: signal.Signals
) -> None:
    table.slot.write_bytes(ORIGINAL)
    start("--speed", "0.01")
    runs = threading.Thread(target=_when_it_runs, args=(table, end))
    runs.start()
    with pytest.raises(KeyboardInterrupt):
        play(calibrated(window_s=30.0), task, standing)
    runs.join()
    assert table.slot.read_bytes() == ORIGINAL
    assert table.log() == ["load T1B_Basic_08m", "run", "leave"]


def _when_it_runs(table: Any, end: signal.Signals) -> None:
    deadline = time.monotonic() + 60.0
    while "run" not in table.log() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(os.getpid(), end)
