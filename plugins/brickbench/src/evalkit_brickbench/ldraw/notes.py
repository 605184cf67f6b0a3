"""What reading a file has to say: notes about content that was worked around, errors that stop it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

NOTES_PER_CODE = 20


class LDrawError(ValueError):
    """A file that can't be used; the message is one line that says what, where and what to do."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something odd in a file that didn't stop the reading.

    `code` is a stable word for programs, `message` one sentence for people, `file` the block (sub-model) it
    is about, `line` its number in the whole file counted from 1, or None where no single line is meant.
    """

    code: str
    message: str
    file: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.message}"


class NoteList:
    """Collects notes; of each code the first `NOTES_PER_CODE` are kept and the others counted, so that a file
    with a million faults needs no memory for a million notes."""

    def __init__(self) -> None:
        self._notes: list[Note] = []
        self._counts: Counter[str] = Counter()
        self._files: dict[str, str] = {}

    def add(self, code: str, message: str, file: str, line: int | None = None) -> None:
        """Take in a note."""
        self._counts[code] += 1
        self._files.setdefault(code, file)
        if self._counts[code] <= NOTES_PER_CODE:
            self._notes.append(Note(code, message, shorten(file), line))

    def finish(self) -> tuple[Note, ...]:
        """The notes in the order they came, then one line for each code of which there were too many."""
        rest = [
            Note(
                code, f"{count - NOTES_PER_CODE} more notes of the kind '{code}'", shorten(self._files[code])
            )
            for code, count in self._counts.items()
            if count > NOTES_PER_CODE
        ]
        return (*self._notes, *rest)


def shorten(text: str, length: int = 80) -> str:
    """A name as it's shown to people: control characters replaced, long ones cut."""
    shown = "".join(c if c.isprintable() else "�" for c in text[: length + 1])
    return shown if len(shown) <= length else shown[: length - 1] + "…"
