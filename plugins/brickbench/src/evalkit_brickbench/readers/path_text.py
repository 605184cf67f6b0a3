"""BrickNet's path text: a build order in which each part hangs on an earlier one by two of their connectors.

The first line names a part; then come pairs of lines, a part and how it's attached:

    a brick 2x4 | red
    b plate 2x4 | light bluish grey
    a stud stud a hole a 0

A part is `ID NAME | COLOUR`: the ID is a label without meaning (parts count from a by their order), NAME and
COLOUR are those of the `bricknet` wheel. The attachment begins with the parent's ID and the family:

    P stud  SUB C SUB C YAW              P hinge S POL C C FLIP YAW
    P axle  SUB C SUB C FLIP YAW SLIDE   P ball  S POL C C RX RY RZ
                                         P fixed S POL C C

C count connectors of one subtype (parent first, then child) in letters, a being the first; S is a subtype's
number in letters; POL, `in` or `on`, is the parent's side. Angles are whole degrees from 0 to 359, SLIDE is
in whole LDU, FLIP is `regular` or `flip`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evalkit_brickbench.parts._labels import frames_of
from evalkit_brickbench.parts.catalogue import POLARITIES, Connectors
from evalkit_brickbench.readers.errors import PART_LIMIT, ReaderError
from evalkit_brickbench.scene import Floats, Scene

STUD_MATES = frozenset({"hole open", "hole stud", "open post", "open tube", "stud tube"})
AXLE_MATES = frozenset({"axle cross", "axle socket", "bar clip", "bar cross", "pin socket"})
"""Subtypes that fit, in alphabetical order."""
WORDS = {"stud": 7, "axle": 9, "hinge": 8, "ball": 9, "fixed": 6}
"""Words of an attachment, by family."""
LARGEST_SLIDE_LDU = 100_000
LONGEST_ID = 5
LARGEST_COORDINATE_LDU = 1e7
"""Chains of slides may lead far; nothing is that large."""


class Vocabulary(Protocol):
    """Names of parts and colours, and connectors: `WheelCatalogue` is one."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Names by stem."""

    @property
    def colour_names(self) -> Mapping[str, int]:
        """LDraw codes by name."""

    def connectors(self, stem: str) -> Connectors:
        """Connectors in canonical order; KeyError for an unknown stem."""


@dataclass(frozen=True, slots=True)
class _Part:
    stem: str
    colour: int
    pose: Floats


def read_path_text(text: str, vocabulary: Vocabulary) -> Scene:
    """The parts of a path text in their order; the first stands at the origin, unturned.

    ReaderError names the line: a part or colour that isn't in the vocabulary, a connector that the part
    hasn't got, connectors that don't fit, an attachment of another form, a part without one, more than
    `PART_LIMIT` parts. The newline at the end may be missing.
    """
    lines = text.removesuffix("\n").split("\n")
    reader = _Reader(vocabulary)
    parts = [_Part(*reader.named(lines[0], 1), np.eye(4))]
    for index in range(1, len(lines), 2):
        stem, colour = reader.named(lines[index], index + 1)
        if index + 1 == len(lines):
            raise ReaderError(index + 1, "the last part isn't attached to anything")
        if len(parts) == PART_LIMIT:
            raise ReaderError(index + 1, f"more than {PART_LIMIT:,} parts")
        pose = reader.attached(lines[index + 1], index + 2, parts, stem)
        parts.append(_Part(stem, colour, pose))
    return _scene(parts)


def _scene(parts: Sequence[_Part]) -> Scene:
    poses = np.stack([part.pose for part in parts])
    return Scene(
        stems=tuple(part.stem for part in parts),
        colours=np.array([part.colour for part in parts], np.int32),
        matrices=poses[:, :3, :3].copy(),
        positions=poses[:, :3, 3].copy(),
        paths=("",) * len(parts),
        steps=np.zeros(len(parts), np.int32),
    )


