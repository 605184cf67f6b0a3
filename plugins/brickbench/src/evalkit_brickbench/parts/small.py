"""A small catalogue of our own: a few dozen basic parts written from their dimensions.

It needs nothing installed, serves tests and examples, and agrees connector by connector with the large
catalogue. Origins are those of LDraw: the middle of the top face, −y up, length along x.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalkit_brickbench.parts._labels import Row, connectors_of
from evalkit_brickbench.parts.catalogue import Connectors, Resolved
from evalkit_brickbench.scene import Floats

PITCH_LDU = 20  # between studs
BRICK_LDU, PLATE_LDU = 24, 8  # heights
STUD_HEIGHT_LDU = 4
PIN_HOLE_LDU = 10  # depth of the hole through a technic brick below its top

Labels = Mapping[str, Mapping[str, list[Row]]]

ALIASES = {
    "3023": "3023b",
    "3040": "3040b",
    "3062": "3062b",
    "3068": "3068b",
    "4073": "6141",
}


@dataclass(frozen=True, slots=True)
class SmallPart:
    """A part of this catalogue.

    `shape` says what solid it is (`block`, `slope`, `round`, `axle`, `pin`, `bush`, `technic`);
    `corners` is the box [2][3] around it in LDU, studs included.
    """

    title: str
    shape: str
    corners: tuple[tuple[float, float, float], tuple[float, float, float]]
    labels: Labels

    @property
    def studs(self) -> list[Row]:
        """Rows of the studs on top."""
        return [row for rows in self.labels.get("stud", {}).values() for row in rows]


def _grid(count: int) -> list[int]:
    """Positions of `count` studs around 0."""
    return [PITCH_LDU * i - PITCH_LDU // 2 * (count - 1) for i in range(count)]


def _rows(xs: Iterable[float], y: float, zs: Iterable[float], *rest: float) -> list[Row]:
    return [[x, y, z, *(rest or (0.0, 0.0))] for x in xs for z in zs]


def _underside(width: int, length: int, height: int) -> dict[str, list[Row]]:
    """Holes at the bottom, with posts (one stud wide) or tubes (wider) between them."""
    zs = _grid(width)
    labels = {"hole": _rows(_grid(length), height, zs)}
    if length > 1 and width == 1:
        labels["post"] = _rows(_grid(length - 1), height, zs)
    elif length > 1:
        labels["tube"] = _rows(_grid(length - 1), height, _grid(width - 1))
    return labels


def _block(title: str, width: int, length: int, height: int, *, studs: bool = True) -> SmallPart:
    """A brick, plate or tile of width × length studs; a post one stud wide also serves as a bar."""
    labels: dict[str, dict[str, list[Row]]] = {"hole": _underside(width, length, height)}
    if width == 1 and length > 1:
        y, half = (14, 10) if height == BRICK_LDU else (6, 2)
        labels["axle"] = {"bar": _rows(_grid(length - 1), y, [0], -180.0, 0.0, half)}
    if studs:
        labels["stud"] = {"stud": _rows(_grid(length), 0, _grid(width))}
    x, z = PITCH_LDU // 2 * length, PITCH_LDU // 2 * width
    top = -STUD_HEIGHT_LDU if studs else 0
    return SmallPart(f"{title} {width}x{length}", "block", ((-x, top, -z), (x, height, z)), labels)


def _slope(length: int) -> SmallPart:
    """A 45° slope, two studs deep: one row of studs at z = 0, falling towards −z."""
    labels: dict[str, dict[str, list[Row]]] = {
        "stud": {"stud": _rows(_grid(length), 0, [0])},
        "hole": {"hole": _rows(_grid(length), BRICK_LDU, [-PITCH_LDU, 0])},
    }
    if length == 1:
        labels["hole"]["post"] = _rows([0], BRICK_LDU, [-PITCH_LDU // 2])
    else:
        labels["hole"]["tube"] = _rows(_grid(length - 1), BRICK_LDU, [-PITCH_LDU // 2])
    x = PITCH_LDU // 2 * length
    return SmallPart(
        f"slope brick 45 2x{length}", "slope", ((-x, -STUD_HEIGHT_LDU, -30), (x, BRICK_LDU, 10)), labels
    )


def _technic(length: int) -> SmallPart:
    """A brick with pin holes between its open studs, which clip bars."""
    between, holes = _grid(length - 1), _underside(1, length, BRICK_LDU)
    sides = [
        row for x in between for row in ([x, PIN_HOLE_LDU, -10, -90.0, 0.0], [x, PIN_HOLE_LDU, 10, 90.0, 0.0])
    ]
    x = PITCH_LDU // 2 * length
    return SmallPart(
        f"technic brick 1x{length} with holes",
        "technic",
        ((-x, -STUD_HEIGHT_LDU, -10), (x, BRICK_LDU, 10)),
        {
            "stud": {"open": _rows(_grid(length), 0, [0])},
            "hole": {"hole": [*sides, *holes["hole"]], "post": holes["post"]},
            "axle": {
                "clip": _rows(_grid(length), -2, [0], 180.0, 0.0, 2),
                "socket": _rows(between, PIN_HOLE_LDU, [0], -90.0, 0.0, 10),
            },
        },
    )


def _axle(length: int, half_length: float) -> SmallPart:
    """A cross axle along x, half a unit shorter than its nominal length at either end."""
    x = PITCH_LDU / 2 * length - 0.5
    labels: Labels = {"axle": {"axle": [[0, 0, 0, 0.0, 90.0, half_length]]}}
    return SmallPart(f"technic axle {length}", "axle", ((-x, -6, -6), (x, 6, 6)), labels)


def _pin() -> SmallPart:
    """A pin along x: one end for either of two holes."""
    labels: Labels = {"axle": {"pin": _rows([-11, 11], 0, [0], 0.0, 90.0, 9)}}
    return SmallPart("technic pin", "pin", ((-20, -8, -8), (20, 8, 8)), labels)


def _bush() -> SmallPart:
    labels: Labels = {"axle": {"cross": [[0, 0, 0, -90.0, 0.0, 10]]}}
    return SmallPart("technic bush with two flanges", "bush", ((-9, -9, -10), (9, 9, 10)), labels)


def _round_plate() -> SmallPart:
    labels: Labels = {"stud": {"stud": _rows([0], 0, [0])}, "hole": {"tube": _rows([0], PLATE_LDU, [0])}}
    return SmallPart("plate 1x1 round", "round", ((-10, -STUD_HEIGHT_LDU, -10), (10, PLATE_LDU, 10)), labels)


def _round_brick() -> SmallPart:
    """Its open stud clips a bar, which may run through the whole part."""
    labels: Labels = {
        "stud": {"open": _rows([0], 0, [0])},
        "hole": {"tube": _rows([0], BRICK_LDU, [0])},
        "axle": {"clip": [[0, 0, 0, -180.0, 0.0, 4]], "socket": [[0, 14, 0, -180.0, 0.0, 10]]},
    }
    corners = ((-10, -STUD_HEIGHT_LDU, -10), (10, BRICK_LDU, 10))
    return SmallPart("brick 1x1 round with hollow stud", "round", corners, labels)


_BRICKS = {
    "3005": (1, 1),
    "3004": (1, 2),
    "3622": (1, 3),
    "3010": (1, 4),
    "3009": (1, 6),
    "3008": (1, 8),
    "3003": (2, 2),
    "3002": (2, 3),
    "3001": (2, 4),
    "2456": (2, 6),
}
_PLATES = {
    "3024": (1, 1),
    "3023b": (1, 2),
    "3623": (1, 3),
    "3710": (1, 4),
    "3666": (1, 6),
    "3460": (1, 8),
    "3022": (2, 2),
    "3021": (2, 3),
    "3020": (2, 4),
    "3795": (2, 6),
    "3034": (2, 8),
    "3031": (4, 4),
    "3032": (4, 6),
    "3035": (4, 8),
    "3958": (6, 6),
}
_TILES = {"3070b": (1, 1), "63864": (1, 3), "2431": (1, 4), "6636": (1, 6), "4162": (1, 8), "3068b": (2, 2)}
_SLOPES = {"3040b": 1, "3039": 2, "3038": 3, "3037": 4}
_TECHNIC_BRICKS = {"3700": 2, "3701": 4, "3894": 6, "3702": 8}
_AXLES = {
    "3704": (2, 17.5),
    "4519": (3, 27.5),
    "3705": (4, 37.5),
    "3706": (6, 57.5),
    "3707": (8, 77.5),
    "32073": (5, 49.5),
    "3737": (10, 97.5),
    "3708": (12, 117.5),
}

PARTS: Mapping[str, SmallPart] = {
    **{stem: _block("brick", *size, BRICK_LDU) for stem, size in _BRICKS.items()},
    **{stem: _block("plate", *size, PLATE_LDU) for stem, size in _PLATES.items()},
    **{stem: _block("tile", *size, PLATE_LDU, studs=False) for stem, size in _TILES.items()},
    **{stem: _slope(length) for stem, length in _SLOPES.items()},
    **{stem: _technic(length) for stem, length in _TECHNIC_BRICKS.items()},
    **{stem: _axle(*size) for stem, size in _AXLES.items()},
    "3673": _pin(),
    "3713": _bush(),
    "6141": _round_plate(),
    "3062b": _round_brick(),
}


class SmallCatalogue:
    """The parts above; see `evalkit_brickbench.parts.catalogue.Catalogue`."""

    @cached_property
    def id(self) -> str:
        """Name and hash of the labels."""
        labels = json.dumps([ALIASES, {stem: part.labels for stem, part in PARTS.items()}], sort_keys=True)
        return f"small sha256:{hashlib.sha256(labels.encode()).hexdigest()}"

    @property
    def titles(self) -> Mapping[str, str]:
        """Names of parts for people by stem."""
        return {stem: part.title for stem, part in PARTS.items()}

    @property
    def keywords(self) -> Mapping[str, Sequence[str]]:
        """Words to search for by stem: none beyond the titles."""
        return {}

    @property
    def foreign_ids(self) -> Mapping[str, str]:
        """Stems by the names that other catalogues have for the same parts."""
        return ALIASES

    def __len__(self) -> int:
        return len(PARTS)

    def __contains__(self, stem: str) -> bool:
        return stem in PARTS

    def stems(self) -> Iterable[str]:
        """Stems of all parts, sorted."""
        return sorted(PARTS)

    def resolve(self, stem: str) -> Resolved | None:
        """Follow aliases; None if the part stays unknown."""
        stem = ALIASES.get(stem, stem)
        return Resolved(stem, np.eye(4)) if stem in PARTS else None

    def title(self, stem: str) -> str | None:
        """The name of a part for people."""
        return PARTS[stem].title if stem in PARTS else None

    def connectors(self, stem: str) -> Connectors:
        """Connectors of a part by its resolved stem; KeyError if it is unknown."""
        return connectors_of(PARTS[stem].labels)

    def bounds(self, stem: str) -> Floats | None:
        """Corners [2, 3] of the box around a part, LDU."""
        return np.array(PARTS[stem].corners, np.float64) if stem in PARTS else None
