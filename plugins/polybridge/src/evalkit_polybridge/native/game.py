"""Driving the game's window: focus, the editor, opening the layout, one filmed run."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evalkit_polybridge.constants import FRAMES_PER_SECOND
from evalkit_polybridge.native.calibration import REMEDY, Calibration, PixelTest, Spot, Step
from evalkit_polybridge.native.desktop import Area, Desktop, GameError, Picture, WindowInfo
from evalkit_polybridge.native.film import Film, Shot, reduced
from evalkit_polybridge.native.opened import Opened

FOCUS_TIMEOUT_S = 2.0
#: How long the game may take to answer the key that starts a run.
START_TIMEOUT_S = 2.0
#: How much later than the end of the window a picture may be taken and still show a success in time.
LATE_S = 0.5
#: A picture stands still if the next one, that much later, is the same; how long that may take to happen.
STILL_S, STILL_TIMEOUT_S = 0.15, 1.5
_POLL_S = 0.05

_NOT_OPENED = (
    "nothing shows that the game opened the layout: its editor stayed lit, and the picture {}; play it "
    "again, and if this comes back let `reload` pass a screen on which the editor pixel is dark"
)


def find_window(desktop: Desktop, title: str, window_class: str) -> WindowInfo:
    """The one window with that title and class (empty: any); GameError if there is none, or several."""
    found = [w for w in desktop.windows() if w.title == title and window_class in ("", w.window_class)]
    of_class = f" of class {window_class!r}" if window_class else ""
    if not found:
        raise GameError(f"no window is titled {title!r}{of_class}: start the game, and don't minimise it")
    if len(found) > 1:
        raise GameError(f"{len(found)} windows are titled {title!r}{of_class}: close all but the game's")
    return found[0]


class Game:
    """The game's window. Every method raises GameError, in one line, where the game isn't as calibrated."""

    def __init__(
        self, desktop: Desktop, calibration: Calibration, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """Find the window and refuse one of another size; `pause` waits some seconds."""
        self._desktop, self._calibration, self._pause = desktop, calibration, pause
        wanted = calibration.window
        self._handle = find_window(desktop, wanted.title, wanted.window_class).handle
        self._area = self._present()
        if (self._area.width, self._area.height) != (wanted.width, wanted.height):
            raise GameError(
                f"the game's window is {self._area.width} × {self._area.height} pixels, the calibration is "
                f"for {wanted.width} × {wanted.height}: resize the window, or calibrate it with {REMEDY}"
            )

    @property
    def area(self) -> Area:
        """Where the window was on the screen when it was found."""
        return self._area

    def look(self) -> Picture:
        """What the window shows; it has to be where it was, and nothing may cover the tested pixels."""
        if self._present() != self._area:
            raise GameError("the game's window was moved or resized: leave it alone while evalkit plays")
        for test in (self._calibration.editor, self._calibration.success, self._calibration.failure):
            if not self._desktop.shows(self._handle, *self._on_screen(test)):
                raise GameError(
                    "another window covers the game's: leave the screen alone while evalkit plays"
                )
        return self._desktop.grab(self._area)

    def passes(self, picture: Picture, test: PixelTest) -> bool:
        """Whether a picture of the window passes a test."""
        return self.value(picture, test) > test.above

    def value(self, picture: Picture, test: PixelTest) -> int:
        """The channel that a test looks at."""
        return picture.value(test.pixel(picture.width, picture.height), test.channel)

    def focus(self) -> None:
        """Give the window the focus by a click, and see to it that it has it."""
        self._desktop.bring_up(self._handle)
        self._click(self._calibration.focus)
        if not self._within(FOCUS_TIMEOUT_S, lambda: self._desktop.focused(self._handle)):
            raise GameError("the game's window doesn't get the focus: close what takes it, and try again")

    def enter_editor(self) -> None:
        """Be in the editor, from wherever a run that broke off left the game."""
        if self.passes(self.look(), self._calibration.editor):
            return
        self._press(self._calibration.run_key)
        self._await_editor(", neither at first nor after leaving a run")

    def leave(self) -> None:
        """Take the game out of a run, from any state that it and its keys are in, into its editor."""
        for key in {self._calibration.run_key, *(step.key for step in self._calibration.reload if step.key)}:
            self._desktop.let_go(key)
        self.focus()
        # An editor that is still lit may be that of a game which hasn't answered the key yet: a run would
        # start in it after it was left.
        self._within(START_TIMEOUT_S, lambda: not self.passes(self.look(), self._calibration.editor))
        self.enter_editor()

    def open_slot(self, opened: Opened) -> Picture:
        """Make the game read the layout anew, and have evidence that it did; the editor afterwards.

        A click that gets lost leaves the former design open, whose verdict would be taken for this one's. So
        the editor pixel has to go dark on the way or, in an editor that stands still, the picture has to
        change, unless this very layout is open already.
        """
        before, still = self._settled()
        known = opened.shows(before)
        opened.forget()
        dark = False
        for step in self._calibration.reload:
            dark = self._goes_dark(step) or dark
        dark = dark or self._is_dark()
        self._await_editor(" after opening the layout")
        self._click(self._calibration.focus)  # what the pointer is on may look different
        deadline = time.monotonic() + self._calibration.editor_timeout_s
        while True:
            after, still_after = self._settled()
            lit = self.passes(after, self._calibration.editor)
            dark = dark or not lit
            changed = still and still_after and after.raw != before.raw
            if lit and (dark or known or changed):
                opened.remember(after)
                return after
            if time.monotonic() > deadline:
                raise GameError(_NOT_OPENED.format("didn't change" if still else "never stands still"))

    def run(self) -> Film:
        """Start a run from the editor, film it to its end and go back to the editor."""
        self._check_start(self.look())
        started = time.monotonic()  # the game starts when the key goes down
        with self._running():
            return self._film(started)

    @contextmanager
    def _running(self) -> Iterator[None]:
        try:
            self._press(self._calibration.run_key)
            yield
        except BaseException:  # also when a person has had enough
            # What went wrong first is what is told; the game may be gone.
            with contextlib.suppress(GameError):
                self.leave()
            raise
        self._press(self._calibration.run_key)
        self._await_editor(" after the run")

    def _film(self, started: float) -> Film:
        """Pictures at absolute deadlines; those that can't be kept are left out, never the last one."""
        calibration = self._calibration
        last = round(calibration.window_s * FRAMES_PER_SECOND)
        shots: list[Shot] = []
        index = 0
        while True:
            self._pause(max(0.0, started + index / FRAMES_PER_SECOND - time.monotonic()))
            self._keep_focus()
            t_s = time.monotonic() - started
            picture = self.look()
            failed = self.passes(picture, calibration.failure)
            succeeded = index == last and not failed and self.passes(picture, calibration.success)
            if not shots and t_s < 1.0 / FRAMES_PER_SECOND:
                self._check_start(picture)
            shots.append(Shot(index, t_s, reduced(picture.image())))
            if failed or index == last:
                break
            elapsed = (time.monotonic() - started) * FRAMES_PER_SECOND
            index = min(last, max(index + 1, math.ceil(elapsed)))
        if self.passes(picture, calibration.editor):
            raise GameError(
                f"the game is in the editor at the end of a run: does {calibration.run_key} start it?"
            )
        if succeeded and t_s > calibration.window_s + LATE_S:
            raise GameError(
                f"the last picture was taken after {t_s:.1f} s instead of {calibration.window_s:g}, so the "
                "success it shows may have come too late: leave the machine more time for the game"
            )
        values = {name: self.value(picture, getattr(calibration, name)) for name in ("success", "failure")}
        return Film(tuple(shots), failed, succeeded, index + 1 - len(shots), values)

    def _settled(self) -> tuple[Picture, bool]:
        """What the window shows once it stands still, and whether it did so within a moment."""
        deadline = time.monotonic() + STILL_TIMEOUT_S
        picture = self.look()
        while True:
            self._pause(STILL_S)
            later = self.look()
            still = later.raw == picture.raw
            if still or time.monotonic() > deadline:
                return later, still
            picture = later

    def _goes_dark(self, step: Step) -> bool:
        """Take a step of `reload`; whether the editor pixel was seen dark after it."""
        if step.click is not None:
            self._click(step.click)
        elif step.key is not None:
            self._press(step.key)
        deadline = time.monotonic() + (step.wait_s or 0.0)
        dark = self._is_dark()
        while (left_s := deadline - time.monotonic()) > 0.0:
            self._pause(min(_POLL_S, left_s))
            dark = dark or self._is_dark()
        return dark

    def _is_dark(self) -> bool:
        """Whether the game itself, and not what covers it, shows no lit editor pixel."""
        test = self._calibration.editor
        x, y = self._on_screen(test)
        if not self._desktop.shows(self._handle, x, y):
            return False
        return not self.passes(self._desktop.grab(Area(x, y, 1, 1)), test)

    def _check_start(self, picture: Picture) -> None:
        """A test that passes before anything has moved says nothing about how it ended."""
        for name in ("success", "failure"):
            if self.passes(picture, getattr(self._calibration, name)):
                raise GameError(f"the {name} pixel is lit when a run starts: calibrate it with {REMEDY}")

    def _await_editor(self, when: str) -> None:
        seconds = self._calibration.editor_timeout_s
        if not self._within(seconds, lambda: self.passes(self.look(), self._calibration.editor)):
            raise GameError(f"the game doesn't show its editor{when} (waited {seconds:g} s)")

    def _press(self, key: str) -> None:
        """A key goes to whatever has the focus, so that is looked at first."""
        self._keep_focus()
        self._desktop.press(key)

    def _keep_focus(self) -> None:
        if not self._desktop.focused(self._handle):
            self._present()  # a window that is gone has no focus either
            raise GameError("the game's window lost the focus: leave the machine alone while evalkit plays")

    def _click(self, spot: Spot) -> None:
        self._present()
        x, y = self._on_screen(spot)
        if not self._within(FOCUS_TIMEOUT_S, lambda: self._desktop.shows(self._handle, x, y)):
            raise GameError("another window covers the game's where it has to be clicked: move it away")
        self._desktop.click(x, y)

    def _on_screen(self, spot: Spot) -> tuple[int, int]:
        x, y = spot.pixel(self._area.width, self._area.height)
        return self._area.left + x, self._area.top + y

    def _present(self) -> Area:
        area = self._desktop.area(self._handle)
        if area is None:
            raise GameError("the game's window is gone: it was closed or minimised, or the game has crashed")
        return area

    def _within(self, seconds: float, happens: Callable[[], bool]) -> bool:
        """Whether something becomes true in that time."""
        deadline = time.monotonic() + seconds
        while not happens():
            if time.monotonic() > deadline:
                return False
            self._pause(_POLL_S)
        return True
