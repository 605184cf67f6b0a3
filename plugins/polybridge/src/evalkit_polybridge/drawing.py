"""Drawing a level and what stands in it: the view, the styles and the painters shared by all pictures.

Shapes are painted at `SUPERSAMPLE` times the final size and shrunk once, text is written afterwards at
the final size. World coordinates are metres with y up; pixels count from the upper left corner.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from PIL import Image, ImageChops, ImageDraw, ImageFont

from evalkit_polybridge.constants import (
    BANK_FLOOR_Y_M,
    FIRST_START_X_M,
    PLATFORM_FLOOR_Y_M,
    ROAD,
    START_SPACING_M,
    STEEL,
    WHEEL_RADIUS_M,
    WHEELBASE_M,
    WOOD,
)
from evalkit_polybridge.graph import Bridge, Level, Point, Region

Colour = tuple[int, int, int]

SUPERSAMPLE = 2
RULER_LEFT_PX = 26
RULER_BOTTOM_PX = 17

INK: Colour = (38, 43, 51)
PAPER: Colour = (255, 255, 255)
SKY_HIGH: Colour = (205, 227, 244)
SKY_LOW: Colour = (240, 246, 250)
GRID_FINE: Colour = (216, 228, 237)
GRID_COARSE: Colour = (189, 207, 221)
WATER: Colour = (140, 190, 224)
WATER_LINE: Colour = (84, 148, 198)
GROUND: Colour = (176, 150, 118)
GROUND_LINE: Colour = (110, 88, 64)
SURFACE: Colour = (92, 128, 62)
FORBIDDEN: Colour = (201, 42, 42)
ANCHOR: Colour = (255, 196, 0)
CAR_COLOURS: tuple[Colour, ...] = ((196, 62, 92), (44, 140, 120), (120, 82, 170), (214, 120, 40))

#: Water stands a little above the feet of the platforms, so that they visibly stand in it.
WATER_Y_M = PLATFORM_FLOOR_Y_M + 0.6


@dataclass(frozen=True, slots=True)
class MemberStyle:
    """How a member is drawn: colour and width in metres."""

    colour: Colour
    width_m: float


MEMBER_STYLES: dict[int, MemberStyle] = {
    ROAD.type: MemberStyle((64, 66, 72), 0.26),
    WOOD.type: MemberStyle((206, 130, 44), 0.17),
    STEEL.type: MemberStyle((40, 84, 168), 0.17),
}
OTHER_STYLE = MemberStyle((140, 110, 150), 0.15)


@dataclass(frozen=True, slots=True)
class View:
    """A window on the world: `left_m` and `top_m` lie at pixel (0, 0), `px_per_m` is the scale."""

    left_m: float
    top_m: float
    px_per_m: float
    width_px: int
    height_px: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return (self.width_px, self.height_px)

    @property
    def right_m(self) -> float:
        """World x of the right border, metres."""
        return self.left_m + self.width_px / self.px_per_m

    @property
    def bottom_m(self) -> float:
        """World y of the lower border, metres."""
        return self.top_m - self.height_px / self.px_per_m

    def pixel(self, x: float, y: float) -> Point:
        """World point in metres → pixel position, not rounded."""
        return ((x - self.left_m) * self.px_per_m, (self.top_m - y) * self.px_per_m)

    def enlarged(self, factor: int) -> View:
        """The same piece of world on `factor` times as many pixels in each direction."""
        return replace(
            self,
            px_per_m=self.px_per_m * factor,
            width_px=self.width_px * factor,
            height_px=self.height_px * factor,
        )


def extent(level: Level, bridge: Bridge) -> tuple[float, float, float, float]:
    """The box (left, bottom, right, top) in metres that a picture of this level and bridge has to show."""
    rear_start = FIRST_START_X_M - START_SPACING_M * (len(level.vehicles_pg) - 1) - WHEELBASE_M
    nodes = (*level.anchors, *bridge.nodes)
    left = min(rear_start - 1.2, *(node.x - 1 for node in nodes))
    right = max(level.span_m + 4.5, *(node.x + 1 for node in nodes))
    bottom = min(BANK_FLOOR_Y_M - 0.5, *(node.y - 1 for node in nodes))
    tops = [3.0, level.dy_m + 3, *(node.y + 1.2 for node in nodes)]
    tops += [platform.surface_y + 3 for platform in level.platforms]
    tops += [y + 0.3 for region in level.regions for _, y in region.vertices]
    return (left, bottom, right, max(tops))


def fit(level: Level, bridge: Bridge, size: tuple[int, int]) -> View:
    """The view of `size` pixels with all of `extent` beside the rulers; spare height goes to the sky."""
    left, bottom, right, top = extent(level, bridge)
    usable_width = size[0] - RULER_LEFT_PX
    usable_height = size[1] - RULER_BOTTOM_PX
    px_per_m = min(usable_width / (right - left), usable_height / (top - bottom))
    spare_x_m = usable_width / px_per_m - (right - left)
    spare_y_m = usable_height / px_per_m - (top - bottom)
    return View(left - spare_x_m / 2 - RULER_LEFT_PX / px_per_m, top + spare_y_m, px_per_m, size[0], size[1])


@lru_cache(maxsize=32)
def font(size_px: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font, so that the system's fonts never change a picture."""
    loaded = ImageFont.load_default(size_px)
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType; install a wheel of Pillow that has it")
    return loaded


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`first` with `share` (0 … 1) of it replaced by `second`."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return (red, green, blue)


