"""From a recipe (gaps, loads, supports, obstacles) to a level: banks, anchors, platforms, rocks, ceilings.

A recipe holds the numbers an author chooses; everything with coordinates follows from it, exact in four
decimals. y points up, metres; the left bank's edge is (0, 0), the right bank's (span, dy).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from evalkit_polybridge.constants import (
    COORDINATE_DECIMALS,
    CRUISE_M_PER_S,
    FINISH_BEYOND_EDGE_M,
    FIRST_START_X_M,
    LOOSE_BUDGET,
    PLATFORM_FLOOR_Y_M,
    ROAD,
    START_SPACING_M,
    STEEL,
    WHEELBASE_M,
    WINDOW_S,
    WOOD,
)
from evalkit_polybridge.graph import Level, Node, Platform, Point, Region

BASE_LOAD_PG = 3.0

ROCK_BASE_Y_M = -7.0
CENTRE_ROCK_HALF_WIDTH_M = 3.0
NARROW_ROCK_HALF_WIDTH_M = 2.5
#: A ceiling leaves this much room at either bank and reaches up to this height.
CEILING_MARGIN_M = 1.0
CEILING_TOP_Y_M = 8.0

#: No level asks its last vehicle to travel further: the window at cruise speed less 3.75 m for getting there.
MAX_TRAVEL_M = WINDOW_S * CRUISE_M_PER_S - 3.75

Sides = Literal["left", "right", "both"]


@dataclass(frozen=True, slots=True)
class Rock:
    """A triangular rock: apex at height `apex_y_m` and the share `at` of the span, base at y = −7."""

    apex_y_m: float
    at: float = 0.5
    half_width_m: float = CENTRE_ROCK_HALF_WIDTH_M


@dataclass(frozen=True, slots=True)
class Recipe:
    """The numbers behind a level.

    `segments_m` are the widths from bank to bank: gap, or gap, platform, gap, … (metres); `surface_y_m` is
    the height of all platforms. An extra anchor of depth or height 0 is absent: `bottom_depth_m` below the
    banks' edges on `bottom_sides`, `top_height_m` above both edges, `mid_depth_m` below y = 0 at mid-span.
    """

    segments_m: tuple[float, ...]
    loads_pg: tuple[float, ...] = (BASE_LOAD_PG,)
    dy_m: float = 0.0
    road_wood_only: bool = False
    surface_y_m: float = 0.0
    bottom_depth_m: float = 0.0
    bottom_sides: Sides = "both"
    top_height_m: float = 0.0
    mid_depth_m: float = 0.0
    rock: Rock | None = None
    ceiling_y_m: float | None = None

    @property
    def span_m(self) -> float:
        """Distance between the banks' edges."""
        return _metres(math.fsum(self.segments_m))

    @property
    def gaps_m(self) -> tuple[float, ...]:
        """Widths of the unsupported gaps, left to right."""
        return self.segments_m[::2]

    @property
    def platform_widths_m(self) -> tuple[float, ...]:
        """Widths of the platforms, left to right."""
        return self.segments_m[1::2]

    def parameters(self) -> dict[str, Any]:
        """The recipe as JSON values, without what the level does not have."""
        values = asdict(self)
        if not self.bottom_depth_m:
            del values["bottom_sides"]
        if not self.platform_widths_m:
            del values["surface_y_m"]
        absent = ("bottom_depth_m", "top_height_m", "mid_depth_m", "rock", "ceiling_y_m")
        kept = {key: value for key, value in values.items() if key not in absent or value}
        listed = {key: list(value) if isinstance(value, tuple) else value for key, value in kept.items()}
        return {"span_m": self.span_m, **listed}

    def travel_m(self) -> float:
        """How far the last vehicle has to drive, from its start until it counts as across."""
        last_start = -FIRST_START_X_M + START_SPACING_M * (len(self.loads_pg) - 1)
        return last_start + self.span_m + FINISH_BEYOND_EDGE_M + WHEELBASE_M

    def level(self, name: str) -> Level:
        """The level of this recipe under the loose budget; calibration sets the others."""
        platforms = self._platforms()
        return Level(
            name=name,
            span_m=self.span_m,
            dy_m=_metres(self.dy_m),
            anchors=self._anchors(platforms),
            vehicles_pg=tuple(float(load) for load in self.loads_pg),
            materials=(ROAD.type, WOOD.type) if self.road_wood_only else (ROAD.type, WOOD.type, STEEL.type),
            budget=float(LOOSE_BUDGET),
            platforms=platforms,
            regions=self._rock_regions() + self._ceiling_regions(),
        )

    def _platforms(self) -> tuple[Platform, ...]:
        platforms = []
        for index in range(1, len(self.segments_m), 2):
            first_anchor = 2 + index
            platforms.append(
                Platform(
                    x_start=_metres(math.fsum(self.segments_m[:index])),
                    x_end=_metres(math.fsum(self.segments_m[: index + 1])),
                    surface_y=_metres(self.surface_y_m),
                    bottom_y=PLATFORM_FLOOR_Y_M,
                    anchor_ids=(first_anchor, first_anchor + 1),
                )
            )
        return tuple(platforms)

    def _anchors(self, platforms: tuple[Platform, ...]) -> tuple[Node, ...]:
        """Anchors in the order of their ids: road ends, platform corners by x, extra anchors by x."""
        points: list[Point] = [(0.0, 0.0), (self.span_m, self.dy_m)]
        for platform in platforms:
            points += [(platform.x_start, platform.surface_y), (platform.x_end, platform.surface_y)]
        points += self._extra_anchors()
        return tuple(
            Node(number, _metres(x), _metres(y), fixed=True) for number, (x, y) in enumerate(points, start=1)
        )

    def _extra_anchors(self) -> list[Point]:
        points: list[Point] = []
        if self.bottom_depth_m and self.bottom_sides != "right":
            points.append((0.0, -self.bottom_depth_m))
        if self.bottom_depth_m and self.bottom_sides != "left":
            points.append((self.span_m, self.dy_m - self.bottom_depth_m))
        if self.top_height_m:
            points += [(0.0, self.top_height_m), (self.span_m, self.dy_m + self.top_height_m)]
        if self.mid_depth_m:
            points.append((self.span_m / 2, -self.mid_depth_m))
        return sorted(points)

    def _rock_regions(self) -> tuple[Region, ...]:
        if self.rock is None:
            return ()
        x = self.rock.at * self.span_m
        return (
            _triangle(
                (x, self.rock.apex_y_m),
                (x - self.rock.half_width_m, ROCK_BASE_Y_M),
                (x + self.rock.half_width_m, ROCK_BASE_Y_M),
            ),
        )

    def _ceiling_regions(self) -> tuple[Region, ...]:
        """Two triangles that tile the overhead rectangle: a region is always a triangle."""
        if self.ceiling_y_m is None:
            return ()
        left, right = CEILING_MARGIN_M, self.span_m - CEILING_MARGIN_M
        low, high = self.ceiling_y_m, CEILING_TOP_Y_M
        return (
            _triangle((left, low), (right, low), (right, high)),
            _triangle((left, low), (right, high), (left, high)),
        )


