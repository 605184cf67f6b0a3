"""The trace of an episode as one picture: its calls side by side."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageOps

from evalkit_polybridge import executor_embedded
from evalkit_polybridge.drawing import FORBIDDEN, INK, PAPER, Colour, font, png
from evalkit_polybridge.editor import editor_image
from evalkit_polybridge.figures.canvas import text_width
from evalkit_polybridge.figures.style import GRID, MUTED, OTHER, PALETTE
from evalkit_polybridge.frames import contact_sheet
from evalkit_polybridge.graph import Level
from evalkit_polybridge.physics import simulate
from evalkit_polybridge.trace import WORDS, Step, Trace, facts

COLUMN_PX = 640
GAP_PX = 20
TITLE_PX = 60
HEAD_PX = 44
LINE_PX = 19
TEXT_PX = 14
MOST_LINES = 14
BLANK_PX = 300

_COLOURS: dict[str, Colour] = {"V": PALETTE[4], "F": FORBIDDEN, "S": PALETTE[2], "?": OTHER}


def trace_sheet(trace: Trace) -> bytes:
    """PNG with a column per call: outcome, facts, the design in the editor, and frames of its run.

    A run of the embedded executor is repeated, to the same bits, for its frames; of other executors there
    are none here. Without a call there is the title alone.
    """
    texts = [_lines(step, trace.level) for step in trace.steps]
    text_px = 14 + LINE_PX * max(map(len, texts), default=0)
    columns = [
        _column(step, lines, text_px, _pictures(step, trace.level))
        for step, lines in zip(trace.steps, texts, strict=True)
    ]
    width = max(COLUMN_PX, len(columns) * (COLUMN_PX + GAP_PX) - GAP_PX) + 2 * GAP_PX
    height = TITLE_PX + max((column.height for column in columns), default=0) + GAP_PX
    image = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(image)
    title = f"{trace.key}   {str(trace.trajectory) or 'no call'}"
    draw.text((GAP_PX, TITLE_PX / 2), _fitted(title, 22, width - 2 * GAP_PX), INK, font(22), anchor="lm")
    for place, column in enumerate(columns):
        image.paste(column, (GAP_PX + place * (COLUMN_PX + GAP_PX), TITLE_PX))
    return png(image)


def _lines(step: Step, level: Level) -> list[str]:
    """What is written above a step's pictures."""
    lines = [part for line in (*facts(step, level), *step.problems) for part in _wrapped(line)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"… {len(lines) - MOST_LINES + 1} more lines"]
    return lines


def _column(step: Step, lines: list[str], text_px: int, pictures: list[Image.Image]) -> Image.Image:
    """Heading, lines, pictures; `text_px` for the lines, so that all pictures begin at one height."""
    height = HEAD_PX + text_px + sum(picture.height + 8 for picture in pictures)
    image = Image.new("RGB", (COLUMN_PX, height), PAPER)
    draw = ImageDraw.Draw(image)
    colour = _COLOURS[step.call.outcome]
    draw.rectangle((0, 0, COLUMN_PX, HEAD_PX - 8), GRID)
    draw.rectangle((0, 0, HEAD_PX - 8, HEAD_PX - 8), colour)
    middle = (HEAD_PX - 8) / 2
    draw.text((middle, middle), step.call.outcome, PAPER, font(22), anchor="mm")
    head = f"call {step.call.number}: {WORDS[step.call.outcome]}"
    draw.text((HEAD_PX + 4, middle), head, INK, font(18), anchor="lm")
    for number, line in enumerate(lines):
        draw.text((0, HEAD_PX + 8 + LINE_PX * number), line, INK, font(TEXT_PX), anchor="lm")
    top = HEAD_PX + text_px
    for picture in pictures:
        image.paste(picture, (0, top))
        top += picture.height + 8
    return image


def _pictures(step: Step, level: Level) -> list[Image.Image]:
    """The editor's picture, below it the contact sheet of the run if there was one."""
    if step.design is None:
        blank = Image.new("RGB", (COLUMN_PX, BLANK_PX), GRID)
        middle = (COLUMN_PX / 2, BLANK_PX / 2)
        ImageDraw.Draw(blank).text(middle, "no design", MUTED, font(20), anchor="mm")
        return [blank]
    pictures = [editor_image(level, step.design)]
    if step.call.execution is not None and step.call.execution["executor"] == executor_embedded.ID:
        film = simulate(level, step.design, frames=True).frames
        if film:
            pictures.append(contact_sheet(level, step.design, film))
    return [_narrowed(data) for data in pictures]


def _narrowed(data: bytes) -> Image.Image:
    with Image.open(io.BytesIO(data)) as picture:
        size = (COLUMN_PX, round(picture.height * COLUMN_PX / picture.width))
        return ImageOps.contain(picture.convert("RGB"), size, Image.Resampling.LANCZOS)


def _wrapped(text: str) -> list[str]:
    """The text in lines as wide as a column, those after the first indented."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line.strip() and text_width(longer, TEXT_PX) > COLUMN_PX - 4:
            lines.append(line)
            longer = f"    {word}"
        line = longer
    return [*lines, line]


def _fitted(text: str, size: int, width: float) -> str:
    """As much of the text's beginning as fits."""
    while text_width(text, size) > width:
        text = text[:-1]
    return text