def png(image: Image.Image) -> bytes:
    """PNG bytes at compression level 1, which is fast and already small for flat colours."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


@lru_cache(maxsize=4)
def background(level: Level, view: View) -> Image.Image:
    """Sky, grid, water, ground, forbidden regions and rulers, `SUPERSAMPLE` times larger than `view`.

    The image is shared between callers: copy it before painting on it.
    """
    fine = view.enlarged(SUPERSAMPLE)
    image = _sky(fine)
    draw = ImageDraw.Draw(image)
    _grid(draw, fine)
    _water(draw, level, fine)
    _ground(draw, level, fine)
    if level.regions:
        _forbidden(image, level.regions, fine)
    _rulers(draw, fine)
    return image


def tick_step_m(px_per_m: float, least_px: float) -> int:
    """The smallest step of 1, 2, 5, 10 … metres that spans at least `least_px` pixels."""
    decade = 1
    while True:
        for step in (1, 2, 5):
            if step * decade * px_per_m >= least_px:
                return step * decade
        decade *= 10


def _ticks(low: float, high: float, step: int) -> range:
    return range(math.ceil(low / step) * step, math.floor(high) + 1, step)


def _sky(view: View) -> Image.Image:
    """A vertical gradient: one column of it, widened."""
    column = (1, view.height_px)
    share = Image.linear_gradient("L").resize(column)
    low, high = Image.new("RGB", column, SKY_LOW), Image.new("RGB", column, SKY_HIGH)
    return Image.composite(low, high, share).resize(view.size, Image.Resampling.NEAREST)


def _grid(draw: ImageDraw.ImageDraw, view: View) -> None:
    fine = tick_step_m(view.px_per_m, 10 * SUPERSAMPLE)
    for step, colour in ((fine, GRID_FINE), (5 * fine, GRID_COARSE)):
        for x in _ticks(view.left_m, view.right_m, step):
            column = view.pixel(x, 0)[0]
            draw.line((column, 0, column, view.height_px), colour, SUPERSAMPLE)
        for y in _ticks(view.bottom_m, view.top_m, step):
            row = view.pixel(0, y)[1]
            draw.line((0, row, view.width_px, row), colour, SUPERSAMPLE)


def _water(draw: ImageDraw.ImageDraw, level: Level, view: View) -> None:
    left, surface = view.pixel(0.0, WATER_Y_M)
    right, _ = view.pixel(level.span_m, WATER_Y_M)
    draw.rectangle((left, surface, right, view.height_px), WATER)
    draw.line((left, surface, right, surface), WATER_LINE, 2 * SUPERSAMPLE)


def _ground(draw: ImageDraw.ImageDraw, level: Level, view: View) -> None:
    """Banks, platforms and the river's bed, filled, with the drivable surface as a green line."""
    bed_left, bed_top = view.pixel(0.0, BANK_FLOOR_Y_M)
    draw.rectangle((bed_left, bed_top, view.pixel(level.span_m, 0.0)[0], view.height_px), GROUND_LINE)
    edge_px = round(0.08 * view.px_per_m)
    surface_px = max(2 * SUPERSAMPLE, round(0.14 * view.px_per_m))
    outlines = level.outlines()
    for index, outline in enumerate(outlines):
        points = [view.pixel(x, y) for x, y in outline]
        if index == 0:
            corners = [*points, (points[-1][0], view.height_px), (points[0][0], view.height_px)]
        elif index == len(outlines) - 1:
            corners = [(points[0][0], view.height_px), *points, (points[-1][0], view.height_px)]
        else:
            corners = [*points, points[0]]
        draw.polygon(corners, GROUND)
        draw.line(corners, GROUND_LINE, edge_px, joint="curve")
        for (x1, y1), (x2, y2) in pairwise(points):
            if y1 == y2:
                draw.line((x1, y1 + surface_px / 2, x2, y2 + surface_px / 2), SURFACE, surface_px)


