"""`release check` of runs of the real game: their evidence against itself, the calibration and the pictures.

The release is one of the embedded executor that is told as one of the game throughout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from evalkit import sha256_of
from evalkit_polybridge.frames import select
from evalkit_polybridge.native.calibration import calibration_from
from evalkit_polybridge.release.check import check_release
from evalkit_polybridge.settings import BridgeSettings
from evalkit_polybridge.specs import NATIVE

CALIBRATION = calibration_from(
    {
        "version": 1,
        "game": "the stand-in",
        "window": {"title": "Stand-in", "width": 640, "height": 400},
        "focus": {"x": 0.6, "y": 0.9},
        "reload": [{"wait_s": 0.2}],
        "editor": {"x": 0.9, "y": 0.1, "channel": "blue", "above": 150},
        "success": {"x": 0.5, "y": 0.1, "channel": "green", "above": 150},
        "failure": {"x": 0.4, "y": 0.4, "channel": "red", "above": 150},
    }
)
CONSTANTS = CALIBRATION.model_dump(mode="json")
IDENTITY = {"version": NATIVE.version, "constants_sha256": sha256_of(CONSTANTS)}
CROSSED = "sessions/truss/strict/epoch-1/T1B*"
FALLEN = "sessions/scripted*/strict/epoch-1/T1B*"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c636000000002"
    "000148afa4710000000049454e44ae426082"
)


def evidence_of(item: Any) -> dict[str, Any]:
    """What the game's executor would have recorded of a run: crossed at the end, or lost after 1 s."""
    crossed = item["outcome"] == "S"
    times = [0.05, *(i / 4 + 0.001 for i in range(1, 49 if crossed else 5))]
    return {
        "cost": item["executions"][0]["data"]["cost"],
        "layout_sha256": hashlib.sha256(str(item["design"]).encode()).hexdigest(),
        "outcome": "crossed" if crossed else "lost",
        "duration_s": times[-1],
        "lost_s": None if crossed else times[-1],
        "frame_times_s": times,
        "frames_missed": 0,
        "pixel_values": {"success": 220 if crossed else 20, "failure": 20 if crossed else 220},
        "window_s": 12.0,
        "game": CALIBRATION.game,
    }


def told_as_the_game(document: Any) -> None:
    for item in document["rounds"]:
        for execution in item["executions"]:
            execution.update(IDENTITY, executor=NATIVE.id, data=evidence_of(item))
            if item["outcome"] == "F":
                times = execution["data"]["frame_times_s"]
                shown = [times[i] for i in select(len(times))]
                feedback = {"duration_s": times[-1], "detector": NATIVE.id, "selected_timestamps_s": shown}
                item["feedback"].update(feedback)


@pytest.fixture
def native(tampered: Any) -> Any:
    """The release told as one of the game."""
    tampered.edit_all("sessions/*/*/*/*/trajectory.json", told_as_the_game)
    settings = BridgeSettings(calibration=CALIBRATION).model_dump(mode="json")
    tampered.declare(lambda c: c.update(settings=settings, executors={NATIVE.id: IDENTITY}))

    def declare(manifest: Any) -> None:
        manifest["executors"] = {NATIVE.id: {**IDENTITY, "constants": CONSTANTS}}
        manifest["inclusion"]["deviations"] = ["calibration"]
        manifest["game"] = CALIBRATION.game

    tampered.manifest(declare)
    for sheet in tampered.folder.rglob("contact_sheet.png"):
        sheet.unlink()
        sheet.with_name("frames.json").unlink()
        shots = 49 if "truss" in sheet.parts else 5
        (sheet.parent / "frames").mkdir()
        for name in ("editor-before.png", *(f"frame-{i:02d}.png" for i in select(shots))):
            (sheet.parent / "frames" / name).write_bytes(PNG)
    tampered.seal()
    return tampered


