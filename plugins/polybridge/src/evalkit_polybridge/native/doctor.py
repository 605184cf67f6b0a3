"""Looking at an installation of the game without touching it: what is there, what fits the calibration."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit import EvalkitError
from evalkit_polybridge.native.calibration import (
    DEFAULT_SLOT,
    TEMPLATE_SUFFIX,
    Calibration,
    PixelTest,
    Spot,
)
from evalkit_polybridge.native.desktop import Desktop, Picture
from evalkit_polybridge.native.game import Game
from evalkit_polybridge.native.layouts import layouts_folder, state_folder
from evalkit_polybridge.native.lock import game_lock
from evalkit_polybridge.native.screen import open_desktop
from evalkit_polybridge.native.slot import recover, replace_file

if TYPE_CHECKING:
    from PIL import ImageDraw

#: A doctor doesn't wait for a run to end.
_LOCK_WAIT_S = 2.0
#: Half the size of a mark, and between a mark and its label.
_CROSS_PX, _GAP_PX = 12, 4
#: What a picture of ours says of itself, so that the next one may replace it.
_MARK, _MARKED = "Software", "evalkit polybridge native doctor"


#: Left, top, right, bottom in pixels.
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `ok` is None where there is nothing to judge."""

    name: str
    ok: bool | None
    detail: str


def examine(calibration: Calibration | None, screenshot: Path | None) -> list[Finding]:
    """Everything that can be seen without a click; `screenshot` gets an annotated picture of the window."""
    findings = [_try("files", _restored), _try("layouts", lambda: _layouts(calibration))]
    try:
        desktop = open_desktop()
    except EvalkitError as error:
        return [*findings, Finding("screen", False, str(error))]
    try:
        findings.append(Finding("screen", True, f"{desktop.scale():g} physical pixels per logical one"))
        if calibration is None:
            return [*findings, Finding("windows", None, _titles(desktop))]
        return [*findings, *_window(desktop, calibration, screenshot)]
    finally:
        desktop.close()


def may_draw(path: Path) -> bool:
    """Whether writing a file loses nothing: there is none, or it is a picture that `annotated` drew."""
    from PIL import Image

    if not path.exists():
        return True
    try:
        with Image.open(path, formats=["PNG"]) as image:
            return image.info.get(_MARK) == _MARKED
    except (OSError, SyntaxError, ValueError):  # no picture, or a broken one
        return False


def annotated(picture: Picture, calibration: Calibration) -> bytes:
    """PNG of the window with every point that is clicked (cross) or looked at (circle)."""
    from PIL import ImageDraw, PngImagePlugin

    from evalkit_polybridge import drawing

    image, font = picture.image(), drawing.font(14)
    draw = ImageDraw.Draw(image)
    marks = [(name, spot, spot.pixel(picture.width, picture.height)) for name, spot in _spots(calibration)]
    taken = [_around(pixel) for _, _, pixel in marks]
    for _, spot, pixel in marks:
        _mark(draw, pixel, circle=isinstance(spot, PixelTest))
    for name, spot, pixel in marks:
        label = f"{name} {spot.channel} > {spot.above}" if isinstance(spot, PixelTest) else f"click: {name}"
        box = draw.textbbox((0, 0), label, font)
        left, top = _free_place(pixel, (box[2] - box[0], box[3] - box[1]), image.size, taken)
        place = (left - box[0], top - box[1])
        taken.append(draw.textbbox(place, label, font))
        draw.rectangle(taken[-1], "black")
        draw.text(place, label, "yellow", font)
    buffer, mark = io.BytesIO(), PngImagePlugin.PngInfo()
    mark.add_text(_MARK, _MARKED)
    image.save(buffer, "PNG", pnginfo=mark)
    return buffer.getvalue()


def _around(pixel: tuple[int, int]) -> Box:
    x, y = pixel
    return (x - _CROSS_PX, y - _CROSS_PX, x + _CROSS_PX, y + _CROSS_PX)