class _Reader:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._stems = {name: stem for stem, name in vocabulary.titles.items()}
        self._connectors: dict[str, tuple[Connectors, dict[tuple[str, str], list[int]]]] = {}

    def named(self, line: str, number: int) -> tuple[str, int]:
        """Stem and colour of the part in a line."""
        left, bar, colour = line.partition(" | ")
        label, _, name = left.partition(" ")
        if not bar or not name:
            raise ReaderError(number, f"wanted a part such as 'a brick 2x4 | red', not {line[:80]!r}")
        _counted(label, number)
        if name not in self._stems:
            raise ReaderError(number, f"there is no part named {name[:80]!r}")
        if colour not in self._vocabulary.colour_names:
            raise ReaderError(number, f"there is no colour named {colour[:40]!r}")
        return self._stems[name], self._vocabulary.colour_names[colour]

    def attached(self, line: str, number: int, parts: Sequence[_Part], stem: str) -> Floats:
        """The pose [4, 4] of a part that is attached to one of `parts` as the line says."""
        words = line.split(" ")
        family = words[1] if len(words) > 1 else ""
        if family not in WORDS:
            raise ReaderError(
                number, f"wanted an attachment such as 'a stud stud a hole a 0', not {line[:80]!r}"
            )
        if len(words) != WORDS[family]:
            raise ReaderError(
                number, f"an attachment by {family} has {WORDS[family]} words, not {len(words)}"
            )
        place = _counted(words[0], number)
        if place >= len(parts):
            raise ReaderError(number, f"{words[0]!r} is no earlier part")
        parent = parts[place]
        if family in ("stud", "axle"):
            _check_mates(words, number)
            to = self._frame(parent.stem, words[2], "", words[3], number)
            by = self._frame(stem, words[4], "", words[5], number)
        else:
            side = words[3]
            if side not in ("in", "on"):
                raise ReaderError(number, f"the parent's side is in or on, not {side!r}")
            subtype = str(_counted(words[2], number))
            to = self._frame(parent.stem, subtype, side, words[4], number)
            by = self._frame(stem, subtype, "on" if side == "in" else "in", words[5], number)
        pose: Floats = parent.pose @ to @ _joint(words, number) @ _inverse(by)
        if np.abs(pose).max() > LARGEST_COORDINATE_LDU:
            raise ReaderError(number, f"the part would stand more than {LARGEST_COORDINATE_LDU:g} LDU away")
        return pose + 0.0

    def _frame(self, stem: str, subtype: str, side: str, letters: str, number: int) -> Floats:
        """The frame [4, 4] of a part's connector, counted among those of its subtype and side."""
        connectors, rows = self._rows(stem)
        among, index = rows.get((subtype, side), []), _counted(letters, number)
        if index >= len(among):
            shown = f"{subtype} {side}".strip()
            raise ReaderError(
                number, f"{stem} has {len(among)} connectors {shown}, so none with letter {letters!r}"
            )
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = connectors.frames[among[index]], connectors.origins[among[index]]
        return frame

    def _rows(self, stem: str) -> tuple[Connectors, dict[tuple[str, str], list[int]]]:
        """A part's connectors, and their rows by subtype and side.

        As in BrickNet the kind isn't told apart: rows of two kinds with the same subtype count as one list.
        """
        if stem not in self._connectors:
            connectors = self._vocabulary.connectors(stem)
            rows: dict[tuple[str, str], list[int]] = {}
            for row, (subtype, side) in enumerate(
                zip(connectors.subtypes, connectors.polarities.tolist(), strict=True)
            ):
                rows.setdefault((subtype, POLARITIES[side]), []).append(row)
            self._connectors[stem] = connectors, rows
        return self._connectors[stem]


def _check_mates(words: Sequence[str], number: int) -> None:
    mates = STUD_MATES if words[1] == "stud" else AXLE_MATES
    if " ".join(sorted((words[2], words[4]))) not in mates:
        raise ReaderError(number, f"{words[2]!r} and {words[4]!r} don't fit as {words[1]}")


def _joint(words: Sequence[str], number: int) -> Floats:
    """The transform [4, 4] from the parent's connector to the child's.

    A stud turns about y; a hinge may be turned over before; an axle slides along −y as well. A ball turns
    about the fixed axes x, y, z in turn, from the side `in` to the side `on`.
    """
    family = words[1]
    if family == "stud":
        return _turned(yaw=_degrees(words[6], number))
    if family == "hinge":
        return _turned(yaw=_degrees(words[7], number)) @ _flip(words[6], number)
    if family == "axle":
        joint = _turned(yaw=_degrees(words[7], number)) @ _flip(words[6], number)
        slide = _integer(words[8], number)
        if abs(slide) > LARGEST_SLIDE_LDU:
            raise ReaderError(number, f"a slide of {slide} LDU is too long")
        joint[1, 3] = -slide
        return joint
    if family == "ball":
        x, y, z = (_degrees(word, number) for word in words[6:9])
        joint = _turned(roll=z) @ _turned(yaw=y) @ _turned(pitch=x)
        return _inverse(joint) if words[3] == "on" else joint
    return np.eye(4)


def _turned(*, pitch: float = 0.0, roll: float = 0.0, yaw: float = 0.0) -> Floats:
    """A rotation [4, 4] by degrees about x, z and y, exact for multiples of 90°."""
    matrix = np.eye(4)
    matrix[:3, :3] = frames_of(np.array([[pitch, roll, yaw]], np.float64))[0]
    return matrix


def _flip(word: str, number: int) -> Floats:
    if word not in ("regular", "flip"):
        raise ReaderError(number, f"wanted regular or flip, not {word[:20]!r}")
    return _turned(pitch=180.0 if word == "flip" else 0.0)


def _inverse(pose: Floats) -> Floats:
    """The inverse of a rigid pose [4, 4]."""
    matrix = np.eye(4)
    matrix[:3, :3] = pose[:3, :3].T
    matrix[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return matrix


def _counted(letters: str, number: int) -> int:
    """a is 0, z 25, aa 26 and so on."""
    if not (letters.isascii() and letters.isalpha() and letters.islower() and len(letters) <= LONGEST_ID):
        raise ReaderError(number, f"wanted a count in lower-case letters, not {letters[:20]!r}")
    value = 0
    for letter in letters:
        value = 26 * value + ord(letter) - ord("a") + 1
    return value - 1


def _degrees(word: str, number: int) -> int:
    value = _integer(word, number)
    if not 0 <= value < 360:
        raise ReaderError(number, f"an angle is from 0 to 359 degrees, not {value}")
    return value


def _integer(word: str, number: int) -> int:
    """A whole number without leading zeros or plus sign."""
    digits = word.removeprefix("-")
    canonical = digits.isascii() and digits.isdigit() and len(digits) <= 9
    if not canonical or str(int(word)) != word:
        raise ReaderError(number, f"wanted a whole number, not {word[:20]!r}")
    return int(word)
