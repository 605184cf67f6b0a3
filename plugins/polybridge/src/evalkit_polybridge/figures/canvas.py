"""A drawing surface that gives the same picture as SVG and as PNG, and the same bytes every time.

Pixels count from the upper left corner. Whatever is drawn is kept in order; texts lie above all shapes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw

from evalkit_polybridge.drawing import PAPER, SUPERSAMPLE, Colour, font, png
from evalkit_polybridge.graph import Point

#: Pixels of a PNG per unit of the canvas, so that it is sharp on a page.
PNG_SCALE = 2
DASH_PX = 5.0
#: How far a text's baseline lies below its middle, as a share of its size.
_BASELINE = 0.35
_FAMILY = "Helvetica, Arial, 'Liberation Sans', sans-serif"

Anchor = Literal["start", "middle", "end"]
_PILLOW_ANCHOR: dict[str, str] = {"start": "lm", "middle": "mm", "end": "rm"}


@dataclass(frozen=True, slots=True)
class _Polygon:
    points: tuple[Point, ...]
    fill: Colour

    def svg(self) -> str:
        return f'<polygon points="{_points(self.points)}" fill="{_hex(self.fill)}"/>'

    def paint(self, draw: ImageDraw.ImageDraw, scale: float) -> None:
        draw.polygon([(x * scale, y * scale) for x, y in self.points], self.fill)


@dataclass(frozen=True, slots=True)
class _Line:
    points: tuple[Point, ...]
    colour: Colour
    width: float
    dashed: bool

    def svg(self) -> str:
        dash = f' stroke-dasharray="{DASH_PX:g}"' if self.dashed else ""
        return (
            f'<polyline points="{_points(self.points)}" fill="none" stroke="{_hex(self.colour)}" '
            f'stroke-width="{_number(self.width)}" stroke-linejoin="round"{dash}/>'
        )

    def paint(self, draw: ImageDraw.ImageDraw, scale: float) -> None:
        pieces = _dashes(self.points) if self.dashed else [self.points]
        for piece in pieces:
            corners = [(x * scale, y * scale) for x, y in piece]
            draw.line(corners, self.colour, max(1, round(self.width * scale)), joint="curve")


@dataclass(frozen=True, slots=True)
class _Disc:
    centre: Point
    radius: float
    fill: Colour
    rim: Colour

    def svg(self) -> str:
        (x, y), r = self.centre, self.radius
        return (
            f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(r - 0.75)}" '
            f'fill="{_hex(self.fill)}" stroke="{_hex(self.rim)}" stroke-width="1.5"/>'
        )

    def paint(self, draw: ImageDraw.ImageDraw, scale: float) -> None:
        (x, y), r = self.centre, self.radius
        box = ((x - r) * scale, (y - r) * scale, (x + r) * scale, (y + r) * scale)
        draw.ellipse(box, self.fill, self.rim, max(1, round(1.5 * scale)))


@dataclass(frozen=True, slots=True)
class _Text:
    at: Point
    text: str
    size: int
    colour: Colour
    anchor: Anchor

    def svg(self) -> str:
        x, y = self.at[0], self.at[1] + _BASELINE * self.size
        return (
            f'<text x="{_number(x)}" y="{_number(y)}" font-size="{self.size}" fill="{_hex(self.colour)}" '
            f'text-anchor="{self.anchor}">{escape(self.text)}</text>'
        )

    def paint(self, draw: ImageDraw.ImageDraw, scale: int) -> None:
        at = (self.at[0] * scale, self.at[1] * scale)
        draw.text(at, self.text, self.colour, font(self.size * scale), anchor=_PILLOW_ANCHOR[self.anchor])


@dataclass(slots=True)
class Canvas:
    """`width` × `height` pixels of paper; `title` is what a screen reader says of it."""

    width: int
    height: int
    title: str
    _shapes: list[_Polygon | _Line | _Disc] = field(default_factory=list)
    _texts: list[_Text] = field(default_factory=list)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A filled rectangle; nothing if it has no width or height."""
        if right > left and bottom > top:
            self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], fill)

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        """A filled polygon."""
        self._shapes.append(_Polygon(tuple(points), fill))

    def line(
        self, points: Sequence[Point], colour: Colour, width: float = 1.0, *, dashed: bool = False
    ) -> None:
        """A line through at least two points."""
        self._shapes.append(_Line(tuple(points), colour, width, dashed))

    def disc(self, centre: Point, radius: float, fill: Colour, rim: Colour | None = None) -> None:
        """A disc; its rim, by default of its own colour, lies inside the radius."""
        self._shapes.append(_Disc(centre, radius, fill, fill if rim is None else rim))

    def text(self, at: Point, text: str, size: int, colour: Colour, anchor: Anchor = "start") -> None:
        """One line of text whose middle is at the height of `at`."""
        self._texts.append(_Text(at, text, size, colour, anchor))

    def svg(self) -> bytes:
        """The picture as SVG, UTF-8."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="{_FAMILY}">'
        )
        lines = [head, f"<title>{escape(self.title)}</title>"]
        lines.append(f'<rect width="{self.width}" height="{self.height}" fill="{_hex(PAPER)}"/>')
        lines += [item.svg() for item in (*self._shapes, *self._texts)]
        return ("\n".join([*lines, "</svg>"]) + "\n").encode()

    def png(self) -> bytes:
        """The picture as PNG, `PNG_SCALE` times as large."""
        fine = PNG_SCALE * SUPERSAMPLE
        image = Image.new("RGB", (self.width * fine, self.height * fine), PAPER)
        draw = ImageDraw.Draw(image)
        for shape in self._shapes:
            shape.paint(draw, fine)
        image = image.reduce(SUPERSAMPLE)
        draw = ImageDraw.Draw(image)
        for text in self._texts:
            text.paint(draw, PNG_SCALE)
        return png(image)


def text_width(text: str, size: int) -> float:
    """How wide a text is in pixels, a little more than less."""
    return font(size * PNG_SCALE).getlength(text) / PNG_SCALE * 1.02


def shortened(text: str, size: int, width: float) -> str:
    """The text, or as much of its end as fits: what tells models apart is at the end of their names."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"…{text}", size) > width:
        text = text[1:]
    return f"…{text}"


def _dashes(points: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    for (x1, y1), (x2, y2) in pairwise(points):
        length = math.hypot(x2 - x1, y2 - y1)
        start = 0.0
        while start < length:
            ends = (start / length, min(start + DASH_PX, length) / length)
            first, last = ((x1 + (x2 - x1) * share, y1 + (y2 - y1) * share) for share in ends)
            yield first, last
            start += 2 * DASH_PX


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
