"""The calibration file: where in the game's window to click and to look, as fractions of its size.

A person makes it once per machine (`evalkit polybridge native calibrate`). Its content, not its path, is
part of the protocol, and its hash is the hash of the executor's constants.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from evalkit import UsageError
from evalkit_polybridge.constants import FRAMES_PER_SECOND, WINDOW_S

FORMAT_VERSION = 1
#: The failure marker: this pixel of a window of 2560 × 1600, and its red channel above this. An inference.
MARKER_PX, MARKER_WINDOW_PX, MARKER_ABOVE = (1145, 637), (2560, 1600), 150
#: Keys with a name; any other key is a single letter or digit.
NAMED_KEYS = ("space", "enter", "escape", "tab", *(f"f{i}" for i in range(1, 13)))

#: Files end so, one per level under the level's name.
TEMPLATE_SUFFIX = ".layout.json"
DEFAULT_SLOT = "evalkit" + TEMPLATE_SUFFIX
#: What Windows takes for a device, whatever follows the first point.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{i}" for port in ("com", "lpt") for i in range(1, 10))}

Channel = Literal["red", "green", "blue"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Spot(_Strict):
    """A point of the window, as fractions of its width and height from the upper left corner."""

    x: float = Field(ge=0.0, lt=1.0)
    y: float = Field(ge=0.0, lt=1.0)

    def pixel(self, width: int, height: int) -> tuple[int, int]:
        """The pixel of a window of that size that holds the point."""
        return int(self.x * width), int(self.y * height)


class PixelTest(Spot):
    """Passes where one channel (0 to 255) of the pixel at a point is above a threshold."""

    channel: Channel
    above: int = Field(ge=0, le=254)


class Step(_Strict):
    """One step of opening the layout: exactly one of a click, a key and a wait in seconds."""

    click: Spot | None = None
    key: str | None = None
    wait_s: float | None = Field(default=None, gt=0.0, le=60.0)

    @field_validator("key")
    @classmethod
    def _known(cls, key: str | None) -> str | None:
        return key if key is None else known_key(key)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(value is not None for value in (self.click, self.key, self.wait_s)) != 1:
            raise ValueError("a step has exactly one of click, key and wait_s")
        return self


class GameWindow(_Strict):
    """How to know the game's window, and the size in pixels for which the calibration holds."""

    title: str = Field(min_length=1)
    """Its whole title."""
    window_class: str = ""
    """Its class (the second part of WM_CLASS on X11); empty: any."""
    width: int = Field(ge=100, le=16384)
    """Of the part the game draws in, without borders."""
    height: int = Field(ge=100, le=16384)


class Calibration(_Strict):
    """Everything about one installation of the game that an outcome depends on."""

    version: Literal[1]
    """Of this format."""
    game: str = Field(min_length=1, max_length=200)
    """The game and its version, in words, for readers of a result."""
    window: GameWindow
    focus: Spot
    """Where a click gives the window the focus and does nothing else."""
    run_key: str = "space"
    """Starts a run, and leaves it for the editor."""
    slot: str = DEFAULT_SLOT
    """Name of the layout file that is replaced and that `reload` opens."""
    reload: list[Step] = Field(min_length=1, max_length=50)
    """From the editor: open `slot` anew. Ends in the editor."""
    editor: PixelTest
    """Passes in the editor, and never during a run."""
    success: PixelTest
    """Passes on the last frame of a run that succeeded, and not when it starts."""
    failure: PixelTest
    """Passes as soon as the terminal failure marker is shown, and not when the run starts."""
    editor_timeout_s: float = Field(default=10.0, gt=0.0, le=120.0)
    """How long the editor may take to appear."""
    window_s: float = Field(default=WINDOW_S, gt=0.0, le=60.0)
    """How long a run is watched; anything but the protocol's time marks the result."""

    @field_validator("run_key")
    @classmethod
    def _known(cls, key: str) -> str:
        return known_key(key)

    @field_validator("slot")
    @classmethod
    def _file_name(cls, name: str) -> str:
        if not name or name != os.path.basename(name) or set(name) & set('\\:*?"<>|') or name.startswith("."):
            raise ValueError("slot has to be a file name without folders")
        if not name.isprintable() or name[-1] in " ." or name.split(".")[0].strip().lower() in _DEVICES:
            raise ValueError(f"{name!r} is no name that a file can have under Windows")
        for level in _level_names():
            if is_layout_of(level, name):
                raise ValueError(f"{name!r} is the own layout of a level: name another, as {DEFAULT_SLOT!r}")
        return name

    @field_validator("window_s")
    @classmethod
    def _whole_frames(cls, seconds: float) -> float:
        if not (seconds * FRAMES_PER_SECOND).is_integer():
            raise ValueError(f"window_s has to be a multiple of 1/{FRAMES_PER_SECOND} s")
        return seconds


def is_layout_of(level_name: str, file_name: str) -> bool:
    """Whether a file of that name holds the level's own layout; Windows doesn't tell cases apart."""
    return (level_name + TEMPLATE_SUFFIX).lower() == file_name.lower()


def _level_names() -> list[str]:
    from evalkit_polybridge.levels.families import generate
    from evalkit_polybridge.levels.heldout import heldout

    return [level.name for level, _ in (*generate(), *heldout())]


def known_key(key: str) -> str:
    """The key, if it is one that can be pressed; ValueError otherwise."""
    if key in NAMED_KEYS or (len(key) == 1 and key.isascii() and key.isalnum() and key == key.lower()):
        return key
    raise ValueError(f"{key!r} is no key: use a lower-case letter, a digit or one of {', '.join(NAMED_KEYS)}")


def paper_marker() -> PixelTest:
    """The failure marker at the place the protocol's authors are taken to have used."""
    x, y = ((p + 0.5) / size for p, size in zip(MARKER_PX, MARKER_WINDOW_PX, strict=True))
    return PixelTest(x=x, y=y, channel="red", above=MARKER_ABOVE)


def spot_of(pixel: tuple[int, int], width: int, height: int) -> Spot:
    """The middle of a pixel of a window of that size; pydantic's ValidationError if it is outside."""
    return Spot(x=(pixel[0] + 0.5) / width, y=(pixel[1] + 0.5) / height)


def calibration_from(document: Any) -> Calibration:
    """A calibration from its JSON; pydantic's ValidationError if it is none."""
    return Calibration.model_validate(document)


def read_calibration(path: Path) -> Calibration:
    """The calibration in a file; UsageError, in one line, if it can't be read or is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    try:
        return calibration_from(document)
    except ValidationError as error:
        raise UsageError(f"{path}: {first_fault(error)}; make it anew with {REMEDY}") from error


REMEDY = "`evalkit polybridge native calibrate`"


def first_fault(error: ValidationError, whole: str = "the calibration") -> str:
    """The first thing pydantic found wrong, as `place: what`; `whole` is the place if it is everywhere."""
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"]) or whole
    return f"{place}: {fault['msg'].removeprefix('Value error, ')}"


def write_calibration(calibration: Calibration, path: Path) -> None:
    """Write a calibration as JSON, in one step; UsageError if the file can't be written."""
    text = json.dumps(calibration.model_dump(mode="json", exclude_none=True), indent=2) + "\n"
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UsageError(f"can't write {path}: {error.strerror}") from error
