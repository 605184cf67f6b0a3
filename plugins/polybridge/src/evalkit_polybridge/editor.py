"""The editor's picture: a level before a run, with everything that a design has to respect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from evalkit_polybridge import drawing
from evalkit_polybridge.constants import (
    FIRST_START_X_M,
    MATERIALS,
    START_SPACING_M,
    WHEEL_RADIUS_M,
    WHEELBASE_M,
)
from evalkit_polybridge.drawing import ANCHOR, FORBIDDEN, GROUND, INK, PAPER, Colour, View
from evalkit_polybridge.graph import Bridge, Level, Point, Region

WIDTH_PX = 1024
HEADER_PX = 58
LEGEND_PX = 34
PLOT_HEIGHTS_PX = (400, 640)

Box = tuple[float, float, float, float]


def editor_image(level: Level, bridge: Bridge) -> bytes:
    """PNG, 1024 pixels wide: the level with the current `bridge`, vehicles parked at their starts.

    Members whose end is not a node of the bridge are left out. Equal inputs give equal bytes.
    """
    view = _view(level, bridge)
    image = Image.new("RGB", (WIDTH_PX, HEADER_PX + view.height_px + LEGEND_PX), PAPER)
    image.paste(_plot(level, bridge, view), (0, HEADER_PX))
    draw = ImageDraw.Draw(image)
    _header(draw, level, bridge)
    _legend(draw, level, HEADER_PX + view.height_px)
    return drawing.png(image)


def _view(level: Level, bridge: Bridge) -> View:
    """As high as the level needs at full width, within bounds."""
    left, bottom, right, top = drawing.extent(level, bridge)
    px_per_m = (WIDTH_PX - drawing.RULER_LEFT_PX) / (right - left)
    wanted = round((top - bottom) * px_per_m) + drawing.RULER_BOTTOM_PX
    height = min(max(wanted, PLOT_HEIGHTS_PX[0]), PLOT_HEIGHTS_PX[1])
    return drawing.fit(level, bridge, (WIDTH_PX, height))


def _plot(level: Level, bridge: Bridge, view: View) -> Image.Image:
    fine_view = view.enlarged(drawing.SUPERSAMPLE)
    fine = drawing.background(level, view).copy()
    draw = ImageDraw.Draw(fine)
    nodes = bridge.node_by_id()
    starts = start_wheels(level)
    for index, (rear, front) in enumerate(starts):
        colour = drawing.CAR_COLOURS[index % len(drawing.CAR_COLOURS)]
        drawing.paint_vehicle(draw, fine_view, rear, front, colour)
    segments = [
        drawing.Segment((nodes[e.a].x, nodes[e.a].y), (nodes[e.b].x, nodes[e.b].y), e.material)
        for e in bridge.edges
        if e.a in nodes and e.b in nodes
    ]
    drawing.paint_segments(draw, fine_view, segments)
    in_order = sorted(nodes.values(), key=lambda node: (node.fixed, node.id))
    drawing.paint_joints(draw, fine_view, [(node.x, node.y, node.fixed) for node in in_order])
    plot = fine.reduce(drawing.SUPERSAMPLE)

    labels = Labels(ImageDraw.Draw(plot), plot.size, _sampled(view, segments))
    _name_places(labels, level, view)
    _name_vehicles(labels, level, view, starts)
    _name_nodes(labels, bridge, view)
    return plot


def start_wheels(level: Level) -> list[tuple[Point, Point]]:
    """Centres of the rear and front wheel (metres) of every vehicle where it waits: first at x = −2."""
    fronts = [FIRST_START_X_M - START_SPACING_M * i for i in range(len(level.vehicles_pg))]
    return [((x - WHEELBASE_M, WHEEL_RADIUS_M), (x, WHEEL_RADIUS_M)) for x in fronts]


def _sampled(view: View, segments: Sequence[drawing.Segment]) -> NDArray[np.float64]:
    """Points along all members in pixels, shape (n, 2): what labels should keep clear of."""
    ends = np.array([(*view.pixel(*s.start), *view.pixel(*s.end)) for s in segments], dtype=np.float64)
    ends = ends.reshape(-1, 2, 2)
    share = np.linspace(0.0, 1.0, 17)[None, :, None]
    points: NDArray[np.float64] = ends[:, :1] * (1 - share) + ends[:, 1:] * share
    return points.reshape(-1, 2)


#: Directions in which a label may stand off its point, in order of preference; y down.
_AROUND = ((0, -1), (0, 1), (-0.8, 0.8), (0.8, 0.8), (-0.8, -0.8), (0.8, -0.8), (-1, 0), (1, 0))
#: What it costs to cover another label; covering one sampled point of a member costs 1.
_COLLISION = 1000.0
#: Distance that labels keep from a member's axis.
_MEMBER_PX = 3


@dataclass(slots=True)
class Labels:
    """Places texts on an image so that they keep clear of each other and, if possible, of the members.

    `members` are points to avoid, pixels, shape (n, 2); `taken` are boxes that are occupied.
    """

    draw: ImageDraw.ImageDraw
    size: tuple[int, int]
    members: NDArray[np.float64]
    taken: list[Box] = field(default_factory=list)

    def text(self, at: Point, text: str, size_px: int, colour: Colour, *, halo: Colour = PAPER) -> None:
        """Write `text` centred on `at` and occupy the room."""
        self.draw.text(at, text, colour, drawing.font(size_px), anchor="mm", stroke_width=2, stroke_fill=halo)
        self.taken.append(_box(at, text, size_px))

    def choose(self, at: Point, text: str, size_px: int, reach_px: float) -> tuple[Point, bool]:
        """The best place for `text` around `at`, and whether it is free of other labels and joints.

        `reach_px` is the distance from `at` to the label's border.
        """
        _, _, width, height = _box((0.0, 0.0), text, size_px)
        dx, dy = width + reach_px, height + reach_px
        places = [(at[0] + sx * dx * far, at[1] + sy * dy * far) for far in (1.0, 1.7) for sx, sy in _AROUND]
        costs = [self._cost(_box(place, text, size_px)) for place in places]
        cheapest = min(costs)
        return places[costs.index(cheapest)], cheapest < _COLLISION

    def _cost(self, box: Box) -> float:
        left, top, right, bottom = box
        outside = left < drawing.RULER_LEFT_PX or top < 0 or right > self.size[0]
        outside = outside or bottom > self.size[1] - drawing.RULER_BOTTOM_PX
        overlaps = sum(1 for a in self.taken if a[0] < right and left < a[2] and a[1] < bottom and top < a[3])
        x, y = self.members[:, 0], self.members[:, 1]
        crossed = np.count_nonzero(
            (x > left - _MEMBER_PX)
            & (x < right + _MEMBER_PX)
            & (y > top - _MEMBER_PX)
            & (y < bottom + _MEMBER_PX)
        )
        return _COLLISION * (overlaps + outside) + int(crossed)


def _box(at: Point, text: str, size_px: int) -> Box:
    half_width = drawing.font(size_px).getlength(text) / 2 + 2
    half_height = size_px * 0.5
    return (at[0] - half_width, at[1] - half_height, at[0] + half_width, at[1] + half_height)


def _name_places(labels: Labels, level: Level, view: View) -> None:
    """Write what platforms and forbidden regions are; a name that doesn't fit a platform is left out."""
    for platform in level.platforms:
        text, size_px = "platform", 12
        x, y = view.pixel((platform.x_start + platform.x_end) / 2, platform.surface_y - 1.0)
        left, _, right, _ = _box((x, y), text, size_px)
        if right - left < (platform.x_end - platform.x_start) * view.px_per_m:
            labels.text((x, y), text, size_px, drawing.GROUND_LINE, halo=GROUND)
    for (x_m, y_m), text in region_names(level.regions):
        labels.text(view.pixel(x_m, y_m), text, 13, FORBIDDEN)


