"""BrickGPT's format: a line for each brick, `2x6 (4,0,1)`.

`AxB (x,y,z)` is a brick one layer high that covers the cells x … x+A−1 and y … y+B−1 of layer z, counted
from 0. Cells are a stud wide. A file says nothing of colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from evalkit_brickbench.readers.errors import PART_LIMIT, ReaderError
from evalkit_brickbench.scene import Scene

STUD_LDU, BRICK_LDU = 20.0, 24.0
BRICKS = {
    (1, 1): "3005",
    (2, 1): "3004",
    (4, 1): "3010",
    (6, 1): "3009",
    (8, 1): "3008",
    (2, 2): "3003",
    (4, 2): "3001",
    (6, 2): "2456",
}
"""LDraw parts by their studs along x and z."""
LARGEST_COORDINATE = 999

_NUMBER = r" *([0-9]{1,6}) *"
LINE = re.compile(rf"([0-9]{{1,2}})x([0-9]{{1,2}}) *\({_NUMBER},{_NUMBER},{_NUMBER}\)")
"""A brick: studs along x and y, then the cell of its corner."""

BEGINNING = re.compile(r"[0-9]+x[0-9]+ *\(")
"""How a line begins that means to be a brick, right or wrong."""

_AS_IT_IS = np.eye(3)
_TURNED = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def read_brick_list(text: str, colour: int) -> Scene:
    """The bricks of a list, all in one LDraw colour; the layer 0 stands at height 0.

    x becomes LDraw's x and y its z, so that nothing is mirrored. ReaderError on another line, a brick that
    isn't among `BRICKS`, a coordinate beyond `LARGEST_COORDINATE`, and more than `PART_LIMIT` bricks.
    """
    found = list(_bricks(text))
    if not found:
        raise ReaderError(1, "there is no brick")
    stems, turned, positions = zip(*found, strict=True)
    return Scene(
        stems=stems,
        colours=np.full(len(found), colour, np.int32),
        matrices=np.array([_TURNED if one else _AS_IT_IS for one in turned]),
        positions=np.array(positions, np.float64),
        paths=("",) * len(found),
        steps=np.zeros(len(found), np.int32),
    )


def _bricks(text: str) -> Iterator[tuple[str, bool, tuple[float, float, float]]]:
    """Part, whether it's turned by 90°, and where it stands (LDU), line by line."""
    count = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = LINE.fullmatch(line.strip())
        if match is None:
            raise ReaderError(
                number, f"wanted a brick such as '2x4 (0,0,0)', cells from 0, not {line.strip()[:60]!r}"
            )
        along_x, along_y, x, y, z = map(int, match.groups())
        stem = BRICKS.get((max(along_x, along_y), min(along_x, along_y)))
        if stem is None:
            sizes = ", ".join(f"{short}x{long}" for long, short in BRICKS)
            raise ReaderError(number, f"there is no brick {along_x}x{along_y}; there are {sizes}")
        if max(x, y, z) > LARGEST_COORDINATE:
            raise ReaderError(number, f"a coordinate is beyond {LARGEST_COORDINATE}")
        count += 1
        if count > PART_LIMIT:
            raise ReaderError(number, f"more than {PART_LIMIT:,} bricks")
        centre = ((x + along_x / 2) * STUD_LDU, -(z + 1) * BRICK_LDU, (y + along_y / 2) * STUD_LDU)
        yield stem, along_x < along_y, centre
