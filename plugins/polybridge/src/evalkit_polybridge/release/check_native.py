"""Checking what is recorded of a run of the real game: against itself, its calibration and its pictures.

The game can't be run again, but its verdict is read off two pixels, whose values and thresholds are recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit import sha256_of
from evalkit_polybridge.constants import FRAMES_PER_SECOND, WINDOW_S
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.frames import select
from evalkit_polybridge.release.check_context import Context
from evalkit_polybridge.specs import NATIVE

_FIELDS = (
    "cost",
    "layout_sha256",
    "outcome",
    "duration_s",
    "lost_s",
    "frame_times_s",
    "frames_missed",
    "pixel_values",
    "window_s",
    "game",
)
EDITOR_PICTURE = "editor-before.png"
#: Recorded times are rounded to the millisecond.
_ROUNDING_S = 0.0005


def check_native(context: Context, where: str, level: str, item: Mapping[str, Any]) -> None:
    """Find what is wrong with the game's evidence in a round, if the game was played in it."""
    calibration = context.settings["calibration"]
    for execution in item["executions"]:
        if execution["executor"] != NATIVE.id or calibration is None:
            continue
        evidence = execution["data"]
        deviates = ["deviation"] if evidence["window_s"] != WINDOW_S else []
        context.report.only(where, evidence, [*_FIELDS, *deviates])
        for name in ("window_s", "game"):
            if evidence[name] != calibration[name]:
                context.report.find(
                    "protocol",
                    where,
                    f"{name} is {evidence[name]!r}, the calibration's {calibration[name]!r}",
                )
        outcome = _outcome(evidence["pixel_values"], calibration)
        if outcome != evidence["outcome"]:
            context.report.find(
                "verdict", where, f"the outcome is {evidence['outcome']!r}, by its pixel values {outcome!r}"
            )
        for fault in _time_faults(evidence, float(calibration["window_s"])):
            context.report.find("verdict", where, fault)
        _layout(context, where, level, item["design"], evidence["layout_sha256"])


def _outcome(values: Mapping[str, int], calibration: Mapping[str, Any]) -> str:
    """What the two pixels of the last picture say."""
    for name, outcome in (("failure", "lost"), ("success", "crossed")):
        if values[name] > calibration[name]["above"]:
            return outcome
    return "timeout"


def _time_faults(evidence: Mapping[str, Any], window_s: float) -> Iterator[str]:
    """How the times of the pictures contradict the schedule, the window or the end of the run."""
    from evalkit_polybridge.native.game import LATE_S

    times, missed = evidence["frame_times_s"], evidence["frames_missed"]
    last, whole = len(times) + missed - 1, round(window_s * FRAMES_PER_SECOND)
    if times != sorted(times) or any(t < i / FRAMES_PER_SECOND - _ROUNDING_S for i, t in enumerate(times)):
        yield "frames were taken before their time"
    if evidence["duration_s"] != times[-1]:
        yield f"it took {evidence['duration_s']} s, its last frame is of {times[-1]} s"
    if evidence["lost_s"] not in (None, times[-1]):
        yield f"it was lost at {evidence['lost_s']} s, its last frame is of {times[-1]} s"
    if missed < 0 or (last > whole if evidence["outcome"] == "lost" else last != whole):
        yield f"{len(times)} frames and {missed} missed ones are not those of {window_s:g} s"
    if times[-1] < last / FRAMES_PER_SECOND - _ROUNDING_S:
        yield f"its last frame is of {times[-1]} s, its place in the film is later"
    if evidence["outcome"] == "crossed" and times[-1] > window_s + LATE_S:
        yield f"it crossed after {times[-1]} s, it was watched for {window_s:g} s"


def _layout(context: Context, where: str, level: str, design: Any, layout: str) -> None:
    """A layout file holds one design of one level."""
    played = (level, sha256_of(design))
    if context.layouts.setdefault(layout, played) != played:
        context.report.find("design", where, "the hash of its layout is that of another design or level")


def kept_frames(context: Context, item: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """The pictures that the game's executor keeps of a round: those that have to be there, and all that may.

    Without `--pictures` these are the editor before the run and the frames that the protocol shows.
    """
    from evalkit_polybridge.native.film import frame_name

    told = Feedback.of(context.settings)
    needed, allowed = set[str](), set[str]()
    for execution in item["executions"]:
        if execution["executor"] == NATIVE.id:
            shots = len(execution["data"]["frame_times_s"])
            shown = select(shots, told.frames, told.choice) if told.frames else []
            needed |= {EDITOR_PICTURE, *map(frame_name, shown)}
            allowed |= {EDITOR_PICTURE, *map(frame_name, range(shots))}
    return needed, allowed
