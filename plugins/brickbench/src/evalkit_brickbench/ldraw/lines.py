"""Lines of one block: its sub-file references as arrays and what its header says."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.ldraw.notes import NoteList, shorten
from evalkit_brickbench.scene import Floats, Ints

MAIN_COLOUR = 16
EDGE_COLOUR = 24
LARGEST_NUMBER = 1e7
"""Coordinates beyond this (4 km in LDU) are taken for damage."""
LARGEST_COLOUR = 0x7FFFFFF
LONGEST_NAME = 255
"""No file system has longer names; reports repeat them."""

_ORGANISATION = re.compile(
    r"(?:unofficial[ _]?)?(?:48[ _]|8[ _])?(part|subpart|primitive|shortcut|model|configuration|helper)\b"
)
_HELPER = re.compile(r"ls\d\d(?:\.dat)?$")


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """n sub-file lines in file order: `names` as written, `colours` [n] (LDraw codes, direct colours as
    0x2RRGGBB), `matrices` [n, 3, 3], `positions` [n, 3] in LDU, `lines` [n] counted from 1 in the whole file,
    `steps` [n] counted from 0, `ghosts` [n]: shown only where the block isn't used as a sub-file."""

    names: tuple[str, ...]
    colours: Ints
    matrices: Floats
    positions: Floats
    lines: Ints
    steps: Ints
    ghosts: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class Header:
    """`title`: text of the first line. `kind`: "part", "subpart", "primitive", "shortcut", "model", … from
    `!LDRAW_ORG`, "" where it's missing. `loose`: number of lines, triangles and quads of the block itself."""

    title: str
    kind: str
    loose: int


@dataclass(slots=True)
class _State:
    """References so far and where the walk through the lines is."""

    file: str
    notes: NoteList
    names: list[str] = field(default_factory=list)
    colours: array[int] = field(default_factory=lambda: array("i"))
    numbers: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("i"))
    steps: array[int] = field(default_factory=lambda: array("i"))
    ghosts: list[int] = field(default_factory=list)
    step: int = 0
    loose: int = 0
    kind: str = ""
    buffers: dict[str, int] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    in_synth: bool = False
    in_synthesized: bool = False


def parse_block(
    lines: Sequence[str], file: str, first_line: int, notes: NoteList
) -> tuple[Header, References]:
    """References and header of the lines of a block, whose first has the number `first_line`.

    Nothing in the lines raises: what can't be used is left out and noted. Parts stored away by `BUFEXCHG` and
    the constraint markers of LSynth are left out, what LSynth and LDCad generated stays.
    """
    state = _State(file, notes)
    for number, line in enumerate(lines, first_line):
        fields = line.split(None, 14)
        if not fields:
            continue
        kind = fields[0]
        if kind == "1":
            if state.in_synth and not state.in_synthesized and _is_marker(fields, number, state):
                continue
            _take_reference(fields, number, state)
        elif kind == "0":
            if len(fields) > 1:
                _take_meta(fields, number, state)
        elif kind in ("2", "3", "4", "5"):
            state.loose += 1
        else:
            notes.add(
                "unknown-line", f"'{shorten(line.strip(), 40)}' isn't an LDraw line; left out", file, number
            )
    title = _title(lines)
    return Header(title, state.kind, state.loose), _references(state)


def parse_colour(text: str) -> int | None:
    """A colour as written: decimal, `0x2RRGGBB` or `#2RRGGBB`; None if it isn't one."""
    try:
        code = (
            int(text[1:], 16) if text.startswith("#") else int(text, 16 if text[:2].lower() == "0x" else 10)
        )
    except ValueError:
        return None
    return code if 0 <= code <= LARGEST_COLOUR else None


def _take_reference(fields: list[str], number: int, state: _State, ghost: bool = False) -> None:
    if len(fields) < 15:
        state.notes.add("short-line", "the line has too few values for a part; left out", state.file, number)
        return
    filled = len(state.numbers)
    try:
        state.numbers.extend(map(float, fields[2:14]))
    except ValueError:
        del state.numbers[filled:]
        state.notes.add("bad-number", "a coordinate isn't a number; the part is left out", state.file, number)
        return
    colour = state.codes.get(fields[1])
    if colour is None:
        colour = _colour(fields[1], number, state)
    if ghost:
        state.ghosts.append(len(state.names))
    name = fields[14].rstrip()
    if len(name) > LONGEST_NAME:
        name = name[:LONGEST_NAME]
        message = f"the name of the part has more than {LONGEST_NAME} characters; cut there"
        state.notes.add("long-name", message, state.file, number)
    state.names.append(name)
    state.colours.append(colour)
    state.lines.append(number)
    state.steps.append(state.step)


def _colour(text: str, number: int, state: _State) -> int:
    """A colour code seen for the first time (or a wrong one): models have few, so the rest is looked up."""
    colour = parse_colour(text)
    if colour is None:
        message = f"'{shorten(text, 20)}' isn't a colour; {MAIN_COLOUR} is used"
        state.notes.add("bad-colour", message, state.file, number)
        return MAIN_COLOUR
    if len(state.codes) < 1000:
        state.codes[text] = colour
    return colour


