"""Rows of connector labels (`{kind: {subtype: rows or {polarity: rows}}}`) as arrays in canonical order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evalkit_brickbench.parts.catalogue import KINDS, POLARITIES, Connectors
from evalkit_brickbench.scene import Floats

Row = Sequence[float]


def canonical_rows(kinds: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, str, Row]]:
    """(kind, subtype, polarity, row) of a part's labels, sorted by kind, subtype as text, polarity, row."""
    for kind in sorted(kinds):
        for subtype in sorted(kinds[kind]):
            rows = kinds[kind][subtype]
            by_polarity = rows if isinstance(rows, Mapping) else {"": rows}
            for polarity in sorted(by_polarity):
                for row in by_polarity[polarity]:
                    yield kind, subtype, polarity, row


def angles_and_extra(kind: str, row: Row) -> tuple[float, float, float, float]:
    """(pitch°, roll°, yaw°, extra) of a row [x, y, z, pitch°, roll°(, extra)].

    The sixth number is the half-length of an axle (LDU) and the yaw (°) of a fixed connector, and says
    nothing for the others; balls have neither angles nor extra.
    """
    pitch, roll = (row[3], row[4]) if len(row) > 3 else (0.0, 0.0)
    extra = row[5] if len(row) > 5 else 0.0
    return pitch, roll, extra if kind == "fixed" else 0.0, extra


def frames_of(angles_deg: Floats) -> Floats:
    """Frames [n, 3, 3] = R_y(yaw)·R_x(pitch)·R_z(roll) of angles [n, 3] = (pitch, roll, yaw) in degrees.

    Sines and cosines of multiples of 90° are exact, so that parts on the grid stay on it.
    """
    cos, sin = _cos_deg(angles_deg), _cos_deg(angles_deg - 90.0)
    zero, one = np.zeros(len(angles_deg)), np.ones(len(angles_deg))

    def matrices(*entries: Floats) -> Floats:
        return np.stack(entries, axis=-1).reshape(-1, 3, 3)

    (cx, cz, cy), (sx, sz, sy) = cos.T, sin.T
    pitch = matrices(one, zero, zero, zero, cx, -sx, zero, sx, cx)
    roll = matrices(cz, -sz, zero, sz, cz, zero, zero, zero, one)
    yaw = matrices(cy, zero, sy, zero, one, zero, -sy, zero, cy)
    product: Floats = yaw @ pitch @ roll
    return product + 0.0  # no negative zeros


def _cos_deg(angles: Floats) -> Floats:
    """Cosines of angles in degrees, exact at multiples of 90°."""
    quarter = np.mod(angles, 360.0) / 90.0
    exact = np.array([1.0, 0.0, -1.0, 0.0])[np.round(quarter).astype(int) % 4]
    return np.where(quarter == np.round(quarter), exact, np.cos(np.radians(angles)))


def connectors_of(kinds: Mapping[str, Mapping[str, Any]]) -> Connectors:
    """The connectors of one part from its labels."""
    rows = list(canonical_rows(kinds))
    numbers = np.array([angles_and_extra(kind, row) for kind, _, _, row in rows], np.float64).reshape(-1, 4)
    return Connectors(
        kinds=np.array([KINDS.index(kind) for kind, *_ in rows], np.int8),
        subtypes=tuple(subtype for _, subtype, *_ in rows),
        polarities=np.array([POLARITIES.index(polarity) for _, _, polarity, _ in rows], np.int8),
        origins=np.array([row[:3] for *_, row in rows], np.float64).reshape(-1, 3),
        frames=frames_of(numbers[:, :3]),
        extras=numbers[:, 3].copy(),
    )