def tags_of(level: Level, rock: Rock | None) -> tuple[str, ...]:
    """Overlapping labels for breakdowns, in a fixed order, read off the level's own geometry.

    `rock` tells a rock from a ceiling, which a region does not.
    """
    extra = level.anchors[2 + 2 * len(level.platforms) :]
    edge_y = {0.0: 0.0, level.span_m: level.dy_m}
    heights = [node.y - edge_y[node.x] for node in extra if node.x in edge_y]
    present = {
        "slope": level.dy_m != 0,
        "multi_vehicle": len(level.vehicles_pg) > 1,
        "heavy": max(level.vehicles_pg) > BASE_LOAD_PG,
        "road_wood_only": STEEL.type not in level.materials,
        "bottom_anchor": any(height < 0 for height in heights),
        "top_anchor": any(height > 0 for height in heights),
        "mid_anchor": len(heights) < len(extra),
        "platform": bool(level.platforms),
        "rock_clearance": rock is not None,
        "elevated_load": rock is not None and rock.apex_y_m > 0,
        "overhead": len(level.regions) > (rock is not None),
    }
    return tuple(tag for tag, holds in present.items() if holds)


def _triangle(*vertices: Point) -> Region:
    a, b, c = ((_metres(x), _metres(y)) for x, y in vertices)
    return Region((a, b, c))


def _metres(value: float) -> float:
    """The value in the precision of the save format; adding 0.0 turns −0.0 into 0.0."""
    return round(float(value), COORDINATE_DECIMALS) + 0.0