def _forbidden(image: Image.Image, regions: tuple[Region, ...], view: View) -> None:
    """Tint and hatch the triangles, whose outlines are the exact limits."""
    triangles = [[view.pixel(x, y) for x, y in region.vertices] for region in regions]
    inside = Image.new("L", view.size, 0)
    for corners in triangles:
        ImageDraw.Draw(inside).polygon(corners, 255)
    stripes = Image.new("L", view.size, 60)
    stripe = ImageDraw.Draw(stripes)
    for x in range(-view.height_px, view.width_px, 11 * SUPERSAMPLE):
        stripe.line((x, view.height_px, x + view.height_px, 0), 150, 2 * SUPERSAMPLE)
    image.paste(FORBIDDEN, (0, 0, *view.size), ImageChops.multiply(inside, stripes))
    for corners in triangles:
        ImageDraw.Draw(image).line([*corners, corners[0]], FORBIDDEN, 2 * SUPERSAMPLE, joint="curve")


def _rulers(draw: ImageDraw.ImageDraw, view: View) -> None:
    """Scales in metres along the left and lower border."""
    left, bottom = RULER_LEFT_PX * SUPERSAMPLE, view.height_px - RULER_BOTTOM_PX * SUPERSAMPLE
    text = font(11 * SUPERSAMPLE)
    step = tick_step_m(view.px_per_m, 28 * SUPERSAMPLE)
    draw.rectangle((0, 0, left, view.height_px), PAPER)
    draw.rectangle((0, bottom, view.width_px, view.height_px), PAPER)
    for x in _ticks(view.left_m, view.right_m, step):
        column = view.pixel(x, 0)[0]
        if left + 10 * SUPERSAMPLE < column < view.width_px - 10 * SUPERSAMPLE:
            draw.line((column, bottom, column, bottom + 4 * SUPERSAMPLE), INK, SUPERSAMPLE)
            draw.text((column, bottom + 10 * SUPERSAMPLE), str(x), INK, text, anchor="mm")
    for y in _ticks(view.bottom_m, view.top_m, step):
        row = view.pixel(0, y)[1]
        if 8 * SUPERSAMPLE < row < bottom - 6 * SUPERSAMPLE:
            draw.line((left - 4 * SUPERSAMPLE, row, left, row), INK, SUPERSAMPLE)
            draw.text((left - 6 * SUPERSAMPLE, row), str(y), INK, text, anchor="rm")
    draw.text((left / 2, bottom + 9 * SUPERSAMPLE), "m", INK, text, anchor="mm")


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight piece to draw: two ends in metres, the material's number, whether it is broken off."""

    start: Point
    end: Point
    material: int
    broken: bool = False


def paint_segments(draw: ImageDraw.ImageDraw, view: View, segments: Iterable[Segment]) -> None:
    """Paint members with a dark edge, the road last; members between the same two ends lie side by side."""
    beside: dict[tuple[Point, Point], int] = {}
    rim_px = max(1, round(0.035 * view.px_per_m))
    strokes = []
    for segment in sorted(segments, key=lambda s: (s.broken, s.material != ROAD.type)):
        style = MEMBER_STYLES.get(segment.material, OTHER_STYLE)
        width_px = max(2 * SUPERSAMPLE, round(style.width_m * view.px_per_m))
        ends = (min(segment.start, segment.end), max(segment.start, segment.end))
        line = _shifted(view, ends, beside.get(ends, 0) * (width_px + 2 * rim_px))
        beside[ends] = beside.get(ends, 0) + 1
        colour = mix(style.colour, SKY_LOW, 0.4) if segment.broken else style.colour
        rim = mix(colour, INK, 0.1 if segment.broken else 0.55)
        strokes.append((line, rim, colour, width_px))
    for line, rim, fill, width_px in strokes[::-1]:
        draw.line(line, rim, width_px + 2 * rim_px)
        draw.line(line, fill, width_px)


