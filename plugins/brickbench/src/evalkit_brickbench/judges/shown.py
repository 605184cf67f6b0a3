"""What judges are shown of a build: single views, or four of them tiled into one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit import Candidate
from evalkit.render3d import grid, png
from evalkit_brickbench.designs import read
from evalkit_brickbench.inspection import Reading
from evalkit_brickbench.pictures import draw, instances
from evalkit_brickbench.settings import settings_of

TILE_COLUMNS = 2


def seen(candidate: Candidate, settings: Mapping[str, Any]) -> Reading:
    """The build, read and put together; LDrawError if its file can't be used."""
    return read(candidate, settings_of(settings))


def tiled(found: Reading, views: Sequence[int], size_px: int) -> bytes | None:
    """A PNG file with these of the eight views, each `size_px` wide; None if no part has a shape to draw."""
    scene = instances(found)
    if not scene:
        return None
    return png(grid([draw(scene, view, size_px) for view in views], TILE_COLUMNS))