def region_names(regions: Sequence[Region]) -> list[tuple[Point, str]]:
    """Where (metres) to write what about the regions; two triangles with a common side get one text."""
    named: list[tuple[Point, str]] = []
    rest = list(regions)
    while rest:
        region = rest.pop(0)
        twin = next((other for other in rest if _are_halves(region, other)), None)
        if twin is None:
            centre = _mean(region.vertices)
        else:
            rest.remove(twin)
            centre = _mean([vertex for vertex in region.vertices if vertex in twin.vertices])
        named.append((centre, f"forbidden: {region.type}{_only_for(region)}"))
    return named


def _are_halves(first: Region, second: Region) -> bool:
    """Whether two triangles of the same kind meet in a common side."""
    alike = first.type == second.type and set(first.applies_to) == set(second.applies_to)
    return alike and sum(vertex in second.vertices for vertex in first.vertices) == 2


def _only_for(region: Region) -> str:
    if not region.applies_to or set(region.applies_to) >= set(MATERIALS):
        return ""
    return f" for {', '.join(MATERIALS[number].name for number in sorted(region.applies_to))}"


def _mean(points: Sequence[Point]) -> Point:
    return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


def _name_vehicles(labels: Labels, level: Level, view: View, starts: list[tuple[Point, Point]]) -> None:
    for weight_pg, (rear, front) in zip(level.vehicles_pg, starts, strict=True):
        x, y = view.pixel((rear[0] + front[0]) / 2, drawing.CAR_HEIGHT_M + WHEEL_RADIUS_M)
        labels.text((x, y - 13), f"{weight_pg:.1f} PG", 15, INK)
        half_width = 1.3 * view.px_per_m
        labels.taken.append((x - half_width, y, x + half_width, view.pixel(0, 0)[1]))


