"""The editor's picture: size, contents at known places, labels that don't collide, equal bytes."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageDraw

from evalkit_polybridge import drawing, editor
from evalkit_polybridge.graph import Bridge, Edge, Level, Node, Platform, Region

ANCHORS = (Node(1, 0.0, 0.0, True), Node(2, 14.0, 0.0, True))
FLAT = Level("Flat_14m", 14.0, 0.0, ANCHORS, (3.0, 6.0), (1, 2, 3), 13_000.0)
SPANS_M = (4.0, 6.0, 14.0, 20.0, 26.0)

SCRIPT = """
import hashlib
from evalkit_polybridge.editor import editor_image
from evalkit_polybridge.graph import Bridge, Edge, Level, Node
anchors = (Node(1, 0.0, 0.0, True), Node(2, 14.0, 0.0, True))
level = Level("Flat_14m", 14.0, 0.0, anchors, (3.0, 6.0), (1, 2, 3), 13_000.0)
bridge = Bridge((*anchors, Node(3, 7.0, 1.0)), (Edge(4, 2, 1, 3),))
print(hashlib.sha256(editor_image(level, bridge)).hexdigest())
"""


def decoded(level: Level, bridge: Bridge) -> tuple[Image.Image, drawing.View]:
    image = Image.open(io.BytesIO(editor.editor_image(level, bridge))).convert("RGB")
    height = image.height - editor.HEADER_PX - editor.LEGEND_PX
    return image, drawing.fit(level, bridge, (editor.WIDTH_PX, height))


def colour_at(image: Image.Image, view: drawing.View, x: float, y: float) -> tuple[int, ...]:
    column, row = view.pixel(x, y)
    pixel = image.getpixel((round(column), round(row) + editor.HEADER_PX))
    assert isinstance(pixel, tuple)
    return pixel


def near(first: tuple[int, ...], second: tuple[int, ...], within: int = 12) -> bool:
    return all(abs(a - b) <= within for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("span_m", SPANS_M)
def test_picture_is_1024_wide_and_shows_both_anchors(span_m: float) -> None:
    anchors = (Node(1, 0.0, 0.0, True), Node(2, span_m, 1.0, True))
    level = Level("L", span_m, 1.0, anchors, (3.0, 3.0), (1, 2, 3), 13_000.0)
    image, view = decoded(level, level.empty_bridge())
    assert image.width == 1024
    assert image.height <= 740
    assert view.px_per_m >= 22
    for node in anchors:
        assert near(colour_at(image, view, node.x, node.y), drawing.ANCHOR)


def test_members_have_their_material_colours() -> None:
    nodes = (*ANCHORS, Node(3, 2.0, 0.0), Node(4, 1.0, 1.5), Node(5, 5.0, 1.5))
    bridge = Bridge(nodes, (Edge(6, 1, 1, 3), Edge(7, 2, 1, 4), Edge(8, 3, 4, 5)))
    image, view = decoded(FLAT, bridge)
    for number, x, y in ((1, 1.0, 0.0), (2, 0.5, 0.75), (3, 3.0, 1.5)):
        assert near(colour_at(image, view, x, y), drawing.MEMBER_STYLES[number].colour)


def test_a_member_without_an_end_is_left_out() -> None:
    with_stray = Bridge(ANCHORS, (Edge(6, 1, 1, 99),))
    assert editor.editor_image(FLAT, with_stray) == editor.editor_image(FLAT, FLAT.empty_bridge())


def test_vehicles_wait_at_minus_2_and_every_4_m_behind() -> None:
    assert editor.start_wheels(FLAT) == [((-3.6, 0.25), (-2.0, 0.25)), ((-7.6, 0.25), (-6.0, 0.25))]
    image, view = decoded(FLAT, FLAT.empty_bridge())
    for index, x in enumerate((-2.8, -6.8)):
        assert near(colour_at(image, view, x, 0.45), drawing.CAR_COLOURS[index])


def test_what_a_picture_says_changes_it() -> None:
    def picture(**change: object) -> bytes:
        values = {
            "name": "N", "span_m": 14.0, "dy_m": 0.0, "anchors": ANCHORS, "vehicles_pg": (3.0,),
            "materials": (1, 2, 3), "budget": 13_000.0, **change,
        }  # fmt: skip
        level = Level(**values)  # type: ignore[arg-type]
        return editor.editor_image(level, level.empty_bridge())

    changes: list[dict[str, object]] = [
        {},
        {"name": "M"},
        {"vehicles_pg": (6.0,)},
        {"materials": (1, 2)},
        {"budget": 12_000.0},
        {"regions": (Region(((7.0, -2.0), (4.0, -7.0), (10.0, -7.0))),)},
        {"platforms": (Platform(6.0, 8.0, 0.0, -7.0, (3, 4)),)},
        {"anchors": (Node(1, 0.0, 0.0, True), Node(3, 14.0, 0.0, True))},
    ]
    assert len({picture(**change) for change in changes}) == len(changes)


def test_the_cost_is_red_only_over_the_budget() -> None:
    bridge = Bridge((*ANCHORS, Node(3, 2.0, 0.0)), (Edge(4, 1, 1, 3),))

    def red_in_header(budget: float) -> bool:
        level = Level("L", 14.0, 0.0, ANCHORS, (3.0,), (1, 2, 3), budget)
        header = np.asarray(decoded(level, bridge)[0])[: editor.HEADER_PX]
        return bool((header == drawing.FORBIDDEN).all(axis=2).any())

    assert not red_in_header(400.0)
    assert red_in_header(399.0)


@pytest.mark.parametrize(("amount", "text"), [(0.0, "$0"), (12_000.0, "$12,000"), (11_234.5, "$11,234.50")])
def test_dollars(amount: float, text: str) -> None:
    assert editor.dollars(amount) == text


def test_two_halves_of_a_rectangle_are_named_once_in_its_middle() -> None:
    rock = Region(((7.0, -2.0), (4.0, -7.0), (10.0, -7.0)))
    lower = Region(((1.0, 2.0), (13.0, 2.0), (13.0, 8.0)), (), "ceiling")
    upper = Region(((1.0, 2.0), (13.0, 8.0), (1.0, 8.0)), (), "ceiling")
    (rock_at, rock_text), (ceiling_at, ceiling_text) = editor.region_names([rock, lower, upper])
    assert rock_at == pytest.approx((7.0, -16 / 3))
    assert ceiling_at == (7.0, 5.0)
    assert (rock_text, ceiling_text) == ("forbidden: rock", "forbidden: ceiling")


@pytest.mark.parametrize(
    ("applies_to", "text"),
    [((), "forbidden: rock"), ((1, 2, 3), "forbidden: rock"), ((3, 2), "forbidden: rock for Wood, Steel")],
)
def test_a_region_says_for_which_materials_it_is(applies_to: tuple[int, ...], text: str) -> None:
    region = Region(((7.0, -2.0), (4.0, -7.0), (10.0, -7.0)), applies_to)
    assert [name for _, name in editor.region_names([region])] == [text]


def labels(points: np.ndarray | None = None) -> editor.Labels:
    image = Image.new("RGB", (400, 300))
    members = np.zeros((0, 2)) if points is None else points
    return editor.Labels(ImageDraw.Draw(image), image.size, members)


def overlap(first: editor.Box, second: editor.Box) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def test_labels_of_anchors_close_together_keep_clear_of_each_other() -> None:
    board = labels()
    for index in range(6):
        at, free = board.choose((200.0 + 24 * index, 150.0), f"1{index}", 16, reach_px=8)
        assert free
        board.text(at, f"1{index}", 16, drawing.INK)
    boxes = board.taken
    assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_a_label_goes_to_the_side_without_members() -> None:
    above = np.array([(x, 138.0) for x in range(100, 300, 2)])
    (_, row), free = labels(above).choose((200.0, 150.0), "7", 11, reach_px=2)
    assert free
    assert row > 150


def test_a_label_without_room_is_reported() -> None:
    board = labels()
    board.taken.append((100.0, 50.0, 300.0, 250.0))
    assert not board.choose((200.0, 150.0), "7", 11, reach_px=2)[1]


def test_labels_stay_inside_the_plot() -> None:
    (column, row), free = labels().choose((395.0, 4.0), "12", 16, reach_px=8)
    assert free
    assert column < 395
    assert row > 4


def test_same_input_same_bytes_in_another_process() -> None:
    bridge = Bridge((*ANCHORS, Node(3, 7.0, 1.0)), (Edge(4, 2, 1, 3),))
    assert editor.editor_image(FLAT, bridge) == editor.editor_image(FLAT, bridge)
    digests = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert digests == {hashlib.sha256(editor.editor_image(FLAT, bridge)).hexdigest() + "\n"}
