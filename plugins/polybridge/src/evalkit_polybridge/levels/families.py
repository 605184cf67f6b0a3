"""The 189 levels: 27 families of variants, each variant one recipe. Seedless and complete.

Groups: T1 anchors and connectivity, T2 terrain and geometry, T4 dynamic load (suite `core`), G compositions
(suite `compositional`). docs/polybridge-levels.md explains the choices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from evalkit_polybridge.graph import Level, LevelMeta
from evalkit_polybridge.levels.geometry import (
    BASE_LOAD_PG,
    NARROW_ROCK_HALF_WIDTH_M,
    Recipe,
    Rock,
    Sides,
    tags_of,
)

Group = Literal["T1", "T2", "T4", "G"]
Variants = dict[str, Recipe]

LIGHT_LOAD_PG = 1.0
LOWER_ANCHOR_DEPTH_M = 2.0
#: T2C's one-sided anchor sits higher than G4's; else 14 m, down 1 m, left would occur in both.
BANK_ASYM_ANCHOR_DEPTH_M = 1.5
LOW_CEILING_Y_M = 1.6


@dataclass(frozen=True, slots=True)
class Family:
    """Levels that vary one theme; a level's name is `<id>_<title>_<key of its variant>`."""

    id: str
    title: str
    group: Group
    variants: Variants

    @property
    def suite(self) -> str:
        """`compositional` for the G families, `core` for all others."""
        return "compositional" if self.group == "G" else "core"

    def build(self, name: str, recipe: Recipe) -> tuple[Level, LevelMeta]:
        """A level of this family from any recipe."""
        level = recipe.level(name)
        tags = tags_of(level, recipe.rock)
        return level, LevelMeta(self.id, self.group, self.suite, tags, recipe.parameters())

    def named_recipes(self) -> list[tuple[str, Recipe]]:
        """Full level name and recipe of every variant, in order."""
        return [(f"{self.id}_{self.title}_{key}", recipe) for key, recipe in self.variants.items()]


def generate() -> list[tuple[Level, LevelMeta]]:
    """All 189 levels under the loose budget, in the order of the families; the same on every call."""
    return [family.build(name, recipe) for family in FAMILIES for name, recipe in family.named_recipes()]


# --- Names -------------------------------------------------------------------------------------------


def _number(value: float) -> str:
    """A number for a file name: 2 → `2`, 1.6 → `1p6`."""
    return f"{value:g}".replace(".", "p")


def _span(span_m: float) -> str:
    return f"{span_m:02g}m"


def _height(height_m: float) -> str:
    if height_m == 0:
        return "Level"
    return f"{'Up' if height_m > 0 else 'Down'}{_number(abs(height_m))}m"


def _segments(segments_m: Iterable[float]) -> str:
    return "-".join(_number(width) for width in segments_m)


def _loads(loads_pg: tuple[float, ...]) -> str:
    count = f"{len(loads_pg)}x" if len(loads_pg) > 1 else ""
    return f"{count}{_number(loads_pg[0])}PG"


# --- T1: anchors and connectivity ----------------------------------------------------------------------


def _basic() -> Variants:
    spans = (6, 8, 10, 12, 14, 16, 18, 19, 20)
    return {_span(span): Recipe((span,)) for span in spans}


def _road_wood() -> Variants:
    table = [(6, 1), (6, 3), (8, 1), (8, 3), (10, 1), (10, 3), (12, 1), (12, 3), (14, 3)]
    return {f"{_span(span)}_{load}PG": Recipe((span,), (load,), road_wood_only=True) for span, load in table}


def _bottom_anchor() -> Variants:
    table = [
        (8, 2, 3), (10, 2, 3), (12, 2, 6), (14, 2, 6), (16, 2, 6),
        (18, 2, 6), (12, 3, 9), (16, 3, 9), (18, 3, 9),
    ]  # fmt: skip
    return {
        f"{_span(span)}_D{depth}m_{load}PG": Recipe((span,), (load,), bottom_depth_m=depth)
        for span, depth, load in table
    }