def evidence(where: str = CROSSED, **fields: Any) -> Callable[[Any], None]:
    """Other fields in the evidence of an episode's last round."""
    return lambda release: release.edit(
        f"{where}/trajectory.json", lambda d: d["rounds"][-1]["executions"][0]["data"].update(fields)
    )


def in_all(**fields: Any) -> Callable[[Any], None]:
    """Other fields in the evidence of every run."""

    def change(document: Any) -> None:
        for execution in (e for item in document["rounds"] for e in item["executions"]):
            execution["data"].update(fields)

    return lambda release: release.edit_all("sessions/*/*/*/*/trajectory.json", change)


def drop(pattern: str) -> Callable[[Any], None]:
    return lambda release: [path.unlink() for path in release.folder.glob(pattern)]


def a_picture_more(name: str) -> Callable[[Any], None]:
    return lambda release: (release.find(f"{CROSSED}/round-1/frames") / name).write_bytes(PNG)


DARK = {"success": 0, "failure": 0}
ATTACKS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "dark pixels": ("verdict", "by its pixel values 'timeout'", evidence(pixel_values=DARK)),
    "a marker": (
        "verdict",
        "by its pixel values 'lost'",
        evidence(pixel_values={"success": 220, "failure": 220}),
    ),
    "a longer window": ("protocol", "window_s is 40.0", evidence(window_s=40.0)),
    "another game": ("protocol", "the calibration's 'the stand-in'", evidence(game="another")),
    "another duration": ("verdict", "it took 1.0 s", evidence(duration_s=1.0)),
    "another loss": ("verdict", "it was lost at 0.5 s", evidence(FALLEN, lost_s=0.5)),
    "missed frames": ("verdict", "and 40 missed ones", evidence(frames_missed=40)),
    "a short film": ("verdict", "are not those of 12 s", evidence(frame_times_s=[0.1, 0.3], duration_s=0.3)),
    "frames before their time": (
        "verdict",
        "before their time",
        evidence(frame_times_s=[i / 100 for i in range(49)], duration_s=0.48),
    ),
    "a late success": (
        "verdict",
        "it crossed after 13.0 s",
        evidence(frame_times_s=[*(i / 4 for i in range(48)), 13.0], duration_s=13.0),
    ),
    "layouts that are one": ("design", "the hash of its layout", in_all(layout_sha256="0" * 64)),
    "a field of its own": ("form", "no release has: 'verified'", evidence(verified=True)),
    "no frames": ("missing file", "no such picture", drop(f"{FALLEN}/round-3/frames/frame-*.png")),
    "no editor": ("missing file", "no such picture", drop(f"{CROSSED}/round-1/frames/editor-before.png")),
    "a picture more": ("extra file", "no episode has such a file", a_picture_more("evil.png")),
    "a frame after the last": ("extra file", "no episode has such a file", a_picture_more("frame-49.png")),
}
"""What was done → the kind of finding that has to name it, and a part of its text."""


def test_what_the_game_recorded_has_no_fault(native: Any) -> None:
    report = check_release(native.folder)
    assert report.findings == []
    assert f"4 runs of {NATIVE.id} can't be made again: verdicts are taken as told" in report.notes


@pytest.mark.parametrize("what", ATTACKS)
def test_evidence_that_contradicts_itself_is_found(native: Any, what: str) -> None:
    kind, words, tamper = ATTACKS[what]
    tamper(native)
    native.seal()
    found = [finding.text() for finding in check_release(native.folder).findings]
    assert any(text.startswith(f"{kind}: ") and words in text for text in found), found


def test_frames_belong_to_the_game_alone(tampered: Any) -> None:
    frames = tampered.find(f"{CROSSED}/round-1") / "frames"
    frames.mkdir()
    (frames / "frame-00.png").write_bytes(PNG)
    tampered.seal()
    (finding,) = check_release(tampered.folder).findings
    assert finding.text().startswith("extra file: sessions/truss/")
