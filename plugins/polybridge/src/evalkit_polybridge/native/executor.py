"""The real game as an executor: the design goes into its layout file, its window says what became of it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalkit import Candidate, Execution, Task, UsageError
from evalkit_polybridge.constants import FEEDBACK_FRAMES, WINDOW_S
from evalkit_polybridge.designs import bridge_from_json, level_from_inputs
from evalkit_polybridge.frames import select
from evalkit_polybridge.native.calibration import REMEDY, Calibration, calibration_from
from evalkit_polybridge.native.desktop import Desktop
from evalkit_polybridge.native.film import Film
from evalkit_polybridge.native.game import Game
from evalkit_polybridge.native.layouts import layout_with, layouts_folder, state_folder
from evalkit_polybridge.native.lock import game_lock
from evalkit_polybridge.native.screen import open_desktop, require_libraries
from evalkit_polybridge.native.slot import recover, replaced
from evalkit_polybridge.specs import NATIVE

_log = logging.getLogger("evalkit.polybridge")


def prepare() -> None:
    """What can be known before the first episode: libraries, screen and layouts folder are there.

    Also puts back, and says so, what a run that broke off has left. UsageError or GameError otherwise.
    """
    require_libraries()
    layouts_folder()
    with whole_game():
        open_desktop().close()


@contextmanager
def whole_game() -> Iterator[Path]:
    """Have the game for oneself, its files as they were: yields the path for a journal.

    GameError if another process doesn't let go of it, or a file can't be put back.
    """
    folder = state_folder()
    with game_lock(folder / "game.lock"):
        journal = folder / "journal.json"
        done = recover(journal)
        if done is not None:
            _log.warning(done)
        yield journal


class NativeExecutor:
    """Plays designs in the game, one at a time on a machine, however many processes ask."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """UsageError without a calibration."""
        if settings["calibration"] is None:
            raise UsageError(f"{NATIVE.id} needs --calibration FILE; {REMEDY} makes one")
        self._calibration: Calibration = calibration_from(settings["calibration"])

    def constants(self) -> Mapping[str, Any]:
        """The calibration."""
        return self._calibration.model_dump(mode="json")

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """One run of the game; `frame-*.png` are all its frames with `pictures`, else a sheet's.

        GameError if the run can't be had or trusted: that says nothing about the design.
        """
        level, bridge = level_from_inputs(task.inputs), bridge_from_json(candidate.data)
        folder = layouts_folder()
        with whole_game() as journal, _desktop() as desktop:
            layout = layout_with(folder, level.name, bridge)
            game = Game(desktop, self._calibration)
            game.focus()
            game.enter_editor()
            with replaced(folder / self._calibration.slot, layout, journal):
                game.open_slot()
                film = game.run()
        shown = range(len(film.shots)) if pictures else select(len(film.shots), FEEDBACK_FRAMES)
        data = {"cost": round(bridge.cost(), 4), "layout_sha256": hashlib.sha256(layout).hexdigest()}
        evidence = data | self._evidence(film)
        return Execution(film.succeeded, evidence, tuple(film.artifacts(list(shown))), NATIVE.id)

    def _evidence(self, film: Film) -> dict[str, Any]:
        calibration, times = self._calibration, film.times_s
        evidence: dict[str, Any] = {
            "outcome": film.outcome,
            "duration_s": times[-1],
            "lost_s": times[-1] if film.failed else None,
            "frame_times_s": times,
            "frames_missed": film.missed,
            "pixel_values": dict(film.values),
            "window_s": calibration.window_s,
            "game": calibration.game,
        }
        if calibration.window_s != WINDOW_S:
            evidence["deviation"] = (
                f"watched for {calibration.window_s:g} s, the protocol says {WINDOW_S:g} s"
            )
        return evidence


@contextmanager
def _desktop() -> Iterator[Desktop]:
    """A desktop whose pointer and focus are put back at the end."""
    desktop = open_desktop()
    try:
        before = desktop.arrangement()
        try:
            yield desktop
        finally:
            desktop.rearrange(before)
    finally:
        desktop.close()