def _bottom_one_side() -> Variants:
    sides: tuple[Sides, ...] = ("left", "right")
    return {
        f"{_span(span)}_{side.title()}": Recipe(
            (span,), (6,), bottom_depth_m=LOWER_ANCHOR_DEPTH_M, bottom_sides=side
        )
        for span in (10, 12, 14, 16)
        for side in sides
    }


def _top_anchor() -> Variants:
    table = [(8, 2, 3), (10, 2, 3), (12, 2, 6), (14, 2, 6), (16, 2, 6), (12, 3, 9), (16, 3, 9), (18, 3, 9)]
    return {
        f"{_span(span)}_H{height}m_{load}PG": Recipe((span,), (load,), top_height_m=height)
        for span, height, load in table
    }


def _mid_anchor() -> Variants:
    table = [(10, 1, 3), (12, 2, 3), (14, 2, 3), (16, 3, 3), (12, 2, 9), (14, 3, 9), (16, 4, 6), (18, 2, 9)]
    return {
        f"{_span(span)}_D{depth}m_{load}PG": Recipe((span,), (load,), mid_depth_m=depth)
        for span, depth, load in table
    }


def _road_wood_bottom() -> Variants:
    table = [
        (10, 1.2, 3), (12, 1.2, 3), (14, 1.2, 3), (16, 1.2, 1),
        (12, 2, 3), (14, 2, 3), (16, 2, 1), (16, 2, 3),
    ]  # fmt: skip
    return {
        f"{_span(span)}_D{_number(depth)}m_{load}PG": Recipe(
            (span,), (load,), bottom_depth_m=depth, road_wood_only=True
        )
        for span, depth, load in table
    }


# --- T2: terrain and geometry --------------------------------------------------------------------------


def _slope(sign: int) -> Variants:
    return {
        f"{_span(span)}_{_height(sign * rise)}": Recipe((span,), dy_m=sign * rise)
        for span in (8, 12)
        for rise in (1, 2, 3)
    }


def _bank_asymmetry() -> Variants:
    table = [
        (10, 1, "left"), (10, -1, "right"), (12, 2, "left"),
        (12, -2, "right"), (14, 1, "right"), (14, -1, "left"),
    ]  # fmt: skip
    return {
        f"{_span(span)}_{_height(dy)}_{side.title()}": Recipe(
            (span,), dy_m=dy, bottom_depth_m=BANK_ASYM_ANCHOR_DEPTH_M, bottom_sides=cast(Sides, side)
        )
        for span, dy, side in table
    }


def _platform() -> Variants:
    table = [(4, 2, 4), (4, 4, 4), (6, 2, 6), (6, 4, 6), (8, 2, 8), (6, 4, 8)]
    return {_segments(segments): Recipe(segments) for segments in table}


def _platform_off_level(sign: int) -> Variants:
    table = [
        ((6, 4, 6), 1), ((6, 4, 6), 2), ((8, 4, 8), 1), ((8, 4, 8), 2), ((6, 2, 8), 1), ((8, 2, 6), 2),
    ]  # fmt: skip
    return {
        f"{_segments(segments)}_{_height(sign * height)}": Recipe(segments, surface_y_m=sign * height)
        for segments, height in table
    }


def _two_platforms() -> Variants:
    table = [
        (4, 2, 4, 2, 4), (5, 2, 5, 2, 5), (4, 2, 6, 2, 4),
        (6, 2, 4, 2, 6), (4, 3, 4, 3, 4), (6, 1.5, 5, 1.5, 6),
    ]  # fmt: skip
    return {_segments(segments): Recipe(segments) for segments in table}


def _rock_centre() -> Variants:
    return {
        f"{_span(span)}_R{depth}m": Recipe((span,), (BASE_LOAD_PG * depth,), rock=Rock(-depth))
        for span in (10, 14)
        for depth in (1, 2, 3)
    }


def _rock_side() -> Variants:
    return {
        f"{_span(span)}_R{depth}m": Recipe(
            (span,),
            (BASE_LOAD_PG * depth,),
            bottom_depth_m=LOWER_ANCHOR_DEPTH_M,
            rock=Rock(-depth, at=0.3, half_width_m=NARROW_ROCK_HALF_WIDTH_M),
        )
        for span in (10, 14)
        for depth in (1, 2, 3)
    }


