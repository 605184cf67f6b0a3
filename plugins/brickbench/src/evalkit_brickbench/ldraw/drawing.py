"""The drawing lines of one `.dat` file: triangles, edges and sub-files, with windings made anticlockwise."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evalkit_brickbench.ldraw.lines import LARGEST_NUMBER, MAIN_COLOUR, parse_colour
from evalkit_brickbench.scene import Floats, Ints

_POINTS = {"2": 2, "3": 3, "4": 4, "5": 4}


@dataclass(frozen=True, slots=True, eq=False)
class SubFile:
    """A reference inside a part: colour, `matrix` [3, 3], `position` [3] in LDU, whether it's turned inside
    out (INVERTNEXT), and whether the winding of what it places may be relied on here."""

    name: str
    colour: int
    matrix: Floats
    position: Floats
    inverted: bool
    certified: bool


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What a file draws itself, in its own frame and LDU, and its sub-files.

    `triangles` [t, 3, 3] (quads are cut in two) wind anticlockwise seen from outside where `certified` [t];
    `edges` [e, 2, 3]; `conditionals` [c, 4, 3]: two ends, two control points. Colours are codes.
    """

    triangles: Floats
    triangle_colours: Ints
    certified: NDArray[np.bool_]
    edges: Floats
    edge_colours: Ints
    conditionals: Floats
    conditional_colours: Ints
    subfiles: tuple[SubFile, ...]


@dataclass(slots=True)
class _Lines:
    """Lines of one type: their coordinates, colours and the state of the winding."""

    points: int
    numbers: array[float] = field(default_factory=lambda: array("d"))
    colours: array[int] = field(default_factory=lambda: array("i"))
    clockwise: list[bool] = field(default_factory=list)
    certified: list[bool] = field(default_factory=list)

    def coordinates(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Points [n, points, 3] and which lines [n] have usable numbers."""
        numbers = np.array(self.numbers, dtype=np.float64).reshape(len(self.colours), self.points, 3)
        usable: NDArray[np.bool_] = np.all(np.abs(numbers) <= LARGEST_NUMBER, axis=(1, 2))
        return numbers, usable


@dataclass(slots=True)
class _Bfc:
    """Back-face culling at a line: certified or not, winding, culling on or off, next sub-file inverted."""

    certified: bool = False
    clockwise: bool = False
    clipping: bool = True
    invert_next: bool = False

    def take(self, words: list[str]) -> None:
        """Follow a BFC command."""
        for word in words:
            if word == "CERTIFY":
                self.certified = True
            elif word == "NOCERTIFY":
                self.certified = False
            elif word in ("CW", "CCW"):
                self.clockwise = word == "CW"
            elif word in ("CLIP", "NOCLIP"):
                self.clipping = word == "CLIP"
            elif word == "INVERTNEXT":
                self.invert_next = True

    @property
    def reliable(self) -> bool:
        """Whether windings here say what's outside."""
        return self.certified and self.clipping


def parse_drawing(text: str) -> Drawing:
    """The drawing lines of a file's text; damaged lines are left out."""
    lines = {kind: _Lines(points) for kind, points in _POINTS.items()}
    subfiles: list[SubFile] = []
    bfc = _Bfc()
    for line in text.split("\n"):
        fields = line.split(None, 14)
        kind = fields[0] if fields else ""
        if kind == "0":
            if len(fields) > 2 and fields[1] == "BFC":
                bfc.take([word.upper() for word in fields[2:]])
        elif kind == "1":
            subfile = _parse_subfile(fields, bfc)
            bfc.invert_next = False
            if subfile is not None:
                subfiles.append(subfile)
        elif kind in lines:
            _take(fields, lines[kind], bfc)
    triangles, colours, certified = _triangles(lines["3"], lines["4"])
    edges, edges_usable = lines["2"].coordinates()
    conditionals, conditionals_usable = lines["5"].coordinates()
    return Drawing(
        triangles,
        colours,
        certified,
        edges[edges_usable],
        np.array(lines["2"].colours, dtype=np.int32)[edges_usable],
        conditionals[conditionals_usable],
        np.array(lines["5"].colours, dtype=np.int32)[conditionals_usable],
        tuple(subfiles),
    )


def _take(fields: list[str], lines: _Lines, bfc: _Bfc) -> None:
    count = 3 * lines.points
    colour = parse_colour(fields[1]) if len(fields) >= 2 + count else None
    if colour is None:
        return
    filled = len(lines.numbers)
    try:
        # The last field may hold more than a number: lines may end in a comment.
        lines.numbers.extend(float(field.split(None, 1)[0]) for field in fields[2 : 2 + count])
    except ValueError:
        del lines.numbers[filled:]
        return
    lines.colours.append(colour)
    lines.clockwise.append(bfc.clockwise)
    lines.certified.append(bfc.reliable)


def _parse_subfile(fields: list[str], bfc: _Bfc) -> SubFile | None:
    if len(fields) < 15:
        return None
    try:
        numbers = np.array([float(field) for field in fields[2:14]])
    except ValueError:
        return None
    if not np.all(np.abs(numbers) <= LARGEST_NUMBER):
        return None
    colour = parse_colour(fields[1])
    return SubFile(
        fields[14].rstrip(),
        MAIN_COLOUR if colour is None else colour,
        numbers[3:].reshape(3, 3),
        numbers[:3],
        bfc.invert_next,
        bfc.reliable,
    )


def _triangles(three: _Lines, four: _Lines) -> tuple[Floats, Ints, NDArray[np.bool_]]:
    """Triangles and halves of quads with colours and certification, all anticlockwise."""
    parts = []
    for lines in (three, four):
        points, usable = lines.coordinates()
        clockwise = np.array(lines.clockwise, dtype=np.bool_)
        points[clockwise] = points[clockwise, ::-1]
        colours = np.array(lines.colours, dtype=np.int32)[usable]
        certified = np.array(lines.certified, dtype=np.bool_)[usable]
        points = points[usable]
        if lines.points == 4:
            points = _cut(points)
            colours, certified = np.repeat(colours, 2), np.repeat(certified, 2)
        parts.append((points, colours, certified))
    (a, b, c), (d, e, f) = parts
    return np.concatenate([a, d]), np.concatenate([b, e]), np.concatenate([c, f])


def _cut(quads: Floats) -> Floats:
    """Two triangles [2n, 3, 3] for each quad [n, 4, 3], cut along the diagonal that keeps both halves facing
    the same way (a concave quad has only one such)."""
    first = quads[:, [[0, 1, 2], [0, 2, 3]]]
    second = quads[:, [[0, 1, 3], [1, 2, 3]]]
    normals = np.cross(first[:, :, 1] - first[:, :, 0], first[:, :, 2] - first[:, :, 0])
    folded = np.einsum("ni,ni->n", normals[:, 0], normals[:, 1]) < 0
    cut: Floats = np.where(folded[:, None, None, None], second, first).reshape(-1, 3, 3)
    return cut
