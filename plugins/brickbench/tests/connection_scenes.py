"""Scenes and a catalogue of single connectors for the tests of connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evalkit_brickbench.parts._labels import connectors_of
from evalkit_brickbench.parts.catalogue import Connectors, Resolved
from evalkit_brickbench.scene import Floats, Scene

Part = tuple[str, Sequence[float], Any]  # stem, position, matrix


class LabelCatalogue:
    """Parts by their labels, with boxes and aliases."""

    id = "labels of a test"

    def __init__(
        self,
        labels: Mapping[str, Mapping[str, Any]],
        bounds: Mapping[str, Any] | None = None,
        aliases: Mapping[str, tuple[str, Any]] | None = None,
    ) -> None:
        self._labels, self._bounds, self._aliases = labels, bounds or {}, aliases or {}

    def resolve(self, stem: str) -> Resolved | None:
        target, pose = self._aliases.get(stem, (stem, np.eye(4)))
        return Resolved(target, np.asarray(pose, np.float64)) if target in self._labels else None

    def title(self, stem: str) -> str | None:
        return stem

    def connectors(self, stem: str) -> Connectors:
        return connectors_of(self._labels[stem])

    def bounds(self, stem: str) -> Floats | None:
        return np.asarray(self._bounds[stem], np.float64) if stem in self._bounds else None


def scene(*parts: Part) -> Scene:
    """A scene of (stem, position, matrix)."""
    n = len(parts)
    return Scene(
        stems=tuple(stem for stem, _, _ in parts),
        colours=np.full(n, 4, np.int32),
        matrices=np.array([matrix for _, _, matrix in parts], np.float64).reshape(n, 3, 3),
        positions=np.array([position for _, position, _ in parts], np.float64).reshape(n, 3),
        paths=("",) * n,
        steps=np.zeros(n, np.int32),
    )


def at(stem: str, x: float, y: float = 0.0, z: float = 0.0, matrix: Any = None) -> Part:
    """A part at a position, upright unless a matrix is given."""
    return stem, (x, y, z), np.eye(3) if matrix is None else matrix


def turn(axis: str, degrees: float) -> Floats:
    """The rotation about x, y or z by the right-hand rule."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def random_rotation(rng: np.random.Generator) -> Floats:
    """A rotation, uniformly distributed."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    rotation: Floats = q * np.sign(np.linalg.det(q))
    return rotation
