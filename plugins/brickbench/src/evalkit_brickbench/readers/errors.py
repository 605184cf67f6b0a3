"""What readers raise."""

from __future__ import annotations

from evalkit_brickbench.ldraw.notes import shorten

PART_LIMIT = 10_000
"""More parts than any setting allows; a longer text isn't read further."""


class ReaderError(ValueError):
    """A text that can't be read; the message is one line that begins with the number of the line at fault."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {shorten(message, 200)}")
        self.line = line