def _free_place(
    pixel: tuple[int, int], size: tuple[float, float], room: tuple[int, int], taken: Sequence[Box]
) -> tuple[float, float]:
    """Upper left corner of a label beside a mark, in the picture and on nothing that is taken.

    Nearest to the mark: to its right or left, else a line higher or lower and so on. Beside the mark if
    everything is taken.
    """
    (x, y), (width, height) = pixel, size
    sides = (x + _CROSS_PX + _GAP_PX, x - _CROSS_PX - _GAP_PX - width)
    shifts = sorted(range(-room[1], room[1]), key=abs)
    places = [(left, y - height / 2 + shift) for shift in shifts for left in sides]
    inside = [
        (left, top) for left, top in places if 0 <= left <= room[0] - width and 0 <= top <= room[1] - height
    ]
    free = (
        (left, top)
        for left, top in inside
        if not any(_overlap((left, top, left + width, top + height), box) for box in taken)
    )
    return next(free, inside[0] if inside else places[0])


def _overlap(a: Box, b: Box) -> bool:
    apart = a[2] + 1 < b[0] or b[2] + 1 < a[0] or a[3] + 1 < b[1] or b[3] + 1 < a[1]
    return not apart


def _spots(calibration: Calibration) -> Iterator[tuple[str, Spot]]:
    yield "focus", calibration.focus
    for number, step in enumerate(calibration.reload, 1):
        if step.click is not None:
            yield f"reload {number}", step.click
    for name in ("editor", "success", "failure"):
        yield name, getattr(calibration, name)


def _mark(draw: ImageDraw.ImageDraw, pixel: tuple[int, int], *, circle: bool) -> None:
    x, y = pixel
    for colour, width in (("black", 5), ("yellow", 2)):
        if circle:
            draw.ellipse((x - _CROSS_PX, y - _CROSS_PX, x + _CROSS_PX, y + _CROSS_PX), None, colour, width)
        else:
            draw.line((x - _CROSS_PX, y, x + _CROSS_PX, y), colour, width)
            draw.line((x, y - _CROSS_PX, x, y + _CROSS_PX), colour, width)


def _try(name: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except EvalkitError as error:
        return Finding(name, False, str(error))


def _restored() -> Finding:
    folder = state_folder()
    with game_lock(folder / "game.lock", _LOCK_WAIT_S):
        done = recover(folder / "journal.json")
    said = "nothing is left of a run that broke off" if done is None else done.said
    return Finding("files", True, said)


def _layouts(calibration: Calibration | None) -> Finding:
    folder = layouts_folder()
    # The slot is no level, but may have a level's suffix.
    slot_name = DEFAULT_SLOT if calibration is None else calibration.slot
    count = sum(path.name != slot_name for path in folder.glob(f"*{TEMPLATE_SUFFIX}"))
    slot = "" if calibration is None else f"; {slot_name} is " + (
        "there, and put back after each run" if (folder / slot_name).exists() else "made for each run"
    )  # fmt: skip
    return Finding("layouts", count > 0, f"{folder}: {count} levels (*{TEMPLATE_SUFFIX}){slot}")


def _titles(desktop: Desktop) -> str:
    titles = sorted({repr(window.title) for window in desktop.windows()})
    return f"no --calibration given; open now: {', '.join(titles) or 'none'}"


def _window(desktop: Desktop, calibration: Calibration, screenshot: Path | None) -> Iterator[Finding]:
    try:
        game = Game(desktop, calibration)
        area = game.area
        size = f"{area.width} × {area.height} pixels at {area.left}, {area.top}"
        yield Finding("window", True, f"{calibration.window.title!r}, {size}, as calibrated")
        picture = game.look()
    except EvalkitError as error:
        yield Finding("window", False, str(error))
        return
    for name, lit in (("editor", True), ("success", False), ("failure", False)):
        test: PixelTest = getattr(calibration, name)
        passes = game.passes(picture, test)
        wanted = "lit in the editor" if lit else "dark in the editor"
        seen = f"{test.channel} {game.value(picture, test)}, lit above {test.above}"
        yield Finding(name, passes is lit, f"{seen}; has to be {wanted}")
    if screenshot is not None:
        try:
            replace_file(screenshot, annotated(picture, calibration))
        except OSError as error:
            yield Finding("picture", False, f"can't write {screenshot}: {error.strerror}")
        else:
            yield Finding(
                "picture", True, f"{screenshot} shows where evalkit clicks (cross) and looks (circle)"
            )
