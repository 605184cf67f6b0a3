"""A surface to draw on that gives the same picture as SVG and as PNG, and the same bytes every time.

Units are pixels of the SVG, from the upper left corner; the PNG has `PNG_SCALE` of its own for each. Things
are painted in the order in which they are drawn.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

PAPER: Colour = (255, 255, 255)
PNG_SCALE = 2
SUPERSAMPLE = 3
"""Shapes of the PNG are painted so many times larger and averaged."""
_FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_BASELINE = 0.35
"""How far a text's baseline lies below its middle, as a share of its size."""
_PILLOW_ANCHOR = {"start": "lm", "middle": "mm", "end": "rm"}


class _Shape(Protocol):
    def svg(self) -> str: ...

    def paint(self, image: Image.Image, draw: ImageDraw.ImageDraw, scale: int) -> None: ...


@dataclass(frozen=True, slots=True)
class _Polygon:
    points: tuple[Point, ...]
    fill: Colour

    def svg(self) -> str:
        return f'<polygon points="{_joined(self.points)}" fill="{_hex(self.fill)}"/>'

    def paint(self, image: Image.Image, draw: ImageDraw.ImageDraw, scale: int) -> None:
        draw.polygon(_scaled(self.points, scale), self.fill)


@dataclass(frozen=True, slots=True)
class _Line:
    points: tuple[Point, ...]
    colour: Colour
    width: float

    def svg(self) -> str:
        return (
            f'<polyline points="{_joined(self.points)}" fill="none" stroke="{_hex(self.colour)}" '
            f'stroke-width="{self.width:g}" stroke-linejoin="round"/>'
        )

    def paint(self, image: Image.Image, draw: ImageDraw.ImageDraw, scale: int) -> None:
        draw.line(_scaled(self.points, scale), self.colour, max(1, round(self.width * scale)), joint="curve")


@dataclass(frozen=True, slots=True)
class _Disc:
    centre: Point
    radius: float
    fill: Colour

    def svg(self) -> str:
        x, y = map(_number, self.centre)
        return f'<circle cx="{x}" cy="{y}" r="{self.radius:g}" fill="{_hex(self.fill)}"/>'

    def paint(self, image: Image.Image, draw: ImageDraw.ImageDraw, scale: int) -> None:
        (x, y), r = self.centre, self.radius
        draw.ellipse([(x - r) * scale, (y - r) * scale, (x + r) * scale, (y + r) * scale], self.fill)


@dataclass(frozen=True, slots=True)
class _Picture:
    corner: Point
    size: Point
    data: bytes

    def svg(self) -> str:
        (x, y), (width, height) = self.corner, self.size
        encoded = base64.b64encode(self.data).decode("ascii")
        return (
            f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'href="data:image/png;base64,{encoded}"/>'
        )

    def paint(self, image: Image.Image, draw: ImageDraw.ImageDraw, scale: int) -> None:
        size = (round(self.size[0] * scale), round(self.size[1] * scale))
        with Image.open(io.BytesIO(self.data)) as picture:
            shown = picture.convert("RGB").resize(size, Image.Resampling.LANCZOS)
        image.paste(shown, (round(self.corner[0] * scale), round(self.corner[1] * scale)))


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

    def paint(self, image: Image.Image, draw: ImageDraw.ImageDraw, scale: int) -> None:
        at = (self.at[0] * scale, self.at[1] * scale)
        draw.text(at, self.text, self.colour, font(self.size * scale), anchor=_PILLOW_ANCHOR[self.anchor])


@dataclass(slots=True)
class Canvas:
    """`width` × `height` pixels of paper; `title` is what a screen reader says of it."""

    width: int
    height: int
    title: str
    _shapes: list[_Shape] = field(default_factory=list)
    _texts: list[_Text] = field(default_factory=list)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A filled rectangle; nothing if it has no width or height."""
        if right > left and bottom > top:
            self.polygon([(left, top), (right, top), (right, bottom), (left, bottom)], fill)

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        """A filled polygon."""
        self._shapes.append(_Polygon(tuple(points), fill))

    def line(self, points: Sequence[Point], colour: Colour, width: float = 1.0) -> None:
        """A line through at least two points."""
        self._shapes.append(_Line(tuple(points), colour, width))

    def disc(self, centre: Point, radius: float, fill: Colour) -> None:
        """A filled disc."""
        self._shapes.append(_Disc(centre, radius, fill))

    def picture(self, corner: Point, size: Point, png: bytes) -> None:
        """A PNG file, its upper left corner and the size that it's shown in."""
        self._shapes.append(_Picture(corner, size, png))

    def text(self, at: Point, text: str, size: int, colour: Colour, anchor: Anchor = "start") -> None:
        """One line of text whose middle is at the height of `at`; texts lie above everything else."""
        self._texts.append(_Text(at, text, size, colour, anchor))

    def svg(self) -> bytes:
        """The picture as SVG, UTF-8."""
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="{_FONTS}">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{self.width}" height="{self.height}" fill="{_hex(PAPER)}"/>',
            *(shape.svg() for shape in (*self._shapes, *self._texts)),
            "</svg>",
        ]
        return ("\n".join(lines) + "\n").encode()

    def png(self) -> bytes:
        """The picture as PNG, `PNG_SCALE` times as large."""
        fine = PNG_SCALE * SUPERSAMPLE
        image = Image.new("RGB", (self.width * fine, self.height * fine), PAPER)
        draw = ImageDraw.Draw(image)
        for shape in self._shapes:
            shape.paint(image, draw, fine)
        image = image.reduce(SUPERSAMPLE)
        draw = ImageDraw.Draw(image)
        for text in self._texts:
            text.paint(image, draw, PNG_SCALE)
        buffer = io.BytesIO()
        image.save(buffer, "PNG", compress_level=6)
        return buffer.getvalue()


@lru_cache(maxsize=32)
def font(size_px: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font, so that the system's fonts never change a picture."""
    loaded = ImageFont.load_default(size_px)
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install a wheel of Pillow that has it")
    return loaded


def text_width(text: str, size: int) -> float:
    """How wide a text is in pixels, rather more than less: fonts of SVG viewers differ."""
    return font(size * PNG_SCALE).getlength(text) / PNG_SCALE * 1.04


def shortened(text: str, size: int, width: float) -> str:
    """The text, or as much of both ends as fits: what tells systems apart may be at either."""
    if text_width(text, size) <= width:
        return text
    kept = len(text) - 1
    while kept > 2 and text_width(_middle_out(text, kept), size) > width:
        kept -= 1
    return _middle_out(text, kept)


def wrapped(text: str, size: int, width: float, most_lines: int) -> list[str]:
    """The text in lines of that width, the last of them cut if it doesn't fit."""
    lines: list[str] = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], " ".join(lines[most_lines - 1 :])]
        while text_width(f"{lines[-1]} …", size) > width and " " in lines[-1]:
            lines[-1] = lines[-1].rpartition(" ")[0]
        lines[-1] += " …"
    return [shortened(line, size, width) for line in lines]


def _middle_out(text: str, kept: int) -> str:
    front = kept // 2
    return f"{text[:front]}…{text[len(text) - (kept - front) :]}"


def _scaled(points: Sequence[Point], scale: int) -> list[Point]:
    return [(x * scale, y * scale) for x, y in points]


def _joined(points: Sequence[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
