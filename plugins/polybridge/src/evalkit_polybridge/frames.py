"""Pictures of a run: single frames, which of them are shown, and the contact sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from evalkit_polybridge import drawing
from evalkit_polybridge.constants import FEEDBACK_FRAMES
from evalkit_polybridge.drawing import FORBIDDEN, INK, PAPER, Segment
from evalkit_polybridge.feedback import FrameChoice
from evalkit_polybridge.graph import Bridge, Level, Point

FRAME_SIZE = (640, 360)
GAP_PX = 4
CAPTION_PX = 24

#: How much of a broken member's length stays attached to each of its joints.
_STUMP = 0.36


class FrameLike(Protocol):
    """One moment of a run, as `evalkit_polybridge.physics.Frame` gives it.

    `nodes_m` are positions, shape (n, 2), in order of the sorted node ids. `broken` has one entry per member
    in order of the sorted edge ids. `wheels_m` are wheel centres, shape (vehicles, 2, 2): [vehicle][front,
    rear][x, y]. `failure` says that a vehicle is lost.
    """

    @property
    def t_s(self) -> float: ...
    @property
    def nodes_m(self) -> NDArray[np.float64]: ...
    @property
    def broken(self) -> NDArray[np.bool_]: ...
    @property
    def wheels_m(self) -> NDArray[np.float64]: ...
    @property
    def failure(self) -> bool: ...


def select(n_frames: int, count: int = FEEDBACK_FRAMES, choice: FrameChoice = "uniform") -> list[int]:
    """At most `count` indices out of `n_frames`: uniformly spaced with both ends, or the last ones.

    Fewer frames than `count` are all selected; a `count` of 1 selects the last frame. Halves round up.

    Raises:
        ValueError: `count` is below 1 or `n_frames` below 0.
    """
    if count < 1 or n_frames < 0:
        raise ValueError(f"cannot select {count} of {n_frames} frames: need count >= 1 and n_frames >= 0")
    if n_frames <= count:
        return list(range(n_frames))
    if choice == "last":
        return list(range(n_frames - count, n_frames))
    if count == 1:
        return [n_frames - 1]
    gaps = count - 1
    return [(2 * i * (n_frames - 1) + gaps) // (2 * gaps) for i in range(count)]


def frame_image(
    level: Level, bridge: Bridge, frame: FrameLike, *, size: tuple[int, int] = FRAME_SIZE
) -> Image.Image:
    """The bridge and its vehicles at one moment, `size` pixels; every frame of a run has the same view.

    Raises:
        ValueError: the frame is not one of this bridge.
    """
    view = drawing.fit(level, bridge, size)
    fine_view = view.enlarged(drawing.SUPERSAMPLE)
    fine = drawing.background(level, view).copy()
    draw = ImageDraw.Draw(fine)
    positions, fixed = _positions(bridge, frame)
    drawing.paint_segments(draw, fine_view, _segments(bridge, frame, positions))
    drawing.paint_joints(draw, fine_view, [(*positions[id], id in fixed) for id in positions])
    for index, wheels in enumerate(frame.wheels_m.tolist()):
        front, rear = ((x, y) for x, y in wheels)
        colour = drawing.CAR_COLOURS[index % len(drawing.CAR_COLOURS)]
        drawing.paint_vehicle(draw, fine_view, rear, front, colour)
    image = fine.reduce(drawing.SUPERSAMPLE)
    if frame.failure:
        _paint_failure_marker(image)
    return image


def frame_png(level: Level, bridge: Bridge, frame: FrameLike, *, size: tuple[int, int] = FRAME_SIZE) -> bytes:
    """`frame_image` as PNG bytes."""
    return drawing.png(frame_image(level, bridge, frame, size=size))


def contact_sheet(
    level: Level,
    bridge: Bridge,
    frames: Sequence[FrameLike],
    *,
    count: int = FEEDBACK_FRAMES,
    choice: FrameChoice = "uniform",
) -> bytes:
    """PNG of at most `count` selected frames, two in a row, each with its index and time.

    `frames` end where the film does: `simulate` stops filming at the first frame with the failure marker.

    Raises:
        ValueError: there is no frame.
    """
    if not frames:
        raise ValueError("a contact sheet needs at least one frame")
    return sheet(
        [
            (caption(i, len(frames), frames[i].t_s), frame_image(level, bridge, frames[i]))
            for i in select(len(frames), count, choice)
        ]
    )


def caption(index: int, n_frames: int, t_s: float) -> str:
    """What is written above frame `index` of a film of `n_frames`, taken at `t_s` seconds."""
    return f"frame {index} of 0...{n_frames - 1}   t = {t_s:.2f} s"


def sheet(cells: Sequence[tuple[str, Image.Image]]) -> bytes:
    """PNG of captioned pictures, two in a row; those of another shape than `FRAME_SIZE` get a margin.

    Raises:
        ValueError: there is no picture.
    """
    if not cells:
        raise ValueError("a contact sheet needs at least one picture")
    columns = min(2, len(cells))
    rows = math.ceil(len(cells) / columns)
    cell_width, cell_height = FRAME_SIZE[0] + GAP_PX, FRAME_SIZE[1] + CAPTION_PX + GAP_PX
    image = Image.new("RGB", (columns * cell_width - GAP_PX, rows * cell_height - GAP_PX), INK)
    draw = ImageDraw.Draw(image)
    for place, (text, picture) in enumerate(cells):
        left, top = place % columns * cell_width, place // columns * cell_height
        draw.text((left + 8, top + CAPTION_PX / 2), text, PAPER, drawing.font(15), anchor="lm")
        fitted = picture if picture.size == FRAME_SIZE else ImageOps.pad(picture, FRAME_SIZE, color=INK)
        image.paste(fitted, (left, top + CAPTION_PX))
    return drawing.png(image)


def _positions(bridge: Bridge, frame: FrameLike) -> tuple[dict[int, Point], set[int]]:
    """Where each node is, and which nodes are anchors."""
    nodes = bridge.node_by_id()
    if len(frame.nodes_m) != len(nodes) or len(frame.broken) != len(bridge.edges):
        raise ValueError(
            f"the frame has {len(frame.nodes_m)} nodes and {len(frame.broken)} members, "
            f"the bridge {len(nodes)} and {len(bridge.edges)}"
        )
    moved = {id: (x, y) for id, (x, y) in zip(sorted(nodes), frame.nodes_m.tolist(), strict=True)}
    return moved, {id for id, node in nodes.items() if node.fixed}


def _segments(bridge: Bridge, frame: FrameLike, positions: dict[int, Point]) -> list[Segment]:
    """Intact members from joint to joint; of a broken one a stump at each end."""
    lengths = bridge.lengths_m()
    in_order = sorted(bridge.edges, key=lambda edge: edge.id)
    segments = []
    for edge, broken in zip(in_order, frame.broken.tolist(), strict=True):
        start, end = positions[edge.a], positions[edge.b]
        if not broken:
            segments.append(Segment(start, end, edge.material))
            continue
        for joint, other in ((start, end), (end, start)):
            segments.append(
                Segment(joint, _towards(joint, other, _STUMP * lengths[edge.id]), edge.material, True)
            )
    return segments


def _towards(start: Point, end: Point, length_m: float) -> Point:
    distance = math.hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    share = min(_STUMP, length_m / distance)
    return (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))


def _paint_failure_marker(image: Image.Image) -> None:
    """A red badge with a cross in the upper right corner: the run has ended in a failure."""
    draw = ImageDraw.Draw(image)
    text, text_font = "FAILED", drawing.font(20)
    width = text_font.getlength(text) + 62
    right = image.width - 10
    draw.rounded_rectangle((right - width, 10, right, 48), 8, FORBIDDEN, PAPER, 2)
    centre_x, centre_y = right - width + 22, 29
    for sign in (-1, 1):
        draw.line((centre_x - 8, centre_y - 8 * sign, centre_x + 8, centre_y + 8 * sign), PAPER, 5)
    draw.text((centre_x + 20, centre_y), text, PAPER, text_font, anchor="lm")
