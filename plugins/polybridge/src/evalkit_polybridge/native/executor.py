"""The real game as an executor: the design goes into its layout file, its window says what became of it."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit import Candidate, Execution, Task, UsageError
from evalkit_polybridge.constants import WINDOW_S
from evalkit_polybridge.designs import bridge_from_json, level_from_inputs
from evalkit_polybridge.feedback import Feedback
from evalkit_polybridge.frames import select
from evalkit_polybridge.native.calibration import (
    DEFAULT_SLOT,
    REMEDY,
    Calibration,
    calibration_from,
    is_layout_of,
)
from evalkit_polybridge.native.desktop import Arrangement, Desktop, GameBusyError
from evalkit_polybridge.native.film import Film, still
from evalkit_polybridge.native.game import Game
from evalkit_polybridge.native.layouts import layout_with, layouts_folder, state_folder
from evalkit_polybridge.native.lock import WAIT_S, game_lock
from evalkit_polybridge.native.opened import Opened
from evalkit_polybridge.native.screen import open_desktop, require_libraries
from evalkit_polybridge.native.slot import recover, replaced
from evalkit_polybridge.native.termination import orderly_end
from evalkit_polybridge.specs import NATIVE

#: How long the end of a command waits for the game: who has it has put back what this one left.
RELEASE_WAIT_S = 2.0

_log = logging.getLogger("evalkit.polybridge")


def prepare() -> None:
    """What can be known before the first episode: libraries, screen and layouts folder are there.

    Also puts back, and says so, what a run that broke off has left. UsageError or GameError otherwise.
    """
    require_libraries()
    layouts_folder()
    with whole_game():
        open_desktop().close()


def release(settings: Mapping[str, Any]) -> None:
    """Undo what a worker that was killed in a run couldn't: file, keys, the game's run, pointer and focus.

    Does nothing where no run broke off. GameError if something can't be put back; the file comes first.
    """
    if settings["calibration"] is None or not _journal().exists():
        return
    with contextlib.suppress(GameBusyError), whole_game(RELEASE_WAIT_S) as turn:
        # Whoever else has the game has put all files back before anything else.
        if turn.left is not None:
            with orderly_end() as pause, _desktop(turn.left) as (desktop, _):
                Game(desktop, calibration_from(settings["calibration"]), pause).leave()


@dataclass(frozen=True, slots=True)
class Turn:
    """One's turn at the game: where the journal goes; how a run that had broken off found the desktop."""

    journal: Path
    left: Arrangement | None


@contextmanager
def whole_game(wait_s: float = WAIT_S) -> Iterator[Turn]:
    """Have the game for oneself, its files as they were.

    GameBusyError if another process doesn't let go of it in time, GameError if a file can't be put back.
    """
    journal = _journal()
    with game_lock(journal.with_name("game.lock"), wait_s):
        recovered = recover(journal)
        if recovered is not None:
            _log.warning(recovered.said)
        yield Turn(journal, None if recovered is None else recovered.arrangement)


def _journal() -> Path:
    return state_folder() / "journal.json"


class NativeExecutor:
    """Plays designs in the game, one at a time on a machine, however many processes ask."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """UsageError without a calibration."""
        if settings["calibration"] is None:
            raise UsageError(f"{NATIVE.id} needs --calibration FILE; {REMEDY} makes one")
        self._calibration: Calibration = calibration_from(settings["calibration"])
        self._feedback = Feedback.of(settings)

    def constants(self) -> Mapping[str, Any]:
        """The calibration."""
        return self._calibration.model_dump(mode="json")

    def execute(self, task: Task, candidate: Candidate, *, pictures: bool) -> Execution:
        """One run of the game. `frame-*.png` are all its frames with `pictures`, else those that the protocol
        shows after a failure; `editor-before.png` is the editor just before the run.

        GameError if the run can't be had or trusted: that says nothing about the design. UsageError if the
        slot is the level's own layout.
        """
        level, bridge = level_from_inputs(task.inputs), bridge_from_json(candidate.data)
        if is_layout_of(level.name, self._calibration.slot):
            raise UsageError(
                f"the calibration's slot {self._calibration.slot!r} is the own layout of the level to play: "
                f"name another slot, such as {DEFAULT_SLOT!r}"
            )
        folder = layouts_folder()
        with whole_game() as turn, orderly_end() as pause, _desktop(turn.left) as (desktop, arrangement):
            layout = layout_with(folder, level.name, bridge)
            game = Game(desktop, self._calibration, pause)
            with replaced(folder / self._calibration.slot, layout, turn.journal, arrangement):
                game.focus()
                game.enter_editor()
                editor = game.open_slot(Opened(turn.journal.with_name("opened.json"), layout))
                film = game.run()
        data = {"cost": round(bridge.cost(), 4), "layout_sha256": hashlib.sha256(layout).hexdigest()}
        artifacts = [
            still("editor-before.png", editor),
            *film.artifacts(self._kept(len(film.shots), pictures)),
        ]
        return Execution(film.succeeded, data | self._evidence(film), tuple(artifacts), NATIVE.id)

    def _kept(self, shots: int, pictures: bool) -> list[int]:
        """The places of the film that are kept: the game can't be played again for a picture."""
        if pictures:
            return list(range(shots))
        told = self._feedback
        return select(shots, told.frames, told.choice) if told.frames else []

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
def _desktop(left: Arrangement | None) -> Iterator[tuple[Desktop, Arrangement]]:
    """A desktop, and how pointer and focus are put back at the end: as a run that broke off found them, if
    one did, else as they are."""
    desktop = open_desktop()
    try:
        before = left or desktop.arrangement()
        try:
            yield desktop, before
        finally:
            desktop.rearrange(before)
    finally:
        desktop.close()