def _name_nodes(labels: Labels, bridge: Bridge, view: View) -> None:
    """Ids of anchors always, on yellow; ids of other nodes where they hide nothing."""
    anchor_px = drawing.anchor_radius_px(view.enlarged(drawing.SUPERSAMPLE)) / drawing.SUPERSAMPLE
    nodes = sorted(bridge.node_by_id().values(), key=lambda node: node.id)
    pixels = {node.id: view.pixel(node.x, node.y) for node in nodes}
    for node in nodes:
        x, y = pixels[node.id]
        radius = anchor_px if node.fixed else 3.0
        labels.taken.append((x - radius, y - radius, x + radius, y + radius))
    for node in nodes:
        if node.fixed:
            at, _ = labels.choose(pixels[node.id], str(node.id), 16, reach_px=anchor_px + 2)
            _plate(labels, at, str(node.id))
    for node in nodes:
        if not node.fixed:
            at, free = labels.choose(pixels[node.id], str(node.id), 11, reach_px=2)
            if free:
                labels.text(at, str(node.id), 11, INK)


def _plate(labels: Labels, at: Point, text: str) -> None:
    left, top, right, bottom = _box(at, text, 16)
    box = (left - 3, top - 2, right + 3, bottom + 2)
    labels.draw.rounded_rectangle(box, 4, ANCHOR, INK)
    labels.draw.text(at, text, INK, drawing.font(16), anchor="mm")
    labels.taken.append(box)


def dollars(amount: float) -> str:
    """`$12,000`, or with cents where there are any."""
    return f"${amount:,.0f}" if amount == round(amount) else f"${amount:,.2f}"


def _header(draw: ImageDraw.ImageDraw, level: Level, bridge: Bridge) -> None:
    """Name and load on the left; cost, budget and how much of it is used on the right."""
    cost = bridge.cost()
    over = cost > level.budget
    draw.text((14, 10), level.name, INK, drawing.font(20))
    count = len(level.vehicles_pg)
    weights = ", ".join(f"{w:.1f}" for w in level.vehicles_pg)
    load = f"{count} vehicle{'' if count == 1 else 's'}: {weights} PG"
    rise = "" if level.dy_m == 0 else f"   far bank {level.dy_m:+g} m"
    draw.text((14, 36), f"span {level.span_m:g} m{rise}   {load}", INK, drawing.font(14))
    right = WIDTH_PX - 14
    text = f"cost {dollars(cost)} of budget {dollars(level.budget)}"
    draw.text((right, 10), text, FORBIDDEN if over else INK, drawing.font(18), anchor="ra")
    left, used = right - 260, min(1.0, cost / level.budget)
    draw.rounded_rectangle((left, 38, right, 48), 4, drawing.GRID_FINE)
    if used > 0:
        colour = FORBIDDEN if over else drawing.SURFACE
        draw.rounded_rectangle((left, 38, left + max(8, 260 * used), 48), 4, colour)


def _legend(draw: ImageDraw.ImageDraw, level: Level, top: int) -> None:
    """Admitted materials with their limits, then the other signs of the picture."""
    x, middle = 14.0, top + LEGEND_PX / 2
    text_font = drawing.font(13)
    entries = [
        (number, f"{MATERIALS[number].name} {MATERIALS[number].strength_pn:.0f} PN, up to "
                 f"{MATERIALS[number].max_length_m:g} m, ${MATERIALS[number].cost_per_m:.0f}/m")
        for number in level.materials
    ]  # fmt: skip
    for number, text in entries:
        style = drawing.MEMBER_STYLES.get(number, drawing.OTHER_STYLE)
        draw.rectangle((x, middle - 4, x + 20, middle + 3), style.colour, INK)
        draw.text((x + 26, middle), text, INK, text_font, anchor="lm")
        x += 26 + text_font.getlength(text) + 20
    for text, fill, radius in (("anchor, id", ANCHOR, 7), ("joint", PAPER, 4)):
        draw.ellipse((x, middle - radius, x + 2 * radius, middle + radius), fill, INK, 2)
        draw.text((x + 2 * radius + 5, middle), text, INK, text_font, anchor="lm")
        x += 2 * radius + 5 + text_font.getlength(text) + 20
