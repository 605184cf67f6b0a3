"""Making a calibration: from options, and from a person who points at what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
from pydantic import ValidationError

from evalkit import UsageError
from evalkit_polybridge.native.calibration import (
    FORMAT_VERSION,
    Calibration,
    Channel,
    PixelTest,
    Spot,
    Step,
    calibration_from,
    first_fault,
    paper_marker,
    spot_of,
)
from evalkit_polybridge.native.desktop import Area, Desktop, WindowInfo
from evalkit_polybridge.native.game import find_window

CHANNELS: tuple[Channel, ...] = ("red", "green", "blue")
_STEPS = "click:X,Y, key:NAME or wait:SECONDS"


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says; None and empty: ask. Points are pixels of the window, `X,Y`."""

    title: str | None
    window_class: str
    game: str | None
    focus: str | None
    reload: tuple[str, ...]
    editor: str | None
    success: str | None
    failure: str | None
    rest: dict[str, Any]

    def missing(self) -> list[str]:
        """Options without which a script can't go on."""
        needed = {
            name: getattr(self, name) for name in ("title", "game", "focus", "reload", "editor", "success")
        }
        return [f"--{name}" for name, value in needed.items() if not value]


def confirm(desktop: Desktop, given: Given, *, ask: bool) -> Calibration:
    """A calibration for the window as it is; asks on the terminal for what isn't given, if it may.

    Raises UsageError for what is missing, or for options that don't fit the window, and GameError if there
    is no such window.
    """
    if not ask and given.missing():
        raise UsageError(f"calibrate needs {', '.join(given.missing())} where it can't ask")
    window = find_window(desktop, given.title or _ask_title(desktop), given.window_class)
    area = desktop.area(window.handle)
    if area is None:
        raise UsageError(f"the window {window.title!r} is minimised: restore it")
    pointing = _Pointing(desktop, area)
    document = {
        "version": FORMAT_VERSION,
        "game": given.game or click.prompt("Which game is it, and which version", err=True),
        "window": _window(window, area),
        **_points(given, pointing),
        **given.rest,
    }
    try:
        return calibration_from(document)
    except ValidationError as error:
        raise UsageError(first_fault(error)) from error


def _window(window: WindowInfo, area: Area) -> dict[str, Any]:
    return {
        "title": window.title,
        "window_class": window.window_class,
        "width": area.width,
        "height": area.height,
    }


def _points(given: Given, pointing: _Pointing) -> dict[str, Any]:
    """Every point, those of the editor before that of a run."""
    focus = (
        _spot("--focus", given.focus, pointing.area)
        if given.focus
        else pointing.spot("where a click in the editor does nothing")
    )
    editor = _test("--editor", given.editor, pointing.area) if given.editor else (
        pointing.test("a mark that is there in the editor and not during a run", None)
    )  # fmt: skip
    steps = [_step(text, pointing.area) for text in given.reload] or _ask_steps(pointing)
    success = _test("--success", given.success, pointing.area) if given.success else (
        pointing.test("the mark of success (let a bridge that works run to its end first)", "green")
    )  # fmt: skip
    failure = _test("--failure", given.failure, pointing.area) if given.failure else paper_marker()
    found = {"focus": focus, "editor": editor, "success": success, "failure": failure}
    dumped = {name: spot.model_dump() for name, spot in found.items()}
    return dumped | {"reload": [step.model_dump() for step in steps]}


