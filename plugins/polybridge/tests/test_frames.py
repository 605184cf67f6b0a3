"""Frames of a run: which are shown, what they show, and the contact sheet."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from evalkit_polybridge import drawing
from evalkit_polybridge.frames import (
    CAPTION_PX,
    FRAME_SIZE,
    GAP_PX,
    contact_sheet,
    frame_image,
    frame_png,
    select,
)
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
from evalkit_polybridge.physics import simulate

ANCHORS = (Node(1, 0.0, 0.0, True), Node(2, 8.0, 0.0, True))
LEVEL = Level("Flat_8m", 8.0, 0.0, ANCHORS, (3.0, 3.0), (1, 2, 3), 10_000.0)
#: Nodes and members stand in no order, so that a frame's own order has to be restored.
BRIDGE = Bridge(
    (Node(5, 4.0, 3.0), *ANCHORS, Node(3, 4.0, 0.0)),
    (Edge(9, 3, 5, 2), Edge(8, 1, 3, 2), Edge(7, 1, 3, 1), Edge(6, 2, 1, 5)),
)


@dataclass(frozen=True)
class StillFrame:
    t_s: float
    nodes_m: NDArray[np.float64]
    broken: NDArray[np.bool_]
    wheels_m: NDArray[np.float64]
    failure: bool


START = StillFrame(
    t_s=0.0,
    nodes_m=np.array([(0.0, 0.0), (8.0, 0.0), (4.0, 0.0), (4.0, 3.0)]),
    broken=np.zeros(4, dtype=np.bool_),
    wheels_m=np.array([[(-2.0, 0.25), (-3.6, 0.25)], [(-6.0, 0.25), (-7.6, 0.25)]]),
    failure=False,
)


def run(failures: str) -> list[StillFrame]:
    """Frames at 4 fps; an `x` stands for one with the failure marker."""
    return [replace(START, t_s=i / 4, failure=mark == "x") for i, mark in enumerate(failures)]


def colour_at(image: Image.Image, x: float, y: float) -> tuple[int, ...]:
    column, row = drawing.fit(LEVEL, BRIDGE, image.size).pixel(x, y)
    pixel = image.getpixel((round(column), round(row)))
    assert isinstance(pixel, tuple)
    return pixel


def near(first: tuple[int, ...], second: tuple[int, ...], within: int = 40) -> bool:
    return all(abs(a - b) <= within for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    ("n_frames", "count", "indices"),
    [
        (49, 4, [0, 16, 32, 48]),
        (14, 4, [0, 4, 9, 13]),
        (5, 4, [0, 1, 3, 4]),
        (4, 4, [0, 1, 2, 3]),
        (3, 4, [0, 1, 2]),
        (1, 4, [0]),
        (0, 4, []),
        (9, 2, [0, 8]),
        (9, 1, [8]),
    ],
)
def test_select_is_uniform_with_both_ends(n_frames: int, count: int, indices: list[int]) -> None:
    assert select(n_frames, count) == indices


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_selected_gaps_differ_by_one_at_most(count: int) -> None:
    for n_frames in range(2, 60):
        indices = select(n_frames, count)
        gaps = np.diff(indices)
        assert len(indices) == min(n_frames, count)
        assert (indices[0], indices[-1]) == (0, n_frames - 1)
        assert gaps.min() >= 1
        assert gaps.max() - gaps.min() <= 1


@pytest.mark.parametrize(("n_frames", "count"), [(5, 0), (-1, 4)])
def test_select_refuses_nonsense(n_frames: int, count: int) -> None:
    with pytest.raises(ValueError, match="cannot select"):
        select(n_frames, count)


def test_members_follow_their_nodes() -> None:
    image = frame_image(LEVEL, BRIDGE, START)
    assert image.size == FRAME_SIZE
    assert near(colour_at(image, 2.0, 0.0), drawing.MEMBER_STYLES[1].colour)
    assert near(colour_at(image, 2.0, 1.5), drawing.MEMBER_STYLES[2].colour)
    assert near(colour_at(image, 6.0, 1.5), drawing.MEMBER_STYLES[3].colour)
    sagging = replace(START, nodes_m=START.nodes_m + np.array([(0, 0), (0, 0), (0, -1.0), (0, 0)]))
    moved = frame_image(LEVEL, BRIDGE, sagging)
    assert near(colour_at(moved, 2.0, -0.5), drawing.MEMBER_STYLES[1].colour)
    assert not near(colour_at(moved, 2.0, 0.0), drawing.MEMBER_STYLES[1].colour)


def test_a_broken_member_is_open_in_the_middle_and_the_others_are_whole() -> None:
    broken = replace(START, broken=np.array([True, False, False, False]))
    image = frame_image(LEVEL, BRIDGE, broken)
    bare = frame_image(LEVEL, Bridge(BRIDGE.nodes, ()), replace(START, broken=np.zeros(0, dtype=np.bool_)))
    assert colour_at(image, 2.0, 1.5) == colour_at(bare, 2.0, 1.5)
    assert colour_at(image, 1.0, 0.75) != colour_at(bare, 1.0, 0.75)
    assert near(colour_at(image, 2.0, 0.0), drawing.MEMBER_STYLES[1].colour)
    assert near(colour_at(image, 6.0, 1.5), drawing.MEMBER_STYLES[3].colour)


def test_the_ends_of_a_broken_member_stay_short_when_its_joints_fly_apart() -> None:
    apart = replace(
        START,
        nodes_m=START.nodes_m + np.array([(0, 0), (0, 0), (0, 0), (4.0, 4.0)]),
        broken=np.array([True, False, False, False]),
    )
    image = frame_image(LEVEL, BRIDGE, apart, size=(1280, 720))
    wood = drawing.mix(drawing.MEMBER_STYLES[2].colour, drawing.SKY_LOW, 0.4)
    direction = np.array([8.0, 7.0]) / np.hypot(8.0, 7.0)
    assert near(colour_at(image, *(1.5 * direction)), wood, within=15)
    assert not near(colour_at(image, *(2.2 * direction)), wood, within=15)


def test_vehicles_are_where_their_wheels_are() -> None:
    driving = replace(START, wheels_m=START.wheels_m + np.array([4.5, 0.0]))
    image = frame_image(LEVEL, BRIDGE, driving)
    assert near(colour_at(image, 1.7, 0.45), drawing.CAR_COLOURS[0])
    assert near(colour_at(image, -2.3, 0.45), drawing.CAR_COLOURS[1])


def test_the_failure_marker_is_red_and_only_there_on_failure() -> None:
    def red_pixels(failure: bool) -> int:
        image = np.asarray(frame_image(LEVEL, BRIDGE, replace(START, failure=failure)))
        return int((image == drawing.FORBIDDEN).all(axis=2).sum())

    assert red_pixels(False) == 0
    assert red_pixels(True) > 1500


def test_painting_a_frame_leaves_the_shared_background_alone() -> None:
    first = frame_png(LEVEL, BRIDGE, START)
    frame_png(LEVEL, BRIDGE, replace(START, wheels_m=START.wheels_m + 3.0, failure=True))
    assert frame_png(LEVEL, BRIDGE, START) == first
    drawing.background.cache_clear()
    assert frame_png(LEVEL, BRIDGE, START) == first


def test_a_frame_of_another_bridge_is_refused() -> None:
    with pytest.raises(ValueError, match="the frame has 4 nodes and 4 members, the bridge 2 and 0"):
        frame_image(LEVEL, LEVEL.empty_bridge(), START)


@pytest.mark.parametrize(("n_frames", "columns", "rows"), [(1, 1, 1), (2, 2, 1), (3, 2, 2), (13, 2, 2)])
def test_contact_sheet_is_a_grid_of_two_columns(n_frames: int, columns: int, rows: int) -> None:
    sheet = Image.open(io.BytesIO(contact_sheet(LEVEL, BRIDGE, run("." * n_frames))))
    assert sheet.width == pytest.approx(columns * FRAME_SIZE[0], abs=8)
    assert rows * FRAME_SIZE[1] < sheet.height < rows * (FRAME_SIZE[1] + 40)


def test_contact_sheet_shows_the_selected_frames() -> None:
    frames = run(".........")
    frames[5] = replace(frames[5], wheels_m=START.wheels_m + np.array([4.5, 0.0]))
    frames[4] = replace(frames[4], nodes_m=START.nodes_m * np.array([1.0, 0.5]))
    sheet = Image.open(io.BytesIO(contact_sheet(LEVEL, BRIDGE, frames)))
    assert select(9) == [0, 3, 5, 8]
    width, height = FRAME_SIZE
    for place, index in enumerate(select(9)):
        left = place % 2 * (width + GAP_PX)
        top = CAPTION_PX + place // 2 * (height + GAP_PX + CAPTION_PX)
        cell = sheet.crop((left, top, left + width, top + height))
        assert np.array_equal(np.asarray(cell), np.asarray(frame_image(LEVEL, BRIDGE, frames[index])))


def test_contact_sheet_writes_index_and_time() -> None:
    early, late = run("...."), [replace(frame, t_s=frame.t_s + 1) for frame in run("....")]
    assert contact_sheet(LEVEL, BRIDGE, early) != contact_sheet(LEVEL, BRIDGE, late)
    assert contact_sheet(LEVEL, BRIDGE, early) == contact_sheet(LEVEL, BRIDGE, run("...."))


def test_contact_sheet_needs_a_frame() -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        contact_sheet(LEVEL, BRIDGE, [])


def test_a_simulated_collapse_is_drawn_as_it_happened() -> None:
    """A flat 10 m road deck falls under its own weight; the picture shows it where the frame says it is."""
    anchors = (Node(1, 0.0, 0.0, True), Node(2, 10.0, 0.0, True))
    level = Level("Deck_10m", 10.0, 0.0, anchors, (3.0,), (1,), 10_000.0)
    deck = Bridge((*anchors, *(Node(2 + i, 2.0 * i, 0.0) for i in range(1, 5))), tuple(
        Edge(10 + i, 1, a, b) for i, (a, b) in enumerate(((1, 3), (3, 4), (4, 5), (5, 6), (6, 2)))
    ))  # fmt: skip
    frames = simulate(level, deck, frames=True).frames
    assert frames is not None
    last = frames[-1]
    assert last.failure
    assert not frames[-2].failure
    assert last.broken.any()
    image = frame_image(level, deck, last, size=(1280, 720))
    view = drawing.fit(level, deck, image.size)
    whole = [edge for edge, broken in zip(deck.edges, last.broken, strict=True) if not broken]
    position = dict(zip((1, 2, 3, 4, 5, 6), last.nodes_m, strict=True))
    for edge in whole:
        column, row = view.pixel(*(position[edge.a] + position[edge.b]) / 2)
        pixel = image.getpixel((round(column), round(row)))
        assert isinstance(pixel, tuple)
        assert near(pixel, drawing.MEMBER_STYLES[1].colour)
    assert contact_sheet(level, deck, frames).startswith(b"\x89PNG")