def _overhead() -> Variants:
    table = [(8, 1.6), (10, 1.6), (12, 1.6), (16, 1.6), (14, 2.0)]
    return {
        f"{_span(span)}_C{_number(ceiling)}m": Recipe((span,), (6,), ceiling_y_m=ceiling)
        for span, ceiling in table
    }


def _road_wood_terrain() -> Variants:
    """The slopes carry the light load: G2 has the slope of 8 m and +1 m at the base load."""
    slopes = {
        f"{_span(8)}_{_height(dy)}": Recipe((8,), (LIGHT_LOAD_PG,), dy_m=dy, road_wood_only=True)
        for dy in (1, -1, 2)
    }
    platforms = {
        f"{_segments(segments)}_{_height(surface)}": Recipe(
            segments, surface_y_m=surface, road_wood_only=True
        )
        for segments, surface in [((6, 2, 6), 0), ((6, 4, 6), -1)]
    }
    return slopes | platforms


# --- T4: dynamic load ----------------------------------------------------------------------------------


def _heavy() -> Variants:
    """(20, 3.5) stands in for (10, 2), whose cost T1E covers, so that budgets reach the rung of 32,000."""
    table = [(14, 2), (18, 2), (10, 3), (14, 3), (18, 3), (19, 3), (18, 4), (19, 4), (20, 3.5)]
    return {
        f"{_span(span)}_W{_number(factor)}": Recipe((span,), (BASE_LOAD_PG * factor,))
        for span, factor in table
    }


def _multi() -> Variants:
    table = [
        (8, (3,) * 2), (12, (3,) * 2), (16, (3,) * 2), (16, (6,) * 2), (14, (9,) * 2), (16, (9,) * 2),
        (16, (10.5,) * 2), (12, (3,) * 3), (12, (9,) * 3),
    ]  # fmt: skip
    return {f"{_span(span)}_{_loads(loads)}": Recipe((span,), loads) for span, loads in table}


def _elevated() -> Variants:
    table = [
        (10, 0.5, 3), (10, 0.5, 6), (12, 0.5, 6), (12, 1, 3),
        (12, 1, 6), (14, 1, 3), (14, 1, 6), (16, 1.2, 3),
    ]  # fmt: skip
    return {
        f"{_span(span)}_E{_number(apex)}m_{load}PG": Recipe(
            (span,), (load,), rock=Rock(apex, half_width_m=NARROW_ROCK_HALF_WIDTH_M)
        )
        for span, apex, load in table
    }


# --- G: compositions -----------------------------------------------------------------------------------

#: Traffic of the compositions: HeavyW3 is one vehicle of three times the base load, Multi2 two base vehicles.
TRAFFIC: dict[str, tuple[float, ...]] = {
    "HeavyW2": (2 * BASE_LOAD_PG,),
    "HeavyW3": (3 * BASE_LOAD_PG,),
    "Multi2": (BASE_LOAD_PG,) * 2,
    "Multi3": (BASE_LOAD_PG,) * 3,
}


def _clearance() -> Variants:
    table = [
        ("Multi2", 14, 2, False), ("HeavyW3", 14, 2, False),
        ("Multi2", 12, 1, True), ("HeavyW2", 12, 2, True),
        ("Multi2", 16, 2, False), ("HeavyW3", 12, 3, False),
        ("HeavyW2", 16, 2, True), ("Multi3", 12, 2, True),
    ]  # fmt: skip
    return {
        f"{traffic}_{_span(span)}_R{depth}m{f'_C{_number(LOW_CEILING_Y_M)}m' if ceiling else ''}": Recipe(
            (span,), TRAFFIC[traffic], rock=Rock(-depth), ceiling_y_m=LOW_CEILING_Y_M if ceiling else None
        )
        for traffic, span, depth, ceiling in table
    }


def _material() -> Variants:
    rocks = {
        f"Rock_{_span(span)}_R{depth}m": Recipe((span,), rock=Rock(-depth), road_wood_only=True)
        for span in (8, 10)
        for depth in (1, 2)
    }
    slopes = {
        f"Slope_{_span(span)}_{_height(dy)}": Recipe((span,), dy_m=dy, road_wood_only=True)
        for span, dy in [(8, 1), (8, -2), (10, 1)]
    }
    return rocks | slopes


