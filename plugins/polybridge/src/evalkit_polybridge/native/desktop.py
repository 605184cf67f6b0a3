"""What driving a game needs of a desktop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from evalkit import EvalkitError

if TYPE_CHECKING:
    from PIL import Image

    from evalkit_polybridge.native.calibration import Channel

#: How long a key or button is held down: a game that looks once per frame has to notice.
HOLD_S = 0.05

# Where a channel is in four bytes of BGRA.
_OFFSETS: dict[Channel, int] = {"blue": 0, "green": 1, "red": 2}


class GameError(EvalkitError):
    """The game can't be driven, or a run of it can't be trusted: one line, with what to do."""


class GameBusyError(GameError):
    """Another process drives the game."""


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the screen in physical pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """A visible window: the platform's handle, its whole title and its class."""

    handle: int
    title: str
    window_class: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where a person left the pointer, and the handle of the window that had the focus (0: none)."""

    pointer: tuple[int, int]
    active: int


@dataclass(frozen=True, slots=True)
class Picture:
    """A grabbed rectangle: `raw` holds four bytes (blue, green, red, unused) per pixel, row by row."""

    width: int
    height: int
    raw: bytes | bytearray

    def value(self, pixel: tuple[int, int], channel: Channel) -> int:
        """One channel, 0 to 255, of the pixel at (x, y)."""
        return self.raw[(pixel[1] * self.width + pixel[0]) * 4 + _OFFSETS[channel]]

    def image(self) -> Image.Image:
        """The picture as an RGB image."""
        from PIL import Image

        return Image.frombytes("RGB", (self.width, self.height), bytes(self.raw), "raw", "BGRX")


class Desktop(Protocol):
    """A screen with a pointer and a keyboard. Coordinates are physical pixels of the screen."""

    def windows(self) -> list[WindowInfo]:
        """All visible windows of programs."""
        ...

    def area(self, handle: int) -> Area | None:
        """The part of the screen that a window draws in; None if it is closed or minimised."""
        ...

    def scale(self) -> float:
        """Physical pixels per logical pixel of the screen; 1 at 96 dpi."""
        ...

    def bring_up(self, handle: int) -> None:
        """Put a window on top; whether it then has the focus is the desktop's business."""
        ...

    def focused(self, handle: int) -> bool:
        """Whether keys go to this window."""
        ...

    def shows(self, handle: int, x: int, y: int) -> bool:
        """Whether this window, and none on top of it, is what is seen at a point."""
        ...

    def click(self, x: int, y: int) -> None:
        """Move the pointer there and press the left button."""
        ...

    def press(self, key: str) -> None:
        """Press and release a key that `known_key` knows."""
        ...

    def let_go(self, key: str) -> None:
        """Release a key that `known_key` knows and the left button, which a killed process may hold down."""
        ...

    def grab(self, area: Area) -> Picture:
        """What the screen shows in an area."""
        ...

    def arrangement(self) -> Arrangement:
        """Pointer and focus as they are."""
        ...

    def rearrange(self, arrangement: Arrangement) -> None:
        """Put pointer and focus back, as far as the windows still exist."""
        ...

    def close(self) -> None:
        """Give back what the desktop holds."""
        ...