def _shifted(view: View, ends: tuple[Point, Point], aside_px: float) -> tuple[float, float, float, float]:
    """The line between two world points in pixels, moved sideways (downwards if it is level)."""
    (x1, y1), (x2, y2) = view.pixel(*ends[0]), view.pixel(*ends[1])
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    dx, dy = -(y2 - y1) / length * aside_px, (x2 - x1) / length * aside_px
    return (x1 + dx, y1 + dy, x2 + dx, y2 + dy)


def anchor_radius_px(view: View) -> float:
    """Radius of an anchor's disc on a supersampled `view`, in that view's pixels."""
    return min(max(4.5 * SUPERSAMPLE, 0.2 * view.px_per_m), 8.0 * SUPERSAMPLE)


def paint_joints(draw: ImageDraw.ImageDraw, view: View, joints: Iterable[tuple[float, float, bool]]) -> None:
    """Paint joints given as (x, y, anchored): small white discs, anchors larger and yellow."""
    for x, y, anchored in joints:
        centre_x, centre_y = view.pixel(x, y)
        if anchored:
            radius = anchor_radius_px(view)
            _disc(draw, centre_x, centre_y, radius, INK)
            _disc(draw, centre_x, centre_y, radius * 0.74, ANCHOR)
        else:
            radius = max(2.2 * SUPERSAMPLE, 0.1 * view.px_per_m)
            _disc(draw, centre_x, centre_y, radius, INK)
            _disc(draw, centre_x, centre_y, radius * 0.6, PAPER)


#: Outlines of a car in metres: along the axle from the rear wheel's centre, and above the axle.
_BODY: tuple[Point, ...] = ((-0.42, 0.02), (-0.42, 0.42), (1.98, 0.42), (2.06, 0.26), (2.06, 0.02))
_CABIN: tuple[Point, ...] = ((-0.22, 0.42), (-0.02, 0.86), (1.0, 0.86), (1.42, 0.42))
_WINDOW: tuple[Point, ...] = ((0.58, 0.46), (0.58, 0.76), (0.93, 0.76), (1.23, 0.46))
_REAR_WINDOW: tuple[Point, ...] = ((-0.03, 0.46), (0.1, 0.76), (0.48, 0.76), (0.48, 0.46))
CAR_HEIGHT_M = 0.86


def paint_vehicle(draw: ImageDraw.ImageDraw, view: View, rear: Point, front: Point, colour: Colour) -> None:
    """Paint a car whose wheels' centres are `rear` and `front` (metres), tilted as its axle is."""
    length = math.hypot(front[0] - rear[0], front[1] - rear[1]) or 1.0
    along = ((front[0] - rear[0]) / length, (front[1] - rear[1]) / length)

    def placed(outline: tuple[Point, ...]) -> list[Point]:
        return [
            view.pixel(rear[0] + s * along[0] - h * along[1], rear[1] + s * along[1] + h * along[0])
            for s, h in outline
        ]

    rim_px = max(1, round(0.04 * view.px_per_m))
    for outline, fill in (
        (_CABIN, mix(colour, INK, 0.15)),
        (_BODY, colour),
        (_WINDOW, SKY_LOW),
        (_REAR_WINDOW, SKY_LOW),
    ):
        draw.polygon(placed(outline), fill, mix(colour, INK, 0.6), rim_px)
    for x, y in (rear, front):
        centre_x, centre_y = view.pixel(x, y)
        _disc(draw, centre_x, centre_y, WHEEL_RADIUS_M * view.px_per_m, INK)
        _disc(draw, centre_x, centre_y, 0.45 * WHEEL_RADIUS_M * view.px_per_m, GRID_COARSE)


def _disc(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, colour: Colour) -> None:
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), colour)
