"""A surface that gives the same drawing as SVG and as PNG, and the same bytes every time.

Units are pixels of the SVG from the upper left corner; the PNG is `PNG_SCALE` times as large.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]

PAPER: Colour = (255, 255, 255)
PNG_SCALE = 2
FINE = 3
"""Shapes of the PNG are painted so many times larger and averaged."""
_BASELINE = 0.35
"""How far a text's baseline lies below its middle, as a share of its size."""
_ANCHORS = {"start": "lm", "middle": "mm", "end": "rm"}
_Paint = Callable[[ImageDraw.ImageDraw, int], None]


class Canvas:
    """`width` × `height` pixels of paper; `title` is what a screen reader says of it. Texts lie on top."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._svg: list[str] = []
        self._shapes: list[_Paint] = []
        self._svg_texts: list[str] = []
        self._texts: list[_Paint] = []

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        """A filled rectangle."""
        self._svg.append(
            f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(right - left)}" height="{_n(bottom - top)}" '
            f'fill="{_hex(fill)}"/>'
        )
        corners = (left, top, right, bottom)
        self._shapes.append(lambda draw, scale: draw.rectangle([c * scale for c in corners], fill))

    def line(self, points: Sequence[Point], colour: Colour, width: float = 1.0) -> None:
        """A line through points."""
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._svg.append(
            f'<polyline points="{path}" fill="none" stroke="{_hex(colour)}" stroke-width="{width:g}"/>'
        )
        self._shapes.append(
            lambda draw, scale: draw.line(
                [(x * scale, y * scale) for x, y in points], colour, max(1, round(width * scale))
            )
        )

    def disc(self, centre: Point, radius: float, fill: Colour) -> None:
        """A filled disc."""
        x, y = centre
        self._svg.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{radius:g}" fill="{_hex(fill)}"/>')
        ends = (x - radius, y - radius, x + radius, y + radius)
        self._shapes.append(lambda draw, scale: draw.ellipse([end * scale for end in ends], fill))

    def text(self, at: Point, text: str, size: int, colour: Colour, anchor: Anchor = "start") -> None:
        """One line of text whose middle is at the height of `at`."""
        x, y = at
        self._svg_texts.append(
            f'<text x="{_n(x)}" y="{_n(y + _BASELINE * size)}" font-size="{size}" fill="{_hex(colour)}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )
        self._texts.append(
            lambda draw, scale: draw.text(
                (x * scale, y * scale), text, colour, font(size * scale), anchor=_ANCHORS[anchor]
            )
        )

    def svg(self) -> bytes:
        """The drawing as SVG, UTF-8."""
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{self.width}" height="{self.height}" fill="{_hex(PAPER)}"/>',
            *self._svg,
            *self._svg_texts,
            "</svg>",
        ]
        return ("\n".join(lines) + "\n").encode()

    def png(self) -> bytes:
        """The drawing as PNG."""
        scale = PNG_SCALE * FINE
        image = Image.new("RGB", (self.width * scale, self.height * scale), PAPER)
        draw = ImageDraw.Draw(image)
        for paint in self._shapes:
            paint(draw, scale)
        image = image.reduce(FINE)
        draw = ImageDraw.Draw(image)
        for paint in self._texts:
            paint(draw, PNG_SCALE)
        buffer = io.BytesIO()
        image.save(buffer, "PNG", compress_level=6)
        return buffer.getvalue()


@lru_cache(maxsize=16)
def font(size_px: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font, so that the system's fonts never change a picture."""
    loaded = ImageFont.load_default(size_px)
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install a wheel of Pillow that has it")
    return loaded


def text_width(text: str, size: int) -> float:
    """How wide a text is in pixels, rather more than less: fonts of SVG viewers differ."""
    return font(size * PNG_SCALE).getlength(text) / PNG_SCALE * 1.06


def shortened(text: str, size: int, width: float) -> str:
    """The text, or as much of both its ends as fits: what tells systems apart may be at either."""
    shown, kept = text, len(text)
    while text_width(shown, size) > width and kept > 2:
        kept -= 1
        shown = f"{text[: kept // 2]}…{text[len(text) - (kept - kept // 2) :]}"
    return shown


def _n(value: float) -> str:
    return f"{round(value, 2):g}"


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
