"""The view, and the painters that every picture shares."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw

from evalkit_polybridge import drawing
from evalkit_polybridge.constants import ROAD, STEEL, WOOD
from evalkit_polybridge.drawing import Segment, View
from evalkit_polybridge.graph import Bridge, Level, Node, Platform, Region

SKY = (255, 255, 255)


def level(span_m: float = 14.0, dy_m: float = 0.0, **more: object) -> Level:
    anchors = (Node(1, 0.0, 0.0, True), Node(2, span_m, dy_m, True))
    values: dict[str, object] = {
        "vehicles_pg": (3.0, 3.0),
        "materials": (1, 2, 3),
        "budget": 13_000.0,
        **more,
    }
    return Level("L", span_m, dy_m, values.pop("anchors", anchors), **values)  # type: ignore[arg-type]


ROCK = Region(((7.0, -2.0), (4.0, -7.0), (10.0, -7.0)))
CEILING = (
    Region(((1.0, 1.6), (13.0, 1.6), (13.0, 8.0))),
    Region(((1.0, 1.6), (13.0, 8.0), (1.0, 8.0))),
)
PLATFORM = Platform(6.0, 10.0, 2.0, -7.0, (3, 4))
LEVELS = {
    "flat": level(),
    "tiny": level(4.0, vehicles_pg=(3.0,)),
    "long": level(26.0, 3.0, vehicles_pg=(3.0, 3.0, 3.0)),
    "down": level(8.0, -3.0),
    "rock": level(regions=(ROCK,)),
    "ceiling": level(regions=CEILING),
    "platform": level(16.0, platforms=(PLATFORM,)),
}


def canvas(view: View) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    image = Image.new("RGB", view.size, SKY)
    return image, ImageDraw.Draw(image)


def colour_at(image: Image.Image, view: View, x: float, y: float) -> tuple[int, ...]:
    column, row = view.pixel(x, y)
    pixel = image.getpixel((round(column), round(row)))
    assert isinstance(pixel, tuple)
    return pixel


def background_at(of: Level, x: float, y: float) -> tuple[int, ...]:
    view = drawing.fit(of, of.empty_bridge(), (640, 360))
    return colour_at(drawing.background(of, view), view.enlarged(drawing.SUPERSAMPLE), x, y)


def test_pixel_turns_metres_into_pixels_with_y_down() -> None:
    view = View(left_m=-5.0, top_m=4.0, px_per_m=20.0, width_px=600, height_px=300)
    assert view.pixel(-5.0, 4.0) == (0.0, 0.0)
    assert view.pixel(1.0, -2.5) == (120.0, 130.0)
    assert (view.right_m, view.bottom_m) == (25.0, -11.0)


def test_enlarging_keeps_the_piece_of_world() -> None:
    view = View(-5.0, 4.0, 20.0, 600, 300)
    large = view.enlarged(2)
    assert large.size == (1200, 600)
    assert (large.right_m, large.bottom_m) == (view.right_m, view.bottom_m)
    assert large.pixel(1.0, -2.5) == (240.0, 260.0)


@pytest.mark.parametrize("size", [(640, 360), (1024, 640), (400, 900)])
@pytest.mark.parametrize("name", LEVELS)
def test_fit_shows_the_whole_extent_beside_the_rulers(name: str, size: tuple[int, int]) -> None:
    of = LEVELS[name]
    view = drawing.fit(of, of.empty_bridge(), size)
    left, bottom, right, top = drawing.extent(of, of.empty_bridge())
    first, last = view.pixel(left, top), view.pixel(right, bottom)
    slack = 1e-6
    assert view.size == size
    assert first[0] >= drawing.RULER_LEFT_PX - slack
    assert first[1] >= -slack
    assert last[0] <= size[0] + slack
    assert last[1] <= size[1] - drawing.RULER_BOTTOM_PX + slack


def test_extent_holds_the_last_vehicle_the_regions_and_the_nodes() -> None:
    three = LEVELS["long"]
    high = Bridge((*three.anchors, Node(9, 13.0, 20.0)), ())
    left, _, right, top = drawing.extent(three, high)
    assert left < -2.0 - 8.0 - 1.6
    assert right > 26.0 + 2.0 + 1.6
    assert top > 20.0
    assert drawing.extent(LEVELS["ceiling"], LEVELS["ceiling"].empty_bridge())[3] > 8.0


@pytest.mark.parametrize(
    ("px_per_m", "least_px", "step"),
    [(40.0, 28.0, 1), (20.0, 28.0, 2), (10.0, 28.0, 5), (3.0, 28.0, 10), (1.0, 28.0, 50), (28.0, 28.0, 1)],
)
def test_tick_steps_are_1_2_5_10(px_per_m: float, least_px: float, step: int) -> None:
    assert drawing.tick_step_m(px_per_m, least_px) == step


def test_background_has_ground_water_bed_and_platforms_where_they_are() -> None:
    of = LEVELS["platform"]
    assert background_at(of, -3.3, -3.3) == drawing.GROUND
    assert background_at(of, 18.3, -3.3) == drawing.GROUND
    assert background_at(of, 8.0, 0.3) == drawing.GROUND
    assert background_at(of, 3.3, -6.7) == drawing.WATER
    assert background_at(of, 3.3, -8.3) == drawing.GROUND_LINE
    red, _, blue = background_at(of, 3.3, -3.3)
    assert blue > red > 200


def test_the_drivable_surface_is_green_just_under_its_height() -> None:
    for x, y in ((-3.3, 0.0), (8.0, 2.0)):
        assert background_at(LEVELS["platform"], x, y - 0.07) == drawing.SURFACE
        assert background_at(LEVELS["platform"], x, y + 0.2) != drawing.SURFACE


def test_a_forbidden_region_is_red_exactly_inside() -> None:
    def redness(of: Level, x: float, y: float) -> int:
        red, green, _ = background_at(of, x, y)
        return red - green

    for x, y in ((7.0, -4.0), (5.0, -6.0), (7.0, -2.3)):
        assert redness(LEVELS["rock"], x, y) > redness(LEVELS["flat"], x, y) + 30
    for x, y in ((7.0, -1.7), (5.0, -4.0), (9.0, -4.0)):
        assert background_at(LEVELS["rock"], x, y) == background_at(LEVELS["flat"], x, y)


def test_members_between_the_same_ends_both_show() -> None:
    view = View(0.0, 2.0, 100.0, 400, 400)
    image, draw = canvas(view)
    ends = ((1.0, 0.0), (3.0, 0.0))
    drawing.paint_segments(draw, view, [Segment(*ends, WOOD.type), Segment(*ends[::-1], ROAD.type)])
    assert colour_at(image, view, 2.0, 0.0) == drawing.MEMBER_STYLES[ROAD.type].colour
    column = {colour_at(image, view, 2.0, y) for y in np.linspace(-0.5, -0.1, 41)}
    assert drawing.MEMBER_STYLES[WOOD.type].colour in column


def test_each_material_has_its_own_colour_and_a_broken_member_is_pale() -> None:
    view = View(0.0, 4.0, 60.0, 300, 300)
    image, draw = canvas(view)
    rows = {ROAD.type: 3.0, WOOD.type: 2.0, STEEL.type: 1.0}
    drawing.paint_segments(draw, view, [Segment((1.0, y), (3.0, y), m) for m, y in rows.items()])
    drawing.paint_segments(draw, view, [Segment((1.0, 0.0), (3.0, 0.0), STEEL.type, broken=True)])
    assert len({colour_at(image, view, 2.0, y) for y in rows.values()}) == 3
    assert sum(colour_at(image, view, 2.0, 0.0)) > sum(colour_at(image, view, 2.0, 1.0)) + 100


def test_a_member_of_no_length_and_an_unknown_material_can_be_drawn() -> None:
    view = View(0.0, 4.0, 60.0, 300, 300)
    image, draw = canvas(view)
    drawing.paint_segments(draw, view, [Segment((1, 1), (1, 1), WOOD.type), Segment((2, 2), (4, 2), 5)])
    assert colour_at(image, view, 3.0, 2.0) == drawing.OTHER_STYLE.colour


def test_anchors_stand_out_from_joints() -> None:
    view = View(0.0, 4.0, 60.0, 300, 300)
    image, draw = canvas(view)
    drawing.paint_joints(draw, view, [(1.0, 2.0, True), (3.0, 2.0, False)])
    assert colour_at(image, view, 1.0, 2.0) == drawing.ANCHOR
    assert colour_at(image, view, 3.0, 2.0) == drawing.PAPER


@pytest.mark.parametrize(
    ("front", "above"),
    [((2.6, 2.0), (1.8, 2.2)), ((1.0, 3.6), (0.8, 2.8)), ((-0.6, 2.0), (0.2, 1.8))],
    ids=["level", "climbing a wall", "overturned"],
)
def test_a_vehicle_stands_on_its_axle(front: tuple[float, float], above: tuple[float, float]) -> None:
    view = View(-3.0, 6.0, 60.0, 480, 480)
    image, draw = canvas(view)
    colour = drawing.CAR_COLOURS[0]
    drawing.paint_vehicle(draw, view, (1.0, 2.0), front, colour)
    middle = ((1.0 + front[0]) / 2, (2.0 + front[1]) / 2)
    assert colour_at(image, view, *above) == colour
    assert colour_at(image, view, 2 * middle[0] - above[0], 2 * middle[1] - above[1]) == SKY


def test_png_keeps_every_pixel() -> None:
    image = drawing.background(
        LEVELS["rock"], drawing.fit(LEVELS["rock"], LEVELS["rock"].empty_bridge(), (320, 200))
    )
    again = Image.open(io.BytesIO(drawing.png(image)))
    assert np.array_equal(np.asarray(again), np.asarray(image))