@dataclass(frozen=True, slots=True)
class _Pointing:
    """A person who moves the pointer to something in the window and presses Enter in the terminal."""

    desktop: Desktop
    area: Area

    def spot(self, what: str) -> Spot:
        """The point under the pointer."""
        return spot_of(self._pixel(what), self.area.width, self.area.height)

    def test(self, what: str, channel: Channel | None) -> PixelTest:
        """A test of the pixel under the pointer that it passes as it is; None: its brightest channel."""
        pixel = self._pixel(what)
        picture = self.desktop.grab(self.area)
        values = {name: picture.value(pixel, name) for name in CHANNELS}
        seen = ", ".join(f"{name} {value}" for name, value in values.items())
        click.echo(f"  the pixel {pixel[0]},{pixel[1]} shows {seen}", err=True)
        brightest = max(CHANNELS, key=lambda name: values[name])
        chosen: Channel = click.prompt(
            "  channel", type=click.Choice(CHANNELS), default=channel or brightest, err=True
        )
        suggested = values[chosen] * 2 // 3
        limit = click.prompt("  lit above", type=click.IntRange(0, 254), default=suggested, err=True)
        spot = spot_of(pixel, self.area.width, self.area.height)
        return PixelTest(x=spot.x, y=spot.y, channel=chosen, above=limit)

    def _pixel(self, what: str) -> tuple[int, int]:
        while True:
            click.prompt(f"Point at {what}, then press Enter here", default="", show_default=False, err=True)
            x, y = self.desktop.arrangement().pointer
            pixel = (x - self.area.left, y - self.area.top)
            if 0 <= pixel[0] < self.area.width and 0 <= pixel[1] < self.area.height:
                return pixel
            click.echo("  the pointer isn't in the game's window", err=True)


def _ask_title(desktop: Desktop) -> str:
    titles = sorted({window.title for window in desktop.windows()})
    for number, title in enumerate(titles, 1):
        click.echo(f"  {number}  {title}", err=True)
    if not titles:
        raise UsageError("no window is open: start the game first")
    chosen: int = click.prompt("Which is the game's window", type=click.IntRange(1, len(titles)), err=True)
    return titles[chosen - 1]


def _ask_steps(pointing: _Pointing) -> list[Step]:
    click.echo("How is the layout opened, from the editor? Step by step:", err=True)
    steps: list[Step] = []
    while True:
        text = click.prompt(
            f"  step {len(steps) + 1}: c (click), key:NAME, wait:SECONDS, or Enter if that was all",
            default="", show_default=False, err=True,
        )  # fmt: skip
        if not text and steps:
            return steps
        try:
            steps.append(
                Step(click=pointing.spot("what has to be clicked"))
                if text == "c"
                else _step(text, pointing.area)
            )
        except UsageError as error:
            click.echo(f"  {error}", err=True)


def _step(text: str, area: Area) -> Step:
    kind, _, value = text.partition(":")
    readers: dict[str, Callable[[], Step]] = {
        "click": lambda: Step(click=_spot("--reload", value, area)),
        "key": lambda: Step(key=value),
        "wait": lambda: Step(wait_s=float(value)),
    }
    if kind not in readers:
        raise UsageError(f"--reload {text}: a step is {_STEPS}")
    try:
        return readers[kind]()
    except ValidationError as error:
        raise UsageError(f"--reload {text}: {first_fault(error)}") from error
    except ValueError as error:
        raise UsageError(f"--reload {text}: a step is {_STEPS}") from error


def _spot(option: str, text: str, area: Area) -> Spot:
    try:
        x, y = (int(part) for part in text.split(","))
        return spot_of((x, y), area.width, area.height)
    except ValueError as error:  # pydantic's among them
        raise UsageError(
            f"{option} {text}: give a pixel of the window as X,Y, below {area.width},{area.height}"
        ) from error


def _test(option: str, text: str, area: Area) -> PixelTest:
    parts = text.split(",")
    if len(parts) != 4:
        raise UsageError(f"{option} {text}: give X,Y,CHANNEL,ABOVE, as in 1145,637,red,150")
    spot = _spot(option, ",".join(parts[:2]), area)
    try:
        return PixelTest.model_validate(
            {"x": spot.x, "y": spot.y, "channel": parts[2], "above": int(parts[3])}
        )
    except ValueError as error:  # pydantic's among them
        raise UsageError(
            f"{option} {text}: CHANNEL is red, green or blue, ABOVE a number from 0 to 254"
        ) from error