def _platform_load() -> Variants:
    table = [
        ("HeavyW2", (6, 4, 6), 0), ("HeavyW3", (6, 4, 6), 0),
        ("Multi2", (5, 4, 6), 0), ("HeavyW3", (6, 4, 6), 1),
        ("Multi2", (6, 3, 6), 1), ("HeavyW3", (6, 4, 6), -1), ("Multi2", (6, 4, 6), -1),
    ]  # fmt: skip
    return {
        f"{traffic}_{_segments(segments)}_{_height(surface)}": Recipe(
            segments, TRAFFIC[traffic], surface_y_m=surface
        )
        for traffic, segments, surface in table
    }


def _support() -> Variants:
    table = [
        (10, 1, "left", 6), (12, 2, "left", 6), (12, -2, "right", 6),
        (14, 1, "right", 6), (14, -1, "left", 3),
        (12, -1, "left", 9),
    ]  # fmt: skip
    return {
        f"{_span(span)}_{_height(dy)}_{side.title()}_{load}PG": Recipe(
            (span,),
            (load,),
            dy_m=dy,
            bottom_depth_m=LOWER_ANCHOR_DEPTH_M,
            bottom_sides=cast(Sides, side),
        )
        for span, dy, side, load in table
    }


def _slope_multi() -> Variants:
    table = [(8, 1), (8, -1), (12, 1), (12, 2), (12, -2), (10, -3)]
    return {
        f"Multi2_{_span(span)}_{_height(dy)}": Recipe((span,), TRAFFIC["Multi2"], dy_m=dy)
        for span, dy in table
    }


def _all() -> Variants:
    table = [
        (12, 1, 1, (3,) * 2), (12, -1, 2, (3,) * 2), (14, 1, 2, (6,)), (14, -2, 2, (6,)), (18, 1, 2, (15,)),
        (10, 1, 1, (3,) * 3),
    ]  # fmt: skip
    return {
        f"{_span(span)}_{_height(dy)}_R{depth}m_{_loads(loads)}": Recipe(
            (span,), loads, dy_m=dy, bottom_depth_m=LOWER_ANCHOR_DEPTH_M, rock=Rock(-depth)
        )
        for span, dy, depth, loads in table
    }


FAMILIES: tuple[Family, ...] = (
    Family("T1B", "Basic", "T1", _basic()),
    Family("T1C", "RoadWood", "T1", _road_wood()),
    Family("T1D", "BottomAnchor", "T1", _bottom_anchor()),
    Family("T1E", "BottomOneSide", "T1", _bottom_one_side()),
    Family("T1F", "TopAnchor", "T1", _top_anchor()),
    Family("T1G", "MidAnchor", "T1", _mid_anchor()),
    Family("T1H", "RWBottom", "T1", _road_wood_bottom()),
    Family("T2A", "SlopeUp", "T2", _slope(1)),
    Family("T2B", "SlopeDown", "T2", _slope(-1)),
    Family("T2C", "BankAsym", "T2", _bank_asymmetry()),
    Family("T2D", "Platform", "T2", _platform()),
    Family("T2E", "PlatformHigh", "T2", _platform_off_level(1)),
    Family("T2F", "PlatformLow", "T2", _platform_off_level(-1)),
    Family("T2G", "TwoPlatforms", "T2", _two_platforms()),
    Family("T2H", "RockCentre", "T2", _rock_centre()),
    Family("T2I", "RockSide", "T2", _rock_side()),
    Family("T2J", "Overhead", "T2", _overhead()),
    Family("T2K", "RWTerrain", "T2", _road_wood_terrain()),
    Family("T4B", "Heavy", "T4", _heavy()),
    Family("T4C", "Multi", "T4", _multi()),
    Family("T4D", "Elevated", "T4", _elevated()),
    Family("G1", "Clearance", "G", _clearance()),
    Family("G2", "Material", "G", _material()),
    Family("G3", "Platform", "G", _platform_load()),
    Family("G4", "Support", "G", _support()),
    Family("G5", "Slope", "G", _slope_multi()),
    Family("G6", "All", "G", _all()),
)