def _take_meta(fields: list[str], number: int, state: _State) -> None:
    word = fields[1].upper()
    if word in ("STEP", "ROTSTEP") and (word == "ROTSTEP" or len(fields) == 2):
        state.step += 1
    elif word == "!LDRAW_ORG" or (word == "LDRAW_ORG" and not state.kind):
        found = _ORGANISATION.match(" ".join(fields[2:]).lower())
        state.kind = found[1] if found else state.kind
    elif word in ("UNOFFICIAL", "OFFICIAL") and not state.kind and fields[2:3]:
        found = _ORGANISATION.match(" ".join(fields[2:]).lower().removeprefix("lcad ").removeprefix("ldraw "))
        state.kind = found[1] if found else state.kind
    elif word == "MLCAD" and [f.upper() for f in fields[2:4]] == ["HIDE", "1"]:
        name = shorten(" ".join(fields[3:]).split(None, 14)[-1], 60)
        state.notes.add("hidden", f"{name} is hidden (MLCAD HIDE) and isn't counted", state.file, number)
    elif word == "GHOST" and fields[2:3] == ["1"]:
        rest = " ".join(fields[2:]).split(None, 14)
        _take_reference(rest, number, state, ghost=True)
    elif word == "BUFEXCHG" and len(fields) >= 4:
        _exchange_buffer(fields[2].upper(), fields[3].upper(), number, state)
    elif word == "SYNTH":
        _take_synth([f.upper() for f in fields[2:4]], number, state)
    elif word == "!LDCAD" and fields[2:3] and fields[2].upper() == "GENERATED":
        state.notes.add("generated", "the parts that follow were generated by LDCad", state.file, number)


def _take_synth(words: list[str], number: int, state: _State) -> None:
    if words[:1] == ["BEGIN"]:
        state.in_synth = True
    elif words[:1] == ["END"]:
        state.in_synth = state.in_synthesized = False
    elif words == ["SYNTHESIZED", "BEGIN"]:
        state.in_synthesized = True
        state.notes.add("generated", "the parts that follow were generated by LSynth", state.file, number)
    elif words == ["SYNTHESIZED", "END"]:
        state.in_synthesized = False


def _is_marker(fields: list[str], number: int, state: _State) -> bool:
    """Whether a line inside an LSynth section is one of its markers, which are no parts."""
    if not _HELPER.match(fields[-1].strip().lower()):
        return False
    state.notes.add("constraint", f"{fields[-1].strip()} is an LSynth marker, not a part", state.file, number)
    return True


def _exchange_buffer(name: str, action: str, number: int, state: _State) -> None:
    """STORE remembers how many parts there are; RETRIEVE goes back to that many: those placed in between were
    shown for a building step only."""
    if action == "STORE":
        state.buffers[name] = len(state.names)
    elif action == "RETRIEVE" and name not in state.buffers:
        state.notes.add("buffer", f"BUFEXCHG {shorten(name, 20)} was never stored", state.file, number)
    elif action == "RETRIEVE":
        keep = state.buffers[name]
        dropped = max(len(state.names) - keep, 0)
        del state.names[keep:], state.colours[keep:], state.lines[keep:], state.steps[keep:]
        del state.numbers[12 * keep :]
        state.ghosts = [index for index in state.ghosts if index < keep]
        message = f"BUFEXCHG takes back {dropped} parts that are shown for a step only; they aren't counted"
        state.notes.add("buffer", message, state.file, number)


def _title(lines: Sequence[str]) -> str:
    for line in lines:
        if line.strip():
            kind, _, rest = line.strip().partition(" ")
            return rest.strip() if kind == "0" and not rest.strip().startswith("!") else ""
    return ""


def _references(state: _State) -> References:
    count = len(state.names)
    numbers = np.frombuffer(state.numbers, dtype=np.float64).reshape(count, 12)
    ghosts = np.zeros(count, dtype=np.bool_)
    ghosts[state.ghosts] = True
    lines = np.array(state.lines, dtype=np.int32)
    usable: NDArray[np.bool_] = np.all(np.abs(numbers) <= LARGEST_NUMBER, axis=1)
    for index in np.flatnonzero(~usable):
        message = (
            f"a coordinate is infinite, not a number or beyond ±{LARGEST_NUMBER:.0e}; the part is left out"
        )
        state.notes.add("bad-number", message, state.file, int(lines[index]))
    names = (
        tuple(state.names)
        if usable.all()
        else tuple(n for n, u in zip(state.names, usable, strict=True) if u)
    )
    return References(
        names=names,
        colours=np.array(state.colours, dtype=np.int32)[usable],
        matrices=numbers[usable, 3:].reshape(-1, 3, 3),
        positions=numbers[usable, :3].copy(),
        lines=lines[usable],
        steps=np.array(state.steps, dtype=np.int32)[usable],
        ghosts=ghosts[usable],
    )
